"""Numbers that single precision, in which methods compute, cannot represent or tell apart."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_FAR = 1000.0
"""Distance from 0, in standard deviations, from which on equal numbers are warned of.

Nearer to 0, rounding errors are less than a ten-thousandth of the standard deviation, and of many samples of any
quantity some are equal by chance.
"""

_MOST = float(np.finfo(np.float32).max)
"""The largest number of single precision."""

_BLOCK = 1 << 20
"""Number of entries that are examined at once."""


class PrecisionWarning(UserWarning):
    """Different numbers of an output are equal in single precision, so that the model does not tell them apart."""


def check_precision(y: Any, names: list[str] | None, *, stacklevel: int) -> None:
    """Refuse numbers beyond single precision, and warn once if an output has different numbers that are equal in it.

    Sparse outputs are left out: beside zeros, rounding errors are small.

    Parameters
    ----------
    y : array or sparse matrix of shape (n_samples,) or (n_samples, n_outputs)
        Numbers, NaN where missing.
    names : list of str or None
        The names of the outputs.
    stacklevel : int
        As for `warnings.warn`, counted from the caller.

    Raises
    ------
    ValueError
        For a number that is too large.
    """
    if sp.issparse(y) or y.size == 0 or y.dtype.kind not in "iuf" or np.can_cast(y.dtype, np.float32):
        return
    columns = y.reshape(len(y), -1)
    found = [(j, pair) for j in _far_from_zero(columns, names) if (pair := _equal_pair(columns[:, j])) is not None]
    if not found:
        return
    j, (low, high) = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    warnings.warn(
        f"output {_name(j, names)}{more} has numbers that are equal in single precision, such as {low!r} and {high!r}; "
        "subtract a constant, such as the mean, from y before the fit",
        PrecisionWarning,
        stacklevel=stacklevel + 1,
    )


def _far_from_zero(columns: NDArray[Any], names: list[str] | None) -> Iterator[int]:
    """Yield the outputs whose numbers are close to each other and far from 0; refuse those that are too large."""
    width = max(_BLOCK // len(columns), 1)
    for start in range(0, columns.shape[1], width):
        numbers = columns[:, start : start + width].astype(np.float64)
        observed = np.isfinite(numbers)
        numbers[~observed] = 0.0
        if max(numbers.max(), -numbers.min()) > _MOST:
            i, j = np.argwhere(np.abs(numbers) > _MOST)[0]
            name = _name(start + int(j), names)
            raise ValueError(f"output {name} of sample {i} is {numbers[i, j]}, too large for single precision")
        n_observed = observed.sum(axis=0).clip(1)
        squares = np.einsum("ij,ij->j", numbers, numbers) / n_observed
        variances = squares - (numbers.sum(axis=0) / n_observed) ** 2
        yield from (start + int(j) for j in np.flatnonzero(variances * _FAR**2 < squares))


def _equal_pair(column: NDArray[Any]) -> tuple[Any, Any] | None:
    """Return two numbers that are different, but equal in single precision, if there are any."""
    numbers = np.unique(column[np.isfinite(column)])
    single = numbers.astype(np.float32)
    equal = np.flatnonzero(single[1:] == single[:-1])
    return (numbers[equal[0]].item(), numbers[equal[0] + 1].item()) if len(equal) else None


def _name(j: int, names: list[str] | None) -> str:
    return str(j) if names is None else repr(names[j])
