"""What features contribute to predictions."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import rpo


def _data(n=200):
    rng = np.random.default_rng(3)
    X = rng.random((n, 4)).astype(np.float32)
    Y = np.column_stack([X[:, 0], X[:, 1] * X[:, 2], np.floor(4 * X[:, 3])]).astype(np.float32)
    return X, Y


@pytest.mark.parametrize("method", ["random-forest", "gbmort", "ridge", "single-target-gbrt"])
def test_contributions_add_up(method):
    X, Y = _data()
    model = rpo.Model.fit(X, Y, labels=False, method=method, seed=1)
    found, base = model.contributions(X[:7], X)
    assert found.shape == (7, 4, 3)
    assert_allclose(base + found.sum(axis=1), model.predict(X[:7]), atol=2e-5)
    assert_allclose(base, model.predict(X).mean(axis=0), atol=2e-5)
    alone, of_one = model.contributions(sp.csr_matrix(X[:7]), sp.csr_matrix(X), outputs=[2])
    assert_allclose(alone[:, :, 0], found[:, :, 2], atol=1e-6)
    assert of_one == base[2]
    each, bases = model.contributions(X[:7], X, outputs=np.arange(7)[:, None] % 3)
    assert bases.shape == (7, 1)
    assert_allclose(each[4, :, 0], found[4, :, 1], atol=1e-6)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("method", ["random-forest", "gbmort", "ridge"])
def test_contributions_to_many_samples_are_those_to_each(form, method):
    X, Y = _data()
    model = rpo.Model.fit(X, Y, labels=False, method=method, seed=1)
    many = np.tile(X, (3, 1))
    each = np.arange(600)[:, None] % 3
    for outputs in (None, [2, 0], each):
        found, base = model.contributions(form(many), X, outputs=outputs, n_threads=1)
        for rows in (slice(0, 5), slice(5, 80), slice(300, 301), slice(590, 600)):
            of_rows = outputs[rows] if outputs is each else outputs
            expected, bases = model.contributions(many[rows], X, outputs=of_rows, n_threads=2)
            assert_array_equal(found[rows], expected)
            assert_array_equal(base[rows] if outputs is each else base, bases)
    many[555, 1] = np.nan
    if method == "ridge":
        with pytest.raises(ValueError, match=r"row 555 lacks feature \"1\""):
            model.contributions(form(many), X, n_threads=1)


def test_categories_have_the_sum_of_their_columns():
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"c": pd.Categorical(rng.choice(list("abcd"), 300)), "x": rng.random(300)})
    y = X.c.cat.codes.to_numpy() + X.x.to_numpy()
    model = rpo.Model.fit(X, y, labels=False, method="ridge", nominal="one-hot")
    found, base = model.contributions(X, X)
    assert found.shape == (300, 2, 1)
    assert_allclose(base + found.sum(axis=1), model.predict(X), atol=1e-4)


def test_what_cannot_be_explained_is_refused():
    X, Y = _data()
    model = rpo.Model.fit(X, Y, labels=False, method="extra-trees", trees=3)
    for outputs, message in [([3], "below 3"), ([0.5], "indices"), (np.zeros((2, 1), int), "2 rows")]:
        with pytest.raises(ValueError, match=message):
            model.contributions(X[:3], X, outputs=outputs)
    with pytest.raises(ValueError, match="background"):
        model.contributions(X[:3], X[:0])
    with pytest.raises(MemoryError, match="memory_limit"):
        model.contributions(X[:3], X, memory_limit=100)
    craftml = rpo.Model.fit(X, (Y > 0.5).astype(int), labels=True, method="craftml", trees=2)
    with pytest.raises(ValueError, match="craftml"):
        craftml.contributions(X[:3], X)
