"""Grows forests on several processes or machines, byte for byte as in one process.

A tree depends only on the data, the seed and its index. So trees are grown in blocks, on any worker, and merged in the
order of their indices, each block as soon as all earlier blocks are available.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator
from numbers import Integral
from queue import SimpleQueue
from typing import Any, Protocol

import joblib

from ._arguments import whole
from ._estimator import Estimator
from ._samples import Progress, Samples, Work, fitter
from .model import Model, methods

__all__ = ["fit"]


def fit(
    estimator: Any,
    X: Any,
    y: Any,
    client: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    n_blocks: int | None = None,
    retries: int = 2,
    progress: Callable[[int, int], object] | None = None,
) -> Any:
    """Fit a forest whose trees are grown in blocks by the workers of a client.

    Parameters
    ----------
    estimator : estimator
        A forest, a CRAFTML forest, a structured forest or label trees. `n_jobs` is the number of threads for each
        block, counted on its worker: -1 for all cores of the worker. Ray reserves as many cores for a block if it is
        positive, and one otherwise.
    X, y, sample_weight, groups
        As in the estimator's `fit`.
    client : object
        Runs the blocks: an executor of `concurrent.futures` or `mpi4py.futures`; a client of Dask
        (`distributed.Client`); the module `ray` after `ray.init()`; or `joblib.Parallel(...)`. Dask and Ray hold the
        data once per worker; other clients send the data with every block.
    n_blocks : int, optional
        Number of blocks: by default two per worker, or two per core if the number of workers is unknown.
    retries : int, default=2
        How often a failed block is grown again, for example if its worker was lost. Errors of parameters and data are
        raised at once, and so are all errors with joblib, which ends at the first one.
    progress : callable, optional
        Called with the number of trees grown and the total number whenever a block is done; with joblib, whenever it
        returns one, which is at the end unless it has `return_as="generator"`.

    Returns
    -------
    estimator
        The fitted estimator, with the same model as from `estimator.fit(X, y)`.

    Raises
    ------
    ValueError
        For an estimator that does not grow independent trees, such as boosting.
    TypeError
        For what is no estimator of this package, or no client.

    Examples
    --------
    >>> import numpy as np, rpo
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 4)).astype(np.float32)
    >>> Y = (X[:, :3] > 0).astype(int)
    >>> alone = rpo.RandomForestClassifier(10, random_state=0).fit(X, Y)
    >>> with ThreadPoolExecutor(2) as client:
    ...     forest = rpo.distributed.fit(rpo.RandomForestClassifier(10, random_state=0), X, Y, client)
    >>> forest.model_ == alone.model_
    True
    """
    _check_grows_apart(estimator)
    if n_blocks is not None:
        n_blocks = whole("n_blocks", n_blocks, least=1)

    def grow(work: Work, _: Progress) -> Model:
        # Negative numbers count the cores of each worker.
        n_jobs = work.n_threads if estimator.n_jobs is None or estimator.n_jobs > 0 else estimator.n_jobs
        if isinstance(client, joblib.Parallel):
            blocks = _blocks(work, n_jobs, n_blocks or 2 * joblib.effective_n_jobs(client.n_jobs))
            return Model.from_parts(_run_with_joblib(client, work.samples, blocks, progress))
        engine = _engine(client, n_jobs)
        blocks = _blocks(work, n_jobs, n_blocks or 2 * engine.n_workers)
        return Model.from_parts(_run(engine, work.samples, blocks, retries, progress))

    token = fitter.set(grow)
    try:
        given = {"sample_weight": sample_weight, "groups": groups}
        return estimator.fit(X, y, **{name: value for name, value in given.items() if value is not None})
    finally:
        fitter.reset(token)


def _check_grows_apart(estimator: Any) -> None:
    """Refuse what is no estimator that grows independent trees."""
    if not isinstance(estimator, Estimator):
        raise TypeError(f"an estimator of this package is expected, got {estimator!r}")
    if "first_tree" not in methods()[estimator._method]["parameters"]:
        raise ValueError(f"{type(estimator).__name__} cannot grow its trees independently of each other")


Block = tuple[dict[str, Any], int]
"""The parameters of a block and its `n_jobs`."""


def _blocks(work: Work, n_jobs: int, n_blocks: int) -> list[Block]:
    """Return the blocks of trees, in the order of their indices."""
    trees = work.parameters["trees"]
    if not isinstance(trees, Integral) or trees < 1:
        raise ValueError(f"`trees` must be a whole number, at least 1, got {json.dumps(trees)}")
    first, trees = int(work.parameters.get("first_tree", 0)), int(trees)
    size = max(math.ceil(trees / n_blocks), 1)
    if work.parameters.get("thresholds") is not None:
        raise ValueError(
            "a forest that is grown in blocks has no decision thresholds, as they are found for all its trees: leave "
            "thresholds out of params"
        )
    if work.parameters.get("intervals") is not None:
        raise ValueError(
            "a forest that is grown in blocks has no prediction intervals, as they are found for all its trees: leave "
            "intervals out of params"
        )
    # Default thresholds would be found on the scores of a block.
    parameters = {"thresholds": None, **work.parameters}
    return [
        ({**parameters, "first_tree": first + start, "trees": min(size, trees - start)}, n_jobs)
        for start in range(0, trees, size)
    ]


def _grow_block(samples: Samples, parameters: dict[str, Any], n_jobs: int) -> bytes:
    """Grow a block on a worker; returns the bytes of its file, which are smaller than the model in memory."""
    return Work(parameters, samples, None, _n_threads(n_jobs)).fit().to_bytes()


def _n_threads(n_jobs: int) -> int:
    """Return the number of threads on this worker, which joblib would take for 1 if the worker is a daemon."""
    return n_jobs if n_jobs > 0 else max(joblib.cpu_count() + 1 + n_jobs, 1)


def _run_with_joblib(
    parallel: joblib.Parallel,
    samples: Samples,
    blocks: list[Block],
    progress: Callable[[int, int], object] | None,
) -> Iterator[bytes]:
    """Grow all blocks; returns them in order."""
    if not getattr(parallel, "return_ordered", True):
        raise ValueError(
            'blocks are merged in their order: joblib.Parallel must not have return_as="generator_unordered"'
        )
    total = sum(parameters["trees"] for parameters, _ in blocks)
    grown = 0
    parts = parallel(joblib.delayed(_grow_block)(samples, *block) for block in blocks)
    for (parameters, _), part in zip(blocks, parts, strict=True):
        grown += parameters["trees"]
        if progress is not None:
            progress(grown, total)
        yield part


class _Engine(Protocol):
    """Runs blocks."""

    n_workers: int

    def share(self, samples: Samples) -> Any:
        """Return a reference to the samples for the arguments of a block."""
        ...

    def submit(self, *arguments: Any) -> Any:
        """Start a block; returns a future."""
        ...


class _Executor:
    """An executor of `concurrent.futures`."""

    def __init__(self, client: Any):
        self._client = client
        self.n_workers = int(getattr(client, "_max_workers", None) or os.cpu_count() or 1)

    def share(self, samples: Samples) -> Any:
        return samples

    def submit(self, *arguments: Any) -> Any:
        return self._client.submit(_grow_block, *arguments)


class _Dask:
    """A Dask client, which holds the data once per worker and regrows the blocks of lost workers."""

    def __init__(self, client: Any):
        self._client = client
        self.n_workers = max(len(client.scheduler_info()["workers"]), 1)

    def share(self, samples: Samples) -> Any:
        # As a single element, because a tuple of arrays would be scattered in pieces.
        return self._client.scatter([samples], broadcast=True, hash=False)[0]

    def submit(self, *arguments: Any) -> Any:
        return self._client.submit(_grow_block, *arguments, pure=False)


class _Ray:
    """Ray, which holds the data once per machine and regrows the blocks of lost workers."""

    def __init__(self, ray: Any, n_jobs: int):
        self._ray = ray
        self._grow = ray.remote(max_retries=3, num_cpus=max(n_jobs, 1))(_grow_block)
        self.n_workers = max(int(ray.cluster_resources().get("CPU", 1)), 1)

    def share(self, samples: Samples) -> Any:
        return self._ray.put(samples)

    def submit(self, *arguments: Any) -> Any:
        return self._grow.remote(*arguments).future()


def _engine(client: Any, n_jobs: int) -> _Engine:
    if hasattr(client, "scatter"):
        return _Dask(client)
    if getattr(client, "__name__", "") == "ray":
        return _Ray(client, n_jobs)
    if not hasattr(client, "submit"):
        raise TypeError(
            f"client must be an executor, a Dask client, the module ray or joblib.Parallel(), got {client!r}"
        )
    return _Executor(client)


def _run(
    engine: _Engine,
    samples: Samples,
    blocks: list[Block],
    retries: int,
    progress: Callable[[int, int], object] | None,
) -> Iterator[bytes]:
    """Grow all blocks, retrying failed ones; returns them in order, and holds only those that finish early."""
    shared = engine.share(samples)
    done: SimpleQueue[tuple[int, Any]] = SimpleQueue()
    futures: dict[int, Any] = {}

    def start(block: int) -> None:
        futures[block] = engine.submit(shared, *blocks[block])
        futures[block].add_done_callback(lambda future: done.put((block, future)))

    early: dict[int, bytes] = {}
    n_taken = 0
    failures = [0] * len(blocks)
    total = sum(parameters["trees"] for parameters, _ in blocks)
    grown = 0
    try:
        for block in range(len(blocks)):
            start(block)
        while n_taken < len(blocks):
            block, future = done.get()
            # A future keeps its result in memory.
            futures.pop(block)
            try:
                early[block] = future.result()
            except (ValueError, TypeError, MemoryError):
                raise
            except Exception:
                failures[block] += 1
                if failures[block] > retries:
                    raise
                # The data may be lost with a worker that held them.
                shared = engine.share(samples)
                start(block)
                continue
            finally:
                del future
            grown += blocks[block][0]["trees"]
            if progress is not None:
                progress(grown, total)
            while n_taken in early:
                yield early.pop(n_taken)
                n_taken += 1
    except BaseException:
        for future in futures.values():
            future.cancel()
        raise
