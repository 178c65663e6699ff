"""Converts matrices of numpy and scipy to the form that the extension module borrows, and back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite

from ._categories import is_date, is_missing
from ._frames import check_in_memory
from ._single import check_single, place_of_first
from ._types import Borrowed, CsrArrays


def borrow(matrix: Any, name: str) -> Borrowed:
    """Return a matrix in the form of the extension module, without a copy if it is float32 and C-ordered or CSR.

    Read-only arrays are borrowed like others; misaligned ones are copied.

    Raises
    ------
    ValueError
        For an array that is not a matrix of numbers, with the name of the argument.
    """
    if sp.issparse(matrix):
        return _borrow_csr(matrix, name)
    return dense(matrix, name)


def dense(matrix: Any, name: str, dtype: Any = np.float32) -> NDArray[Any]:
    """Return a dense matrix as a C-ordered array; refuse sparse ones."""
    if sp.issparse(matrix):
        raise ValueError(f"{name} must be dense here, with a value for every output")
    check_in_memory(matrix)
    check_real(matrix, name)
    try:
        given = np.asarray(matrix)
        with np.errstate(over="ignore"):
            array: NDArray[Any] = np.require(given, dtype, ["C", "A"])
    except (TypeError, ValueError) as error:
        check_no_times(matrix, name)
        raise ValueError(f"{name} must be numbers: {error}") from error
    if array.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, got {array.ndim}")
    check_single(given, array, name)
    return array


def check_real(matrix: Any, name: str) -> None:
    """Refuse complex numbers and times, which would silently become other numbers."""
    dtype = getattr(matrix, "dtype", None)
    kind = getattr(dtype, "kind", "")
    if kind == "c":
        raise ValueError(f"Complex data not supported: {name} has {dtype}")
    if kind in {"m", "M"}:
        raise ValueError(f"{name} must be numbers, got {dtype}")


def check_no_times(values: Any, name: str) -> None:
    """Refuse objects that are dates, times or spans of time, such as those of pandas with a time zone, and periods."""
    if getattr(getattr(values, "dtype", None), "kind", "") != "O":
        return
    for value in values.flat:
        is_time = is_date(value) or isinstance(value, timedelta | np.datetime64 | np.timedelta64)
        if is_time and not is_missing(value):
            raise ValueError(f"{name} must be numbers, got {type(value).__name__} ({value})")


def check_finite(matrix: Any, name: str, columns: Sequence[str] | None, *, allow_nan: bool = True) -> None:
    """Refuse infinite numbers and, unless they are allowed, missing ones.

    Parameters
    ----------
    matrix : array, CSR matrix or its arrays
        Numbers, one- or two-dimensional.
    name : str
        The name of the argument.
    columns : sequence of str or None
        The names of the columns, if they have any.
    allow_nan : bool, default=True
        Allows missing numbers.

    Raises
    ------
    ValueError
        With the message of scikit-learn, and the row and the column of the first such number.
    """
    given: Any = (matrix.data, matrix.indices, matrix.indptr) if hasattr(matrix, "indptr") else matrix
    values = given[0] if isinstance(given, tuple) else given
    try:
        assert_all_finite(values, allow_nan=allow_nan, input_name=name)
    except ValueError as error:
        row, *column = place_of_first(given, np.isinf(values) if allow_nan else ~np.isfinite(values))
        named = [repr(columns[j]) if columns is not None else str(j) for j in column]
        raise ValueError(f"{error} The first is in {', column '.join([f'row {row}', *named])}.") from None


def _borrow_csr(matrix: Any, name: str) -> Borrowed:
    if matrix.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, got {matrix.ndim}")
    matrix = matrix.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    n_rows, n_columns = matrix.shape
    if n_columns > np.iinfo(np.uint32).max:
        raise ValueError(f"a matrix has {n_columns} columns; at most {np.iinfo(np.uint32).max} are possible")
    with np.errstate(over="ignore"):
        values = np.require(matrix.data, np.float32, ["C", "A"])
    columns, starts = _unsigned(matrix.indices, np.uint32), _unsigned(matrix.indptr, np.uintp)
    borrowed = (values, columns, starts, (n_rows, n_columns))
    check_single(matrix, borrowed, name)
    return borrowed


def _unsigned(numbers: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return nonnegative numbers as unsigned ones, in the same memory if the sizes are equal."""
    if numbers.dtype.itemsize == np.dtype(dtype).itemsize:
        return np.require(numbers, requirements=["C", "A"]).view(dtype)
    return np.require(numbers, dtype, ["C", "A"])


def csr(arrays: CsrArrays, shape: tuple[int, int]) -> sp.csr_array[Any]:
    """Return a matrix of the extension module as a scipy matrix, without a copy."""
    values, columns, starts = arrays
    indptr = starts.view(np.intp)
    if columns.size <= np.iinfo(np.int32).max:
        return sp.csr_array((values, columns.view(np.int32), indptr.astype(np.int32)), shape=shape)
    return sp.csr_array((values, columns.astype(np.int64), indptr), shape=shape)


def handed(matrix: NDArray[np.float32] | CsrArrays, shape: tuple[int, int]) -> Any:
    """Return a matrix of the extension module, dense or CSR."""
    return csr(matrix, shape) if isinstance(matrix, tuple) else matrix
