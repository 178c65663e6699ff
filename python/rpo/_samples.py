"""Samples that estimators pass to the extension module, in this process or another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._arguments import warn_caller
from ._matrix import borrow
from ._parameters import parameters_as_json
from ._types import ClassColumn
from .model import Model


class Samples(NamedTuple):
    """Features and outputs with their names and kinds."""

    X: Any
    Y: Any
    labels: bool
    missing_outputs: bool
    feature_names: list[str] | None
    output_names: list[str] | None
    nominal: dict[int, list[str]]
    weights: NDArray[Any] | None
    """Weights of the samples, or of the outputs of each sample."""
    class_columns: Sequence[ClassColumn] = ()
    """Outputs that are the classes of a column, of which each sample has one."""
    groups: NDArray[np.uint32] | None = None
    """The number of each sample's group."""

    def native(self) -> _native.Dataset:
        """Return the data set of the extension module."""
        of_samples = self.weights is None or self.weights.ndim == 1
        return _native.Dataset.from_arrays(
            borrow(self.X, "X"),
            borrow(self.Y, "y"),
            labels=self.labels,
            missing_outputs=self.missing_outputs,
            feature_names=self.feature_names,
            output_names=self.output_names,
            class_columns=list(self.class_columns),
            nominal=self.nominal,
            weights=self.weights if of_samples else None,
            cell_weights=None if of_samples else self.weights,
            groups=self.groups,
        )


Progress = Callable[[int, int | None], object]
"""Receives the number of steps that are done, and of all steps if only the data determine it."""


class Work(NamedTuple):
    """The inputs of a fit."""

    parameters: Mapping[str, Any]
    samples: Samples
    validation: Samples | None
    n_threads: int
    start: Model | None = None

    def fit(self, progress: Progress | None = None, scores: list[float] | None = None) -> Model:
        """Fit in this process; add the scores of steps on withheld samples, if there are any, to a list."""
        native, found, warning = _native.Model.fit(
            parameters_as_json(self.parameters),
            self.samples.native(),
            validation=None if self.validation is None else self.validation.native(),
            start=None if self.start is None else self.start._native,
            n_threads=self.n_threads,
            progress=progress,
        )
        warn_caller(warning)
        if scores is not None:
            scores.extend(found)
        return Model(native)


Fitter = Callable[[Work, Progress], Model]

fitter: ContextVar[Fitter | None] = ContextVar("fitter", default=None)
"""Fits instead of this process, if set."""
