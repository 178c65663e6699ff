"""What a fit sets on an estimator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import numpy as np

from ._samples import Samples

_BLOCK = 1 << 22
"""Number of entries that are digested at once, so that no copy of a matrix is made."""


@contextmanager
def unchanged_by_failure(estimator: Any) -> Iterator[Mapping[str, Any]]:
    """Give an estimator its earlier attributes back if what follows fails or is interrupted; yields these.

    Otherwise, a fit that fails would leave the number of features, names and classes of its data beside the model of
    an earlier fit.
    """
    before = dict(vars(estimator))
    try:
        yield before
    except BaseException:
        now = vars(estimator)
        now.update(before)
        for name in now.keys() - before.keys():
            del now[name]
        raise


def check_same_data(estimator: Any, before: Mapping[str, Any]) -> None:
    """Refuse a warm start with other columns, classes or samples than those of the model.

    Raises
    ------
    ValueError
        With the attribute that differs.
    """
    for name in ("n_features_in_", "n_outputs_", "classes_"):
        old, new = before.get(name), getattr(estimator, name, None)
        if _plain(old) != _plain(new):
            raise ValueError(f"warm_start goes on with the same data: {name} was {old}, and is {new}")
    old, new = before.get("_digests", {}), estimator._digests
    differ = [name for name in new if old.get(name) != new[name]]
    if differ:
        raise ValueError(
            f"warm_start goes on with the same data: {differ[0]} differs from that of the earlier fit; set "
            "warm_start=False to fit anew"
        )


def digests(data: Samples) -> dict[str, bytes]:
    """Return digests of the features, outputs, weights and groups, which take little memory and time beside a fit.

    Equal numbers in other types and tables have equal digests.
    """
    parts = {
        "X": (data.X, data.nominal),
        "y": (data.Y, None),
        "sample_weight or class_weight": (data.weights, None),
        "groups": (None, None if data.groups is None else data.groups.tolist()),
    }
    return {name: _digest(matrix, repr(more)) for name, (matrix, more) in parts.items()}


def _digest(matrix: Any, more: str) -> bytes:
    digest = blake2b(more.encode(), digest_size=16)
    arrays: list[tuple[Any, Any]]
    if hasattr(matrix, "tocsr"):
        matrix = matrix.tocsr()
        arrays = [(matrix.data, np.float32), (matrix.indices, np.int64), (matrix.indptr, np.int64)]
    else:
        arrays = [] if matrix is None else [(matrix, np.float32)]
    for array, dtype in arrays:
        digest.update(repr(array.shape).encode())
        rows = max(_BLOCK * len(array) // max(array.size, 1), 1)
        for start in range(0, len(array), rows):
            # Numbers that are too large are refused later, with their place.
            with np.errstate(over="ignore"):
                digest.update(np.ascontiguousarray(array[start : start + rows], dtype).data)
    return digest.digest()


def _plain(value: Any) -> Any:
    """Return arrays, and lists of arrays, as lists."""
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value.tolist() if hasattr(value, "tolist") else value
