"""The base classes of random forests and Extra-Trees."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ._arguments import flag
from ._estimator import Estimator
from ._labels import MULTIOUTPUT
from ._parameters import check_least, count, not_negative
from ._samples import Samples
from ._scores import accuracy, r2
from ._supervised import Classifier, Regressor
from .model import Model

if TYPE_CHECKING:
    from typing_extensions import Self

_MOSTLY = 0.1
"""Largest fraction of nonzero features for which forests grow faster on CSR."""


_NO_OOB = "Out of bag estimation is only available if bootstrap is True and params has no nominal='target'"


class Forest(Estimator):
    """A forest whose trees predict all outputs."""

    _renamed: ClassVar[dict[str, str]] = {
        "n_estimators": "trees",
        "max_depth": "max_depth",
        "max_leaf_nodes": "max_leaves",
        "min_samples_leaf": "min_samples_leaf",
        "bootstrap": "bootstrap",
    }

    _criteria: ClassVar[Mapping[str, str]]
    """Names of criteria in the method, by their names in scikit-learn."""

    n_estimators: int
    criterion: str
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_impurity_decrease: float
    max_features: Any
    bootstrap: bool | None
    oob_score: bool | Callable[..., float]
    warm_start: bool
    projection: str | None
    n_components: int | str | None

    oob_score_: float
    model_: Model

    def _parameters(self, n_samples: int, n_labels: NDArray[Any]) -> dict[str, Any]:
        given = super()._parameters(n_samples, n_labels)
        self._check_oob()
        check_tree_size(self)
        if self.criterion not in self._criteria:
            raise ValueError(f"criterion must be one of {', '.join(self._criteria)}, got {self.criterion!r}")
        given["criterion"] = self._criteria[self.criterion]
        given["min_samples_leaf"] = count("min_samples_leaf", self.min_samples_leaf, n_samples, least=1)
        given["min_samples_split"] = count("min_samples_split", self.min_samples_split, n_samples, least=2)
        given["max_features"] = "all" if self.max_features is None else self.max_features
        decrease = not_negative("min_impurity_decrease", self.min_impurity_decrease)
        projection = (self.params or {}).get("projection", self.projection)
        if self.criterion == "gini" and projection in (None, "none"):
            # Gini's impurity of k classes is the sum of the variances of k labels, or twice the variance of one label;
            # here variances are averaged over labels.
            decrease *= 0.5 if (n_labels == 1).all() else len(n_labels) / n_labels.sum()
        given["min_impurity_decrease"] = decrease
        return given | projection_parameters(self.projection, self.n_components)

    def _check_oob(self) -> None:
        """Refuse out-of-bag scores of trees that see all samples, before the forest grows."""
        if not callable(self.oob_score) and not flag("oob_score", self.oob_score):
            return
        given = self.params or {}
        bootstrap = given.get("bootstrap", self.bootstrap)
        if bootstrap is not None and not bootstrap and given.get("row_share") is None:
            raise ValueError(_NO_OOB)

    def _samples(
        self, X: Any, Y: Any, names: list[str] | None, weights: Any, groups: NDArray[np.uint32] | None = None
    ) -> Samples:
        """Return samples with mostly zero features as CSR: the forest is the same, but grows several times faster."""
        is_sparse = not self._nominal and not sp.issparse(X) and np.count_nonzero(X) < _MOSTLY * X.size
        return super()._samples(sp.csr_array(X) if is_sparse else X, Y, names, weights, groups)

    def _finish(self, X: Any, y: Any, data: Samples, n_labels: NDArray[Any], validation: Any, **more: Any) -> Self:
        if self.oob_score and data.groups is not None:
            raise ValueError(
                "oob_score scores a sample by trees that did not see it but others of its group, so that the score "
                "does not hold for new groups: set oob_score=False, and score by cross-validation with GroupKFold"
            )
        if not (self.warm_start and hasattr(self, "model_")):
            super()._finish(X, y, data, n_labels, validation)
        else:
            self._grow_on(X, y, data, n_labels)
        if self.oob_score:
            self._set_oob(X, y, _in_training(y, data.weights))
        return self

    def _grow_on(self, X: Any, y: Any, data: Samples, n_labels: NDArray[Any]) -> None:
        """Grow the missing trees of the forest."""
        grown = self.model_.n_trees
        if not self._is_to_grow(grown, "trees grown"):
            return
        if self.model_.parameters.get("thresholds") is not None:
            raise ValueError(
                "a forest with decision thresholds cannot be grown further, as they are found for all its trees: "
                "leave thresholds out of params, or set warm_start=False"
            )
        if self.model_.parameters.get("intervals") is not None:
            raise ValueError(
                "a forest with prediction intervals cannot be grown further, as they are found for all its trees: "
                "leave intervals out of params, or set warm_start=False"
            )
        first = int(self.model_.parameters.get("first_tree", 0))
        more = self._grow(X, y, data, n_labels, trees=self.n_estimators - grown, first_tree=first + grown)
        self.model_ = self.model_.merge(more)

    def _set_oob(self, X: Any, y: Any, used: NDArray[np.bool_]) -> None:
        """Compute and score the out-of-bag predictions of the samples that take part in training."""
        found = self.model_.oob_predictions(X if used.all() else X[used], n_threads=self._n_threads())
        if found is None:
            raise ValueError(_NO_OOB)
        scores, counts = found
        if (counts == 0).any():
            message = "Some inputs do not have OOB scores: they are in the bag of every tree. Use more trees."
            warnings.warn(message, stacklevel=6)
        if not used.all():
            # No tree saw the others.
            of_used, scores = scores, np.empty((len(used), scores.shape[1]), scores.dtype)
            scores[used] = of_used
            scores[~used] = self.model_.predict(X[~used], n_threads=self._n_threads())
        self._score_oob(np.nan_to_num(scores), y)

    def _score_oob(self, scores: NDArray[np.float32], y: Any) -> None:
        raise NotImplementedError

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importance of each feature: its fraction of the decrease of impurity, averaged over the trees."""
        check_is_fitted(self, "model_")
        importances = self.model_.importances
        return np.zeros(self.n_features_in_) if importances is None else importances

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf that each sample reaches in each tree, of shape (n_samples, n_estimators)."""
        X = self._fitted_features(X)
        leaves = self.model_.apply(X, n_threads=self._n_threads())
        if leaves is None:
            raise ValueError(f"{self._method} has no trees, so there are no leaves to return")
        return leaves.astype(np.int64)


def _in_training(y: Any, weights: NDArray[Any] | None) -> NDArray[np.bool_]:
    """Return which samples take part in training: those of positive weight that have an output, if there are any."""
    weighted = np.full(y.shape[0], True) if weights is None else weights > 0
    if not np.issubdtype(y.dtype, np.floating):
        return weighted
    if hasattr(y, "tocoo"):
        stored = y.tocoo()
        n_missing = np.bincount(stored.row[np.isnan(stored.data)], minlength=y.shape[0])
        known = n_missing < y.shape[1]
    else:
        known = ~np.isnan(y.reshape(len(y), -1)).all(axis=1)
    return weighted & known if (weighted & known).any() else weighted


class ForestClassifier(Classifier, Forest):
    """A forest that predicts classes or labels."""

    _criteria: ClassVar[Mapping[str, str]] = {"gini": "variance", "entropy": "entropy", "log_loss": "entropy"}

    oob_decision_function_: Any
    oob_score_: float

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features; NaN where missing.
        y : array or sparse matrix of shape (n_samples,) or (n_samples, n_outputs)
            Classes in one or more columns, or indicators of labels (0 and 1), dense or sparse; NaN where missing, with
            `missing_outputs`.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples.
        groups : array of shape (n_samples,), optional
            The group of each sample, such as a patient or a customer: numbers, texts or other values. Samples of a
            group are never withheld from each other where thresholds or
            intervals are found (`params`), for which groups are then withheld in place of out-of-bag predictions.
        """
        return self._fit(X, y, sample_weight, groups=groups)

    def _score_oob(self, scores: NDArray[np.float32], y: Any) -> None:
        predicted = self._chosen(scores)
        self.oob_decision_function_ = self._encoding.probabilities(scores)
        if callable(self.oob_score):
            self.oob_score_ = float(self.oob_score(y, predicted))
        elif self._encoding.kind == MULTIOUTPUT:
            self.oob_score_ = float((predicted == y).all(axis=1).mean())
        else:
            self.oob_score_ = accuracy(y, predicted)


