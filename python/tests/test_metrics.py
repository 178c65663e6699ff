"""The forms of truth and predictions that metrics take."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from rpo import metrics

SETS = (
    "hamming subset-accuracy jaccard micro-f1 macro-f1 example-f1 mcc g-mean balanced-accuracy".split()  # noqa: SIM905
)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("beside", [[], ["p@1"], ["p@3"]])
def test_label_sets_of_sparse_scores_are_those_of_dense_ones(name, beside):
    rng = np.random.default_rng(6)
    truth = (rng.random((40, 12)) < 0.4).astype(np.float32)
    scores = np.where(rng.random((40, 12)) < 0.5, rng.random((40, 12)), 0.0).astype(np.float32)
    names = [name, *beside]
    assert metrics.evaluate(truth, sp.csr_array(scores), names) == metrics.evaluate(truth, scores, names)
    sparse = sp.csr_array(truth)
    assert metrics.evaluate(sparse, sparse, names) == metrics.evaluate(truth, truth, names)
    holes = np.where(rng.random((40, 12)) < 0.1, np.nan, truth)
    assert metrics.evaluate(holes, sp.csr_array(scores), names) == metrics.evaluate(holes, scores, names)
