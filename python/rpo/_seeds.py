"""Converts a `random_state` of scikit-learn to a seed."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

_MOST = 2**64 - 1
"""The largest seed."""


def seed_of(random_state: Any) -> int:
    """Return the number itself, or draw one for other random states.

    Raises
    ------
    ValueError
        For a number that is not a valid seed.
    """
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if not 0 <= random_state <= _MOST:
            raise ValueError(f"random_state must be from 0 to {_MOST}, got {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
