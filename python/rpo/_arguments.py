"""Checks of arguments, whose messages name the argument and the value."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from numbers import Integral
from types import FrameType
from typing import Any

import numpy as np

_MOST = 2**63 - 1
"""The largest whole number that is passed on."""


def whole(name: str, given: Any, least: int = 0) -> int:
    """Return a whole number.

    Raises
    ------
    ValueError
        For a value that is none, or too small or large.
    """
    if not isinstance(given, Integral) or isinstance(given, bool) or not least <= int(given) <= _MOST:
        raise ValueError(f"{name} must be a whole number, at least {least}, got {given!r}")
    return int(given)


def threads(given: Any) -> int:
    """Return a number of threads."""
    if not isinstance(given, Integral) or isinstance(given, bool) or given < 0:
        raise ValueError(f"n_threads must be a number of threads, or 0 for one for each core, got {given!r}")
    # More than there are cores make no difference.
    return min(int(given), _MOST)


def flag(name: str, given: Any) -> bool:
    """Return a truth value; refuse what is none, such as words."""
    if not isinstance(given, Integral | np.bool_) or given not in (0, 1):
        raise ValueError(f"{name} must be True or False, got {given!r}")
    return bool(given)


def names_of(what: str, given: Iterable[Any]) -> list[str]:
    """Return names as a list.

    Raises
    ------
    TypeError
        For a single name, whose letters would be the names.
    """
    if isinstance(given, str):
        raise TypeError(f"{what} must be a list of names: [{given!r}]")
    return [str(name) for name in given]


def numbers_of(name: str, given: Any) -> tuple[float, float]:
    """Return a pair of numbers."""
    try:
        first, second = given
        return float(first), float(second)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a pair of numbers, got {given!r}") from error


def warn_caller(message: str | None) -> None:
    """Warn of something, if there is a message, at the line outside this package that called it."""
    if message is None:
        return
    level = 1
    frame: FrameType | None = sys._getframe(0)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("rpo", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)
