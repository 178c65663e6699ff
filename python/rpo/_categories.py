"""Features that are categories: their selection, and their values as positions in a list."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from datetime import date
from decimal import Decimal
from numbers import Integral, Real
from reprlib import repr as shortened
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

UNSEEN = "which did not occur in training"
"""What is wrong with a category that the model does not know."""

FROM_DTYPE = "from_dtype"
"""Selects the columns that a table declares as categories."""


class Categories(NamedTuple):
    """A column of categories."""

    codes: NDArray[Any]
    """The position of each sample's value; -1 if missing."""
    values: list[str]
    """The values."""
    of_numbers: list[bool]
    """True for values that are numbers or truth values, not words."""

    def positions(self, column: str, expected: list[str], *, refuse: bool = False) -> NDArray[np.float32]:
        """Return the positions of the values in the list of training; NaN where missing.

        Values that the list lacks count as missing, with a warning.

        Raises
        ------
        ValueError
            For such values, if they are refused.
        """
        # The last entry is that of a missing value.
        positions = np.array([*self._places(expected), np.nan], np.float32)
        found: NDArray[np.float32] = positions[self.codes]
        unseen = np.isnan(found) & (self.codes >= 0)
        if unseen.any():
            row = int(np.flatnonzero(unseen)[0])
            problem = f"row {row} has the value {self.values[self.codes[row]]!r} of column {column}, {UNSEEN}"
            if refuse:
                raise ValueError(f"{problem}.")
            message = f"{problem}; {int(unseen.sum())} such values count as missing"
            warnings.warn(message, UserWarning, stacklevel=2)
        return found

    def _places(self, expected: list[str]) -> list[float]:
        """Return for each value its place among those of training, or NaN.

        A number that is written in another way there, such as 1.0 in a file, or true for 1, is the same. A word is the
        same only if it is written the same, as 1.10 and 1.1 may be versions.
        """
        place = {value: float(i) for i, value in enumerate(expected)}
        found = [place.get(value, np.nan) for value in self.values]
        numbers = {
            i: number
            for i, value in enumerate(self.values)
            if self.of_numbers[i] and value not in place and (number := _number(value)) is not None
        }
        if numbers:
            of_number = {_number(value): i for value, i in reversed(place.items())}
            for i, number in numbers.items():
                found[i] = of_number.get(number, np.nan)
        return found


def categories_of(column: NDArray[Any], name: str) -> Categories:
    """Return the values of a column of numbers or words as categories: numbers in increasing order, words by text.

    Raises
    ------
    ValueError
        For lists, arrays and the like, and for different values that are the same as text, such as 1 and "1".
    """
    observed = observed_in(column)
    present = column[observed]
    for row, value in enumerate(column if column.dtype.kind == "O" else ()):
        if isinstance(value, list | set | dict | np.ndarray):
            raise ValueError(
                f"column {name} has {shortened(value)} in row {row}; a category is a number, a text or another single "
                f"value, not an object of {type(value).__name__}"
            )
    if column.dtype.kind in "biuf" or all(_is_number(value) for value in present):
        values, codes = np.unique(present, return_inverse=True)
        words = [text_of(value) for value in values]
    else:
        texts = np.array([text_of(value) for value in present], object)
        found, first, codes = np.unique(texts, return_index=True, return_inverse=True)
        values, words = present[first], list(found)
        for value, other in zip(present, values[codes], strict=True):
            if value != other:
                raise ValueError(_equal_texts(name, other, value))
    all_codes = np.full(len(column), -1)
    all_codes[observed] = codes
    return Categories(all_codes, words, [not isinstance(value, str) for value in values])


def declared_categories(codes: NDArray[Any], values: Sequence[Any], name: str) -> Categories:
    """Return a column whose table lists its categories; a category that is a missing value is missing.

    Raises
    ------
    ValueError
        For different values that are the same as text, such as 1 and "1".
    """
    by_text: dict[str, Any] = {}
    places = []
    for value in values:
        if is_missing(value):
            places.append(-1)
            continue
        text = text_of(value)
        places.append(len(by_text))
        other = by_text.setdefault(text, value)
        if value != other:
            raise ValueError(_equal_texts(name, other, value))
    # The last place is that of a missing value.
    codes = np.array([*places, -1], np.int64)[codes]
    return Categories(codes, list(by_text), [not isinstance(value, str) for value in by_text.values()])


def text_of(value: Any) -> str:
    """Return a category as text, which is what a model stores: the same for equal numbers, 1 and 1.0 alike.

    So it is for equal dates, whatever their type and unit: as in a CSV file, without the time if that is midnight.
    """
    if isinstance(value, (np.datetime64, date)):
        return _text_of_date(value)
    if not _is_number(value):
        return str(value)
    if isinstance(value, Integral) or (np.isfinite(float(value)) and value == int(value)):
        return str(int(value))
    return str(value.normalize() if isinstance(value, Decimal) else value)


