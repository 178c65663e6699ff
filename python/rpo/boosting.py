"""Gradient boosting of all outputs at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ._estimator import Estimator
from ._forest import check_tree_size, projection_parameters
from ._labels import MULTIOUTPUT, Labels
from ._samples import Samples
from ._supervised import Classifier, Regressor
from .model import Model

if TYPE_CHECKING:
    from typing_extensions import Self

_METHODS = ("gbmort", "gbrt-rpo", "gbrt-relabel-rpo", "single-target-gbrt")

_LOSSES_OF_LABELS = {
    "log_loss": "logistic",
    "logistic": "logistic",
    "squared_error": "square",
    "absolute_error": "absolute",
}

_LOSSES_OF_NUMBERS = {
    "squared_error": "square",
    "absolute_error": "absolute",
    "huber": "huber",
    "quantile": "quantile",
    "poisson": "poisson",
    "tweedie": "tweedie",
    "log_loss": "logistic",
    "logistic": "logistic",
}


class _GradientBoosting(Estimator):
    _weighs_outputs: ClassVar[bool] = True

    _losses: ClassVar[Mapping[str, str]]
    """Names of losses in the method, by their names in scikit-learn."""

    _renamed: ClassVar[dict[str, str]] = {
        "n_estimators": "iterations",
        "learning_rate": "learning_rate",
        "subsample": "subsample",
        "max_depth": "max_depth",
        "max_leaf_nodes": "max_leaves",
        "min_samples_split": "min_samples_split",
        "min_samples_leaf": "min_samples_leaf",
    }

    _spelled: ClassVar[Mapping[str, str]] = {
        **Estimator._spelled,
        "early_stopping": "n_iter_no_change",
        "validation": "validation_fraction",
        "quantile": "alpha",
        "output_losses": "loss",
    }

    n_estimators: int
    loss: Any
    max_features: Any
    method: str | None
    projection: str | None
    n_components: int | str | None
    n_iter_no_change: int | None
    validation_fraction: float
    warm_start: bool
    model_: Model
    _encoding: Labels
    _withheld: bool
    """True if the model was fitted without the samples on which its steps were scored."""

    @property
    def _method(self) -> str:
        if self.method is not None:
            if self.method not in _METHODS:
                raise ValueError(f"method must be one of {', '.join(_METHODS)}, got {self.method!r}")
            return self.method
        return "gbmort" if self.projection is None else "gbrt-relabel-rpo"

    def _parameters(self, n_samples: int, n_labels: NDArray[Any]) -> dict[str, Any]:
        given = super()._parameters(n_samples, n_labels)
        check_tree_size(self)
        given |= self._loss_parameters(n_labels)
        given["max_features"] = "all" if self.max_features is None else self.max_features
        if self.n_iter_no_change is not None:
            given["early_stopping"] = self.n_iter_no_change
        if self.n_iter_no_change is not None or self._scored:
            given["validation"] = self.validation_fraction
        return given | projection_parameters(self.projection, self.n_components)

    def _loss_parameters(self, n_labels: NDArray[Any]) -> dict[str, Any]:
        """Return the parameters of the loss, unless it is set in `params`."""
        names = self._loss_names()
        for name in names:
            if name not in self._losses:
                raise ValueError(f"loss must be one of {', '.join(self._losses)}, got {name!r}")
        if not {"loss", "output_losses"}.isdisjoint(self.params or {}):
            return {}
        if not isinstance(self.loss, str):
            return {"output_losses": ",".join(self._losses[name] for name in names)}
        loss = self._losses[self.loss]
        if self._excludes() and loss == "logistic" and self._method != "single-target-gbrt":
            # Each sample has exactly one class of an output.
            return {"loss": "softmax", "groups": ",".join(str(size) for size in n_labels)}
        return {"loss": loss}

    def _loss_names(self) -> list[Any]:
        """Return the losses as a list, as they were given."""
        is_one = isinstance(self.loss, str) or not isinstance(self.loss, Sequence | np.ndarray)
        return [self.loss] if is_one else list(self.loss)

    def _has_loss(self, name: str) -> bool:
        return name in self._loss_names()

    def _staged_scores(self, X: Any) -> Iterator[NDArray[np.float32]]:
        """Return the predictions of the model after each step."""
        X = self._fitted_features(X)
        return self.model_.staged_predict(X, n_threads=self._n_threads())

    def _excludes(self) -> bool:
        """Return true if labels are classes, of which each sample has exactly one."""
        return self._labels and self._encoding.kind in ("multiclass", MULTIOUTPUT)

    def _check_tells_steps(self, validation: Samples) -> None:
        """Refuse samples to score steps on whose score does not depend on the predictions, so that no step is the best.

        By default none are refused.

        Raises
        ------
        ValueError
            With the reason, and what helps.
        """

    def _finish(self, X: Any, y: Any, data: Samples, n_labels: NDArray[Any], validation: Any, **more: Any) -> Self:
        self._scored = validation is not None
        if validation is not None:
            self._check_tells_steps(validation)
        if not (self.warm_start and hasattr(self, "model_")):
            self._withheld = self.n_iter_no_change is not None and validation is None
            super()._finish(X, y, data, n_labels, validation)
            if self.n_estimators_ == 0:
                warnings.warn(
                    "no step scored better on the withheld samples than the constant prediction, which the model is",
                    UserWarning,
                    stacklevel=6,
                )
            return self
        if self._is_to_grow(self.n_estimators_, "steps made"):
            self._check_continues(validation)
            self.model_ = self._grow(X, y, data, n_labels, validation, self.model_)
        return self

    def _check_continues(self, validation: Samples | None) -> None:
        """Refuse to continue a model whose steps are scored, as steps after the best are dropped.

        Raises
        ------
        ValueError
            With the parameter or argument that scores steps.
        """
        why = "only a model that is fitted to all samples, without choosing its best steps, can be continued"
        if validation is not None or self.n_iter_no_change is not None:
            name = "n_iter_no_change" if validation is None else "eval_set"
            raise ValueError(f"warm_start cannot make more steps with {name}: {why}; set warm_start=False to fit anew")
        if self._withheld:
            raise ValueError(
                f"warm_start cannot make more steps, as the earlier fit withheld samples for n_iter_no_change: {why}; "
                "set warm_start=False to fit anew"
            )

    @property
    def n_estimators_(self) -> int:
        """The number of steps of the model; if steps were scored, those up to the best."""
        check_is_fitted(self, "model_")
        return int(self.model_.inspect()["summary"]["steps"])

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importance of each feature: its fraction of the decrease of impurity, over all trees."""
        check_is_fitted(self, "model_")
        importances = self.model_.importances
        return np.zeros(self.n_features_in_) if importances is None else importances


