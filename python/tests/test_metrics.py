"""The forms of truth and predictions that metrics take."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import mean_pinball_loss

import rpo
from rpo import metrics

SETS = (
    "hamming subset-accuracy jaccard micro-f1 macro-f1 example-f1 mcc g-mean balanced-accuracy".split()  # noqa: SIM905
)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("beside", [[], ["p@1"], ["p@3"]])
def test_label_sets_of_sparse_scores_are_those_of_dense_ones(name, beside):
    rng = np.random.default_rng(6)
    truth = (rng.random((40, 12)) < 0.4).astype(np.float32)
    scores = np.where(rng.random((40, 12)) < 0.5, rng.random((40, 12)), 0.0).astype(np.float32)
    names = [name, *beside]
    assert metrics.evaluate(truth, sp.csr_array(scores), names) == metrics.evaluate(truth, scores, names)
    sparse = sp.csr_array(truth)
    assert metrics.evaluate(sparse, sparse, names) == metrics.evaluate(truth, truth, names)
    holes = np.where(rng.random((40, 12)) < 0.1, np.nan, truth)
    assert metrics.evaluate(holes, sp.csr_array(scores), names) == metrics.evaluate(holes, scores, names)


def test_tables_are_what_their_arrays_are():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    truth = np.array([[1.0, 1.0], [0.0, 0.0], [np.nan, 1.0]])
    scores = np.array([[0.9, 0.2], [0.1, 0.6], [0.4, 0.7]])
    nullable = pd.DataFrame({"a": pd.array([1, 0, None], "Int64"), "b": pd.array([True, False, True], "boolean")})
    for table in (nullable, nullable.astype("Float64"), pl.DataFrame({"a": [1, 0, None], "b": [True, False, True]})):
        for score in (
            metrics.lrap,
            metrics.roc_auc,
            metrics.mse,
            lambda truth, scores: metrics.f1(truth, scores > 0.5),
            lambda truth, scores: metrics.evaluate(truth, pd.DataFrame(scores), ["micro-f1", "p@1"]),
        ):
            assert score(table, scores) == score(truth, scores)


def test_a_vector_is_one_output():
    pd = pytest.importorskip("pandas")
    truth, scores = np.array([0, 1, 1]), np.array([0.2, 0.9, 0.4])
    columns = truth[:, None], scores[:, None]
    for given in (truth, truth.tolist(), pd.Series(truth, dtype="Int64")):
        assert metrics.evaluate(given, scores, ["micro-f1"]) == metrics.evaluate(*columns, ["micro-f1"])
        assert metrics.roc_auc(given, scores) == metrics.roc_auc(*columns)
        assert metrics.f1(given, scores > 0.5) == metrics.f1(columns[0], columns[1] > 0.5)
        assert metrics.mse(given, scores) == metrics.mse(*columns)


def test_scores_beyond_single_precision_are_refused_as_such():
    with pytest.raises(ValueError, match=r"scores has 1e\+300 in row 1, column 0, too large for single precision"):
        metrics.evaluate([[0], [1]], [[0.5], [1e300]], ["micro-f1"])


def test_the_pooled_error_is_that_of_the_observed_entries():
    truth = np.array([[0.0, 0.0, np.nan], [0.0, np.nan, np.nan], [0.0, np.nan, np.nan]])
    predicted = np.array([[1.0, 3.0, 9.0], [1.0, 0.0, 9.0], [1.0, 0.0, 9.0]])
    # An output without an observed value has no part in it.
    assert metrics.rmse(truth, predicted, average="pooled") == pytest.approx(np.sqrt(3.0))
    assert metrics.rmse(truth, predicted) == pytest.approx(2.0)
    assert np.isnan(metrics.rmse(truth[:, 2:], predicted[:, 2:], average="pooled"))
    rng = np.random.default_rng(0)
    truth, predicted = rng.normal(size=(2, 50, 4))
    truth[rng.random(truth.shape) < [0.0, 0.1, 0.5, 0.9]] = np.nan
    expected = np.sqrt(np.nanmean((truth - predicted) ** 2))
    assert metrics.rmse(truth, predicted, average="pooled") == pytest.approx(expected)


@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, list])
def test_quantiles_of_a_model_are_compared_with_the_truth(n_targets, form):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 2))
    Y = (X[:, :1] * [1.0, -20.0] + rng.normal(size=(80, 2)))[:, :n_targets]
    levels = [0.1, 0.5, 0.9]
    model = rpo.GradientBoostingRegressor(5, loss="quantile", alpha=levels, random_state=0)
    predicted = model.fit(X, Y[:, 0] if n_targets == 1 else Y).predict(X)
    truth = form(Y.tolist()) if form is list else form(Y)
    found = metrics.pinball(truth, predicted, levels=levels, average=None)
    repeated = np.column_stack([Y[:, j] for j in range(n_targets) for _ in levels])
    assert np.array_equal(found, metrics.pinball(repeated, predicted, levels=levels, average=None))
    for k, (expected, level) in enumerate(zip(found, levels * n_targets, strict=True)):
        assert expected == pytest.approx(mean_pinball_loss(Y[:, k // 3], predicted[:, k], alpha=level))
    assert model.model_.evaluate(X, Y)["pinball"] == pytest.approx(found.mean(), rel=1e-4)
    with pytest.raises(ValueError, match="outputs: expected"):
        metrics.pinball(truth, predicted[:, 1:], levels=levels)
    with pytest.raises(ValueError, match=r"rpo\.metrics\.pinball scores them"):
        model.score(X, Y)