def is_date(value: Any) -> bool:
    """Return true for dates and times, and for periods of pandas, which are none of the types of Python."""
    return isinstance(value, date) or type(value).__name__ == "Period"


def _text_of_date(value: np.datetime64 | date) -> str:
    """Return a date, with its time unless that is midnight, and with fractions of seconds only if there are some."""
    if isinstance(value, np.datetime64):
        # Months and hours are points of time too.
        coarse = np.datetime_data(value.dtype)[0] in ("Y", "M", "W", "D", "h", "m")
        text = str(value.astype("datetime64[s]") if coarse else value).replace("T", " ")
    else:
        text = str(value)
    if "." in text and getattr(value, "tzinfo", None) is None:
        text = text.rstrip("0").removesuffix(".")
    return text.removesuffix(" 00:00:00")


def _is_number(value: Any) -> bool:
    """Return true for a number; neither truth values are, nor spans of time, which numpy calls whole numbers."""
    return isinstance(value, (Real, Decimal)) and not isinstance(value, (bool, np.bool_, np.timedelta64))


def _number(text: str) -> float | None:
    """Return the number that a text stands for: exact if it is whole, otherwise in single precision; None for words."""
    if text in ("True", "False"):
        return int(text == "True")
    try:
        number = Decimal(text)
        if not np.isfinite(float(number)):
            return None
    except (ArithmeticError, ValueError):
        return None
    return int(number) if number == int(number) else float(np.float32(number))


def has_numbers(values: list[str]) -> bool:
    """Return true if there is a number among the values."""
    return any(_number(value) is not None for value in values)


def are_numbers(values: list[str]) -> bool:
    """Return true if all values are numbers, of which an array can have those of a category."""
    return all(_number(value) is not None for value in values)


def _equal_texts(name: str, value: Any, other: Any) -> str:
    return (
        f"column {name} has the categories {value!r} and {other!r}, which are one as text; "
        "rename one of them, or give both the same type"
    )


def chosen(given: Any, n_features: int, names: NDArray[Any] | None) -> NDArray[np.bool_] | None:
    """Return a mask of the categories, given as in scikit-learn's histogram boosting; None for "from_dtype".

    Raises
    ------
    TypeError
        For a single index.
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
    if given is not None and not hasattr(given, "__len__"):
        raise TypeError(
            f"categorical_features must be {FROM_DTYPE!r}, None, or a list of indices, names or booleans, got {given!r}"
        )
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


def numbers_of(column: NDArray[Any], dtype: Any = np.float32) -> NDArray[Any] | None:
    """Return a column of numbers or Python objects as numbers, NaN where missing; None if a value is not a number.

    Objects become numbers of this type.
    """
    if column.dtype.kind in "biuf":
        return column
    if column.dtype.kind != "O":
        return None
    missing = [is_missing(value) for value in column]
    pairs = list(zip(column, missing, strict=True))
    if not all(absent or isinstance(value, (Real, Decimal, np.bool_)) for value, absent in pairs):
        return None
    with np.errstate(over="ignore"):
        return np.array([np.nan if absent else value for value, absent in pairs], np.float64).astype(dtype)


def objects_of(x: Any) -> NDArray[Any] | None:
    """Return a matrix of objects or texts, as an array or as lists, as a matrix of objects; None for other features."""
    if isinstance(x, (list, tuple)):
        try:
            x = np.array(x, object)
        except ValueError:
            return None
    if not isinstance(x, np.ndarray) or x.ndim != 2 or x.dtype.kind not in "OUT":
        return None
    return x.astype(object, copy=False)


def has_words(column: NDArray[Any]) -> bool:
    """Return true if a column of objects has values that do not stand for numbers."""
    try:
        with np.errstate(over="ignore"):
            column.astype(np.float32)
    except (TypeError, ValueError):
        return True
    return False


def without_words(x: Any, columns: Collection[int]) -> NDArray[Any]:
    """Return a matrix of objects whose columns of words are zeros."""
    numbers = np.array(x, object)
    numbers[:, list(columns)] = 0.0
    return numbers


def observed_in(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the values that are not missing."""
    if column.dtype.kind in "biuf":
        observed: NDArray[np.bool_] = ~np.isnan(column)
        return observed
    return np.array([not is_missing(value) for value in column], bool)


def is_missing(value: Any) -> bool:
    """Return true if a value in a column of objects is missing."""
    return value is None or (not isinstance(value, str) and str(value) in {"nan", "<NA>", "NaT"})
