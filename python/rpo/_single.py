"""Numbers as they are in single precision, and as they were given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_single(given: Any, single: Any, name: str) -> None:
    """Refuse finite numbers that are infinite in single precision.

    Parameters
    ----------
    given, single : arrays, or a CSR matrix and its arrays
        The numbers as they were given, and in single precision.
    name : str
        The name of the argument.

    Raises
    ------
    ValueError
        With the first such number and its place.
    """
    numbers, cast = (given.data, single[0]) if isinstance(single, tuple) else (given, single)
    if np.can_cast(numbers.dtype, cast.dtype) or not (infinite := np.isinf(cast)).any():
        return
    infinite[infinite] = np.isfinite(numbers[infinite].astype(np.float64))
    if infinite.any():
        row, *column = place_of_first(single, infinite)
        of_column = "".join(f", column {j}" for j in column)
        raise ValueError(f"{name} has {numbers[infinite][0]} in row {row}{of_column}, too large for single precision")


def place_of_first(matrix: Any, entries: NDArray[np.bool_]) -> list[int]:
    """Return the row, and the column if there are two dimensions, of the first true entry."""
    first = int(np.flatnonzero(entries)[0])
    if isinstance(matrix, tuple):
        _, indices, indptr, *_ = matrix
        return [int(np.searchsorted(indptr, first, side="right")) - 1, int(indices[first])]
    return [int(i) for i in np.unravel_index(first, matrix.shape)]
