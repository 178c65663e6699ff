"""Numbers that single precision, in which methods compute, cannot represent or tell apart."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._frames import numbers_of_column

_FAR = 1000.0
"""Distance from 0, in standard deviations, from which on equal numbers are warned of.

Nearer to 0, rounding errors are less than a ten-thousandth of the standard deviation, and of many samples of any
quantity some are equal by chance.
"""

_MOST = float(np.finfo(np.float32).max)
"""The largest number of single precision."""

_BLOCK = 1 << 20
"""Number of entries that are examined at once."""


_EXACT = float(1 << 24)
"""The largest number up to which every whole number is one of single precision."""

_NARROW = 1e-4
"""The range of a feature, as a fraction of its largest magnitude, below which rounding may lose differences."""


class PrecisionWarning(UserWarning):
    """Different numbers of a column are equal in single precision, so that the model does not tell them apart."""


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


def check_features(
    given: Any, values: Any, names: Sequence[str] | None, categories: Collection[int], *, stacklevel: int
) -> None:
    """Warn once if features have different numbers that are equal in single precision, where these matter.

    They do among whole numbers beyond 2^24, such as identifiers and times, and among numbers that are close to each
    other and far from 0; of many other numbers some are equal by chance. Sparse features are left out, as their numbers
    are beside zeros.

    Parameters
    ----------
    given : array or table of shape (n_samples, n_features)
        Features as they were given.
    values : array of float32 or sparse matrix
        The same features as they are used.
    names : sequence of str or None
        The names of the features.
    categories : collection of int
        The columns that are categories, whose numbers are positions.
    stacklevel : int
        As for `warnings.warn`, counted from the caller.
    """
    dtype = getattr(given, "dtype", None)
    if sp.issparse(values) or len(values) == 0 or (dtype is not None and np.can_cast(dtype, np.float32)):
        return
    # Unlike the numbers as they were given, these are one array; nearly all columns are ruled out by it.
    largest = np.fmax.reduce(values, axis=0).astype(np.float64)
    least = np.fmin.reduce(values, axis=0).astype(np.float64)
    magnitudes = np.maximum(np.abs(largest), np.abs(least))
    are_narrow = (largest - least < _NARROW * magnitudes) & (magnitudes > 0.0)
    found = []
    for j in np.flatnonzero(are_narrow | (magnitudes > _EXACT)).tolist():
        if j in categories:
            continue
        numbers = numbers_of_column(given, j)
        numbers = numbers[np.isfinite(numbers)]
        is_lost = are_narrow[j] or bool((numbers == np.trunc(numbers)).all())
        if is_lost and (pair := _equal_pair(numbers)) is not None:
            found.append((j, pair))
    if not found:
        return
    j, (low, high) = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    warnings.warn(
        f"feature {_name(j, names)}{more} has numbers that are equal in single precision, such as {low!r} and "
        f"{high!r}; subtract a constant, such as the smallest number, or make identifiers a category or leave them out",
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


def _name(j: int, names: Sequence[str] | None) -> str:
    return str(j) if names is None else repr(names[j])
