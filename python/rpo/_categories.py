"""Features that are categories: their selection, and their values as positions in a list."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FROM_DTYPE = "from_dtype"
"""Selects the columns that a table declares as categories."""


class Categories(NamedTuple):
    """A column of categories."""

    codes: NDArray[Any]
    """The position of each sample's value; -1 if missing."""
    values: list[str]
    """The values."""

    def positions(self, column: str, expected: list[str]) -> NDArray[np.float32]:
        """Return the positions of the values in the list of training; NaN where missing.

        Values that the list lacks count as missing, with a warning.
        """
        position = {value: float(i) for i, value in enumerate(expected)}
        # The last entry is that of a missing value.
        positions = np.array([*(position.get(value, np.nan) for value in self.values), np.nan], np.float32)
        found: NDArray[np.float32] = positions[self.codes]
        unseen = np.isnan(found) & (self.codes >= 0)
        if unseen.any():
            row = int(np.flatnonzero(unseen)[0])
            warnings.warn(
                f"row {row} has the value {self.values[self.codes[row]]!r} of column {column}, which did not occur in "
                f"training; {int(unseen.sum())} such values count as missing",
                UserWarning,
                stacklevel=2,
            )
        return found


def categories_of(column: NDArray[Any], name: str) -> Categories:
    """Return the values of a column of numbers or words as categories, in increasing order."""
    if column.dtype.kind in "biuf":
        numbers = column.astype(np.float32)
        observed = ~np.isnan(numbers)
        values, codes = np.unique(numbers[observed], return_inverse=True)
        words = [_word(number) for number in values]
    else:
        observed = np.array([not is_missing(value) for value in column], bool)
        present = column[observed]
        texts = np.array([str(value) for value in present], object)
        found, first, codes = np.unique(texts, return_index=True, return_inverse=True)
        words = list(found)
        for value, other in zip(present, present[first][codes], strict=True):
            if value != other:
                raise ValueError(_equal_texts(name, other, value))
    all_codes = np.full(len(column), -1)
    all_codes[observed] = codes
    return Categories(all_codes, words)


def texts_of(values: Iterable[Any], name: str) -> list[str]:
    """Return declared categories as texts, which are what a model stores.

    Raises
    ------
    ValueError
        For different values that are the same as text, such as 1 and "1".
    """
    by_text: dict[str, Any] = {}
    texts = []
    for value in values:
        text = str(value)
        other = by_text.setdefault(text, value)
        if value != other:
            raise ValueError(_equal_texts(name, other, value))
        texts.append(text)
    return texts


def _equal_texts(name: str, value: Any, other: Any) -> str:
    return (
        f"column {name} has the categories {value!r} and {other!r}, which are one as text; "
        "rename one of them, or give both the same type"
    )


def chosen(given: Any, n_features: int, names: NDArray[Any] | None) -> NDArray[np.bool_] | None:
    """Return a mask of the categories, given as in scikit-learn's histogram boosting; None for "from_dtype".

    Raises
    ------
    ValueError
        For features that do not exist.
    """
    if isinstance(given, str):
        if given == FROM_DTYPE:
            return None
        raise ValueError(
            f"categorical_features must be {FROM_DTYPE!r}, None, or a list of indices, names or booleans, got {given!r}"
        )
    mask = np.zeros(n_features, bool)
    if given is None or len(given) == 0:
        return mask
    entries = np.asarray(given)
    if entries.ndim != 1 or entries.dtype.kind not in "biuUOT":
        raise ValueError(f"categorical_features must be a list of indices, names or booleans, got {given!r}")
    if entries.dtype.kind == "b":
        if len(entries) != n_features:
            raise ValueError(f"categorical_features has {len(entries)} booleans for {n_features} features")
        return entries
    if entries.dtype.kind in "iu":
        if (outside := (entries < 0) | (entries >= n_features)).any():
            raise ValueError(f"categorical_features has {entries[outside][0]}; there are {n_features} features")
        mask[entries] = True
        return mask
    if names is None:
        raise ValueError("categorical_features has names, but the features have none")
    place = {name: j for j, name in enumerate(names)}
    for name in entries:
        if name not in place:
            raise ValueError(f"categorical_features has {str(name)!r}, which is not a feature")
        mask[place[name]] = True
    return mask


def are_numbers(values: list[str]) -> bool:
    """Return true if all values are numbers, as in a selected column of numbers."""
    try:
        np.array(values, np.float32)
    except ValueError:
        return False
    return True


def numbers_of(column: NDArray[Any]) -> NDArray[Any] | None:
    """Return a column of numbers or Python objects as numbers, NaN where missing; None if a value is not a number."""
    if column.dtype.kind in "biuf":
        return column
    if column.dtype.kind != "O":
        return None
    missing = [is_missing(value) for value in column]
    pairs = list(zip(column, missing, strict=True))
    if not all(absent or isinstance(value, (Real, Decimal, np.bool_)) for value, absent in pairs):
        return None
    return np.array([np.nan if absent else value for value, absent in pairs], np.float32)


def _word(number: np.float32) -> str:
    return str(int(number)) if number.is_integer() else str(number)


def is_missing(value: Any) -> bool:
    """Return true if a value in a column of objects is missing."""
    return value is None or (not isinstance(value, str) and str(value) in {"nan", "<NA>", "NaT"})
