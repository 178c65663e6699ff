"""Splits of multi-label data that keep the frequency of every label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from . import _native
from ._arguments import whole
from ._bases import BaseCrossValidator
from ._categories import observed_in
from ._matrix import borrow
from ._outputs import outputs_as_array
from ._seeds import seed_of

__all__ = ["IterativeStratifiedKFold"]


class IterativeStratifiedKFold(BaseCrossValidator):
    """K folds that keep the frequency of every label (Sechidis, Tsoumakas, Vlahavas, ECML-PKDD 2011).

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    random_state : int, RandomState or None, default=0
        Seed for choices that the method leaves open. With a number, every call of `split` returns the same folds.

    Examples
    --------
    >>> import numpy as np
    >>> from rpo.model_selection import IterativeStratifiedKFold
    >>> Y = np.eye(3, dtype=int).repeat(4, axis=0)
    >>> [int(Y[test].sum(axis=0).max()) for _, test in IterativeStratifiedKFold(4, random_state=0).split(Y, Y)]
    [1, 1, 1, 1]
    """

    def __init__(self, n_splits: int = 5, *, random_state: Any = 0):
        self.n_splits: int = whole("n_splits", n_splits, least=2)
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the training and the test samples of each fold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its number of samples is used.
        y : array or sparse matrix of shape (n_samples, n_outputs) or (n_samples,)
            Indicators of labels (0 and 1), or one or more columns of classes, whose frequencies are kept like those of
            labels. A missing label or class counts as absent.
        groups : None
            Refused: folds that keep groups together are those of `sklearn.model_selection.GroupKFold`.

        Raises
        ------
        ValueError
            For groups, and for fewer samples than folds.
        """
        if groups is not None:
            raise ValueError("these folds do not keep groups together; sklearn.model_selection.GroupKFold does")
        y = _indicators(outputs_as_array(y))
        if X is not None:
            check_consistent_length(X, y)
        n_samples = y.shape[0]
        if self.n_splits > n_samples:
            raise ValueError(f"n_splits={self.n_splits} is more than the number of samples, {n_samples}")
        seed = seed_of(self.random_state)
        everything = np.arange(n_samples)
        for fold in _native.stratified_folds(borrow(y, "y"), self.n_splits, seed):
            test = fold.astype(np.intp)
            yield np.setdiff1d(everything, test, assume_unique=True), test


def _indicators(y: Any) -> Any:
    """Return an indicator for each label, or for each class of each column."""
    if sp.issparse(y):
        return y
    if y.ndim == 2 and y.dtype.kind in "biuf" and ((y == 0) | (y == 1) | np.isnan(y)).all():
        return y
    return np.column_stack([_indicators_of_classes(column) for column in (y.T if y.ndim == 2 else [y])])


def _indicators_of_classes(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return an indicator for each class; all are false where the class is missing."""
    if column.dtype.kind == "f" and (column % 1 > 0).any():
        raise ValueError("y must be indicators of labels or classes, but it has numbers that are not whole")
    observed = observed_in(column)
    classes, codes = np.unique(column[observed], return_inverse=True)
    found = np.zeros((len(column), len(classes)), bool)
    found[np.flatnonzero(observed), codes] = True
    return found
