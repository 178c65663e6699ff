"""Numbers that single precision, in which methods compute, cannot represent or tell apart."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ._frames import is_frame, numbers_of_column
from ._matrix import check_real
from ._single import check_single

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
    """Different numbers are equal in single precision, or 0, so that the model does not tell them apart."""


def check_precision(y: Any, names: list[str] | None, *, stacklevel: int) -> None:
    """Refuse numbers beyond single precision, and warn if an output has different numbers that are equal in it, or 0.

    Of sparse outputs only those that are 0 are warned of: beside zeros, rounding errors are small.

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
    if sp.issparse(y):
        _warn_of_zeros("output", y, y, names, stacklevel=stacklevel + 1)
        return
    if y.size == 0 or y.dtype.kind not in "iuf" or np.can_cast(y.dtype, np.float32):
        return
    columns = y.reshape(len(y), -1)
    found = [(j, pair) for j in _far_from_zero(columns, names) if (pair := _equal_pair(columns[:, j])) is not None]
    _warn_of_zeros("output", columns, columns.astype(np.float32), names, stacklevel=stacklevel + 1)
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
    """Warn if features have numbers that are 0 in single precision, or different ones that are equal, where it matters.

    Equal ones matter among whole numbers beyond 2^24, such as identifiers and times, and among numbers that are close
    to each other and far from 0; of many other numbers some are equal by chance. Of sparse features only those that are
    0 are warned of.

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
    _warn_of_zeros("feature", given, values, names, categories, stacklevel=stacklevel + 1)
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


def weights_in_single(weights: Any, name: str, *, stacklevel: int) -> NDArray[np.float32]:
    """Return weights in single precision; warn of positive ones that become 0, as samples of weight 0 are left out.

    Parameters
    ----------
    weights : array of shape (n_samples,) or (n_samples, n_outputs)
        Weights of the samples, or of each output of each sample.
    name : str
        The name of the argument.
    stacklevel : int
        As for `warnings.warn`, counted from the caller.

    Raises
    ------
    ValueError
        For a weight that is too large, or if all positive weights become 0.
    """
    given = np.asarray(weights)
    check_real(given, name)
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(given, np.float32)
    check_single(given, single, name)
    lost = _is_lost(given)
    if lost.any():
        message = (
            f"{name} has numbers that are 0 in single precision, such as {given[lost][0]}; multiply all weights by a "
            "constant"
        )
        if not (single > 0).any():
            raise ValueError(message)
        warnings.warn(message, PrecisionWarning, stacklevel=stacklevel + 1)
    return single


def _warn_of_zeros(
    kind: str,
    given: Any,
    values: Any,
    names: Sequence[str] | None,
    categories: Collection[int] = (),
    *,
    stacklevel: int,
) -> None:
    """Warn once of numbers other than 0 that are 0 in single precision."""
    found = list(_zeros(given, values, categories))
    if not found:
        return
    j, number = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    warnings.warn(
        f"{kind} {_name(j, names)}{more} has numbers that are 0 in single precision, such as {number!r}; multiply "
        "them by a constant before the fit",
        PrecisionWarning,
        stacklevel=stacklevel + 1,
    )


def _zeros(given: Any, values: Any, categories: Collection[int]) -> Iterator[tuple[int, float]]:
    """Yield the columns with numbers other than 0 that are 0 in single precision, and the first such number of each."""
    if hasattr(given, "tocsr"):
        matrix = given.tocsr()
        lost = _is_lost(matrix.data)
        columns, first = np.unique(matrix.indices[lost], return_index=True)
        yield from zip(columns.tolist(), matrix.data[lost][first].tolist(), strict=True)
        return
    if not is_frame(given):
        given = np.asarray(given)
        # Counts, which take little time, tell whether there is such a number at all.
        if np.can_cast(given.dtype, np.float32) or np.count_nonzero(given) == np.count_nonzero(values):
            return
    # Columns that a frame stores sparsely are a sparse matrix by now, with zeros nearly everywhere.
    has_zero = np.ones(values.shape[1], bool) if hasattr(values, "tocsr") else (values == 0).any(axis=0)
    for j in np.flatnonzero(has_zero).tolist():
        if j in categories:
            continue
        column = numbers_of_column(given, j)
        lost = _is_lost(column)
        if lost.any():
            yield j, column[lost][0].item()


def _is_lost(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the numbers other than 0 that are 0 in single precision."""
    if numbers.dtype.kind != "f":
        return np.zeros(numbers.shape, bool)
    with np.errstate(over="ignore"):
        is_lost: NDArray[np.bool_] = (numbers != 0) & (numbers.astype(np.float32) == 0)
    return is_lost


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
