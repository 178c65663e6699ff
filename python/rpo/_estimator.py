"""The base class of all estimators, with their features, fitted model and predictions."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from inspect import signature
from numbers import Integral, Number
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from ._arguments import flag
from ._bases import BaseEstimator, CallbackSupport, MultiOutputMixin, with_callbacks
from ._callbacks import Course
from ._categories import (
    FROM_DTYPE,
    UNSEEN,
    are_numbers,
    categories_of,
    chosen,
    has_words,
    numbers_of,
    objects_of,
    without_words,
)
from ._frames import (
    Nominal,
    check_order,
    column_names,
    is_frame,
    library,
    numbered,
    read_frame,
    without_batches,
)
from ._matrix import check_finite, check_real
from ._memory import check_memory
from ._parameters import in_own_terms
from ._precision import check_features, weights_in_single
from ._samples import Samples, Work, fitter
from ._seeds import seed_of
from ._state import check_same_data, digests, unchanged_by_failure
from ._types import ClassColumn
from .model import Model

if TYPE_CHECKING:
    from typing_extensions import Self


_passed: ContextVar[tuple[Any, Any]] = ContextVar("passed")
"""The features and outputs that were passed to `fit`: callbacks predict for them, not for what the model takes."""


class Estimator(CallbackSupport, MultiOutputMixin, BaseEstimator):
    """An estimator whose parameters are those of a registered method, under the names of scikit-learn."""

    _allows_nan: ClassVar[bool] = True
    """True if the method supports missing features."""

    _renamed: ClassVar[Mapping[str, str]] = {}
    """Names of parameters in the method, by their names in the estimator."""

    _spelled: ClassVar[Mapping[str, str]] = {"seed": "random_state", "components": "n_components"}
    """Names of other parameters in the estimator, by their names in the method."""

    _n_steps: ClassVar[int | None] = 1
    """Number of steps of a fit without a parameter for their number; None if it depends on the data."""

    _weighs_outputs: ClassVar[bool] = False
    """True if each output of a sample may have its own weight."""

    _labels: ClassVar[bool]
    """True if the outputs are labels."""

    _class_columns: Sequence[ClassColumn] = ()
    """Outputs that are the classes of a column of y, for estimators that have such outputs."""

    n_estimators: int
    n_jobs: int | None
    random_state: Any
    verbose: int
    warm_start: bool
    params: Mapping[str, Any] | None
    missing_outputs: bool
    categorical_features: Any = FROM_DTYPE
    """The selection of categories, for estimators that have it as a parameter."""

    _nominal: Nominal
    _of_numbers: dict[int, bool]
    _columns: list[str] | None = None
    """The names of a table's columns that scikit-learn takes for none, as they are no text."""
    _digests: Mapping[str, bytes]
    """Digests of the samples, for estimators with a warm start."""

    model_: Model
    validation_score_: NDArray[np.float64]
    """The score after each step, for boosting whose steps are scored."""
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        """Return the kinds of input that the estimator supports."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._takes_missing
        return tags

    @property
    def _takes_missing(self) -> bool:
        """True if features may be missing: the method supports missing values, or fills them in."""
        return self._allows_nan or (isinstance(self.params, Mapping) and self.params.get("impute") is not None)

    def _fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None, *, groups: Any = None) -> Self:
        """Fit to features and outputs; if that fails, the estimator stays as it was."""
        with unchanged_by_failure(self) as before:
            token = _passed.set((X, y))
            try:
                return self._fit_to(X, y, sample_weight, groups, eval_set, before)
            finally:
                _passed.reset(token)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as scikit-learn's estimators do; `params__NAME` sets one entry of `params`.

        So a search can try `{"params__leaf_l2": [1, 5]}`.
        """
        start = "params__"
        entries = {name: value for name, value in params.items() if name.startswith(start)}
        super().set_params(**{name: value for name, value in params.items() if name not in entries})
        if entries:
            own = {name.removeprefix(start): value for name, value in entries.items()}
            self.params = {**(self.params or {}), **own}
        return self

    def _fit_to(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, eval_set: Any, before: Mapping[str, Any]
    ) -> Self:
        """Fit to features and outputs, setting what is fitted step by step; `before` has the earlier attributes."""
        raise NotImplementedError

    def _remember_data(self, data: Samples, before: Mapping[str, Any]) -> None:
        """Remember digests of the samples for a warm start; refuse one with other samples than those of the model."""
        if not hasattr(self, "warm_start"):
            return
        self._digests = digests(data)
        if flag("warm_start", self.warm_start) and "model_" in before:
            check_same_data(self, before)

    @property
    def _method(self) -> str:
        """The name of the registered method."""
        raise NotImplementedError

    def _parameters(self, n_samples: int, n_labels: NDArray[Any]) -> dict[str, Any]:
        """Return the parameters of the method by their names in the method, without the seed.

        `n_labels` has for each output the number of labels that represent it.
        """
        return {name: getattr(self, ours) for ours, name in self._renamed.items()}

    def _check_once(self) -> None:
        """Refuse a parameter that is given both as an argument and in `params`, with different values."""
        ours = dict(self._spelled) | {name: own for own, name in self._renamed.items()}
        defaults = signature(type(self)).parameters
        for name, value in (self.params or {}).items():
            own = ours.get(name, name)
            if own not in defaults:
                continue
            given = getattr(self, own)
            if not (given is None or _same(given, defaults[own].default) or _same(given, value)):
                raise ValueError(
                    f"{own} is {given!r} and params has {name!r}: {value!r}, which is the same parameter; give it once"
                )

    def _n_threads(self) -> int:
        if self.n_jobs is not None and not isinstance(self.n_jobs, Integral):
            raise ValueError(f"n_jobs must be a whole number or None, got {self.n_jobs!r}")
        return int(effective_n_jobs(self.n_jobs))

    def _features(self, X: Any, *, reset: bool) -> Any:
        """Return features as float32, C-ordered or CSR; when fitting, remember the columns."""
        if not reset and is_frame(X) and not hasattr(self, "feature_names_in_"):
            # The model would find them by name.
            check_order(column_names(X), self._feature_names() or numbered(self.n_features_in_))
        try:
            values = self._read(X, reset=reset)
        except ValueError as error:
            if "could not convert string" in str(error):
                named = "categorical_features" in self.get_params(deep=False)
                raise ValueError(
                    f"X has words ({error}); give a DataFrame, whose columns of words may be categories by the dtype "
                    f"'category'{', or select the columns by categorical_features' if named else ''}"
                ) from error
            if not self._takes_missing and (str(error).startswith("Input X contains NaN") or UNSEEN in str(error)):
                raise ValueError(
                    f"{error} {type(self).__name__} needs every feature; params={{'impute': 'median'}} fills in those "
                    "that are missing, and forests and boosting take them, such as RandomForestClassifier"
                ) from error
            raise
        if reset:
            names = getattr(self, "feature_names_in_", None)
            self._columns = column_names(X) if names is None and is_frame(X) else None
            check_features(X, values, names, self._nominal, stacklevel=5)
        return values

    def _read(self, X: Any, *, reset: bool) -> Any:
        choice = self.categorical_features
        of_dtype = isinstance(choice, str) and choice == FROM_DTYPE
        nominal: Nominal = {} if reset else self._nominal
        X = without_batches(X)
        check_real(X, "X")
        if is_frame(X) and (library(X) != "pandas" or nominal or not of_dtype or not _is_of_numbers(X)):
            _check_feature_names(self, X, reset=reset)
            names = getattr(self, "feature_names_in_", None)
            mask = chosen(choice, X.shape[1], names) if reset else None
            frame = read_frame(X, None if reset else nominal, mask, refuse_unseen=not self._takes_missing)
            _check_n_features(self, frame.values, reset=reset)
            if reset:
                self._nominal, self._of_numbers = frame.nominal, {}
            check_finite(frame.values, "X", frame.names, allow_nan=self._takes_missing)
            return check_array(frame.values, dtype=np.float32, ensure_all_finite=False, estimator=self, input_name="X")
        options = {"accept_sparse": "csr", "dtype": np.float32, "order": "C", "ensure_all_finite": False}
        given, words = X, self._words(X, reset=reset)
        with np.errstate(over="ignore"):
            X = validate_data(self, without_words(X, words) if words else X, reset=reset, **options)
        check_finite(X, "X", column_names(given) if is_frame(given) else None, allow_nan=self._takes_missing)
        if reset:
            mask = chosen(choice, self.n_features_in_, getattr(self, "feature_names_in_", None))
            self._nominal, self._of_numbers = {}, {}
            columns = [] if mask is None else [int(j) for j in np.flatnonzero(mask)]
        else:
            # Numbers in place of words are positions of them.
            columns = [j for j in nominal if j in words or self._has_numbers(j)]
        return self._encoded(X, given, words, columns, reset=reset) if columns else X

    def _has_numbers(self, j: int) -> bool:
        """Return true if all categories of a column are numbers, which takes long to find out for many."""
        found = self._of_numbers.get(j)
        if found is None:
            found = self._of_numbers[j] = are_numbers(self._nominal[j])
        return found

    def _words(self, X: Any, *, reset: bool) -> dict[int, NDArray[Any]]:
        """Return the columns of an array that are categories and hold words."""
        objects = objects_of(X)
        if objects is None:
            return {}
        if reset:
            mask = chosen(self.categorical_features, objects.shape[1], None)
            columns = [] if mask is None else np.flatnonzero(mask).tolist()
        else:
            columns = [j for j in self._nominal if j < objects.shape[1]]
        return {j: objects[:, j] for j in columns if has_words(objects[:, j])}

    def _encoded(
        self, X: Any, given: Any, words: Mapping[int, NDArray[Any]], columns: list[int], *, reset: bool
    ) -> Any:
        """Return an array with the positions of the values of categories; when fitting, remember the values.

        The values are those of the array as it was given, as single precision makes large numbers equal.
        """
        if sp.issparse(X):
            raise ValueError("categories are for dense X; encode the categories of sparse X as indicators")
        X = X.copy()
        given = np.asarray(given)
        for j in columns:
            values = given[:, j] if numbers_of(given[:, j]) is not None else X[:, j]
            column = categories_of(words.get(j, values), str(j))
            if reset:
                self._nominal[j] = column.values
            X[:, j] = column.positions(str(j), self._nominal[j], refuse=not self._takes_missing)
        return X

    @property
    def is_categorical_(self) -> NDArray[np.bool_] | None:
        """Mask of the features that are categories, of shape (n_features,); None if there are none."""
        check_is_fitted(self, "model_")
        mask = np.zeros(self.n_features_in_, bool)
        mask[list(self._nominal)] = True
        return mask if self._nominal else None

    def _feature_names(self) -> list[str] | None:
        """Return the names by which the model finds features; none if columns are numbered from 0, or not unique."""
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
        names = self._columns
        has_names = names is not None and names != numbered(len(names)) and len(set(names)) == len(names)
        return names if has_names else None

    def _samples(
        self, X: Any, Y: Any, names: list[str] | None, weights: Any, groups: NDArray[np.uint32] | None = None
    ) -> Samples:
        """Return features and outputs with their names and kinds."""
        return Samples(
            X,
            Y,
            labels=self._labels,
            missing_outputs=flag("missing_outputs", self.missing_outputs),
            feature_names=self._feature_names(),
            output_names=names,
            nominal=self._nominal,
            weights=weights,
            class_columns=self._class_columns,
            groups=groups,
        )

    def _weights(self, sample_weight: Any, X: Any) -> NDArray[np.float32] | None:
        if sample_weight is None:
            return None
        weights = np.asarray(sample_weight)
        if weights.ndim != 2 or not self._weighs_outputs:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        return weights_in_single(weights, "sample_weight", stacklevel=5)

    @with_callbacks
    def _grow(
        self,
        X: Any,
        y: Any,
        data: Samples,
        n_labels: NDArray[Any],
        validation: Samples | None = None,
        start: Model | None = None,
        **more: Any,
    ) -> Model:
        """Fit the method to a data set."""
        if not isinstance(self.params, Mapping | None):
            raise TypeError(f"params must be a dict of parameters by name, got {self.params!r}")
        if "method" in (self.params or {}):
            raise ValueError(f"params cannot have a method; that of {type(self).__name__} is {self._method}")
        self._check_once()
        given = self._parameters(X.shape[0], n_labels)
        given |= {"method": self._method, "seed": self._fitted_seed, **dict(self.params or {}), **more}
        counts = (given.get(name) for name in ("trees", "iterations", "configurations"))
        n_steps = next((int(n) for n in counts if n and isinstance(n, Integral)), self._n_steps)
        course = Course(self, *_passed.get((X, y)), n_steps)
        began = time.monotonic()

        def progress(steps: int, total: int | None) -> None:
            course.advance(steps)
            if self.verbose:
                seconds = time.monotonic() - began
                print(f"[{type(self).__name__}] step {steps} of {total or n_steps}, {seconds:.1f} s", flush=True)

        work = Work(given, data, validation, self._n_threads(), start)
        elsewhere = fitter.get()
        scores: list[float] = []
        vars(self).pop("validation_score_", None)
        try:
            if elsewhere is not None:
                model = elsewhere(work, progress)
            else:
                model = work.fit(progress if self.verbose or course.has_listeners else None, scores)
        except ValueError as error:
            # Parameters in `params` keep their names.
            names = dict(self._spelled) | {name: ours for ours, name in self._renamed.items()}
            names = {name: ours for name, ours in names.items() if name not in (self.params or {})}
            raise ValueError(in_own_terms(str(error), names, given, self)) from None
        if scores:
            self.validation_score_ = np.array(scores)
        course.end(model_=model)
        return model

    def _finish(self, X: Any, y: Any, data: Samples, n_labels: NDArray[Any], validation: Any, **more: Any) -> Self:
        """Fit and keep the model."""
        self._fitted_seed = seed_of(self.random_state)
        self.model_ = self._grow(X, y, data, n_labels, validation)
        return self

    def _is_to_grow(self, done: int, what: str) -> bool:
        """Return true if `n_estimators` exceeds what a warm start has; warn if it is equal."""
        if self.n_estimators < done:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to the number of {what}, {done}, "
                "when warm_start is True"
            )
        if isinstance(self.random_state, Integral) and seed_of(self.random_state) != self._fitted_seed:
            raise ValueError(
                f"random_state={self.random_state} is not that of the earlier fit, {self._fitted_seed}, with which "
                "warm_start goes on; set warm_start=False to fit anew"
            )
        if self.n_estimators == done:
            warnings.warn("Warm-start fitting without increasing n_estimators does not fit new trees.", stacklevel=7)
        return self.n_estimators > done

    def _fitted_features(self, X: Any) -> Any:
        """Return features for the model; refuse if the estimator is not fitted."""
        check_is_fitted(self, "model_")
        return self._features(X, reset=False)

    def contributions(self, X: Any, background: Any, *, outputs: Any = None) -> tuple[Any, Any]:
        """Return what each feature contributes to each score, and the base of each score.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features, as for `predict`.
        background : array, sparse matrix or DataFrame of shape (n_background, n_features)
            Typical samples to compare with, such as those of training.
        outputs : array of int, of shape (k,) or (n_samples, k), default=None
            The outputs of the model that are explained, for all samples or for each. None means all outputs.

        Returns
        -------
        contributions : array of shape (n_samples, n_features, k)
            Shapley values of the scores, as in `Model.contributions`.
        base : array of shape (k,) or (n_samples, k)
            The mean scores over the background.
        """
        X, background = self._fitted_features(X), self._fitted_features(background)
        return self.model_.contributions(X, background, outputs=outputs, n_threads=self._n_threads())

    def _scores(self, X: Any, memory_limit: int | None = None, *, size: int = 4) -> NDArray[np.float32]:
        """Return the predictions of the model, of which as many numbers of this size in bytes are within the limit."""
        X = self._fitted_features(X)
        n, n_outputs = X.shape[0], self.model_.n_outputs
        check_memory(f"predictions for {n} samples and {n_outputs} outputs", n * n_outputs * size, memory_limit)
        return self.model_.predict(X, n_threads=self._n_threads(), memory_limit=memory_limit)


def _same(a: Any, b: Any) -> bool:
    """Return true if two values of a parameter are equal."""
    if isinstance(a, Number) and isinstance(b, Number):
        return bool(a == b)
    return a is b or (type(a) is type(b) and bool(np.all(a == b)))


def _is_of_numbers(X: Any) -> bool:
    """Return true if all columns of a pandas table have numeric types."""
    return all(dtype.kind in "biuf" for dtype in X.dtypes)
