"""Compares forests of this package with scikit-learn's on MULAN label sets: time, memory, size of the pickle, LRAP.

    RPO_DATA=... python benches/compare.py delicious bibtex corel5k --trees 100 --jobs 2

RPO_DATA names a folder with NAME/NAME-train.arff, NAME-test.arff and NAME.xml for each set. Each forest is fitted in a
fresh process, from numpy for scikit-learn, from numpy and CSR for this package; memory is the peak added by fitting
and predicting (Linux only). The pair is repeated, and the median is shown.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

KINDS = ["scikit-learn", "rpo", "rpo from CSR", "rpo projected"]


def load(name: str, part: str) -> tuple[np.ndarray, np.ndarray]:
    from rpo.datasets import load_arff  # noqa: PLC0415

    folder = Path(os.environ["RPO_DATA"]) / name
    data = load_arff(folder / f"{name}-{part}.arff", folder / f"{name}.xml")
    dense = data.data.toarray() if sp.issparse(data.data) else data.data
    return dense, data.target.toarray().astype(np.float32)


def forest(kind: str, trees: int, jobs: int):
    options = {"n_estimators": trees, "n_jobs": jobs, "random_state": 0}
    if kind == "scikit-learn":
        from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415

        return RandomForestClassifier(**options)
    import rpo  # noqa: PLC0415

    if kind == "rpo projected":
        options |= {"projection": "gaussian", "n_components": 25}
    return rpo.RandomForestClassifier(**options)


def memory(what: str) -> float:
    """Return the memory of this process (VmRSS) or its peak (VmHWM), in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what)) / 1024


def measure(name: str, kind: str, trees: int, jobs: int) -> dict[str, float]:
    """Fit and predict in this process."""
    from rpo.metrics import lrap  # noqa: PLC0415

    (X, Y), (X_test, Y_test) = load(name, "train"), load(name, "test")
    if kind == "rpo from CSR":
        X, Y, X_test = sp.csr_array(X), sp.csr_array(Y), sp.csr_array(X_test)
    model = forest(kind, trees, jobs)
    # Resets the peak memory.
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    cpu, start = time.process_time(), time.perf_counter()
    model.fit(X, Y)
    fit, fit_cpu = time.perf_counter() - start, time.process_time() - cpu
    start = time.perf_counter()
    scores = model.predict_proba(X_test)
    predict = time.perf_counter() - start
    added = memory("VmHWM") - before
    if isinstance(scores, list):
        # A label of all or no training samples is a single class.
        scores = np.column_stack(
            [s[:, 1] if s.shape[1] == 2 else np.full(len(s), c[0]) for s, c in zip(scores, model.classes_, strict=True)]
        )
    return {
        "fit s": fit,
        "fit CPU s": fit_cpu,
        "predict s": predict,
        "memory MB": added,
        "pickle MB": len(pickle.dumps(model)) / 2**20,
        "LRAP": lrap(Y_test, scores),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--one", choices=KINDS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.sets[0], given.one, given.trees, given.jobs)))
        return
    for name in given.sets:
        found = {kind: [] for kind in KINDS}
        for _ in range(given.repeat):
            for kind in KINDS:
                command = [sys.executable, __file__, name, "--trees", str(given.trees), "--jobs", str(given.jobs)]
                run = subprocess.run([*command, "--one", kind], check=True, capture_output=True, text=True)
                found[kind].append(json.loads(run.stdout))
        columns = list(found[KINDS[0]][0])
        print(f"\n| {name} | {' | '.join(columns)} |\n|{' --- |' * (len(columns) + 1)}")
        for kind, runs in found.items():
            values = [statistics.median(run[column] for run in runs) for column in columns]
            print(f"| {kind} | {' | '.join(f'{value:.3g}' for value in values)} |")


if __name__ == "__main__":
    main()
