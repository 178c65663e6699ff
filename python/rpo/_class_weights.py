"""Weights of samples by the weights of their classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import compute_sample_weight


def weights_of_classes(class_weight: Any, y: Any) -> NDArray[np.float64]:
    """Return the weight of each sample: the product of the weights of its classes over all outputs.

    An output that is missing for a sample has the factor 1, and "balanced" counts the observed outputs only.

    Parameters
    ----------
    class_weight : dict, list of dict or "balanced"
        As for scikit-learn's `compute_sample_weight`.
    y : array or sparse matrix of shape (n_samples,) or (n_samples, n_outputs)
        Classes, or indicators of labels; NaN where missing.

    Raises
    ------
    ValueError
        For several outputs without a dict for each.
    """
    is_sparse = bool(sp.issparse(y))
    values = y.tocsr().data if is_sparse else y
    if values.dtype.kind != "f" or not np.isnan(values).any():
        weights: NDArray[np.float64] = compute_sample_weight(class_weight, y)
        return weights
    columns = y.tocsc() if is_sparse else y.reshape(len(y), -1)
    n_samples, n_outputs = columns.shape
    if isinstance(class_weight, str) or y.ndim == 1:
        of_outputs = [class_weight] * n_outputs
    elif isinstance(class_weight, list) and len(class_weight) == n_outputs:
        of_outputs = class_weight
    else:
        raise ValueError(f"class_weight must be 'balanced' or a list with a dict for each of {n_outputs} outputs")
    weights = np.ones(n_samples)
    for j, given in enumerate(of_outputs):
        column = columns[:, [j]].toarray().ravel() if is_sparse else columns[:, j]
        observed = ~np.isnan(column)
        if observed.any():
            weights[observed] *= compute_sample_weight(given, column[observed])
    return weights
