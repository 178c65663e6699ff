"""Prediction intervals of models and regressors."""

from __future__ import annotations

import numpy as np
import pytest

import rpo


def _data(n: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3)).astype(np.float32)
    return X, X[:, :2] * 4 + rng.normal(size=(n, 2)) * [0.1, 2.0]


@pytest.mark.parametrize(
    "regressor",
    [
        rpo.RandomForestRegressor(30, random_state=0, params={"intervals": 0.8}),
        rpo.GradientBoostingRegressor(30, params={"intervals": 0.8}),
        rpo.GradientBoostingRegressor(30, loss="quantile", alpha=[0.1, 0.9], params={"intervals": 0.8}),
    ],
)
def test_intervals_cover_as_often_as_they_say(regressor):
    (X, Y), (X_new, Y_new) = _data(800), _data(2000, 1)
    regressor.fit(X, Y)
    bounds = regressor.predict_intervals(X_new)
    assert bounds.shape == (2000, 2, 2)
    covered = (bounds[..., 0] <= Y_new) & (Y_new <= bounds[..., 1])
    np.testing.assert_allclose(covered.mean(axis=0), 0.8, atol=0.1)
    np.testing.assert_array_equal(bounds, regressor.model_.predict_intervals(X_new))
    values = regressor.model_.evaluate(X_new, Y_new, ["interval-coverage", "interval-width"])
    np.testing.assert_allclose(values["interval-coverage"], covered.mean(), atol=1e-3)
    assert regressor.model_.inspect()["interval_level"] == 0.8
    with pytest.raises(MemoryError, match="memory_limit"):
        regressor.predict_intervals(X_new, memory_limit=2000 * 2 * 16 - 1)
    regressor.fit(X, Y[:, 0])
    assert regressor.predict_intervals(X_new).shape == (2000, 2)


def test_models_without_intervals_have_no_bounds():
    X, Y = _data(100)
    regressor = rpo.ExtraTreesRegressor(3).fit(X, Y)
    with pytest.raises(ValueError, match="no prediction intervals"):
        regressor.predict_intervals(X)
    with pytest.raises(ValueError, match="for numbers"):
        rpo.ExtraTreesClassifier(3, params={"intervals": 0.9}).fit(X, Y[:, 0] > 1)
    with pytest.raises(ValueError, match="at least 19 samples"):
        rpo.Model.fit(X[:50], Y[:50], labels=False, method="ridge", intervals=0.9)
