"""Splits of multi-label data that keep the frequency of every label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arguments import whole
from ._bases import BaseCrossValidator
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
    random_state : int, RandomState or None, default=None
        Seed for choices that the method leaves open.

    Examples
    --------
    >>> import numpy as np
    >>> from rpo.model_selection import IterativeStratifiedKFold
    >>> Y = np.eye(3, dtype=int).repeat(4, axis=0)
    >>> [int(Y[test].sum(axis=0).max()) for _, test in IterativeStratifiedKFold(4, random_state=0).split(Y, Y)]
    [1, 1, 1, 1]
    """

    def __init__(self, n_splits: int = 5, *, random_state: Any = None):
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
            Not used.
        y : array or sparse matrix of shape (n_samples, n_outputs) or (n_samples,)
            Indicators of labels, or classes. A missing label (NaN) counts as absent.
        groups : None
            Not used.
        """
        y = outputs_as_array(y)
        if y.ndim == 1:
            y = y[:, None] == np.unique(y)
        n_samples = y.shape[0]
        if self.n_splits > n_samples:
            raise ValueError(f"n_splits={self.n_splits} is more than the number of samples, {n_samples}")
        seed = seed_of(self.random_state)
        everything = np.arange(n_samples)
        for fold in _native.stratified_folds(borrow(y, "y"), self.n_splits, seed):
            test = fold.astype(np.intp)
            yield np.setdiff1d(everything, test, assume_unique=True), test
