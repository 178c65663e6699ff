"""An estimator whose fit fails, or is interrupted, stays as it was."""

from __future__ import annotations

import numpy as np
import pytest

import rpo

ESTIMATORS = [
    rpo.RandomForestClassifier(3, random_state=0),
    rpo.GradientBoostingClassifier(3, random_state=0),
    rpo.CraftmlClassifier(3, random_state=0),
    rpo.LinearOneVsRestClassifier(),
    rpo.RandomForestRegressor(3, random_state=0),
    rpo.GradientBoostingRegressor(3, random_state=0),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_a_fit_that_fails_changes_nothing(estimator, labels):
    pd = pytest.importorskip("pandas")
    X, Y = labels
    estimator.fit(X, Y)
    before, predicted = dict(vars(estimator)), estimator.predict(X)
    fewer = pd.DataFrame(X[:, :3], columns=list("abc")).assign(c=pd.Categorical(np.where(Y[:, 0], "u", "v")))
    failing = [
        lambda: estimator.fit(fewer, Y[:7]),
        lambda: estimator.fit(fewer, np.where(Y[:, :2] == 1, np.nan, 0.0)),
        lambda: estimator.set_params(params={"tres": 3}).fit(fewer, Y[:, :2]),
    ]
    for fit in failing:
        with pytest.raises(ValueError, match=r"inconsistent|NaN|tres"):
            fit()
        estimator.set_params(params=None)
        assert vars(estimator).keys() == before.keys()
        assert all(vars(estimator)[name] is before[name] for name in before)
        assert np.array_equal(estimator.predict(X), predicted)


def test_a_first_fit_that_fails_leaves_nothing(labels, numbers):
    X, Y = labels
    estimator = rpo.RandomForestClassifier(0)
    before = vars(estimator).keys() | set()
    with pytest.raises(ValueError, match="n_estimators"):
        estimator.fit(X, Y)
    assert vars(estimator).keys() == before
    projection = rpo.projections.OutputProjection().fit(Y)
    with pytest.raises(ValueError, match="gauss"):
        projection.set_params(kind="gauss").fit(numbers[1])
    assert projection.n_features_in_ == Y.shape[1]


def test_an_interrupted_fit_changes_nothing(labels, monkeypatch):
    X, Y = labels
    estimator = rpo.RandomForestClassifier(3, random_state=0).fit(X, Y)

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(rpo.RandomForestClassifier, "_grow", interrupted)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X[:, :2], Y[:, :2])
    assert (estimator.n_features_in_, estimator.n_outputs_) == (8, 6)


@pytest.mark.filterwarnings("ignore:Warm-start fitting")
@pytest.mark.parametrize("more", [0, 2])
@pytest.mark.parametrize("estimator", [rpo.ExtraTreesClassifier, rpo.GradientBoostingClassifier])
def test_a_warm_start_with_other_columns_or_classes_is_refused(estimator, more, labels):
    X, Y = labels
    words = np.where(Y[:, 0] == 1, "yes", "no")
    model = estimator(3, warm_start=True, random_state=0).fit(X, words)
    model.set_params(n_estimators=3 + more)
    for features, y in ((X[:, :2], words), (X, np.where(words == "no", "never", words)), (X, Y)):
        with pytest.raises(ValueError, match=r"warm_start goes on with the same data|merged|continues"):
            model.fit(features, y)
        assert model.model_.n_trees == 3
        assert list(model.classes_) == ["no", "yes"]
        assert model.predict(X).shape == (120,)
    assert model.fit(X, words).score(X, words) > 0.5
