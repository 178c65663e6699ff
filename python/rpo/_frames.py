"""Tables of pandas, polars and Arrow as features: numbers, and categories as positions in a list of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Frame(NamedTuple):
    """The columns of a table."""

    values: NDArray[np.float32]
    """The numbers, NaN where missing; categories are positions in their lists."""
    names: list[str]
    """The names of the columns."""
    nominal: dict[int, list[str]]
    """The values of the columns that are categories."""


def is_frame(x: Any) -> bool:
    """Return true for a table of pandas, polars or Arrow."""
    return library(x) is not None


def library(x: Any) -> str | None:
    """Return the library that a table belongs to, if it is one."""
    for name, type_name in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table")):
        is_it = any(
            base.__name__ == type_name and base.__module__.split(".", maxsplit=1)[0] == name for base in type(x).__mro__
        )
        if is_it:
            return name
    return None


def column_names(x: Any) -> list[str]:
    """Return the names of a table's columns."""
    return [str(name) for name in (x.column_names if library(x) == "pyarrow" else x.columns)]


def read_frame(x: Any, nominal: dict[int, list[str]] | None = None) -> Frame:
    """Return the columns of a table.

    Parameters
    ----------
    x : DataFrame or Table
        A table of pandas, polars or Arrow.
    nominal : dict, optional
        The values of categories in training: theirs are the positions. By default those that the table declares.

    Raises
    ------
    ValueError
        For columns that are neither numbers nor categories, and categories that training did not have.
    """
    names = column_names(x)
    kind = library(x)
    values = np.empty((x.shape[0], len(names)), np.float32)
    found: dict[int, list[str]] = {}
    for j, name in enumerate(names):
        codes, categories = _READERS[kind](x, j)
        if categories is None:
            if codes.dtype.kind not in "biuf":
                raise ValueError(
                    f"column {name!r} holds {codes.dtype}, neither numbers nor categories; "
                    "make it a category, or encode it"
                )
            values[:, j] = codes
            continue
        expected = categories if nominal is None else nominal.get(j)
        if expected is None:
            raise ValueError(f"column {name!r} is a category; it was a number in training")
        positions = _positions(name, categories, expected, codes)
        values[:, j] = np.where(codes < 0, np.nan, positions[codes])
        found[j] = expected
    if nominal is not None and (numbers := set(nominal) - set(found)):
        raise ValueError(f"column {names[min(numbers)]!r} is a number; it was a category in training")
    return Frame(values, names, found)


def _positions(
    name: str, categories: Sequence[str], expected: Sequence[str], codes: NDArray[Any]
) -> NDArray[np.float32]:
    """Return the position of each category among the expected ones."""
    position = {value: i for i, value in enumerate(expected)}
    for code in np.unique(codes[codes >= 0]):
        if categories[code] not in position:
            row = int(np.flatnonzero(codes == code)[0])
            raise ValueError(
                f"row {row} has the value {categories[code]!r} of column {name!r}, which training did not have"
            )
    # The last stands for a missing value and is not used.
    return np.array([*(position.get(value, np.nan) for value in categories), np.nan], np.float32)


def _of_pandas(x: Any, j: int) -> tuple[NDArray[Any], list[str] | None]:
    column = x.iloc[:, j]
    if hasattr(column, "cat"):
        return np.asarray(column.cat.codes, np.int64), [str(value) for value in column.cat.categories]
    if column.dtype.kind in "biuf" and not isinstance(column.dtype, np.dtype):
        return column.to_numpy(np.float32, na_value=np.nan), None
    return np.asarray(column), None


def _of_polars(x: Any, j: int) -> tuple[NDArray[Any], list[str] | None]:
    column = x.to_series(j)
    kind = type(column.dtype).__name__
    if kind == "Enum":
        categories = [str(value) for value in column.dtype.categories]
    elif kind == "Categorical":
        categories = sorted(str(value) for value in column.drop_nulls().unique().to_list())
    else:
        is_number = column.dtype.is_numeric() or kind == "Boolean"
        values = [np.nan if value is None else value for value in column.to_list()] if column.null_count() else column
        return np.asarray(values, np.float32 if is_number and column.null_count() else None), None
    position = {value: i for i, value in enumerate(categories)} | {None: -1}
    return np.array([position[value] for value in column.to_list()], np.int64), categories


def _of_arrow(x: Any, j: int) -> tuple[NDArray[Any], list[str] | None]:
    column = x.column(j).combine_chunks()
    if hasattr(column, "chunks"):
        column = column.chunk(0) if column.num_chunks else column
    if hasattr(column, "dictionary"):
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return codes.astype(np.int64), [str(value) for value in column.dictionary.to_pylist()]
    numbers = column.to_numpy(zero_copy_only=False)
    # A boolean column with missing values is an array of objects.
    if numbers.dtype.kind == "O" and str(column.type) == "bool":
        numbers = np.array([np.nan if value is None else value for value in numbers], np.float32)
    return numbers, None


_READERS: dict[str | None, Any] = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow}
