"""The base classes of classifiers and regressors, which encode y and decode scores."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import r2_score
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import check_is_fitted

from ._bases import ClassifierMixin, RegressorMixin
from ._class_weights import weights_of_classes
from ._estimator import Estimator
from ._frames import are_numbered, column_names, is_frame
from ._groups import group_numbers
from ._labels import MULTILABEL, MULTIOUTPUT, Labels, indicators
from ._matrix import check_no_times, check_real
from ._outputs import check_outputs, output_names, outputs_as_array
from ._precision import check_precision, weights_in_single
from ._samples import Samples
from ._scores import accuracy, r2
from .model import PROPENSITY

if TYPE_CHECKING:
    from typing_extensions import Self


_RULES = ("thresholds", "decide")
"""Parameters that set how labels are decided."""

_NO_RULES = (None, "threshold")
"""Values of these parameters that leave the threshold of 0.5."""


class Supervised(Estimator):
    """An estimator that remembers the columns of y."""

    n_outputs_: int
    _y_names: list[str] | None
    """The names of the columns of a table."""
    _numbered: bool
    """True if the columns of a table are numbered from 0."""

    def _remember_outputs(self, y: Any) -> list[str] | None:
        """Return the names of the columns of y, and remember those of a table."""
        self._y_names = column_names(y) if is_frame(y) else None
        self._numbered = is_frame(y) and are_numbered(y)
        return output_names(y)

    def _check_outputs(self, y: Any, names: list[str] | None) -> None:
        """Refuse infinite outputs and, unless they are allowed, missing ones; say what helps."""
        values = y.data if hasattr(y, "indptr") else y
        if self.missing_outputs:
            advice = None
        elif self._labels and not np.isin(values[~np.isnan(values)], (0, 1)).all():
            advice = "leave out samples without a class"
        elif "missing_outputs" in self.get_params(deep=False):
            advice = "missing_outputs=True leaves them out"
        else:
            advice = "forests and boosting take missing outputs with missing_outputs=True"
        check_outputs(y, "y", names, advice)

    def _same_outputs(self, y: Any) -> Any:
        """Return y as an array or a sparse matrix; its columns must be those of training.

        Raises
        ------
        ValueError
            For other columns, or the same columns in another order.
        """
        names, expected = column_names(y) if is_frame(y) else None, self._y_names
        y = outputs_as_array(y)
        n_outputs = 1 if y.ndim == 1 else y.shape[1]
        if n_outputs != self.n_outputs_:
            raise ValueError(f"y has {n_outputs} columns; in training it had {self.n_outputs_}")
        if names is not None and expected is not None and names != expected:
            j = next(j for j in range(n_outputs) if names[j] != expected[j])
            raise ValueError(f"column {j} of y is {names[j]!r}; in training it was {expected[j]!r}")
        return y


class Classifier(ClassifierMixin, Supervised):
    """A classifier for two or more classes, indicators of labels, or several outputs of classes."""

    _labels: ClassVar[bool] = True

    class_weight: Any = None

    classes_: Any
    n_classes_: Any
    n_outputs_: int
    output_names_: list[str] | None

    def __sklearn_tags__(self) -> Any:
        """Return the kinds of input that the estimator supports."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _fit_to(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, eval_set: Any, before: Mapping[str, Any]
    ) -> Self:
        features = self._features(X, reset=True)
        names = self._remember_outputs(y)
        y = self._column(outputs_as_array(y))
        check_consistent_length(features, y)
        if y.dtype.kind == "f":
            self._check_outputs(y, names)
        # A rule decides on one label.
        is_column = names is not None and not self._rules()
        self._encoding = encoding = Labels(y, missing=self.missing_outputs, is_column=is_column)
        self._has_rule = self._takes_rule(encoding.kind)
        single = encoding.kind not in (MULTILABEL, MULTIOUTPUT)
        self.n_outputs_ = encoding.n_outputs
        self.classes_ = encoding.classes[0] if single else encoding.classes
        sizes = [len(classes) for classes in encoding.classes]
        self.n_classes_ = sizes[0] if single else sizes
        self.output_names_ = encoding.names(names)
        self._class_columns = encoding.columns(names)
        weights = self._with_class_weight(self._weights(sample_weight, features), y)
        groups = group_numbers(groups, features.shape[0])
        data = self._samples(features, encoding.encode(y), self.output_names_, weights, groups)
        self._remember_data(data, before)
        n_labels = np.ones(self.n_outputs_) if encoding.kind == MULTILABEL else np.asarray(sizes)
        return self._finish(features, y, data, n_labels, self._validation(eval_set))

    def _takes_rule(self, kind: str) -> bool:
        """Return true if there is a rule that decides which labels are predicted, beside the threshold of 0.5.

        Raises
        ------
        ValueError
            For a rule that has no effect, as the most probable of several classes is predicted.
        """
        rules = self._rules()
        if rules and kind not in (MULTILABEL, "binary"):
            raise ValueError(
                f"params has {rules[0]!r}, which decides labels and two classes; y is {kind}, and of more classes the "
                "most probable is predicted"
            )
        return bool(rules)

    def _rules(self) -> list[str]:
        """Return the parameters that set how labels are decided."""
        params = self.params if isinstance(self.params, Mapping) else {}
        return [name for name in _RULES if params.get(name) not in _NO_RULES]

    def _validation(self, eval_set: Any) -> Samples | None:
        if eval_set is None:
            return None
        X, y = pair(eval_set)
        features = self._features(X, reset=False)
        y = self._column(self._same_outputs(y))
        check_consistent_length(features, y)
        return self._samples(features, self._encoding.encode(y), self.output_names_, None)

    def _with_class_weight(self, weights: NDArray[np.float32] | None, y: Any) -> NDArray[np.float32] | None:
        """Return the weights of samples times those of classes: one for each label if there are several outputs."""
        if self.class_weight is None:
            return weights
        by_class = weights_of_classes(self.class_weight, y)
        n_labels = (
            1 if self._encoding.kind in (MULTILABEL, "binary") else [len(part) for part in self._encoding.classes]
        )
        by_class = np.repeat(by_class, n_labels, axis=1)
        if weights is not None and weights.ndim == 2 and weights.shape != by_class.shape:
            raise ValueError(
                f"sample_weight must have the shape {by_class.shape[:1]} or {by_class.shape}, got {weights.shape}"
            )
        if weights is None or weights.ndim < 2:
            by_class = by_class[:, 0] if self.n_outputs_ == 1 else by_class
        product = by_class if weights is None else (by_class.T * weights.T).T
        return weights_in_single(product, "class_weight", stacklevel=5)

    def _column(self, y: Any) -> Any:
        """Return a single column of classes as a vector, and labels that may be missing as numbers."""
        if sp.issparse(y):
            return y
        return indicators(y) if self.missing_outputs else vector(y)

    def predict_proba(self, X: Any, *, memory_limit: int | None = None) -> Any:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features.
        memory_limit : int, optional
            Largest size of the result in bytes; 4 GiB by default.

        Returns
        -------
        ndarray or list of ndarray
            For labels, one array of float32 of shape (n_samples, n_outputs): the probability of each label, between 0
            and 1 exclusive (0 is replaced by the smallest positive number). For classes, one array of float64 of shape
            (n_samples, n_classes), and for several outputs of classes a list of such arrays.

        Raises
        ------
        MemoryError
            For a result over the memory limit; `predict_top_k` needs no array of that size.
        """
        check_is_fitted(self, "model_")
        # Two probabilities are returned for the score of two classes.
        size = {MULTILABEL: 4, "binary": 16}.get(self._encoding.kind, 8)
        return self._encoding.probabilities(self._scores(X, memory_limit, size=size))

    def predict_log_proba(self, X: Any, *, memory_limit: int | None = None) -> Any:
        """Return the logarithms of `predict_proba`, whose parameters these are."""
        probabilities = self.predict_proba(X, memory_limit=memory_limit)
        with np.errstate(divide="ignore"):
            if isinstance(probabilities, list):
                return [np.log(part) for part in probabilities]
            return np.log(probabilities)

    def predict(self, X: Any, *, memory_limit: int | None = None) -> Any:
        """Return the most probable classes, or the labels as 0 and 1, as a CSR matrix if y was sparse in training.

        A label is predicted if its probability is at least 0.5, as `Model.predict_labels` and the command do, or by the
        rule set with `params={"thresholds": ...}` or `params={"decide": "f1"}`. Such a rule also decides on the second
        of two classes. Otherwise the most probable class is predicted, or the first of equally probable ones, as in
        scikit-learn.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features.
        memory_limit : int, optional
            Largest size in bytes of the array of labels, 8 for each sample and label; of the scores, 4 for each, if the
            result is a CSR matrix or one class for each output. 4 GiB by default.

        Raises
        ------
        MemoryError
            For an array over the memory limit; `predict_top_k` needs none of that size.

        Notes
        -----
        With `params={"decide": "f1"}` the labels of a sample depend on the samples that are predicted with it: each
        label is predicted for the set of samples whose expected F1 is largest. Predict all samples in one call; a
        single sample has other labels than among others.
        """
        check_is_fitted(self, "model_")
        size = 8 if self._encoding.kind == MULTILABEL and not self._encoding.sparse else 4
        return self._chosen(self._scores(X, memory_limit, size=size))

    def _chosen(self, scores: NDArray[np.float32]) -> Any:
        """Return the classes or labels predicted from scores."""
        encoding = self._encoding
        if encoding.kind == MULTILABEL:
            labels = self._decide(scores)
            return labels if encoding.sparse else labels.toarray()
        if encoding.kind == "binary" and self._has_rule:
            return encoding.classes[0][self._decide(scores).toarray()[:, 0]]
        return encoding.best(scores)

    def _decide(self, scores: NDArray[np.float32]) -> sp.csr_array[Any]:
        """Return the labels that the model predicts: those with scores of at least 0.5, or by its rule."""
        return self.model_.decide(scores, n_threads=self._n_threads()).astype(np.int64)

    def predict_top_k(
        self, X: Any, k: int, *, rerank: str | None = None, propensity: tuple[float, float] = PROPENSITY
    ) -> sp.csr_array[Any]:
        """Return the k largest scores of each sample, as CSR of shape (n_samples, n_labels), without scores of 0.

        Never holds all scores, which suits very many labels. `rerank="propensity"` ranks rare labels higher, see
        `Model.predict_top_k`.
        """
        X = self._fitted_features(X)
        return self.model_.predict_top_k(X, k, rerank=rerank, propensity=propensity, n_threads=self._n_threads())

    def predict_sets(self, X: Any, *, memory_limit: int | None = None) -> list[NDArray[Any]]:
        """Return the labels predicted for each sample: their names if y had names, otherwise their indices.

        Columns of a table that are numbered, as pandas does by default, have no names. The parameters are those of
        `predict`; `memory_limit` is that of the scores.
        """
        check_is_fitted(self, "model_")
        if self._encoding.kind != MULTILABEL:
            raise ValueError(f"predict_sets is for indicators of labels; y was {self._encoding.kind}")
        labels = self._decide(self._scores(X, memory_limit))
        names = None if self.output_names_ is None or self._numbered else np.asarray(self.output_names_)
        rows = np.split(labels.indices, labels.indptr[1:-1])
        return [row if names is None else names[row] for row in rows]

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, memory_limit: int | None = None) -> float:
        """Return the accuracy; for labels, the fraction of samples whose observed labels are all correct.

        `memory_limit` is that of `predict`.
        """
        check_is_fitted(self, "model_")
        y = self._same_outputs(y)
        y = indicators(y) if self.missing_outputs and not sp.issparse(y) else y
        predicted = self.predict(X, memory_limit=memory_limit)
        if self._encoding.kind == MULTIOUTPUT:
            return float(np.average((predicted == y).all(axis=1), weights=sample_weight))
        return accuracy(y, predicted, sample_weight)


class Regressor(RegressorMixin, Supervised):
    """A regressor for one or more outputs."""

    _labels: ClassVar[bool] = False

    n_outputs_: int
    output_names_: list[str] | None

    def _fit_to(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, eval_set: Any, before: Mapping[str, Any]
    ) -> Self:
        features = self._features(X, reset=True)
        self.output_names_ = self._remember_outputs(y)
        y = self._numbers(outputs_as_array(y))
        check_consistent_length(features, y)
        check_precision(y, self.output_names_, stacklevel=4)
        self._is_vector = y.ndim == 1
        y = y.reshape(-1, 1) if self._is_vector else y
        self.n_outputs_ = y.shape[1]
        weights, groups = self._weights(sample_weight, features), group_numbers(groups, features.shape[0])
        data = self._samples(features, y, self.output_names_, weights, groups)
        self._remember_data(data, before)
        n_labels = np.ones(self.n_outputs_)
        return self._finish(features, y, data, n_labels, self._validation(eval_set))

    def _validation(self, eval_set: Any) -> Samples | None:
        if eval_set is None:
            return None
        X, y = pair(eval_set)
        features, y = self._features(X, reset=False), self._numbers(self._same_outputs(y))
        check_consistent_length(features, y)
        y = y.reshape(-1, 1) if y.ndim == 1 else y
        return self._samples(features, y, self.output_names_, None)

    def _numbers(self, y: Any) -> Any:
        check_real(y, "y")
        check_no_times(y, "y")
        y = check_array(
            y, accept_sparse="csr", dtype="numeric", ensure_2d=False, ensure_all_finite=False, input_name="y"
        )
        self._check_outputs(y, self.output_names_)
        return y if sp.issparse(y) else vector(y)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, memory_limit: int | None = None) -> float:
        """Return the mean R² over outputs; if outputs may be missing, over their observed values.

        `memory_limit` is that of `predict`.
        """
        check_is_fitted(self, "model_")
        y = self._same_outputs(y)
        y = y.toarray() if hasattr(y, "toarray") else y
        predicted = self.predict(X, memory_limit=memory_limit)
        if (1 if predicted.ndim == 1 else predicted.shape[1]) != self.n_outputs_:
            raise ValueError("several quantile levels have no R²; rpo.metrics.pinball scores them")
        if self.missing_outputs:
            return r2(np.asarray(y, np.float64), predicted, sample_weight)
        return float(r2_score(y, predicted, sample_weight=sample_weight))

    def predict(self, X: Any, *, memory_limit: int | None = None) -> NDArray[np.float64]:
        """Return the predicted numbers, of shape (n_samples,) or (n_samples, n_outputs).

        With K quantile levels there are K columns for each output.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features.
        memory_limit : int, optional
            Largest size of the result in bytes, 8 for each number; 4 GiB by default.

        Raises
        ------
        MemoryError
            For a larger result.
        """
        return self._decoded(self._scores(X, memory_limit, size=8))

    def predict_intervals(self, X: Any, *, memory_limit: int | None = None) -> NDArray[np.float64]:
        """Return the lower and the upper bound of each number, of shape (n_samples, 2) or (n_samples, n_outputs, 2).

        For regressors with `params={"intervals": 0.9}`: the true value of nine of ten new samples, if they are like
        those of training, is between the bounds. See `Model.predict_intervals`.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features.
        memory_limit : int or None, default=None
            Largest size of the bounds in bytes; None means 4 GiB.

        Raises
        ------
        ValueError
            For a regressor without intervals.
        MemoryError
            For bounds that are larger than the limit.
        """
        check_is_fitted(self, "model_")
        bounds = self.model_._native.bounds(self._scores(X, memory_limit, size=16)).astype(np.float64)
        bounds = bounds.reshape(len(bounds), bounds.shape[1] // 2, 2)
        return bounds[:, 0] if self._is_vector else bounds

    def _decoded(self, scores: NDArray[np.float32]) -> NDArray[np.float64]:
        numbers = scores.astype(np.float64)
        # Several levels of one target have several columns.
        return numbers[:, 0] if self._is_vector and numbers.shape[1] == 1 else numbers


def pair(eval_set: Any) -> Any:
    """Return the features and the outputs of withheld samples."""
    is_pair = isinstance(eval_set, (tuple, list)) and len(eval_set) == 2
    if not is_pair or all(isinstance(part, tuple) for part in eval_set):
        raise ValueError("eval_set must be a pair of features and outputs, not a list of pairs: eval_set=(X, y)")
    return eval_set


def vector(y: NDArray[Any]) -> NDArray[Any]:
    """Return a matrix with one column as a vector, with the warning of scikit-learn."""
    if y.ndim == 1 or y.shape[1] != 1:
        return y
    message = (
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), "
        "for example using ravel()."
    )
    warnings.warn(message, DataConversionWarning, stacklevel=6)
    return y.ravel()
