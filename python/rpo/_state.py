"""What a fit sets on an estimator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any


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
    """Refuse a warm start with other columns or classes than those of the model.

    Raises
    ------
    ValueError
        With the attribute that differs.
    """
    for name in ("n_features_in_", "n_outputs_", "classes_"):
        old, new = before.get(name), getattr(estimator, name, None)
        if _plain(old) != _plain(new):
            raise ValueError(f"warm_start goes on with the same data: {name} was {old}, and is {new}")


def _plain(value: Any) -> Any:
    """Return arrays, and lists of arrays, as lists."""
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value.tolist() if hasattr(value, "tolist") else value
