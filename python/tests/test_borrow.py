"""Arrays that are borrowed, and arrays that must be converted."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import rpo
from rpo._matrix import borrow, csr


def test_float32_arrays_are_not_copied():
    x = np.ones((4, 3), np.float32)
    assert np.shares_memory(borrow(x, "X"), x)
    x.setflags(write=False)
    assert np.shares_memory(borrow(x, "X"), x)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_csr_is_not_copied(index):
    x = sp.random_array((5, 4), density=0.5, format="csr", dtype=np.float32, rng=0)
    x.indices, x.indptr = x.indices.astype(index), x.indptr.astype(index)
    values, columns, starts, shape = borrow(x, "X")
    assert np.shares_memory(values, x.data)
    assert np.shares_memory(columns, x.indices) == (index == np.int32)
    assert np.shares_memory(starts, x.indptr) == (index == np.int64)
    assert (csr((values, columns, starts), shape) != x).nnz == 0


def misaligned(x: np.ndarray) -> np.ndarray:
    buffer = np.empty(x.nbytes + 1, np.uint8)
    shifted = buffer[1:].view(x.dtype).reshape(x.shape)
    shifted[:] = x
    assert not shifted.flags.aligned
    return shifted


def forms(x: np.ndarray) -> list[object]:
    twice = sp.csr_array(
        (
            np.full(2 * x.size, 0.5, np.float32),
            np.tile(np.arange(x.shape[1]), 2 * len(x)),
            np.arange(len(x) + 1) * 2 * x.shape[1],
        ),
        shape=x.shape,
    )
    twice.data = np.repeat(x, 2, axis=0).ravel() / 2
    return [
        x.astype(np.float64),
        np.asfortranarray(x),
        np.repeat(x, 2, axis=1)[:, ::2],
        misaligned(x),
        sp.csr_array(x),
        sp.csc_array(x),
        sp.coo_array(x),
        sp.csr_matrix(x),
        twice,
    ]


def test_every_form_gives_the_same_model(labels):
    X, Y = labels
    X = np.round(X * 4) / 4
    expected = rpo.Model.fit(X, Y.astype(np.float32), labels=True, trees=5)
    for x in forms(X):
        assert np.array_equal(expected.predict(x), expected.predict(X))
        assert rpo.Model.fit(x, Y, labels=True, trees=5) == expected
    for y in [*forms(Y.astype(np.float32)), Y.astype(bool), Y.astype(np.int64)]:
        assert rpo.Model.fit(X, y, labels=True, trees=5) == expected


@pytest.mark.parametrize("forest", [rpo.RandomForestClassifier, rpo.ExtraTreesRegressor, rpo.RandomForestRegressor])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_dense_features_that_are_mostly_zero_give_the_forest_of_sparse_ones(forest, missing, sparse):
    X, Y = sparse[0].toarray(), sparse[1][:, :9].toarray()
    X[:, ::2] = X[:, ::2] > 0.0
    X[::40, 3] = np.nan if missing else -0.0
    Y[0] = 1.0
    options = {"n_estimators": 10, "random_state": 0, "bootstrap": True, "oob_score": True}
    found = forest(**options).fit(X, Y)
    expected = forest(**options).fit(sp.csr_array(X), Y)
    by_crate = rpo.Model.fit(X, Y, **found.model_.parameters, labels=found.model_.is_multilabel)
    assert found.model_ == expected.model_ == by_crate
    assert found.oob_score_ == expected.oob_score_


def test_a_matrix_that_is_no_csr_is_refused():
    x = sp.csr_array(np.eye(3, dtype=np.float32))
    x.indices[0] = 7
    with pytest.raises(ValueError, match="Structure Error"):
        rpo.Model.fit(x, np.eye(3), labels=True, trees=1)
