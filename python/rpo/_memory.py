"""Limits of the memory that results take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ._arguments import whole

_LIMIT = 4 << 30


def check_memory(what: str, n_bytes: int, memory_limit: int | None, otherwise: str = "") -> None:
    """Refuse a result of this size if it is larger than the limit, 4 GiB by default.

    Raises
    ------
    MemoryError
        With the size and the limit.
    """
    limit = _LIMIT if memory_limit is None else whole("memory_limit", memory_limit)
    if n_bytes > limit:
        raise MemoryError(
            f"{what} would take {n_bytes} bytes of memory; the limit is {limit}; memory_limit raises the limit"
            f"{otherwise}"
        )


@contextmanager
def limited(memory_limit: int | None) -> Iterator[dict[str, int]]:
    """Give the limit as an argument, if it is set; say that it can be raised if it is exceeded."""
    limit = {} if memory_limit is None else {"memory_limit": whole("memory_limit", memory_limit)}
    try:
        yield limit
    except MemoryError as error:
        raise MemoryError(f"{error}; memory_limit raises the limit") from None
