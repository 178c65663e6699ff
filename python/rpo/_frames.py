"""Reads tables of pandas, polars and Arrow as features: numbers, and categories as positions in a list of values."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from numbers import Integral
from reprlib import repr as shortened
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._categories import categories_of, declared_categories, has_numbers, is_date, is_missing, numbers_of
from ._single import check_single

Nominal = dict[int, list[str]]
"""The values of categories by column."""


class Frame(NamedTuple):
    """The columns of a table."""

    values: NDArray[np.float32]
    """The numbers, NaN where missing; categories are positions in their lists."""
    names: list[str]
    """The names of the columns."""
    nominal: Nominal
    """The values of the columns that are categories."""


_TABLES = {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch")}
"""Tables by their libraries and types."""

_UNREAD = {
    ("polars", "LazyFrame"): "collect()",
    ("pyarrow", "Dataset"): "to_table()",
    ("pyarrow", "RecordBatchReader"): "read_all()",
    ("pyarrow", "Scanner"): "to_table()",
}
"""The methods that read a table, for types whose values are not in memory."""


def is_frame(x: Any) -> bool:
    """Return true for a table of pandas, polars or Arrow."""
    return library(x) is not None


def library(x: Any) -> str | None:
    """Return the library of a table, or None for other objects.

    Raises
    ------
    TypeError
        For a table whose values are not in memory, with the method that reads them.
    """
    for base in type(x).__mro__:
        name = (base.__module__.split(".", maxsplit=1)[0], base.__name__)
        if name in _TABLES:
            return name[0]
        if name in _UNREAD:
            raise TypeError(f"a {name[1]} of {name[0]} has no values yet; give what its {_UNREAD[name]} returns")
    return None


def is_nested(dtype: Any) -> bool:
    """Return true for the type of a column of polars that holds lists or arrays."""
    return type(dtype).__name__ in ("List", "Array") and type(dtype).__module__.split(".", maxsplit=1)[0] == "polars"


def is_readable_series(x: Any) -> bool:
    """Return true for a column of pandas, or one of numbers of polars, for some types of which numpy has none."""
    name, module = type(x).__name__, type(x).__module__.split(".", maxsplit=1)[0]
    return name == "Series" and (module == "pandas" or (module == "polars" and x.dtype.is_numeric()))


def check_in_memory(x: Any) -> None:
    """Refuse a table whose values are not in memory; see `library`."""
    library(x)


def without_batches(x: Any) -> Any:
    """Return a RecordBatch as a Table, whose names scikit-learn reads, and any other object as it is."""
    return _table_of(x) if library(x) == "pyarrow" and not hasattr(x, "to_batches") else x


def _table_of(batch: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - optional, and imported by whoever made the batch

    return pa.Table.from_batches([batch])


def column_names(x: Any) -> list[str]:
    """Return the names of a table's columns."""
    return [str(name) for name in (x.column_names if library(x) == "pyarrow" else x.columns)]


def numbers_of_column(x: Any, j: int) -> NDArray[Any]:
    """Return the numbers of a column as they are in a table or array: of any numeric type, NaN where missing."""
    kind = library(x)
    column = np.asarray(x)[:, j] if kind is None else _READERS[kind](without_batches(x), j, True)[0]
    return column if column.dtype.kind in "iuf" else column.astype(np.float64)


def are_numbered(x: Any) -> bool:
    """Return true if the columns of a table are numbered from 0, as pandas does without names."""
    names = list(x.columns) if library(x) == "pandas" else []
    return bool(names) and all(isinstance(name, Integral) for name in names) and names == list(range(len(names)))


def numbered(n: int) -> list[str]:
    """Return the names of columns that have none: their numbers."""
    return [str(j) for j in range(n)]


def check_order(names: list[str], expected: list[str]) -> None:
    """Refuse a table with the columns of training in another order.

    Raises
    ------
    ValueError
        With the first that differs.
    """
    if names != expected and sorted(names) == sorted(expected):
        j = next(j for j, name in enumerate(names) if name != expected[j])
        raise ValueError(
            f"X has the columns of training in another order: column {j} is {names[j]}, and was {expected[j]}; give "
            "them in the same order"
        )


def selected(x: Any, names: list[str]) -> Any:
    """Return the columns of a table with these names, in this order.

    Raises
    ------
    ValueError
        For a name that two columns have, such as 1 and "1" in pandas: either could be meant.
    """
    place: dict[str, int] = {}
    wanted = set(names)
    for j, name in enumerate(column_names(x)):
        if name in wanted and place.setdefault(name, j) != j:
            raise ValueError(f"X has the columns {place[name]} and {j} with one name, {name!r}; rename or drop one")
    if library(x) != "pandas":
        return x.select(names)
    # By position, as names in pandas need not be strings.
    return x.iloc[:, [place[name] for name in names]]