class ForestRegressor(Regressor, Forest):
    """A forest that predicts numbers."""

    _criteria: ClassVar[Mapping[str, str]] = {"squared_error": "variance"}

    oob_prediction_: NDArray[np.float64]
    oob_score_: float

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features; NaN where missing.
        y : array or sparse matrix of shape (n_samples,) or (n_samples, n_outputs)
            Numbers; NaN where missing, with `missing_outputs`.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples.
        groups : array of shape (n_samples,), optional
            The group of each sample, such as a patient or a customer: numbers, texts or other values. Samples of a
            group are never withheld from each other where thresholds or
            intervals are found (`params`), for which groups are then withheld in place of out-of-bag predictions.
        """
        return self._fit(X, y, sample_weight, groups=groups)

    def _score_oob(self, scores: NDArray[np.float32], y: Any) -> None:
        self.oob_prediction_ = self._decoded(scores)
        y = y.toarray() if hasattr(y, "toarray") else y
        score = self.oob_score if callable(self.oob_score) else r2
        self.oob_score_ = float(score(y[:, 0] if self._is_vector else y, self.oob_prediction_))


def check_tree_size(estimator: Any) -> None:
    """Refuse limits of trees that leave no split, as scikit-learn does."""
    check_least("max_depth", estimator.max_depth, 1)
    check_least("max_leaf_nodes", estimator.max_leaf_nodes, 2)


def projection_parameters(projection: str | None, n_components: int | str | None) -> dict[str, Any]:
    """Return the parameters of a projection of the outputs, if any; without one the components have no effect."""
    if projection is None:
        number = str(n_components)
        if n_components is not None and number not in ("ln", "d") and not (number.isdecimal() and int(number) > 0):
            raise ValueError(
                f"`n_components` must be a whole number of at least 1, ln for round(ln d), or d, got {n_components!r}"
            )
        return {}
    return {"projection": projection} | ({} if n_components is None else {"components": n_components})
