"""Forests grown in blocks by other processes."""

from __future__ import annotations

import os
import signal
import subprocess
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import rpo

FORESTS = [
    rpo.RandomForestClassifier(11, random_state=0, projection="gaussian", n_components=3),
    rpo.ExtraTreesClassifier(11, random_state=0),
    rpo.CraftmlClassifier(7, random_state=0),
    rpo.StructuredForestClassifier(5, random_state=0),
]


@pytest.mark.parametrize("forest", FORESTS, ids=lambda forest: type(forest).__name__)
def test_blocks_give_the_forest_of_one_process(forest, sparse):
    X, Y = sparse
    if isinstance(forest, rpo.StructuredForestClassifier):
        Y = Y[:, :20]
    alone = joblib.hash(forest) and forest.fit(X, Y).model_
    with ThreadPoolExecutor(3) as client:
        for n_blocks in (1, 2, 4, 50, None):
            seen = []
            grown = rpo.distributed.fit(
                forest, X, Y, client, n_blocks=n_blocks, progress=lambda n, total, seen=seen: seen.append((n, total))
            )
            assert grown is forest
            assert grown.model_.to_bytes() == alone.to_bytes()
            assert seen[-1] == (forest.n_estimators, forest.n_estimators)
    assert forest.predict_top_k(X, 2).shape == Y.shape


def test_processes_and_joblib(numbers):
    X, Y = numbers
    weights = np.linspace(1.0, 2.0, len(X))
    make = lambda: rpo.RandomForestRegressor(8, random_state=1)  # noqa: E731
    alone = make().fit(X, Y, weights).model_
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as client:
        assert rpo.distributed.fit(make(), X, Y, client, sample_weight=weights).model_ == alone
    for n_jobs in (1, -1):
        seen = []
        forest = make().set_params(n_jobs=n_jobs)
        rpo.distributed.fit(
            forest, X, Y, joblib.Parallel(2), sample_weight=weights, progress=lambda *done, seen=seen: seen.append(done)
        )
        assert forest.model_ == alone
        assert seen[-1] == (8, 8)


class Unreliable(ThreadPoolExecutor):
    """Loses the results of some blocks."""

    def __init__(self, losses: int):
        super().__init__(2)
        self.losses = losses

    def submit(self, *arguments):
        if self.losses == 0:
            return super().submit(*arguments)
        self.losses -= 1
        lost: Future[object] = Future()
        lost.set_exception(ConnectionError("the worker is lost"))
        return lost


def test_parts_are_merged_as_they_come(labels, tmp_path):
    X, Y = labels
    options = {"labels": True, "thresholds": None, "projection": "gaussian"}
    grow = lambda first, n: rpo.Model.fit(X, Y, first_tree=first, trees=n, **options)  # noqa: E731
    parts = [grow(3 * i, 3) for i in range(7)]
    whole = grow(0, 21)
    paths = [tmp_path / f"{i}.rpo" for i in range(7)]
    for part, path in zip(parts, paths, strict=True):
        part.save(path)
    mixed = [parts[0], parts[1].to_bytes(), str(paths[2]), *paths[3:]]
    for given in (parts, paths, mixed, iter(mixed)):
        assert rpo.Model.from_parts(given).to_bytes() == whole.to_bytes()
    assert parts[0] == grow(0, 3)
    with pytest.raises(ValueError, match="part 2: the models cannot be merged"):
        rpo.Model.from_parts([*parts[:2], rpo.Model.fit(X[:50], Y[:50], first_tree=6, trees=3, **options)])
    with pytest.raises(ValueError, match="no parts"):
        rpo.Model.from_parts([])
    with pytest.raises(OSError, match="missing"):
        rpo.Model.from_parts([tmp_path / "missing.rpo"])
    with pytest.raises(ValueError, match="model"):
        rpo.Model.from_parts([b"no model"])


def test_lost_blocks_are_grown_again(labels):
    X, Y = labels
    make = lambda: rpo.RandomForestClassifier(9, random_state=0)  # noqa: E731
    alone = make().fit(X, Y).model_
    with Unreliable(3) as client:
        assert rpo.distributed.fit(make(), X, Y, client, n_blocks=4).model_ == alone
    with Unreliable(100) as client, pytest.raises(ConnectionError):
        rpo.distributed.fit(make(), X, Y, client, n_blocks=4)


