"""Represents classes as labels: encodes y for classifiers, and decodes scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from ._categories import is_missing
from ._types import ClassColumn

MULTILABEL = "multilabel-indicator"
MULTIOUTPUT = "multiclass-multioutput"

PAIRS = (("0", "1"), ("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"))
"""Words for 0 and 1, in any case, which the command reads as such."""


class Labels:
    """The classes of y and the labels that represent them.

    A column of an indicator matrix is a label. Two classes are represented by one label, that of the second; more
    classes have a label each, as have those of each of several outputs. So have the two classes of a named column,
    unless they are 0 and 1, or words for them such as no and yes: the command reads such a table in the same way.
    """

    classes: Any
    """The classes of each output."""

    def __init__(self, y: Any, *, missing: bool, is_column: bool = False):
        self.sparse = sp.issparse(y)
        self.missing = missing
        if missing and y.ndim == 1:
            self.kind = "binary"
        elif self.sparse or missing:
            self.kind = MULTILABEL
        else:
            self.kind = _kind(y)
        self.n_outputs = 1 if y.ndim == 1 else y.shape[1]
        if self.kind == MULTILABEL:
            # One array, as in all scikit-learn classifiers that return one array of probabilities.
            self.classes = np.tile([0, 1], (self.n_outputs, 1))
        elif missing:
            self.classes = [np.array([0, 1])]
        else:
            self.classes = [np.unique(column) for column in _columns(y)]
            if self.kind != MULTIOUTPUT and self.n_outputs == 1:
                is_label = len(self.classes[0]) == 2 and (not is_column or self._is_label())
                self.kind = "binary" if is_label else "multiclass"

    def _is_label(self) -> bool:
        """Return true if the two classes are 0 and 1, or words for them."""
        classes = self.classes[0]
        if classes.dtype.kind in "biuf":
            return bool((classes == [0, 1]).all())
        return tuple(str(value).lower() for value in classes) in PAIRS

    def encode(self, y: Any) -> Any:
        """Return y as a matrix of labels."""
        if self.kind == MULTILABEL or self.missing:
            return y.reshape(-1, 1) if y.ndim == 1 else y
        places = [_places(column, classes) for column, classes in zip(_columns(y), self.classes, strict=True)]
        n = len(places[0])
        if self.kind == "binary":
            return places[0].astype(np.float32).reshape(-1, 1)
        starts = np.cumsum([0, *(len(classes) for classes in self.classes)])
        indices = np.column_stack(places) + starts[:-1]
        indptr = np.arange(n + 1) * len(places)
        ones = np.ones(indices.size, np.float32)
        return sp.csr_array((ones, indices.ravel(), indptr), shape=(n, int(starts[-1])))

    def names(self, outputs: list[str] | None) -> list[str] | None:
        """Return the names of the labels, given those of the outputs: `output=class`, as the command names them.

        The classes of a single column without a name are names themselves.
        """
        if self.kind == MULTILABEL:
            return outputs
        if self.kind == MULTIOUTPUT:
            outputs = outputs or [str(j) for j in range(self.n_outputs)]
            pairs = zip(outputs, self.classes, strict=True)
            names = [f"{output}={value}" for output, classes in pairs for value in classes]
        elif self.kind == "binary" and self._is_label() and outputs is not None:
            return outputs
        else:
            classes = self.classes[0]
            of = "" if outputs is None else f"{outputs[0]}="
            names = [f"{of}{value}" for value in (classes[1:] if self.kind == "binary" else classes)]
        return names if len(set(names)) == len(names) else None

    def columns(self, outputs: list[str] | None) -> list[ClassColumn]:
        """Return the labels that are the classes of a column, given the names of the outputs.

        The model then predicts one class of each column, as the estimator does.
        """
        if self.kind not in ("multiclass", MULTIOUTPUT):
            return []
        if outputs is None or len(set(outputs)) < self.n_outputs:
            outputs = ["class"] if self.kind == "multiclass" else [str(j) for j in range(self.n_outputs)]
        starts = np.cumsum([0, *(len(classes) for classes in self.classes)]).tolist()
        words = [[str(value) for value in classes] for classes in self.classes]
        return list(zip(outputs, starts[:-1], words, strict=True))

    def probabilities(self, scores: NDArray[np.float32]) -> Any:
        """Return the probabilities of the classes: one array, or a list of arrays for several outputs of classes."""
        if self.kind == MULTILABEL:
            # Between 0 and 1 exclusive, as scikit-learn requires for one array: logarithms are finite.
            return np.clip(scores, np.finfo(np.float32).tiny, 1.0 - np.finfo(np.float32).epsneg, out=scores)
        if self.kind == "binary":
            positive = np.clip(scores[:, 0].astype(np.float64), 0.0, 1.0)
            return np.column_stack([1.0 - positive, positive])
        parts = [_normalized(part) for part in np.split(scores, self._ends(), axis=1)]
        return parts if self.kind == MULTIOUTPUT else parts[0]

    def best(self, scores: NDArray[np.float32]) -> NDArray[Any]:
        """Return the class of the largest score of each output, for classes that are not indicators.

        Some losses have scores below 0, which as probabilities are equal.
        """
        if self.kind == "binary":
            chosen: NDArray[Any] = self.classes[0][self.probabilities(scores).argmax(axis=1)]
            return chosen
        parts = np.split(scores, self._ends(), axis=1)
        columns = [classes[part.argmax(axis=1)] for classes, part in zip(self.classes, parts, strict=True)]
        return np.column_stack(columns) if self.kind == MULTIOUTPUT else columns[0]

    def _ends(self) -> NDArray[np.intp]:
        """Return the ends of the labels of each output but the last."""
        return np.cumsum([len(classes) for classes in self.classes])[:-1]


def _columns(y: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the columns of y, those of numbers beside words as numbers."""
    columns = list(y.reshape(-1, 1).T if y.ndim == 1 else y.T)
    if y.dtype.kind != "O" or not any(_is_words(column) for column in columns):
        return columns
    return [column if _is_words(column) else np.array(column.tolist()) for column in columns]


