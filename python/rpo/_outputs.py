"""Reads outputs from arrays, sparse matrices and tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ._frames import column_names, is_frame, is_series_of_pandas, library, outputs_of_pandas


def output_names(y: Any) -> list[str] | None:
    """Return the names of the columns of y, if it has any."""
    if is_frame(y):
        return column_names(y)
    name = getattr(y, "name", None)
    return [name] if isinstance(name, str) and name and hasattr(y, "dtype") else None


def outputs_as_array(y: Any) -> Any:
    """Return y as an array or a sparse matrix of one or two dimensions."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    y = _as_array(y)
    if y.ndim == 2 and y.shape[1] == 0:
        raise ValueError(f"y has no columns, but the shape {y.shape}; a model needs at least one output")
    return y


def _as_array(y: Any) -> Any:
    if sp.issparse(y):
        return y
    if library(y) == "pandas":
        return outputs_of_pandas(y)
    if is_series_of_pandas(y):
        return outputs_of_pandas(y.to_frame())[:, 0]
    sets = "y is a list of lists or sets, not a matrix; convert lists of labels with scikit-learn's MultiLabelBinarizer"
    try:
        y = np.asarray(y)
    except ValueError as error:
        raise ValueError(sets) from error
    if y.ndim == 1 and y.dtype.kind == "O" and any(isinstance(value, list | tuple | set | frozenset) for value in y):
        raise ValueError(sets)
    if y.ndim not in (1, 2):
        raise ValueError(f"y must have one or two dimensions, got {y.ndim}")
    return y
