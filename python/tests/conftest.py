"""Small data sets, and the command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp


@pytest.fixture
def labels() -> tuple[np.ndarray, np.ndarray]:
    """120 samples with 8 features and 6 labels that depend on them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8)).astype(np.float32)
    Y = (X[:, :6] + 0.3 * rng.normal(size=(120, 6)) > 0.4).astype(np.int8)
    return X, Y


@pytest.fixture
def sparse() -> tuple[sp.csr_array, sp.csr_array]:
    """300 samples with 60 features and 200 labels, both sparse."""
    rng = np.random.default_rng(1)
    X = sp.random_array((300, 60), density=0.1, format="csr", dtype=np.float32, rng=rng)
    Y = sp.random_array((300, 200), density=0.03, format="csr", dtype=np.float32, rng=rng)
    Y.data[:] = 1
    return X, Y


@pytest.fixture
def numbers() -> tuple[np.ndarray, np.ndarray]:
    """100 samples with 5 features and 3 outputs that are functions of them."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 5)).astype(np.float32)
    return X, X[:, :3] * [1.0, 10.0, -2.0] + X[:, 2:5]


@pytest.fixture
def command():
    """Run the command `rpo` of this checkout, whose path is in RPO_COMMAND."""
    path = os.environ.get("RPO_COMMAND")
    if not path:
        pytest.skip("RPO_COMMAND does not name the command")

    def run(*arguments: object) -> str:
        words = [str(Path(path).resolve()), *map(str, arguments)]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    return run
