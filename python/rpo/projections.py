"""Linear projections of the outputs, as transformers of Y."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native
from ._bases import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from ._frames import check_in_memory
from ._matrix import borrow
from ._seeds import seed_of
from ._state import unchanged_by_failure

__all__ = ["OutputProjection"]


class OutputProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A projection Z = Y Φᵀ of many outputs to a few components; Φ has shape (n_components, n_outputs).

    Parameters
    ----------
    kind : str, default="gaussian"
        The family: "gaussian", "rademacher", "rademacher:S", "achlioptas", "sparse", "hadamard", "subsample",
        "subsample-replace", "hashing" and "identity" are random; "pca" learns from Y, "label-embedding" from X and Y.
        Random families are scaled so that squared lengths keep their expectation.
    n_components : int or {"ln", "d"}, default="ln"
        Number of components; "ln" is the logarithm of the number of outputs, "d" their number.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_outputs)
        The matrix Φ.

    Examples
    --------
    >>> import numpy as np
    >>> from rpo.projections import OutputProjection
    >>> Y = np.eye(100)
    >>> Z = OutputProjection("gaussian", n_components=40, random_state=0).fit_transform(Y)
    >>> Z.shape
    (100, 40)
    """

    def __init__(self, kind: str = "gaussian", *, n_components: int | str = "ln", random_state: Any = None):
        self.kind = kind
        self.n_components = n_components
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """Return the kinds of input that the transformer supports."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def fit(self, X: Any, y: Any = None, *, features: Any = None) -> OutputProjection:
        """Draw or learn the projection.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_outputs)
            The outputs to transform.
        y : None
            Not used.
        features : array or sparse matrix of shape (n_samples, n_features), optional
            The features of the samples, for "label-embedding".
        """
        check_in_memory(X)
        with unchanged_by_failure(self):
            X = validate_data(self, X, accept_sparse="csr", dtype=np.float32)
            given = None if features is None else borrow(features, "features")
            matrix = _native.projection_matrix(
                self.kind, str(self.n_components), borrow(X, "X"), given, seed=seed_of(self.random_state)
            )
            self.components_: NDArray[np.float32] = np.ascontiguousarray(matrix.T)
        return self

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the components (n_samples, n_components) of outputs (n_samples, n_outputs)."""
        check_is_fitted(self)
        check_in_memory(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float32, reset=False)
        # In double precision, as the rounding of a sample in single precision would depend on its position in X.
        return np.asarray(X @ self.components_.T.astype(np.float64), dtype=np.float32)
