"""An estimator whose fit fails, or is interrupted, stays as it was."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

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


@pytest.mark.parametrize("estimator", [rpo.RandomForestRegressor, rpo.GradientBoostingRegressor])
def test_a_warm_start_with_other_samples_is_refused(estimator, numbers):
    X, Y = numbers
    weights = np.linspace(0.5, 1.5, len(X))
    model = estimator(3, warm_start=True, random_state=0).fit(X, Y, weights)
    before = model.model_
    other = X.copy()
    other[7, 2] += 1.0
    for data, named in (
        ((other, Y, weights), "X"),
        ((X, Y[::-1], weights), "y"),
        ((X, Y, weights[::-1]), "sample_weight"),
        ((X, Y), "sample_weight"),
        ((sp.csr_array(np.where(X > 0, X, 0)), Y, weights), "X"),
    ):
        for n in (3, 5):
            with pytest.raises(ValueError, match=f"same data: {named}.* differs from that of the earlier fit"):
                model.set_params(n_estimators=n).fit(*data)
    assert model.model_ is before
    # The same numbers in other types and orders of memory are the same data.
    model.set_params(n_estimators=5).fit(np.asfortranarray(X.astype(np.float64)), Y.astype(np.float32), list(weights))
    assert np.allclose(model.predict(X), estimator(5, random_state=0).fit(X, Y, weights).predict(X), atol=1e-5)


def test_a_warm_start_with_other_class_weights_is_refused(labels):
    X, Y = labels
    model = rpo.GradientBoostingClassifier(3, warm_start=True, class_weight="balanced", random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="class_weight differs"):
        model.set_params(n_estimators=5, class_weight=None).fit(X, Y)
    forest = rpo.RandomForestClassifier(3, warm_start=True, random_state=0).fit(sp.csr_array(X), sp.csr_array(Y))
    forest.set_params(n_estimators=5).fit(sp.csc_array(X), sp.csc_array(Y))
    assert forest.model_.n_trees == 5