class GradientBoostingClassifier(Classifier, _GradientBoosting):
    """Gradient boosting for classes or labels, with one tree for all labels per step (Joly, Wehenkel, Geurts 2019).

    Parameters
    ----------
    n_estimators : int, default=100
        Number of steps.
    learning_rate : float, default=0.1
        Factor in (0, 1] by which every step is multiplied.
    loss : {"log_loss", "squared_error", "absolute_error"} or list of these, default="log_loss"
        Loss to minimize. With "log_loss" scores are probabilities; more than two classes, or two of a y with a name
        other than 0 and 1, are boosted jointly with the softmax loss, except with the method "single-target-gbrt",
        which boosts each class against the others. A list has one loss per label.
    subsample : float, default=1.0
        Fraction of the samples on which each tree grows.
    max_depth : int or None, default=3
        Largest depth of a tree; None without `max_leaf_nodes` means a leaf for every 200 samples, from 8 to 64.
    max_leaf_nodes : int, optional
        Largest number of leaves of a tree.
    min_samples_split, min_samples_leaf : int, default=2 and 1
        Smallest number of samples of a node that is split, and of a leaf.
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        Number of features drawn at a node, or their fraction; None means all.
    projection : str, optional
        Random projection of the outputs on which trees grow, such as "gaussian"; see `RandomForestClassifier`.
    n_components : int or {"ln", "d"}, optional
        Number of components of the projection, if any; 1 by default.
    method : str, optional
        The method by name: "single-target-gbrt" boosts each output separately; "gbmort", the default without a
        projection, boosts all outputs jointly; "gbrt-rpo" grows trees on one projection per step; "gbrt-relabel-rpo",
        the default with a projection, does so and recomputes the leaf values for the original outputs.
    validation_fraction : float, default=0.1
        Fraction of the samples withheld to score steps with `n_iter_no_change`; `eval_set` replaces it.
    n_iter_no_change : int, optional
        Stops after this number of steps without a better score on the withheld samples.
    n_jobs : int, optional
        Number of threads, as scikit-learn counts them. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed.
    verbose : int, default=0
        Prints the number of steps done.
    warm_start : bool, default=False
        Keeps the steps of the last fit, if data and parameters are the same, and makes only the missing ones; not for
        steps that are scored, with `n_iter_no_change` or `eval_set`.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Weights of classes, which multiply those of the samples. Each output of a sample has its own weight, that of its
        class, and "balanced" gives the classes of an output equal sums of weights. scikit-learn multiplies the weights
        of all outputs to one weight of the sample, which leaves a few samples with all the weight if there are many
        labels. Outputs that are missing do not count.
    missing_outputs : bool, default=False
        Allows missing outputs (NaN), which are left out of gradients and leaves.
    categorical_features : "from_dtype", None or list of bool, int or str, default="from_dtype"
        The features that are categories, which are split between subsets of their values: those declared as such in
        a DataFrame, none, or those selected by a mask, indices or names. A selected column may hold numbers or words.
        Values unseen in training count as missing, with a warning.
        To a model fitted on a DataFrame, an array gives the numbers of categories that are numbers, and words of other
        categories, or positions in their list.
    params : dict, optional
        Other parameters of the method, under their names in the command and `rpo.methods()`.

    Attributes
    ----------
    model_ : rpo.Model
        The fitted model, which can be saved to a model file of the command.
    classes_ : ndarray or list of ndarray
        The classes, or those of each output; for labels, an array of 0 and 1 of shape (n_outputs, 2).
    n_classes_ : int or list of int
        Number of classes, or a list of the numbers for each output.
    n_outputs_, n_features_in_ : int
        Numbers of columns of y and X.
    feature_names_in_ : ndarray of str
        Names of the columns of X, if they are strings.
    output_names_ : list of str or None
        Names of the labels; those of classes are `column=class` if the column of y has a name.
    n_estimators_ : int
        Number of steps of the model; if steps were scored, those up to the best.
    validation_score_ : ndarray of shape (n_steps,)
        The score after each step that was made, also after the best, on `eval_set` or the withheld samples; only if
        steps were scored. Larger is better: losses are negative.
    feature_importances_ : ndarray of shape (n_features,)
        Fractions of the decrease of squared residuals.
    is_categorical_ : ndarray of bool of shape (n_features,) or None
        Mask of the features that are categories; None if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from rpo import GradientBoostingClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5)).astype(np.float32)
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 1] > X[:, 2]]).astype(int)
    >>> model = GradientBoostingClassifier(20, random_state=0).fit(X[:150], Y[:150], eval_set=(X[150:], Y[150:]))
    >>> model.n_estimators_ <= 20
    True
    >>> scores = [(labels == Y[150:]).mean() for labels in model.staged_predict(X[150:])]  # after each step
    >>> len(scores) == model.n_estimators_
    True
    """

    _losses: ClassVar[Mapping[str, str]] = _LOSSES_OF_LABELS

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        loss: str | Sequence[str] = "log_loss",
        subsample: float = 1.0,
        max_depth: int | None = 3,
        max_leaf_nodes: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        max_features: str | int | float | None = None,
        projection: str | None = None,
        n_components: int | str | None = None,
        method: str | None = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        missing_outputs: bool = False,
        categorical_features: Any = "from_dtype",
        params: Mapping[str, Any] | None = None,
    ):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.subsample = subsample
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.projection = projection
        self.n_components = n_components
        self.method = method
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.missing_outputs = missing_outputs
        self.categorical_features = categorical_features
        self.params = params

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        eval_set: tuple[Any, Any] | None = None,
        X_val: Any = None,
        y_val: Any = None,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features; NaN where missing.
        y : array or sparse matrix of shape (n_samples,) or (n_samples, n_outputs)
            Classes, or indicators of labels.
        sample_weight : array of shape (n_samples,) or (n_samples, n_labels), optional
            Weights of the samples, or of each label of each sample: a label of weight 0 counts as missing. The labels
            are those of `model_`: the columns of indicators, one for two classes, and one for each of more classes, so
            that two columns of 3 and 2 classes have 5. Weights should have a mean of about 1, see below.
        groups : array of shape (n_samples,), optional
            The group of each sample, such as a patient or a customer: numbers, texts or other values. Samples of a
            group are never withheld from each other to stop early or to
            find thresholds or intervals.
        eval_set : tuple of X and y, optional
            Samples on which steps are scored; the model keeps the steps up to the best. The score is the logarithmic
            loss, averaged over labels; `params={"validation_metric": ...}` names another, such as "lrap". A pipeline
            passes them as they are, without its transformations.
        X_val, y_val : optional
            The same as `eval_set=(X_val, y_val)`, under the names of scikit-learn's histogram boosting; a pipeline with
            `transform_input=["X_val"]` transforms them.

        Notes
        -----
        Leaf values are shrunk by the penalty `params={"leaf_l2": ...}`, by default 5 for the squared error and for at
        most 4 labels or classes, and 1 otherwise, which is added to the sum of the weights (times curvatures) of a
        leaf. It is on the scale of the weights: with weights that sum to 1, the model learns almost nothing. Multiply
        such weights by the number of samples, or set the penalty to 0.
        """
        return self._fit(X, y, sample_weight, _withheld(eval_set, X_val, y_val), groups=groups)

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Return the predictions after each step, one after the other; the last equals that of `predict`.

        Each step is added to the previous ones, so all of them cost little more than one prediction.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        iterator
            Yields `n_estimators_` results like that of `predict`.
        """
        return (self._chosen(scores) for scores in self._staged_scores(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Any]:
        """Return the probabilities after each step, one after the other; the last equals that of `predict_proba`.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        iterator
            Yields `n_estimators_` results like that of `predict_proba`.
        """
        return (self._encoding.probabilities(scores) for scores in self._staged_scores(X))


class GradientBoostingRegressor(Regressor, _GradientBoosting):
    """Gradient boosting for one or more numbers, with one tree for all outputs per step (Joly, Wehenkel, Geurts 2019).

    Trees split by several outputs in units of their standard deviations, so that those of large numbers do not decide
    alone; with `params={"scale_outputs": "none"}` in their own units.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of steps.
    learning_rate : float, default=0.1
        Factor in (0, 1] by which every step is multiplied.
    loss : str or list of str, default="squared_error"
        Loss to minimize: "squared_error"; "absolute_error"; "huber", squared up to a distance and linear beyond, so
        that outliers have little weight; "quantile", whose predictions are the `alpha`-quantiles; "poisson" for counts
        and "tweedie" for amounts that are often 0, both for nonnegative y and with a logarithmic link (the power of
        the variance, 1.5, is `params={"tweedie_power": ...}`); or "log_loss" for outputs that are 0 or 1. A list has
        one loss per output.
    subsample : float, default=1.0
        Fraction of the samples on which each tree grows: by default all, so that a weight of 2 equals two copies of a
        sample (with `params={"bins": "exact"}` exactly; bins have as many samples each, whatever their weights, and
        rare categories are told by numbers of samples, so that it takes `"min_category_count": 1` where there are
        categories). 0.5, the default of the command, scores better on most data.
    max_depth : int or None, default=3
        Largest depth of a tree; None without `max_leaf_nodes` means a leaf for every 100 samples, from 8 to 64, or with
        the losses "poisson" and "tweedie" for every 1,000, from 4 to 8.
    max_leaf_nodes : int, optional
        Largest number of leaves of a tree.
    min_samples_split, min_samples_leaf : int, default=2 and 1
        Smallest number of samples of a node that is split, and of a leaf.
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        Number of features drawn at a node, or their fraction; None means all.
    projection : str, optional
        Random projection of the outputs on which trees grow, such as "gaussian"; see `RandomForestRegressor`.
    n_components : int or {"ln", "d"}, optional
        Number of components of the projection, if any; 1 by default.
    method : str, optional
        The method by name; see `GradientBoostingClassifier`.
    validation_fraction : float, default=0.1
        Fraction of the samples withheld to score steps with `n_iter_no_change`; `eval_set` replaces it.
    n_iter_no_change : int, optional
        Stops after this number of steps without a better score on the withheld samples.
    alpha : float or sequence of float, default=0.9
        The level of the quantile loss, in (0, 1); several increasing levels have a column of predictions each. The
        distance of the Huber loss is the `alpha`-quantile of the distances of y from the medians of its outputs, one
        for all outputs with this loss: give outputs in different units the same scale first.
        `params={"huber_delta": ...}` sets another.
    n_jobs : int, optional
        Number of threads, as scikit-learn counts them. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed.
    verbose : int, default=0
        Prints the number of steps done.
    warm_start : bool, default=False
        Keeps the steps of the last fit, if data and parameters are the same, and makes only the missing ones; not for
        steps that are scored, with `n_iter_no_change` or `eval_set`.
    missing_outputs : bool, default=False
        Allows missing outputs (NaN), which are left out of gradients and leaves.
    categorical_features : "from_dtype", None or list of bool, int or str, default="from_dtype"
        The features that are categories, which are split between subsets of their values: those declared as such in
        a DataFrame, none, or those selected by a mask, indices or names. A selected column may hold numbers or words.
        Values unseen in training count as missing, with a warning.
        To a model fitted on a DataFrame, an array gives the numbers of categories that are numbers, and words of other
        categories, or positions in their list.
    params : dict, optional
        Other parameters of the method, under their names in the command and `rpo.methods()`.

    Attributes
    ----------
    model_ : rpo.Model
        The fitted model, which can be saved to a model file of the command.
    n_outputs_, n_features_in_ : int
        Numbers of columns of y and X.
    feature_names_in_ : ndarray of str
        Names of the columns of X, if they are strings.
    output_names_ : list of str or None
        Names of the columns of y.
    n_estimators_ : int
        Number of steps of the model; if steps were scored, those up to the best.
    validation_score_ : ndarray of shape (n_steps,)
        The score after each step that was made, also after the best, on `eval_set` or the withheld samples; only if
        steps were scored. Larger is better: losses are negative.
    feature_importances_ : ndarray of shape (n_features,)
        Fractions of the decrease of squared residuals.
    is_categorical_ : ndarray of bool of shape (n_features,) or None
        Mask of the features that are categories; None if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from rpo import GradientBoostingRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(500, 2))
    >>> y = X[:, 0] + rng.exponential(size=500) * X[:, 1]
    >>> model = GradientBoostingRegressor(50, loss="quantile", alpha=[0.1, 0.5, 0.9], random_state=0).fit(X, y)
    >>> low, median, high = model.predict(X).T
    >>> bool(0.7 < ((low <= y) & (y <= high)).mean() < 0.9)
    True
    """

    _losses: ClassVar[Mapping[str, str]] = _LOSSES_OF_NUMBERS

    alpha: float | Sequence[float]
    _distance: float | None

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        loss: str | Sequence[str] = "squared_error",
        subsample: float = 1.0,
        max_depth: int | None = 3,
        max_leaf_nodes: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        max_features: str | int | float | None = None,
        projection: str | None = None,
        n_components: int | str | None = None,
        method: str | None = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        alpha: float | Sequence[float] = 0.9,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        missing_outputs: bool = False,
        categorical_features: Any = "from_dtype",
        params: Mapping[str, Any] | None = None,
    ):
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.subsample = subsample
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.projection = projection
        self.n_components = n_components
        self.method = method
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.alpha = alpha
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.missing_outputs = missing_outputs
        self.categorical_features = categorical_features
        self.params = params

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        eval_set: tuple[Any, Any] | None = None,
        X_val: Any = None,
        y_val: Any = None,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features; NaN where missing.
        y : array or sparse matrix of shape (n_samples,) or (n_samples, n_outputs)
            Numbers.
        sample_weight : array of shape (n_samples,) or (n_samples, n_outputs), optional
            Weights of the samples, or of each output of each sample: an output of weight 0 counts as missing. Weights
            should have a mean of about 1, see below.
        groups : array of shape (n_samples,), optional
            The group of each sample, such as a patient or a customer: numbers, texts or other values. Samples of a
            group are never withheld from each other to stop early or to
            find thresholds or intervals.
        eval_set : tuple of X and y, optional
            Samples on which steps are scored: by R², or by the loss if it is "absolute_error" (also for "huber"),
            "quantile", "poisson" or "tweedie"; `params={"validation_metric": ...}` names another score. The model
            keeps the steps up to the best. Constant outputs, for which R² says nothing, are refused. A pipeline
            passes them as they are, without its transformations.
        X_val, y_val : optional
            The same as `eval_set=(X_val, y_val)`, under the names of scikit-learn's histogram boosting; a pipeline with
            `transform_input=["X_val"]` transforms them.

        Notes
        -----
        Leaf values are shrunk by the penalty `params={"leaf_l2": ...}`, by default 5 for the squared error and for at
        most 4 labels or classes, and 1 otherwise, which is added to the sum of the weights (times curvatures) of a
        leaf. It is on the scale of the weights: with weights that sum to 1, the model learns almost nothing. Multiply
        such weights by the number of samples, or set the penalty to 0.
        """
        return self._fit(X, y, sample_weight, _withheld(eval_set, X_val, y_val), groups=groups)

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Return the predictions after each step, one after the other; the last equals that of `predict`.

        Each step is added to the previous ones, so all of them cost little more than one prediction.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features.

        Returns
        -------
        iterator of ndarray
            Yields `n_estimators_` results like that of `predict`.
        """
        return (self._decoded(scores) for scores in self._staged_scores(X))

    def _finish(self, X: Any, y: Any, data: Samples, n_labels: NDArray[Any], validation: Any, **more: Any) -> Self:
        self._distance = self._huber_distance(y, data.weights) if self._has_loss("huber") else None
        return super()._finish(X, y, data, n_labels, validation, **more)

    def _loss_parameters(self, n_labels: NDArray[Any]) -> dict[str, Any]:
        given = super()._loss_parameters(n_labels)
        if given and self._distance is not None:
            given["huber_delta"] = self._distance
        if given and self._has_loss("quantile"):
            levels = np.atleast_1d(self.alpha)
            given["quantile"] = ",".join(repr(float(x)) if isinstance(x, Real) else str(x) for x in levels)
        return given

    def _check_tells_steps(self, validation: Samples) -> None:
        """Refuse samples whose outputs are constant, so that R² does not depend on the predictions."""
        # Other losses have scores of their own.
        if {"squared_error", "log_loss"}.isdisjoint(self._loss_names()) or not {
            "validation_metric",
            "loss",
            "output_losses",
        }.isdisjoint(self.params or {}):
            return
        y = validation.Y if isinstance(validation.Y, np.ndarray) else validation.Y.toarray()
        y = y.astype(np.float32)
        if any(len(np.unique(column[~np.isnan(column)])) > 1 for column in y.T):
            return
        raise ValueError(
            f"eval_set has constant outputs in its {len(y)} samples, so that R² cannot tell which step is the best; "
            'give samples with different outputs, or params={"validation_metric": "mse"}'
        )

    def _huber_distance(self, y: Any, weights: NDArray[Any] | None) -> float | None:
        """Return the distance from which the Huber loss is linear, unless it is set in `params`.

        It is a quantile of the distances of the weighted outputs from their medians, over the outputs with this loss.
        """
        if "huber_delta" in (self.params or {}):
            return None
        if np.ndim(self.alpha) != 0 or not 0.0 < float(np.asarray(self.alpha)) < 1.0:
            raise ValueError(f"alpha must be a number between 0 and 1 with the Huber loss, got {self.alpha!r}")
        y = np.asarray(y if isinstance(y, np.ndarray) else y.toarray(), np.float64)
        y = y.reshape(len(y), -1)
        of_cells = np.ones_like(y) if weights is None else np.broadcast_to(weights.reshape(len(y), -1), y.shape)
        # The distances of outputs with another loss do not matter; a list of another length is refused by the fit.
        losses = self._loss_names()
        if len(losses) == y.shape[1]:
            of_huber = [loss == "huber" for loss in losses]
            y, of_cells = y[:, of_huber], of_cells[:, of_huber]
        medians = [_quantile(column, of_column, 0.5) for column, of_column in zip(y.T, of_cells.T, strict=True)]
        distance = _quantile(np.abs(y - medians).ravel(), of_cells.ravel(), float(np.asarray(self.alpha)))
        if not distance > 0.0:
            raise ValueError(
                f"the {self.alpha}-quantile of the distances of y from its medians is {distance}: "
                'give a larger alpha, or params={"huber_delta": ...}'
            )
        return distance


def _withheld(eval_set: tuple[Any, Any] | None, X_val: Any, y_val: Any) -> tuple[Any, Any] | None:
    """Return the samples on which steps are scored, which are given in one way or the other."""
    if X_val is None and y_val is None:
        return eval_set
    if eval_set is not None:
        raise ValueError("eval_set and X_val with y_val are the same samples; give one or the other")
    if X_val is None or y_val is None:
        raise ValueError("X_val and y_val must be given together")
    return X_val, y_val


def _quantile(values: NDArray[Any], weights: NDArray[Any], level: float) -> float:
    """Return a quantile of the observed values of positive weight, interpolated; NaN if there are none.

    With equal weights it is that of `numpy.quantile`.
    """
    used = (weights > 0) & ~np.isnan(values)
    values, weights = values[used], weights[used].astype(np.float64)
    if not values.size:
        return np.nan
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    # The smallest value is at 0 and the largest at 1; a value of weight 2 covers two places.
    widths = weights / weights.min()
    ends = np.cumsum(widths)
    starts = ends - widths
    place = level * (ends[-1] - 1.0)
    places = np.column_stack([starts, ends - 1.0]).ravel()
    return float(np.interp(place, places, np.repeat(values, 2)))
