"""Describes a data set before anything is fitted to it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length

from ._frames import is_frame, read_frame
from ._labels import Labels
from ._matrix import check_finite
from ._outputs import output_names, outputs_as_array
from ._precision import check_precision
from ._samples import Samples


def describe(X: Any, y: Any, *, labels: bool | None = None) -> dict[str, Any]:
    """Describe a data set: its sizes, missing values, and the distribution of its labels.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
        Features; NaN where missing.
    y : array, sparse matrix or DataFrame of shape (n_samples,) or (n_samples, n_outputs)
        Outputs; NaN where missing.
    labels : bool, optional
        True if the outputs are labels or classes, False if they are numbers. By default outputs are labels if all are
        0 or 1, and classes if they are not numbers.

    Returns
    -------
    dict
        `n_samples`, `n_features`, `n_outputs`, `task`, `layout`, `feature_density`, `missing_features`,
        `missing_outputs`, the numbers of features that are `categories` and of samples that are `duplicates` of an
        earlier one. For labels also `cardinality` and `density` (means over samples), the numbers of `unlabelled`
        samples, of labels that `never` occur, and of distinct `label_sets`, imbalance (`mean_ir`, `max_ir`) and
        `scumble` (Charte et al. 2014). None for an undefined figure.

    Examples
    --------
    >>> import numpy as np, rpo
    >>> figures = rpo.describe(np.eye(4), np.array([[1, 0], [1, 0], [1, 1], [0, 0]]))
    >>> figures["cardinality"], figures["unlabelled"], figures["label_sets"]
    (1.0, 1, 3)
    """
    frame = read_frame(X) if is_frame(X) else None
    features = check_array(
        X if frame is None else frame.values,
        accept_sparse="csr",
        dtype=np.float32,
        ensure_all_finite=False,
        input_name="X",
    )
    check_finite(features, "X", None if frame is None else frame.names)
    names = output_names(y)
    outputs = outputs_as_array(y)
    check_consistent_length(features, outputs)
    missing = _has_missing(outputs)
    if _are_labels(outputs) if labels is None else labels:
        encoding = Labels(outputs, missing=missing, is_column=names is not None)
        names, outputs, labels = encoding.names(names), encoding.encode(outputs), True
    else:
        check_precision(outputs, names, stacklevel=2)
    if outputs.ndim == 1:
        outputs = outputs.reshape(-1, 1)
    samples = Samples(
        features,
        outputs,
        labels=bool(labels),
        missing_outputs=missing,
        feature_names=None if frame is None else frame.names,
        output_names=names,
        nominal={} if frame is None else frame.nominal,
        weights=None,
    )
    return dict(json.loads(samples.native().summary()))


def _values(y: Any) -> NDArray[Any]:
    return np.asarray(y.tocsr().data if hasattr(y, "tocsr") else y)


def _has_missing(y: Any) -> bool:
    values = _values(y)
    return values.dtype.kind == "f" and bool(np.isnan(values).any())


def _are_labels(y: Any) -> bool:
    values = _values(y)
    if values.dtype.kind not in "biuf":
        return True
    return bool(np.isin(values[values == values], (0, 1)).all())  # noqa: PLR0124 - what is not NaN
