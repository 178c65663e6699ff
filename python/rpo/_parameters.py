"""Translates parameters of methods to those of estimators."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from numbers import Integral, Real
from os import PathLike, fspath
from typing import Any

import numpy as np


def as_json(value: Any) -> Any:
    """Convert numpy numbers to Python numbers, and paths to text, for `json.dumps`."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, PathLike):
        return fspath(value)
    raise TypeError


def parameters_as_json(parameters: Mapping[str, Any]) -> str:
    """Return parameters as JSON for the extension module.

    Raises
    ------
    TypeError, ValueError
        For a value that JSON does not have, with the name of the parameter.
    """
    for name, value in parameters.items():
        try:
            json.dumps(value, default=as_json, allow_nan=False)
        except TypeError:
            raise TypeError(f"`{name}` cannot be {value!r}") from None
        except ValueError:
            raise ValueError(f"`{name}` must be finite, got {value!r}") from None
    return json.dumps(parameters, default=as_json)


_PARAMETER = re.compile(r"`(\w+)`")


def in_own_terms(message: str, names: Mapping[str, str], given: Mapping[str, Any], own: Any) -> str:
    """Return a message of a method with the names and values of the estimator's parameters.

    Parameters
    ----------
    message : str
        The message of the method.
    names : mapping
        Names of parameters in the estimator, by their names in the method.
    given : mapping
        The parameters given to the method.
    own : estimator
        The estimator.
    """
    first = _PARAMETER.match(message)
    if first is not None and first[1] in names:
        value = f"got {json.dumps(given[first[1]], default=as_json)}" if first[1] in given else None
        if value is not None and message.endswith(value):
            message = message.removesuffix(value) + f"got {getattr(own, names[first[1]])!r}"
    return _PARAMETER.sub(lambda found: f"`{names.get(found[1], found[1])}`", message)


def count(name: str, given: Any, n_samples: int, least: int) -> int:
    """Return a number of samples, which may be given as a fraction of all samples.

    Raises
    ------
    ValueError
        For a value that is neither, with the name of the parameter.
    """
    if isinstance(given, Integral):
        if given < least:
            raise ValueError(f"{name} must be at least {least}, or a fraction of the samples in (0, 1], got {given!r}")
        return int(given)
    if not isinstance(given, Real) or not 0.0 < float(given) <= 1.0:
        raise ValueError(f"{name} must be a whole number, or a fraction of the samples in (0, 1], got {given!r}")
    return max(math.ceil(float(given) * n_samples), least)


def check_least(name: str, given: Any, least: int) -> None:
    """Refuse whole numbers that are too small; the method refuses what is no whole number."""
    if isinstance(given, Integral) and not isinstance(given, bool) and given < least:
        raise ValueError(f"`{name}` must be at least {least}, got {given!r}")


def not_negative(name: str, given: Any) -> float:
    """Return a number; refuse negative ones."""
    if not isinstance(given, Real) or not 0.0 <= float(given) < math.inf:
        raise ValueError(f"{name} must be a finite number, at least 0, got {given!r}")
    return float(given)