def _is_words(column: NDArray[Any]) -> bool:
    return column.dtype.kind == "O" and len(column) > 0 and isinstance(column[0], str | bytes)


def _check_present(y: NDArray[Any]) -> None:
    """Refuse missing classes, which scikit-learn reports as unknown among words."""
    if y.dtype.kind == "O":
        absent = np.frompyfunc(is_missing, 1, 1)(y).astype(bool)
        if absent.any():
            raise ValueError(f"y has no class for sample {np.argwhere(absent)[0][0]}; leave out samples without one")


def _check_words(y: NDArray[Any]) -> None:
    """Refuse objects that are no words, as scikit-learn does, and say what helps."""
    other = [] if y.dtype.kind != "O" else [value for value in y if not isinstance(value, str | bytes)]
    if other:
        kind = type(other[0]).__name__
        raise ValueError(
            f"Unknown label type: unknown. y has the dtype object and holds {kind}, which scikit-learn does not take "
            "for classes; convert it, for example with y.astype(int) or y.astype(str)"
        )


def indicators(y: NDArray[Any]) -> NDArray[np.float32]:
    """Return labels that may be missing as 0, 1 and NaN."""
    message = "with missing_outputs=True y holds indicators of labels: 0, 1, or NaN where missing"
    try:
        labels: NDArray[np.float32] = y.astype(np.float32)
    except (TypeError, ValueError) as error:
        raise ValueError(message) from error
    is_label = np.isnan(labels) | np.isin(labels, (0, 1))
    if not is_label.all():
        raise ValueError(f"{message}; sample {np.argwhere(~is_label)[0][0]} has {labels[~is_label][0]:g}")
    return labels


def _kind(y: NDArray[Any]) -> str:
    """Return scikit-learn's type of classes or labels; refuse what is neither."""
    _check_present(y)
    columns = _columns(y)
    for column in columns:
        _check_words(column)
    if len({column.dtype.kind == "O" for column in columns}) > 1:
        # scikit-learn cannot compare words with numbers.
        for column in columns:
            check_classification_targets(column)
        return MULTIOUTPUT
    check_classification_targets(y)
    kind = str(type_of_target(y, input_name="y"))
    # scikit-learn treats any two values as indicators.
    if kind == MULTILABEL and not np.isin(y, (0, 1)).all():
        return MULTIOUTPUT
    return kind


def _places(column: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    places = np.minimum(np.searchsorted(classes, column), len(classes) - 1)
    if (unknown := classes[places] != column).any():
        unseen = column[unknown][:1].tolist()[0]
        raise ValueError(f"y has the class {unseen!r}, which did not occur in training")
    return places


def _normalized(scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return rows that sum to 1, with equal values where all scores are 0."""
    values = np.maximum(scores.astype(np.float64), 0.0)
    sums = values.sum(axis=1, keepdims=True)
    empty = np.ones_like(values) / values.shape[1]
    normalized: NDArray[np.float64] = np.divide(values, sums, out=empty, where=sums > 0.0)
    return normalized
