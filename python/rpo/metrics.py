"""Metrics of multi-label classification and multi-output regression.

Truth may be dense, CSR or a table, or a vector for one output. NaN entries are missing and left out, as if they and
their predictions had been removed. Scores may be dense, or CSR if a metric uses the best labels of each sample or sets
of labels. All samples count equally: there are no weights of samples.

`evaluate` and functions that rank the labels of a sample use single precision: scores that differ by less are ties. The
functions for areas per label and for errors of numbers use double precision.

Metrics at k and the one-error take the best labels of a sample, of equal scores those of the first columns, as
`Model.predict_top_k` does. All other metrics treat equal scores alike.

Examples
--------
>>> import numpy as np
>>> from rpo import metrics
>>> truth = np.array([[1, 0, 1], [0, 1, 0]])
>>> scores = np.array([[0.9, 0.2, 0.6], [0.4, 0.3, 0.1]])
>>> metrics.lrap(truth, scores)
0.75
>>> metrics.evaluate(truth, scores, ["p@1", "hamming"])
{'p@1': 0.5, 'hamming': 0.16666666666666666}
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import _native
from ._arguments import names_of, whole
from ._frames import check_in_memory, column_names, is_frame
from ._matrix import borrow, dense
from ._outputs import as_columns, of_table
from ._types import Borrowed

__all__ = [
    "arrmse",
    "average_precision",
    "confusion_counts",
    "coverage_error",
    "evaluate",
    "f1",
    "half_r2",
    "hamming_loss",
    "inverse_propensities",
    "jaccard",
    "lrap",
    "mae",
    "mse",
    "names",
    "ndcg_at_k",
    "one_error",
    "pinball",
    "poisson_deviance",
    "precision",
    "precision_at_k",
    "psndcg_at_k",
    "psp_at_k",
    "r2",
    "ranking_loss",
    "recall",
    "relative_rmse",
    "rmse",
    "roc_auc",
    "subset_accuracy",
    "tweedie_deviance",
    "zero_one_loss",
]


_MOST = 2.0**53
"""More samples than any data set has."""


def names() -> list[str]:
    """Return the names of the metrics of `evaluate`, with K as the placeholder for a number."""
    return _native.metrics()


def evaluate(
    truth: Any,
    scores: Any,
    metrics: Iterable[str],
    *,
    inverse_propensities: Any = None,
    train_means: Any = None,
    empty_samples: str = "skip",
    zero_division: float = 0.0,
) -> dict[str, float]:
    """Return metrics by name, computed with shared work; NaN if undefined.

    Parameters
    ----------
    truth : array or sparse matrix of shape (n_samples, n_outputs)
        Labels, 0 and 1, or numbers; NaN where missing.
    scores : array or sparse matrix of shape (n_samples, n_outputs)
        Predictions.
    metrics : iterable of str
        Names such as "lrap", "p@5", "macro-f1", "r2"; label sets have the labels with scores of at least 0.5.
    inverse_propensities : array of shape (n_outputs,), optional
        For "psp@K" and "psndcg@K".
    train_means : array of shape (n_outputs,), optional
        The baseline of "arrmse"; by default the means of the evaluated samples.
    empty_samples : {"skip", "one"}, default="skip"
        Treatment of samples without labels in "lrap" and "one-error": left out, or counted as 1.
    zero_division : {0.0, 1.0}, default=0.0
        The value of 0/0 in "jaccard", the F1s, "macro-p@K" and "macro-r@K".
    """
    metrics = names_of("metrics", metrics)
    _check_names(truth, scores)
    values = _native.evaluate(
        metrics,
        _borrowed(truth, "truth"),
        _borrowed(scores, "scores"),
        inverse_propensities=_floats(inverse_propensities),
        train_means=_floats(train_means),
        empty_samples=empty_samples,
        zero_division=float(zero_division),
    )
    return dict(zip(metrics, values, strict=True))


def _one(name: str, truth: Any, scores: Any, **options: Any) -> float:
    return evaluate(truth, scores, [name], **options)[name]


def lrap(truth: Any, scores: Any, *, empty_samples: str = "skip") -> float:
    """Return the label ranking average precision; larger is better."""
    return _one("lrap", truth, scores, empty_samples=empty_samples)


def coverage_error(truth: Any, scores: Any) -> float:
    """Return the mean rank at which all labels of a sample are covered; smaller is better."""
    return _one("coverage", truth, scores)


def ranking_loss(truth: Any, scores: Any) -> float:
    """Return the fraction of wrongly ordered pairs of a true and a false label; smaller is better."""
    return _one("ranking-loss", truth, scores)


def one_error(truth: Any, scores: Any, *, empty_samples: str = "skip") -> float:
    """Return the fraction of samples whose best label is wrong; smaller is better."""
    return _one("one-error", truth, scores, empty_samples=empty_samples)


def precision_at_k(truth: Any, scores: Any, k: int) -> float:
    """Return the precision of the k best labels; larger is better."""
    return _one(f"p@{k}", truth, scores)


def ndcg_at_k(truth: Any, scores: Any, k: int) -> float:
    """Return the normalized discounted cumulative gain of the k best labels; larger is better."""
    return _one(f"ndcg@{k}", truth, scores)


def psp_at_k(truth: Any, scores: Any, k: int, inverse_propensities: Any) -> float:
    """Return the propensity-scored precision of the k best labels, normalized; larger is better."""
    return _one(f"psp@{k}", truth, scores, inverse_propensities=inverse_propensities)


def psndcg_at_k(truth: Any, scores: Any, k: int, inverse_propensities: Any) -> float:
    """Return the propensity-scored NDCG of the k best labels, normalized; larger is better."""
    return _one(f"psndcg@{k}", truth, scores, inverse_propensities=inverse_propensities)


def inverse_propensities(label_counts: Any, n_train: int, *, a: float = 0.55, b: float = 1.5) -> NDArray[np.float64]:
    """Return 1/p for each label from its count in training (Jain, Prabhu, Varma, KDD 2016)."""
    counts = np.asarray(label_counts).ravel()
    if counts.dtype.kind not in "biuf":
        raise ValueError(f"label_counts must be numbers, got an array of {counts.dtype}")
    numbers = counts.astype(np.float64)
    if (wrong := ~((numbers >= 0) & (numbers < _MOST) & (numbers == np.floor(numbers)))).any():
        j = int(np.flatnonzero(wrong)[0])
        raise ValueError(f"label_counts must be whole numbers, at least 0, got {counts[j]} for label {j}")
    return _native.inverse_propensities([int(count) for count in counts], whole("n_train", n_train), a, b)


def roc_auc(truth: Any, scores: Any, *, average: str | None = "macro") -> Any:
    """Return the area under the ROC curve; larger is better.

    `average` is "macro" (over the labels where it is defined), "micro", "weighted" (by the labels' counts) or None for
    one value per label, NaN if undefined.
    """
    if average in ("micro", "weighted"):
        return float(_label_scores(f"{average}-roc-auc", truth, scores)[0])
    return _averaged(_label_scores("roc-auc", truth, scores), average)


def average_precision(truth: Any, scores: Any, *, average: str | None = "macro") -> Any:
    """Return the average precision, "macro" over the labels that occur, "micro", or None for each label."""
    if average == "micro":
        return float(_label_scores("micro-average-precision", truth, scores)[0])
    return _averaged(_label_scores("average-precision", truth, scores), average)


def _label_scores(what: str, truth: Any, scores: Any) -> NDArray[np.float64]:
    _check_names(truth, scores)
    return _native.label_scores(
        what, _borrowed(truth, "truth"), dense(_columns(scores, "scores"), "scores", np.float64)
    )


def _averaged(values: NDArray[np.float64], average: str | None) -> Any:
    if average is None:
        return values
    if average != "macro":
        raise ValueError(f"average cannot be {average!r} here")
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else float("nan")


def hamming_loss(truth: Any, predicted: Any) -> float:
    """Return the fraction of entries that are wrong; smaller is better."""
    return float(_set_score("hamming", truth, predicted))


def subset_accuracy(truth: Any, predicted: Any) -> float:
    """Return the fraction of samples whose labels are all correct; larger is better."""
    return float(_set_score("subset-accuracy", truth, predicted))


def zero_one_loss(truth: Any, predicted: Any) -> float:
    """Return the fraction of samples with a wrong label; smaller is better."""
    return 1.0 - subset_accuracy(truth, predicted)


def precision(truth: Any, predicted: Any, *, average: str | None = "micro", zero_division: float = 0.0) -> Any:
    """Return the precision of label sets: "micro", "macro", "samples", or None for each label; larger is better."""
    return _set_score("precision", truth, predicted, average, zero_division)


def recall(truth: Any, predicted: Any, *, average: str | None = "micro", zero_division: float = 0.0) -> Any:
    """Return the recall of label sets: "micro", "macro", "samples", or None for each label; larger is better."""
    return _set_score("recall", truth, predicted, average, zero_division)


def f1(truth: Any, predicted: Any, *, average: str | None = "micro", zero_division: float = 0.0) -> Any:
    """Return the F1 of label sets: "micro", "macro", "samples", or None for each label; larger is better."""
    return _set_score("f1", truth, predicted, average, zero_division)


def jaccard(truth: Any, predicted: Any, *, average: str | None = "samples", zero_division: float = 0.0) -> Any:
    """Return the Jaccard index: "samples", "micro", "macro", or None for each label; larger is better."""
    return _set_score("jaccard", truth, predicted, average, zero_division)


def confusion_counts(truth: Any, predicted: Any) -> dict[str, NDArray[np.int64]]:
    """Return for each label the true positives, false positives and false negatives."""
    _check_names(truth, predicted)
    whats = ("true-positives", "false-positives", "false-negatives")
    return {
        what.replace("-", "_"): _native.set_scores(
            what, _borrowed(truth, "truth"), _borrowed(predicted, "predicted")
        ).astype(np.int64)
        for what in whats
    }


def _set_score(what: str, truth: Any, predicted: Any, average: str | None = "micro", zero_division: float = 0.0) -> Any:
    average_name = _choice({"micro": "micro", "macro": "macro", "samples": "samples", None: "none"}, average)
    _check_names(truth, predicted)
    values = _native.set_scores(
        what,
        _borrowed(truth, "truth"),
        _borrowed(predicted, "predicted"),
        average=average_name,
        zero_division=float(zero_division),
    )
    return values if average is None else float(values[0])


def r2(truth: Any, predicted: Any, *, average: str | None = "macro") -> Any:
    """Return R²: "macro" over outputs, "weighted" by their variances, or None for each output; larger is better."""
    what = {"macro": "r2", "weighted": "weighted-r2", None: "r2-per-output"}
    return _regression(_choice(what, average), truth, predicted, average)


def half_r2(truth: Any, predicted: Any) -> float:
    """Return the mean R² of the first half of the outputs, for problems whose second half is noise."""
    return float(_regression("half-r2", truth, predicted, "macro"))


def mse(truth: Any, predicted: Any, *, average: str | None = "macro") -> Any:
    """Return the mean squared error over outputs, or None for each; smaller is better."""
    return _regression(_choice({"macro": "mse", None: "mse-per-output"}, average), truth, predicted, average)


def mae(truth: Any, predicted: Any, *, average: str | None = "macro") -> Any:
    """Return the mean absolute error over outputs, or None for each; smaller is better."""
    return _regression(_choice({"macro": "mae", None: "mae-per-output"}, average), truth, predicted, average)


def pinball(truth: Any, predicted: Any, *, levels: Any = 0.5, average: str | None = "macro") -> Any:
    """Return the mean pinball loss of quantiles over outputs, or None for each; smaller is better.

    `levels` are the quantile levels: one for all outputs, or those of each target in turn. `predicted` has a column for
    each level of the first target, then those of the second, as models predict them; `truth` has a column for each
    target, or for each level of each. With one level, this is scikit-learn's `mean_pinball_loss`.
    """
    what = _choice({"macro": "pinball", None: "pinball-per-output"}, average)
    levels = np.atleast_1d(levels)
    _check_names(truth, predicted)
    truth, predicted = _matrix(truth, "truth"), _matrix(predicted, "predicted")
    if predicted.shape[1] == levels.size * truth.shape[1]:
        truth = np.repeat(truth, levels.size, axis=1)
    return _regression(what, truth, predicted, average, levels=levels)


def poisson_deviance(truth: Any, predicted: Any, *, average: str | None = "macro") -> Any:
    """Return the mean Poisson deviance of counts over outputs, or None for each; smaller is better.

    It is the mean of 2 (y log(y / m) - y + m) for true values y of at least 0 and predicted means m, and infinite where
    m is below 0, or 0 and y is not. The value of each output is otherwise scikit-learn's `mean_poisson_deviance`, which
    refuses such m.
    """
    what = _choice({"macro": "poisson-deviance", None: "poisson-deviance-per-output"}, average)
    return _regression(what, truth, predicted, average)


def tweedie_deviance(truth: Any, predicted: Any, *, power: float = 1.5, average: str | None = "macro") -> Any:
    """Return the mean Tweedie deviance of amounts over outputs, or None for each; smaller is better.

    It is the mean of 2 (y^(2 - p) / ((1 - p) (2 - p)) - y m^(1 - p) / (1 - p) + m^(2 - p) / (2 - p)) for true values y
    of at least 0, which are often 0, and predicted means m, and infinite where m is below 0, or 0 and y is not. `power`
    is p, between 1 and 2, by default that of the loss `tweedie` of boosting. The value of each output is otherwise
    scikit-learn's `mean_tweedie_deviance`, which refuses such m.
    """
    what = _choice({"macro": "tweedie-deviance", None: "tweedie-deviance-per-output"}, average)
    return _regression(what, truth, predicted, average, power=power)


def rmse(truth: Any, predicted: Any, *, average: str | None = "macro") -> Any:
    """Return the root mean squared error: "macro", "pooled" over all observed entries, or None for each output."""
    what = {"macro": "rmse", "pooled": "pooled-rmse", None: "rmse-per-output"}
    return _regression(_choice(what, average), truth, predicted, average)


def arrmse(truth: Any, predicted: Any, *, train_means: Any = None) -> float:
    """Return the average relative RMSE: that of the predictions divided by that of the mean; smaller is better.

    The mean is that of the evaluated samples unless the means of the training samples are given.
    """
    return float(_regression("arrmse", truth, predicted, "macro", train_means))


def relative_rmse(truth: Any, predicted: Any, *, train_means: Any = None) -> NDArray[np.float64]:
    """Return the relative RMSE of each output; see `arrmse`."""
    values: NDArray[np.float64] = _regression("relative-rmse-per-output", truth, predicted, None, train_means)
    return values


def _regression(
    what: str,
    truth: Any,
    predicted: Any,
    average: str | None,
    baseline: Any = None,
    levels: Any = None,
    power: float | None = None,
) -> Any:
    _check_names(truth, predicted)
    values = _native.regression_scores(
        what,
        _matrix(truth, "truth"),
        _matrix(predicted, "predicted"),
        baseline=_floats(baseline),
        levels=_floats(levels),
        power=power,
    )
    return values if average is None else float(values[0])


def _check_names(truth: Any, other: Any) -> None:
    """Refuse two tables with the same columns in different order, which would be compared by position."""
    if is_frame(truth) and is_frame(other):
        names, others = column_names(truth), column_names(other)
        if names != others and sorted(names) == sorted(others):
            raise ValueError(f"the tables have the same columns in different order: {names} and {others}")


def _matrix(values: Any, name: str) -> NDArray[np.float64]:
    """Return numbers with one column for each output."""
    return dense(_columns(values.toarray() if hasattr(values, "toarray") else values, name), name, np.float64)


def _borrowed(values: Any, name: str) -> Borrowed:
    return borrow(_columns(values, name), name)


def _columns(values: Any, name: str) -> Any:
    """Return a table as an array, NaN where missing, and a vector as one column."""
    check_in_memory(values)
    if sp.issparse(values):
        return values
    table = of_table(values)
    try:
        return as_columns(np.asarray(values) if table is None else table)
    except ValueError as error:
        raise ValueError(f"{name} must be numbers: {error}") from error


def _choice(choices: dict[str | None, str], average: str | None) -> str:
    if average not in choices:
        known = ", ".join(repr(name) for name in choices)
        raise ValueError(f"average must be one of {known}, got {average!r}")
    return choices[average]


def _floats(values: Any) -> list[float] | None:
    return None if values is None else [float(value) for value in np.asarray(values).ravel()]
