"""Groups of samples: no group is both fitted and withheld."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GroupKFold, cross_val_score

import rpo

N_GROUPS, N = 30, 300
GROUPS = np.arange(N) % N_GROUPS


def noise(shape):
    """Return noise that all samples of a group have in common."""
    rng = np.random.default_rng(0)
    return rng.random((N_GROUPS, *shape))[GROUPS]


X = noise((4,)).astype(np.float32)
Y = np.random.default_rng(1).random((N_GROUPS, 2))[GROUPS]
LABELS = (Y > 0.6).astype(int)


def stopped(groups=None, labels=False):
    """Return the number of steps of boosting that stops early."""
    kind = rpo.GradientBoostingClassifier if labels else rpo.GradientBoostingRegressor
    model = kind(200, n_iter_no_change=5, validation_fraction=0.2, random_state=0)
    return model.fit(X, LABELS if labels else Y, groups=groups).n_estimators_


@pytest.mark.parametrize("labels", [False, True])
def test_boosting_stops_when_new_groups_no_longer_gain(labels):
    assert stopped(GROUPS, labels) < stopped(None, labels) / 2


def test_groups_are_any_values():
    names = [f"customer {group}" for group in GROUPS]
    pairs = [(group, "a") for group in GROUPS]
    frames = [pd.Series(names, index=range(5, N + 5)), pd.Categorical(names), np.array(names), pd.Series(GROUPS)]
    expected = stopped(GROUPS)
    for groups in [names, pairs, GROUPS.tolist(), GROUPS.astype(float), *frames, iter(names)]:
        assert stopped(groups) == expected


def test_bad_groups_are_refused():
    for groups, message in [
        (GROUPS[:5], "groups has 5 values, X has 300 samples"),
        (GROUPS.reshape(-1, 1), r"of shape \(300,\), got shape \(300, 1\)"),
        (np.where(GROUPS == 3, np.nan, GROUPS), r"no value for sample 3 \(from 0\)"),
        ([None, *GROUPS[1:]], r"no value for sample 0 \(from 0\)"),
        (pd.array([*GROUPS[:-1], pd.NA]), r"no value for sample 299 \(from 0\)"),
        (np.ones(N), "all 300 samples belong to one group"),
    ]:
        with pytest.raises(ValueError, match=message):
            stopped(groups)
    for groups in ["customer", 3, [[1]] * N]:
        with pytest.raises(TypeError, match="groups must be"):
            stopped(groups)


def test_every_estimator_takes_groups():
    for kind in [
        rpo.RandomForestClassifier,
        rpo.ExtraTreesClassifier,
        rpo.StructuredForestClassifier,
        rpo.CraftmlClassifier,
        rpo.LabelEmbeddingClassifier,
        rpo.LinearOneVsRestClassifier,
        rpo.LabelTreeClassifier,
    ]:
        params = {"thresholds": "macro-f"}
        plain = kind(random_state=0, params=params).fit(X, LABELS)
        grouped = kind(random_state=0, params=params).fit(X, LABELS, groups=GROUPS)
        assert plain.model_.inspect()["thresholds"] != grouped.model_.inspect()["thresholds"], kind
    for kind in [rpo.RandomForestRegressor, rpo.ExtraTreesRegressor]:
        model = kind(10, random_state=0, params={"intervals": 0.5, "bootstrap": True})

        def width(model, groups):
            return np.ptp(model.fit(X, Y, groups=groups).predict_intervals(X), axis=-1).mean()

        assert width(model, GROUPS) > 2 * width(model, None)
    for kind, y in [(rpo.AutoRegressor, Y), (rpo.AutoClassifier, LABELS)]:
        scores = [
            kind(configurations=1, random_state=0)
            .fit(X, y, groups=groups)
            .model_.inspect()["summary"]["selection"]["score"]
            for groups in (None, GROUPS)
        ]
        assert scores[0] > scores[1] + 0.2


def test_models_by_name_and_in_blocks_take_groups():
    one = rpo.Model.fit(X, Y, method="random-forest", labels=False, groups=GROUPS, intervals=0.5, seed=1)
    other = rpo.Model.fit(X, Y, method="random-forest", labels=False, groups=GROUPS + 7, intervals=0.5, seed=1)
    assert one == other
    assert one != rpo.Model.fit(X, Y, method="random-forest", labels=False, intervals=0.5, seed=1)
    forest = rpo.RandomForestRegressor(4, random_state=0)
    with ThreadPoolExecutor(2) as client:
        apart = rpo.distributed.fit(sklearn.clone(forest), X, Y, client, groups=GROUPS)
    assert apart.model_ == forest.fit(X, Y, groups=GROUPS).model_


def test_out_of_bag_scores_and_other_groups_are_refused():
    forest = rpo.RandomForestRegressor(10, oob_score=True, random_state=0)
    with pytest.raises(ValueError, match="does not hold for new groups"):
        forest.fit(X, Y, groups=GROUPS)
    boosting = rpo.GradientBoostingRegressor(3, warm_start=True, random_state=0).fit(X, Y, groups=GROUPS)
    with pytest.raises(ValueError, match="groups differs from that of the earlier fit"):
        boosting.set_params(n_estimators=5).fit(X, Y)
    boosting.fit(X, Y, groups=GROUPS)


def test_a_cross_validation_hands_its_groups_to_fits():
    boosting = rpo.GradientBoostingRegressor(50, n_iter_no_change=5, random_state=0)
    with sklearn.config_context(enable_metadata_routing=True):
        boosting.set_fit_request(groups=True)
        scores = cross_val_score(boosting, X, Y, cv=GroupKFold(3), params={"groups": GROUPS})
    assert (scores < 0.2).all()
