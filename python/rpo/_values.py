"""Reads the values of targets, such as classes and lists of labels, as the outputs of a model."""

from __future__ import annotations

import warnings
from reprlib import repr as shortened
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import _native
from ._categories import UNSEEN, categories_of, is_missing, numbers_of, text_of
from ._frames import column_names, is_frame, library
from ._labels import PAIRS
from ._outputs import as_columns, outputs_as_array

_TRUTH_VALUES = {word: float(place) for pair in PAIRS for place, word in enumerate(pair)}
"""The words for 0 and 1."""


def outputs_of_model(model: _native.Model, Y: Any) -> tuple[Any, list[str] | None]:
    """Return outputs as a matrix, and the names of its columns.

    Y has the outputs themselves, or the values of the targets in the form in which `Model.predict_values` returns them:
    classes in place of an output for each class, or a list of labels for each sample.

    Raises
    ------
    ValueError
        For a class that the model does not have, and for other targets than those of the model.
    """
    if sp.issparse(Y):
        return as_columns(outputs_as_array(Y)), model.target_names
    kinds = [type(column[0]) for column in model.target_values(np.zeros((1, model.sizes[2]), np.float32))]
    if kinds == [list] and (lists := _lists(Y)) is not None:
        return _of_lists(lists, model.output_names or []), model.target_names
    y = as_columns(outputs_as_array(Y))
    names = model.value_columns
    has_values = str in kinds or (bool in kinds and y.dtype.kind not in "biuf")
    if not has_values or sp.issparse(y) or y.shape[1] != len(names):
        return y, column_names(Y) if is_frame(Y) and model.target_names is not None else model.target_names
    if is_frame(Y):
        given = column_names(Y)
        if sorted(given) != sorted(names):
            raise ValueError(f"Y has the columns {shortened(given)}; the targets of the model are {shortened(names)}")
        y = y[:, [given.index(name) for name in names]]
    parts, classes = [], model.classes
    for values, name, kind in zip(y.T, names, kinds, strict=True):
        if kind is str:
            parts.append(_of_classes(values, name, classes[name]))
        else:
            parts.append((_of_labels if kind is bool else _of_numbers)(values, name).reshape(-1, 1))
    return np.hstack(parts), model.target_names


def _of_classes(values: NDArray[Any], name: str, classes: list[str]) -> NDArray[np.float32]:
    """Return an indicator of each class, NaN in all of them for a missing class."""
    places = categories_of(values, repr(name)).positions(repr(name), classes, refuse=True)
    indicators: NDArray[np.float32] = (places[:, None] == np.arange(len(classes))).astype(np.float32)
    indicators[np.isnan(places)] = np.nan
    return indicators


def _of_labels(values: NDArray[Any], name: str) -> NDArray[np.float32]:
    """Return truth values, or words for them, as 0 and 1, NaN where missing."""
    found = np.full(len(values), np.nan, np.float32)
    for row, value in enumerate(values):
        if is_missing(value):
            continue
        if (number := _TRUTH_VALUES.get(text_of(value).lower())) is None:
            raise ValueError(f"row {row} has the value {value!r} of {name!r}, which is a label: give 0 and 1")
        found[row] = number
    return found


def _of_numbers(values: NDArray[Any], name: str) -> NDArray[np.float32]:
    numbers = numbers_of(values)
    if numbers is None:
        raise ValueError(f"{name!r} must be numbers")
    return numbers.astype(np.float32)


def _lists(Y: Any) -> list[Any] | None:
    """Return the lists of labels of samples, None where missing; None in place of them for indicators of labels."""
    if is_frame(Y):
        if Y.shape[1] != 1:
            return None
        kind = library(Y)
        column = Y.iloc[:, 0] if kind == "pandas" else Y.to_series(0) if kind == "polars" else Y.column(0)
        cells = column.to_pylist() if kind == "pyarrow" else list(column)
    elif getattr(Y, "ndim", 1) != 1 or not hasattr(Y, "__len__"):
        return None
    else:
        cells = list(Y)
    if not all(hasattr(cell, "__len__") or is_missing(cell) for cell in cells):
        return None
    lists = [None if _is_absent(cell) else cell if isinstance(cell, str) else list(cell) for cell in cells]
    if any(isinstance(cell, str) for cell in lists):
        row = next(row for row, cell in enumerate(lists) if isinstance(cell, str))
        raise ValueError(
            f"row {row} of Y has the text {shortened(lists[row])}; give a list of labels, such as those of "
            "df['labels'].str.split(';')"
        )
    # Numbers are indicators.
    words = [isinstance(label, str) for cell in lists if cell is not None for label in cell]
    return lists if all(words) else None


def _is_absent(cell: Any) -> bool:
    return not hasattr(cell, "__len__") and is_missing(cell)


def _of_lists(lists: list[Any], names: list[str]) -> sp.csr_array[Any]:
    """Return lists of labels as indicators; those that the model does not have are left out, with a warning."""
    place = {name: j for j, name in enumerate(names)}
    rows, starts, unseen = [], [0], []
    for cell in lists:
        labels = [label.strip() for label in cell or ()]
        unseen += [label for label in labels if label and label not in place]
        rows += sorted({place[label] for label in labels if label in place})
        starts.append(len(rows))
    if unseen:
        message = f"Y has the label {unseen[0]!r}, {UNSEEN}; {len(unseen)} such labels are left out"
        warnings.warn(message, UserWarning, stacklevel=5)
    ones = np.ones(len(rows), np.float32)
    return sp.csr_array((ones, np.array(rows, np.int64), np.array(starts)), shape=(len(lists), len(names)))
