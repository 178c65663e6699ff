"""Weights of samples by the weights of their classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import compute_sample_weight

from ._categories import observed_in


def weights_of_classes(class_weight: Any, y: Any) -> NDArray[np.float64]:
    """Return the weight of each output of each sample: that of its class, of shape (n_samples, n_outputs).

    scikit-learn weights a sample by the product over its outputs. Of 150 balanced labels the products lie between about
    1e-39 and 1e-10, so that a few samples count alone. With a weight for each output, every output is balanced for
    itself, and its weights have the mean 1.

    An output that is missing for a sample has the weight 1, and "balanced" counts the observed outputs only.

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
    columns = y.tocsc() if is_sparse else y.reshape(len(y), -1)
    n_samples, n_outputs = columns.shape
    if isinstance(class_weight, str) or n_outputs == 1:
        is_list = isinstance(class_weight, list) and len(class_weight) == 1
        of_outputs = [class_weight[0] if is_list else class_weight] * n_outputs
    elif isinstance(class_weight, list) and len(class_weight) == n_outputs:
        of_outputs = class_weight
    else:
        raise ValueError(f"class_weight must be 'balanced' or a list with a dict for each of {n_outputs} outputs")
    weights = np.ones((n_samples, n_outputs))
    for j, given in enumerate(of_outputs):
        column = columns[:, [j]].toarray().ravel() if is_sparse else columns[:, j]
        observed = observed_in(column)
        if observed.any():
            weights[observed, j] = compute_sample_weight(given, column[observed])
    return weights
