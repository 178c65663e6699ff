"""Data sets from files: ARFF, CSV, svmlight and the format of the Extreme Classification Repository."""

from __future__ import annotations

import re
from collections.abc import Iterable
from os import PathLike, fspath
from os.path import exists
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from . import _native
from ._matrix import handed
from ._parameters import parameters_as_json
from ._types import Path

__all__ = ["load_arff", "load_csv", "load_svmlight", "load_xc"]


def load_arff(path: Path, targets: Any, *, missing_outputs: bool = False, **options: Any) -> Bunch:
    """Load an ARFF file, dense or sparse, plain or compressed by gzip.

    Parameters
    ----------
    path : path
        The file.
    targets : int, path, or names
        The outputs: the number of last columns, or, if negative, of first columns; a MULAN label file (.xml); or names.
    missing_outputs : bool, default=False
        Allows missing outputs, which become NaN.
    **options
        Other options of reading, such as `task="regression"`.

    Returns
    -------
    Bunch
        `data` (dense or CSR, float32), `target` (CSR of labels, or an array of numbers), `feature_names`,
        `target_names`, and `nominal`: the values of nominal features by column, in which data are positions.
    """
    return _load(path, {"format": "arff", "targets": _targets(targets)} | options, missing_outputs)


def load_csv(path: Path, targets: Any, *, missing_outputs: bool = False, **options: Any) -> Bunch:
    """Load a CSV file with a header, whose columns of words are nominal features; see `load_arff`.

    The positions of nominal values are those of this file alone: another file with other values has other positions.
    For a training and a test file, read tables with pandas instead, or use the command, which keeps the values of
    training.
    """
    return _load(path, {"format": "csv", "targets": _targets(targets)} | options, missing_outputs)


def load_xc(path: Path, **options: Any) -> Bunch:
    """Load a file of the Extreme Classification Repository; see `load_arff`."""
    return _load(path, {"format": "xmlrepo"} | options, False)


def load_svmlight(path: Path, **options: Any) -> Bunch:
    """Load a multi-label svmlight file; see `load_arff`. `n_features` and `n_outputs` set their numbers."""
    return _load(path, {"format": "svmlight"} | options, False)


def _targets(targets: Any) -> Any:
    if isinstance(targets, (int, np.integer)) and not isinstance(targets, bool):
        return {"last": int(targets)} if targets >= 0 else {"first": -int(targets)}
    if isinstance(targets, (str, PathLike)):
        if not exists(targets):
            name = fspath(targets)
            raise FileNotFoundError(
                f"targets={name!r} is taken for a label file, which does not exist; for an output of this name give "
                f"[{name!r}]"
            )
        return {"label-file": fspath(targets)}
    if isinstance(targets, Iterable):
        return {"names": [str(name) for name in targets]}
    raise TypeError(f"targets must be a number, a label file or names, got {targets!r}")


def _load(path: Path, options: dict[str, Any], missing_outputs: bool) -> Bunch:
    if missing_outputs:
        options["missing_outputs"] = "keep"
    try:
        data = _native.Dataset.read(path, parameters_as_json(options))
    except ValueError as error:
        raise _in_plain_words(error) from None
    n_samples, n_features, n_outputs = data.sizes
    return Bunch(
        data=handed(data.features(), (n_samples, n_features)),
        target=handed(data.outputs(), (n_samples, n_outputs)),
        feature_names=data.feature_names or [str(j) for j in range(n_features)],
        target_names=data.output_names or [str(j) for j in range(n_outputs)],
        nominal=data.nominal,
        is_multilabel=data.is_multilabel,
        name=data.name,
    )


_OF_OPTIONS = re.compile(r"(unknown field|unknown variant|invalid type|invalid value).* at line 1 column \d+$")
"""Errors of options, which are passed on as one line of JSON."""


def _in_plain_words(error: ValueError) -> Exception:
    """Return the error of an option without its place in JSON; other errors stay."""
    message = str(error)
    if not _OF_OPTIONS.match(message):
        return error
    message = message.rsplit(" at line ", 1)[0]
    unknown = re.match(r"unknown field `(\w+)`, expected one of (.*)", message)
    if unknown is None:
        return ValueError(f"an option of reading cannot be used: {message}")
    names = [name for name in re.findall(r"\w+", unknown[2]) if name not in ("format", "targets", "missing_outputs")]
    return TypeError(f"there is no option {unknown[1]!r} of reading; there are {', '.join(names)}")
