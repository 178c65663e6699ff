"""Groups of samples that belong together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray


def group_numbers(groups: Any, n_samples: int) -> NDArray[np.uint32] | None:
    """Return the number of each sample's group, in the order in which groups first occur; None without groups.

    Raises
    ------
    TypeError
        For what is no sequence of values that can be compared.
    ValueError
        For another number of values than of samples, and a missing value.
    """
    if groups is None:
        return None
    if getattr(groups, "ndim", 1) != 1:
        raise ValueError(f"groups must have a value for each sample, of shape ({n_samples},), got shape {groups.shape}")
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Iterable):
        raise TypeError(f"groups must be a sequence with a value for each sample, got {groups!r}")
    convert = next((f for name in ("tolist", "to_list", "to_pylist") if (f := getattr(groups, name, None))), None)
    values = list(groups) if convert is None else convert()
    if len(values) != n_samples:
        raise ValueError(f"groups has {len(values)} values, X has {n_samples} samples")
    numbers: dict[Any, int] = {}
    try:
        found = [numbers.setdefault(value, len(numbers)) for value in values]
    except TypeError:
        raise TypeError("groups must be values that can be compared, such as numbers or texts") from None
    if missing := [place for value, place in numbers.items() if _is_missing(value)]:
        raise ValueError(f"groups has no value for sample {found.index(missing[0])} (from 0)")
    return np.array(found, np.uint32)


def _is_missing(value: Any) -> bool:
    """Return true for None, NaN, and the missing values of pandas."""
    is_nan = isinstance(value, Real) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")