def test_what_cannot_be_grown_apart_is_refused(labels):
    X, Y = labels
    with ThreadPoolExecutor(2) as client:
        with pytest.raises(ValueError, match="cannot grow its trees independently"):
            rpo.distributed.fit(rpo.GradientBoostingClassifier(), X, Y, client)
        with pytest.raises(ValueError, match="did you mean"):
            rpo.distributed.fit(rpo.RandomForestClassifier(params={"leafs": 1}), X, Y, client)
        for trees in (0, "ten"):
            with pytest.raises(ValueError, match=f"`n_estimators` must be a whole number, at least 1, got {trees!r}"):
                rpo.distributed.fit(rpo.RandomForestClassifier(trees), X, Y, client)
        with pytest.raises(ValueError, match="n_blocks must be a whole number, at least 1, got 0"):
            rpo.distributed.fit(rpo.RandomForestClassifier(), X, Y, client, n_blocks=0)
        for estimator in (rpo.RandomForestClassifier, "forest"):
            with pytest.raises(TypeError, match="an estimator of this package is expected"):
                rpo.distributed.fit(estimator, X, Y, client)
    with pytest.raises(TypeError, match=r"client must be an executor, .* got None"):
        rpo.distributed.fit(rpo.RandomForestClassifier(), X, Y, None)


def slow_forest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 30)).astype(np.float32)
    Y = (rng.normal(size=(2000, 10)) > 0).astype(np.float32)
    return rpo.RandomForestClassifier(48, random_state=0, n_jobs=1), X, Y


def kill_once(pid: int):
    """Return a progress function that kills a worker when the first block is done."""
    victims = [pid]

    def progress(trees: int, total: int) -> None:
        while victims and trees < total:
            os.kill(victims.pop(), signal.SIGKILL)

    return progress


def test_dask_grows_the_blocks_of_a_killed_worker_again():
    distributed = pytest.importorskip("distributed")
    forest, X, Y = slow_forest()
    alone = forest.fit(X, Y).model_
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster) as client:
        kill = kill_once(next(iter(client.run(os.getpid).values())))
        assert rpo.distributed.fit(forest, X, Y, client, n_blocks=12, progress=kill).model_ == alone


def test_searches_run_on_a_cluster(numbers):
    distributed = pytest.importorskip("distributed")
    X, Y = numbers
    make = lambda: GridSearchCV(rpo.RandomForestRegressor(5, random_state=0), {"max_depth": [1, None]}, cv=3)  # noqa: E731
    alone = make().fit(X, Y)
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, distributed.Client(cluster), joblib.parallel_config("dask"):
        there = make().fit(X, Y)
    assert there.best_params_ == alone.best_params_
    assert np.array_equal(there.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    assert there.best_estimator_.model_ == alone.best_estimator_.model_


def test_ray_grows_the_same_forest():
    ray = pytest.importorskip("ray")
    forest, X, Y = slow_forest()
    alone = forest.fit(X, Y).model_

    def process() -> int:  # Ray does not accept built-in functions.
        return os.getpid()

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        kill = kill_once(ray.get(ray.remote(process).remote()))
        assert rpo.distributed.fit(forest, X, Y, ray, n_blocks=12, progress=kill).model_ == alone
    finally:
        ray.shutdown()


def test_tasks_of_an_array_give_the_forest_of_one_job(tmp_path, command, labels):
    """Run the tasks of the script for Slurm and Kubernetes one after the other."""
    script = Path(__file__).parents[1] / "examples" / "cluster" / "slurm.sh"
    X, Y = labels
    names = [*(f"x{j}" for j in range(8)), *(f"y{j}" for j in range(6))]
    rows = [",".join(names), *(",".join(repr(float(v)) for v in row) for row in np.hstack([X, Y]))]
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "rpo").symlink_to(Path(os.environ["RPO_COMMAND"]).resolve())
    environment = os.environ | {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "TASKS": "4",
        "TREES": "10",
        "SEED": "3",
        "DATA": "data.csv",
        "OPTIONS": "--n-targets 6 --projection gaussian",
    }
    run = lambda *words, **more: subprocess.run(  # noqa: E731
        ["bash", str(script), *words], cwd=tmp_path, env=environment | more, check=True
    )
    for task in (2, 0, 3):
        run("task", SLURM_ARRAY_TASK_ID=str(task))
    run("task", JOB_COMPLETION_INDEX="1")
    run("merge")
    command(
        "train",
        "--data",
        tmp_path / "data.csv",
        "--n-targets",
        6,
        "--projection",
        "gaussian",
        "--seed",
        3,
        "--trees",
        10,
        "--model",
        tmp_path / "whole.rpo",
    )
    assert (tmp_path / "forest.rpo").read_bytes() == (tmp_path / "whole.rpo").read_bytes()
