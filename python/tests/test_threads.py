"""Threads, processes and signals."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import sysconfig
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import rpo

LONG = """
    import numpy as np, rpo
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 40)).astype(np.float32)
    Y = (rng.normal(size=(3000, 20)) > 0).astype(np.float32)
    fit = lambda trees: rpo.Model.fit(X, Y, labels=True, trees=trees, n_threads=1)
"""


def test_models_do_not_depend_on_the_number_of_threads(sparse):
    X, Y = sparse
    fit = lambda n: rpo.RandomForestClassifier(8, random_state=0, n_jobs=n).fit(X, Y)  # noqa: E731
    expected = fit(1)
    # The largest number of threads is not started: they would only wait for each other.
    for n_jobs in (None, 2, 3, -1, 100_000):
        forest = fit(n_jobs)
        assert forest.model_.to_bytes() == expected.model_.to_bytes()
        assert np.array_equal(forest.predict_proba(X), expected.predict_proba(X))


def test_other_threads_run_while_one_fits(labels):
    X, Y = np.repeat(labels[0], 20, axis=0), np.repeat(labels[1], 20, axis=0)
    counts, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counts[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    start = time.monotonic()
    rpo.Model.fit(X, Y, labels=True, trees=150, n_threads=1)
    seconds, counted = time.monotonic() - start, counts[0]
    done.set()
    counter.join()
    assert counted > 20 * seconds, f"{counted} in {seconds} s"


def test_fits_in_several_threads_at_once_are_those_of_one(labels):
    X, Y = labels
    fit = lambda seed: rpo.Model.fit(X, Y, labels=True, trees=5, seed=seed)  # noqa: E731
    expected = [fit(seed) for seed in range(4)]
    found = [None] * 4

    def work(seed):
        found[seed] = fit(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_a_prediction_does_not_wait_for_a_fit(labels):
    X, Y = labels
    trees, seen = 1_000_000, []
    small = rpo.Model.fit(X, Y, labels=True, trees=2, n_threads=1)

    class EnoughError(Exception):
        pass

    def progress(steps):
        seen.append(steps)
        if len(seen) == 2:
            raise EnoughError
        small.predict(X[:1], n_threads=1)

    with pytest.raises(EnoughError):
        rpo.Model.fit(X, Y, labels=True, trees=trees, n_threads=1, progress=progress)
    assert seen[0] < seen[1] < trees


def in_threads(n, work):
    """Return the results of the work in several threads that start at once."""
    barrier = threading.Barrier(n)

    def at_once(number):
        barrier.wait(timeout=60)
        return work(number)

    with ThreadPoolExecutor(n) as executor:
        return list(executor.map(at_once, range(n)))


def test_threads_share_an_estimator(labels, sparse, numbers):
    """All threads predict with one estimator, while some fit others and one refits it to the same data and model."""
    for estimator, (X, Y) in (
        (rpo.RandomForestClassifier(10, random_state=0), labels),
        (rpo.RandomForestClassifier(10, random_state=0, projection="gaussian", n_jobs=2), sparse),
        (rpo.GradientBoostingRegressor(10, random_state=0), numbers),
        (rpo.CraftmlClassifier(4, random_state=0), sparse),
    ):
        predict = estimator.predict if hasattr(estimator, "staged_predict") else estimator.predict_proba
        expected, model = estimator.fit(X, Y).model_, predict(X)

        def work(number, estimator=estimator, X=X, Y=Y, predict=predict, expected=expected, model=model):
            for _ in range(3):
                if number == 0:
                    estimator.fit(X, Y)
                elif number == 1:
                    assert clone(estimator).fit(X, Y).model_ == expected
                elif number == 2:
                    assert pickle.loads(pickle.dumps(estimator)).model_ == expected
                assert np.array_equal(predict(X), model)
            return estimator.model_ == expected

        assert in_threads(6, work) == [True] * 6


def test_threads_share_stages(numbers):
    X, Y = numbers
    model = rpo.GradientBoostingRegressor(40, random_state=0).fit(X, Y).model_
    expected = list(model.staged_predict(X))
    stages = model.staged_predict(X)
    found = [stage for taken in in_threads(4, lambda _: list(stages)) for stage in taken]
    key = lambda stage: stage.tobytes()  # noqa: E731
    assert sorted(map(key, found)) == sorted(map(key, expected))


@pytest.mark.skipif(not hasattr(sys, "_is_gil_enabled"), reason="CPython 3.12 and older have the lock")
def test_the_lock_of_a_free_threaded_interpreter_stays_off():
    """An extension module that needs the lock would turn it on."""
    code = "import sys, rpo; print(sys._is_gil_enabled())"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    is_free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    assert found.stdout == f"{not is_free}\n"
    assert "GIL" not in found.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_fits_and_predicts():
    """Like a server that loads a model and then forks its workers."""
    code = (
        LONG
        + """
    import os
    model = fit(3)
    expected = model.predict(X[:50])
    labels = model.decide(expected)
    values = model.predict_values(X[:50])
    described = rpo.describe(X, Y)
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            same = np.array_equal(model.predict(X[:50]), expected) and fit(3) == model
            same = same and (model.decide(expected) != labels).nnz == 0 and rpo.describe(X, Y) == described
            same = same and all((model.predict_values(X[:50])[name] == values[name]).all() for name in values)
            os._exit(0 if same else 1)
        children.append(child)
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    """
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)], check=True, timeout=100)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Windows")
def test_control_c_ends_a_fit_within_a_second():
    code = (
        LONG
        + """
    import sys, time
    print("ready", flush=True)
    try:
        fit(1_000_000)
    except KeyboardInterrupt:
        print("interrupted", time.time(), flush=True)
        import os
        os._exit(0)
    """
    )
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    word, at = process.stdout.readline().split()
    process.wait(timeout=60)
    assert word == "interrupted"
    assert float(at) - sent < 1.0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms")
def test_a_signal_ends_a_prediction(labels):
    X, Y = labels
    model = rpo.RandomForestClassifier(200, random_state=0).fit(X, Y).model_
    many = np.tile(X, (5_000, 1))
    start = time.perf_counter()
    model.predict(many, n_threads=1)
    whole = time.perf_counter() - start

    class GivenUpError(Exception):
        pass

    def give_up(*_):
        raise GivenUpError

    for predict in (model.predict, model.apply, lambda X, **options: model.predict_top_k(X, 1, **options)):
        before = signal.signal(signal.SIGALRM, give_up)
        start = time.perf_counter()
        try:
            signal.setitimer(signal.ITIMER_REAL, whole / 20)
            with pytest.raises(GivenUpError):
                predict(many, n_threads=1)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert time.perf_counter() - start < whole / 2


def test_a_signal_ends_an_explanation(labels):
    X, Y = labels
    model = rpo.RandomForestClassifier(200, random_state=0).fit(X, Y).model_
    many = np.tile(X, (12, 1))
    start = time.perf_counter()
    model.contributions(many, X, n_threads=1)
    whole = time.perf_counter() - start

    class GivenUpError(Exception):
        pass

    def give_up(*_):
        raise GivenUpError

    before = signal.signal(signal.SIGALRM, give_up)
    start = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, whole / 20)
        with pytest.raises(GivenUpError):
            model.contributions(many, X, n_threads=1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - start < whole / 2


def test_blocks_of_samples_make_up_a_prediction(labels):
    """Predictions of many samples are made in blocks, between which signals are checked."""
    X, Y = labels
    many = np.random.default_rng(0).normal(size=(20_000, X.shape[1])).astype(np.float32)
    forest = rpo.RandomForestClassifier(5, random_state=0).fit(X, Y).model_
    parts = np.array_split(many, 7)
    for given in (lambda X: X, sp.csr_array):
        assert np.array_equal(forest.predict(given(many)), np.vstack([forest.predict(given(part)) for part in parts]))
        assert np.array_equal(forest.apply(given(many)), np.vstack([forest.apply(given(part)) for part in parts]))
        best = sp.vstack([forest.predict_top_k(given(part), 2) for part in parts])
        assert (forest.predict_top_k(given(many), 2) != best).nnz == 0
    linear = rpo.LinearOneVsRestClassifier(C=1.0).fit(X, Y).model_
    assert linear.apply(many) is None
    many[17_000, 3] = np.nan
    with pytest.raises(ValueError, match="17000"):
        linear.predict(many)


def test_an_exception_of_a_progress_function_ends_the_fit(labels):
    X, Y = labels

    class GivenUpError(Exception):
        pass

    def progress(steps):
        raise GivenUpError

    with pytest.raises(GivenUpError):
        rpo.Model.fit(X, Y, labels=True, trees=100_000, n_threads=1, progress=progress)


def test_progress_counts_every_step(labels, capsys):
    X, Y = labels
    seen = []
    rpo.Model.fit(X, Y, labels=True, trees=30, progress=seen.append)
    assert seen[-1] == 30
    assert seen == sorted(seen)
    rpo.RandomForestClassifier(5, verbose=1).fit(X, Y)
    assert "step 5 of 5" in capsys.readouterr().out


def test_the_progress_of_a_search_counts_the_configurations_that_the_data_admit(labels, capsys, tmp_path):
    X, Y = labels
    methods = [{"method": "baseline", "cost": 1}, {"method": "extra-trees --trees 3", "cost": 1}]
    labels_alone = [*methods, {"method": "ridge", "cost": 1, "min_outputs": 100}]
    path = tmp_path / "portfolio.json"
    path.write_text(json.dumps({"labels": labels_alone, "numbers": methods}))
    rpo.AutoClassifier(configurations=100, portfolio=str(path), verbose=1).fit(X, Y)
    assert "step 2 of 2" in capsys.readouterr().out