def read_frame(
    x: Any,
    nominal: Nominal | None = None,
    categorical: NDArray[np.bool_] | None = None,
    *,
    refuse_unseen: bool = False,
) -> Frame:
    """Return the columns of a table.

    Parameters
    ----------
    x : DataFrame, Table or RecordBatch
        A table of pandas, polars or Arrow.
    nominal : dict, optional
        The values of categories in training, which determine the positions; by default those that occur in the table,
        in the order in which it declares them.
    categorical : array of bool, optional
        Mask of the columns that are categories; by default those declared in the table.
    refuse_unseen : bool, default=False
        Refuses categories that training did not have, which otherwise count as missing, with a warning.

    Raises
    ------
    ValueError
        For columns that are neither numbers nor categories, for numbers that were categories in training, and for
        categories that are refused.
    """
    x = without_batches(x)
    names = column_names(x)
    kind = library(x)
    values = np.empty((x.shape[0], len(names)), np.float32)
    found: Nominal = {}
    for j, name in enumerate(names):
        # Whether a column is declared is known once it is read.
        is_chosen = j in nominal if nominal is not None else categorical is not None and bool(categorical[j])
        read, declared = _READERS[kind](x, j, is_chosen)
        is_category = is_chosen or (declared is not None and nominal is None and categorical is None)
        if is_category:
            if declared is None and nominal is not None and _has_numbers(read) and not has_numbers(nominal[j]):
                raise ValueError(f"column {name!r} is a number; it was a category in training")
            named = repr(name)
            # Also in training: a part of a table declares the categories of the whole, of which it may lack some. If it
            # has none at all, they stay, as the model would otherwise take the column for one of numbers.
            if declared is not None and (nominal is not None or (read >= 0).any()):
                read, declared = _occurring(read, declared)
            column = categories_of(read, named) if declared is None else declared_categories(read, declared, named)
            found[j] = column.values if nominal is None else nominal[j]
            values[:, j] = column.positions(named, found[j], refuse=refuse_unseen)
        else:
            numbers = numbers_of(read) if declared is None else _numbers_of_category(read, declared)
            if numbers is None and declared is None:
                what = f"column {name!r} holds {_TYPES[kind](x, j)}"
                if _has_dates(read):
                    raise ValueError(
                        f"{what}, times and not numbers; give parts of them, such as the year and the day of the year "
                        f"({_DAYS[kind](name)}), or the days since a date"
                    )
                if _has_durations(read):
                    raise ValueError(f"{what}, durations and not numbers; give their seconds or days")
                raise ValueError(
                    f"{what}, neither numbers nor categories{_first_other(read)}; make it a category, or encode it"
                )
            if numbers is None:
                why = "categorical_features does not name it" if nominal is None else "it was a number in training"
                raise ValueError(f"column {name!r} is a category; {why}")
            with np.errstate(over="ignore"):
                values[:, j] = numbers
            check_single(numbers, values[:, j], f"column {name!r}")
    return Frame(values, names, found)


def _occurring(codes: NDArray[Any], declared: list[Any]) -> tuple[NDArray[Any], list[Any]]:
    """Return a category with only the values that occur, in the declared order.

    A value that no sample of training has is unseen in prediction, and a few rows need not pay for thousands of values.
    """
    used = np.unique(codes[codes >= 0])
    places = np.searchsorted(used, codes)
    places[codes < 0] = -1
    return places, [declared[k] for k in used]


def _has_dates(read: NDArray[Any]) -> bool:
    """Return true for dates and times, of which a category would have one value for each."""
    return read.dtype.kind == "M" or is_date(_first(read))


def _has_durations(read: NDArray[Any]) -> bool:
    """Return true for differences of times."""
    return read.dtype.kind == "m" or isinstance(_first(read), timedelta)


def _first(read: NDArray[Any]) -> Any:
    """Return the first object that is not missing; None for other types."""
    return next((value for value in read if not is_missing(value)), None) if read.dtype.kind == "O" else None


def _first_other(read: NDArray[Any]) -> str:
    """Return the first value among objects that is no number, and its row; nothing for other types."""
    if read.dtype.kind != "O":
        return ""
    row = next(i for i in range(len(read)) if numbers_of(read[i : i + 1]) is None)
    return f" (row {row} has {shortened(read[row])})"


def _has_numbers(read: NDArray[Any]) -> bool:
    """Return true if a column has numbers that are not all missing."""
    return read.dtype.kind in "biuf" and bool((read == read).any())  # noqa: PLR0124 - what is not NaN


def _numbers_of_category(codes: NDArray[Any], declared: list[Any]) -> NDArray[np.float32] | None:
    """Return the values of a category as numbers; None if they are not numbers."""
    try:
        numbers: NDArray[np.float32] = np.array([*declared, np.nan], np.float32)[codes]
    except (TypeError, ValueError):
        return None
    return numbers


