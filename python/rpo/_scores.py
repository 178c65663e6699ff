"""The scores of estimators: those of scikit-learn over the observed outputs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, r2_score


def accuracy(y: Any, predicted: Any, weights: Any = None) -> float:
    """Return the fraction of samples whose observed outputs are all correct; samples without any do not count."""
    is_sparse = hasattr(y, "toarray")
    if is_sparse and y.shape[1] == 1:
        # scikit-learn does not support a sparse column.
        y, predicted, is_sparse = _dense(y), _dense(predicted), False
    values = y.tocsr().data if is_sparse else y
    if values.dtype.kind != "f" or not np.isnan(values).any():
        return float(accuracy_score(y, predicted, sample_weight=weights))
    y, predicted = _dense(y), _dense(predicted)
    missing = np.isnan(y)
    right = ((y == predicted) | missing).all(axis=1)
    counted = ~missing.all(axis=1)
    if not counted.any():
        return _undefined("accuracy", "no output is observed")
    return float(np.average(right[counted], weights=None if weights is None else np.asarray(weights)[counted]))


def r2(y: NDArray[Any], predicted: NDArray[Any], weights: Any = None) -> float:
    """Return the mean R² over outputs, each over the samples where it is observed.

    Outputs that are observed once or never do not count, as in `rpo.metrics.r2`: a single value has no variance.
    """
    if not np.isnan(y).any():
        return float(r2_score(y, predicted, sample_weight=weights))
    y, predicted = _dense(y), _dense(predicted)
    of_outputs = []
    for j in range(y.shape[1]):
        observed = ~np.isnan(y[:, j])
        if observed.sum() < 2:
            continue
        of_samples = None if weights is None else np.asarray(weights)[observed]
        of_outputs.append(r2_score(y[observed, j], predicted[observed, j], sample_weight=of_samples))
    return float(np.mean(of_outputs)) if of_outputs else _undefined("R²", "no output is observed more than once")


def _undefined(what: str, why: str) -> float:
    warnings.warn(f"{what} is undefined, because {why}", UndefinedMetricWarning, stacklevel=4)
    return float("nan")


def _dense(y: Any) -> NDArray[Any]:
    """Return outputs as a dense matrix with one column per output."""
    array = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    return array.reshape(-1, 1) if array.ndim == 1 else array
