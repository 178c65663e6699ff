"""Reads outputs from arrays, sparse matrices and tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._categories import is_missing, numbers_of
from ._frames import are_numbered, column_names, is_frame, is_nested, is_readable_series, outputs_of
from ._matrix import check_finite


def output_names(y: Any) -> list[str] | None:
    """Return the names of the columns of y, if it has any; a single column that pandas numbers by default has none."""
    if is_frame(y):
        names = column_names(y)
        return None if len(names) == 1 and are_numbered(y) else names
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
        return _canonical(y)
    if (table := of_table(y)) is not None:
        _check_cells(table, column_names(y) if is_frame(y) else None)
        return _without_none(table)
    if is_nested(getattr(y, "dtype", None)):
        raise ValueError(_lists(None))
    try:
        y = np.asarray(y)
    except ValueError as error:
        raise ValueError(_lists(None)) from error
    _check_cells(y, None)
    if y.ndim not in (1, 2):
        raise ValueError(f"y must have one or two dimensions, got {y.ndim}")
    return _without_none(y)


def _check_cells(y: NDArray[Any], names: list[str] | None) -> None:
    """Refuse lists, sets and arrays where a value is expected."""
    if y.dtype.kind != "O":
        return
    places = np.argwhere(np.frompyfunc(_is_collection, 1, 1)(y).astype(bool))
    if len(places):
        raise ValueError(_lists(None if names is None else names[places[0, 1]]))


def _is_collection(value: Any) -> bool:
    return isinstance(value, list | tuple | set | frozenset | np.ndarray)


def _lists(column: str | None) -> str:
    what = "y is a list of lists or sets, not a matrix" if column is None else f"column {column!r} of y holds lists"
    return (
        f"{what}; convert lists of labels with scikit-learn's MultiLabelBinarizer, and lists of numbers to a matrix "
        "with one column for each number"
    )


def _canonical(y: Any) -> Any:
    """Return a sparse matrix with one entry for each number: callers compare the entries."""
    # Not all formats hold their numbers in an array.
    matrix = y if y.format in ("csr", "csc") else y.tocsr()
    if matrix.has_canonical_format:
        return matrix
    matrix = matrix.copy() if matrix is y else matrix
    matrix.sum_duplicates()
    return matrix


def check_outputs(y: Any, name: str, names: list[str] | None, advice: str | None) -> None:
    """Refuse infinite outputs and, with advice on what helps, missing ones; they are allowed without advice.

    Raises
    ------
    ValueError
        With the place of the first.
    """
    try:
        check_finite(y, name, names, allow_nan=advice is None)
    except ValueError as error:
        if not str(error).startswith(f"Input {name} contains NaN"):
            raise
        raise ValueError(f"{error} Outputs are missing: {advice}") from None


def as_columns(y: Any) -> Any:
    """Return outputs as a matrix; a vector is one column."""
    return y.reshape(-1, 1) if y.ndim == 1 else y


def of_table(values: Any) -> NDArray[Any] | None:
    """Return a table, or a column of pandas or of numbers of polars, as an array; None for other objects."""
    if is_frame(values):
        return outputs_of(values)
    return outputs_of(values.to_frame())[:, 0] if is_readable_series(values) else None


def _without_none(y: NDArray[Any]) -> NDArray[Any]:
    """Return objects as numbers, NaN where missing, if all that are not missing are numbers and some are missing."""
    if y.dtype.kind != "O" or not any(is_missing(value) for value in y.flat):
        return y
    numbers = numbers_of(y.ravel(), np.float64)
    return y if numbers is None else numbers.reshape(y.shape)