def _of_pandas(x: Any, j: int, exact: bool) -> tuple[NDArray[Any], list[Any] | None]:
    column = x.iloc[:, j]
    if hasattr(column, "cat"):
        return np.asarray(column.cat.codes, np.int64), column.cat.categories.tolist()
    if str(column.dtype).startswith("dictionary<"):
        return _of_dictionary(column.array.__arrow_array__().combine_chunks())
    if column.dtype.kind not in "biuf" or not hasattr(column.dtype, "numpy_dtype"):
        return np.asarray(column), None
    if column.dtype.kind == "f" or not column.isna().any():
        return column.to_numpy(column.dtype.numpy_dtype, na_value=np.nan), None
    return column.to_numpy(object if exact else np.float32, na_value=np.nan), None


def outputs_of(y: Any) -> NDArray[Any]:
    """Return a table as an array: numbers also of columns that are categories, nullable or sparse.

    Numbers of any types become numbers of one that holds them all, and beside words all are objects.
    """
    y = without_batches(y)
    kind = library(y)
    if kind == "pandas" and len(set(y.dtypes)) == 1 and isinstance(y.dtypes.iloc[0], np.dtype):
        return np.asarray(y)
    columns = [_output_of_pandas(y.iloc[:, j]) if kind == "pandas" else _output(y, j) for j in range(y.shape[1])]
    if any(column.dtype.kind not in "biuf" for column in columns):
        columns = [column.astype(object) for column in columns]
    return np.column_stack(columns) if columns else np.empty(y.shape)


def _output_of_pandas(column: Any) -> NDArray[Any]:
    # Neither numpy's types, nor categories and sparse columns have a type of numpy beside their own.
    if column.dtype.kind not in "biuf" or not hasattr(column.dtype, "numpy_dtype"):
        return np.asarray(column)
    if column.isna().any():
        numbers: NDArray[Any] = column.to_numpy(np.float64, na_value=np.nan)
        return numbers
    return np.asarray(column, column.dtype.numpy_dtype)


def _output(y: Any, j: int) -> NDArray[Any]:
    column: NDArray[Any]
    column, declared = _READERS[library(y)](y, j, False)
    return column if declared is None else np.array([*declared, None], object)[column]


def _of_polars(x: Any, j: int, exact: bool) -> tuple[NDArray[Any], list[Any] | None]:
    column = x.to_series(j)
    kind = type(column.dtype).__name__
    if kind == "Enum":
        categories = [str(value) for value in column.dtype.categories]
    elif kind == "Categorical":
        categories = sorted(str(value) for value in column.drop_nulls().unique().to_list())
    else:
        is_number = column.dtype.is_numeric() or kind == "Boolean"
        if not is_number or (exact and column.null_count() and not column.dtype.is_float()):
            # A vector also of lists, of which np.array would make a matrix.
            return np.fromiter(column.to_list(), object, len(column)), None
        if not column.null_count() and kind in ("Int128", "UInt128"):
            whole = np.fromiter(column.to_list(), object, len(column))
            with suppress(OverflowError):
                return whole.astype(np.int64), None
            if exact:
                return whole, None
        elif column.dtype.is_float() or (not column.null_count() and kind != "Decimal"):
            return column.to_numpy(), None
        # numpy lacks some types, such as decimal numbers.
        return column.cast(float).to_numpy(), None
    position = {value: i for i, value in enumerate(categories)} | {None: -1}
    return np.array([position[value] for value in column.to_list()], np.int64), categories


def _of_dictionary(column: Any) -> tuple[NDArray[Any], list[Any]]:
    """Return the positions and the values of a dictionary of Arrow."""
    # Unsigned positions have no room for -1.
    codes = column.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    return codes, column.dictionary.to_pylist()


def _of_arrow(x: Any, j: int, exact: bool) -> tuple[NDArray[Any], list[Any] | None]:
    column = x.column(j).combine_chunks()
    if hasattr(column, "chunks"):
        column = column.chunk(0) if column.num_chunks else column
    if hasattr(column, "dictionary"):
        return _of_dictionary(column)
    if exact and column.null_count and str(column.type) not in ("halffloat", "float", "double"):
        return np.array(column.to_pylist(), object), None
    numbers = column.to_numpy(zero_copy_only=False)
    # A boolean column with missing values is an array of objects.
    if numbers.dtype.kind == "O" and str(column.type) == "bool":
        numbers = np.array([np.nan if value is None else value for value in numbers], np.float32)
    return numbers, None


_READERS: dict[str | None, Any] = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow}
"""Read a column: numbers and None, or places and the declared categories.

A missing value makes numbers of whole numbers and truth values, which for a category must stay exact.
"""

_TYPES: dict[str | None, Any] = {
    "pandas": lambda x, j: x.dtypes.iloc[j],
    "polars": lambda x, j: x.dtypes[j],
    "pyarrow": lambda x, j: x.column(j).type,
}
"""Names of column types in the libraries."""

_DAYS: dict[str | None, Any] = {
    "pandas": lambda name: f"df[{name!r}].dt.day_of_year",
    "polars": lambda name: f"pl.col({name!r}).dt.ordinal_day()",
    "pyarrow": lambda name: f"pyarrow.compute.day_of_year(table[{name!r}])",
}
"""Expressions for the day of the year of a column in the libraries."""
