"""Fitted models of estimators, and model files, which the command `rpo` writes and reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from os import PathLike
from typing import Any, ClassVar, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import _native
from ._arguments import flag, names_of, numbers_of, threads, warn_caller, whole
from ._frames import column_names, is_frame, numbered, read_frame, selected
from ._groups import group_numbers
from ._matrix import borrow, check_finite, csr, dense
from ._memory import check_memory, limited
from ._outputs import as_columns, check_outputs, outputs_as_array
from ._outputs import output_names as names_of_outputs
from ._parameters import parameters_as_json
from ._precision import check_features, check_precision, weights_in_single
from ._types import Borrowed, Path
from ._values import outputs_of_model

# The parameters A and B of the propensity model.
PROPENSITY = (0.55, 1.5)

_BYTES = (bytes, bytearray, memoryview)

_DTYPES: dict[type, Any] = {str: object, bool: np.bool_, float: np.float32}
"""Types of arrays by those of their values."""


class Model:
    """A fitted model with the names and kinds of its columns.

    A model is the content of a model file: models saved by the command `rpo train` can be loaded here, and vice versa.
    Both write the same file, byte for byte, for the same data, parameters and seed. Pickling and copying use these
    bytes.

    Examples
    --------
    >>> import numpy as np, rpo
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 4)).astype(np.float32)
    >>> Y = (X[:, :3] > 0).astype(np.float32)
    >>> model = rpo.Model.fit(X, Y, method="extra-trees", labels=True, trees=20, seed=7)
    >>> model.predict(X).shape
    (60, 3)
    >>> model == rpo.Model.from_bytes(model.to_bytes())
    True
    """

    def __init__(self, native: _native.Model):
        if not isinstance(native, _native.Model):
            raise TypeError("Model.load(path) reads a model from a file, and Model.fit(X, Y, ...) fits one")
        self._native = native

    @classmethod
    def fit(
        cls,
        X: Any,
        Y: Any,
        *,
        method: str = "random-forest",
        labels: bool,
        missing_outputs: bool = False,
        sample_weight: Any = None,
        groups: Any = None,
        feature_names: Sequence[str] | None = None,
        output_names: Sequence[str] | None = None,
        n_threads: int = 0,
        progress: Callable[[int], object] | None = None,
        **parameters: Any,
    ) -> Model:
        """Fit a method by its name and parameters, as in `rpo.methods()` and the command.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features, NaN where missing.
        Y : array, sparse matrix or DataFrame of shape (n_samples,) or (n_samples, n_outputs)
            Outputs.
        method : str, default="random-forest"
            The name of the method.
        labels : bool
            True if the outputs are labels, 0 or 1; false if they are numbers.
        missing_outputs : bool, default=False
            Allows missing outputs (NaN), which are left out everywhere.
        sample_weight : array of shape (n_samples,) or (n_samples, n_outputs), optional
            Weights of the samples, or of each output of each sample, with a mean of about 1 for boosting, whose penalty
            `leaf_l2` is on their scale; a method that does not support such weights
            refuses them and names the methods that do.
        groups : array of shape (n_samples,), optional
            The group of each sample, such as a patient or a customer: numbers, texts or other values. Samples of a
            group are never withheld from each other, wherever the method withholds some. A text, such as "3,4", is the
            parameter of this name of boosting instead: the sizes of groups of outputs for the loss softmax.
        feature_names, output_names : sequences of str, optional
            Names of the columns; by default those of a DataFrame, otherwise numbers.
        n_threads : int, default=0
            Number of threads; 0 means one for each core. The model does not depend on it.
        progress : callable, optional
            Called with the number of trees or steps done whenever it has increased.
        **parameters
            Parameters of the method, with the names of the command: `trees=100`, `projection="gaussian"`, `seed=1`.

        Raises
        ------
        ValueError
            For parameters that do not exist or are out of range, and data that the method does not support.
        """
        if isinstance(groups, str):
            parameters, groups = {**parameters, "groups": groups}, None
        nominal: dict[int, list[str]] = {}
        given = X
        if is_frame(X):
            frame = read_frame(X)
            X, nominal = frame.values, frame.nominal
            feature_names = frame.names if feature_names is None else feature_names
        x = borrow(X, "X")
        check_features(given, given if isinstance(x, tuple) else x, feature_names, nominal, stacklevel=2)
        data = _samples(
            x,
            Y,
            labels=labels,
            missing_outputs=missing_outputs,
            sample_weight=sample_weight,
            groups=groups,
            feature_names=None if feature_names is None else names_of("feature_names", feature_names),
            output_names=output_names,
            nominal=nominal,
        )
        text = parameters_as_json({"method": method, **parameters})
        of_steps = None if progress is None else lambda steps, _: progress(steps)
        native, _, warning = _native.Model.fit(text, data, n_threads=threads(n_threads), progress=of_steps)
        warn_caller(warning)
        return cls(native)

    @classmethod
    def load(cls, path: Path) -> Model:
        """Load a model from a file.

        Raises
        ------
        OSError
            For a file that cannot be read; `FileNotFoundError` if there is none.
        ValueError
            For a file that is damaged, of another version, or not a model.
        """
        return cls(_native.Model.load(path))

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Model:
        """Return the model whose file has this content.

        Raises
        ------
        TypeError
            For anything but bytes.
        ValueError
            For bytes that are not those of a model.
        """
        return cls(_native.Model.from_bytes(_as_bytes(data)))

    def save(self, path: Path) -> int:
        """Save the model to a file, replacing an old one once the new one is complete; return the number of bytes."""
        return self._native.save(path)

    def to_bytes(self) -> bytes:
        """Return the content of the model's file."""
        return self._native.to_bytes()

    def predict(self, X: Any, *, n_threads: int = 0, memory_limit: int | None = None) -> NDArray[np.float32]:
        """Return the predictions of shape (n_samples, n_outputs): scores of labels, or numbers.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features in the model's order; the columns of a DataFrame are found by name, or by position if the model
            was fitted without names. For a feature that is a category, other forms have positions in the list of its
            values in training: whole numbers from 0, or NaN where missing.
        n_threads : int, default=0
            Number of threads; 0 means one for each core.
        memory_limit : int, optional
            The largest size of the result in bytes, 4 GiB by default.

        Raises
        ------
        ValueError
            For features that do not fit the model, such as a number that is no position in the list of a category.
        MemoryError
            For a result over the memory limit; `predict_top_k` needs no array of that size.
        """
        x = self._features(X)
        with limited(memory_limit) as limit:
            return self._native.predict(x, n_threads=threads(n_threads), **limit)

    def predict_top_k(
        self,
        X: Any,
        k: int,
        *,
        rerank: str | None = None,
        propensity: tuple[float, float] = PROPENSITY,
        n_threads: int = 0,
    ) -> sp.csr_array[Any]:
        """Return the k largest predictions of each sample, as CSR of shape (n_samples, n_outputs).

        Zeros are left out, unless a prediction of the sample is negative: then they are stored. Never holds all
        predictions, so it suits any number of labels.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            As for `predict`.
        k : int
            Number of predictions per sample.
        rerank : {None, "propensity"}, default=None
            "propensity" ranks labels by score / p, with p the propensity of a label by its count in training (Jain,
            Prabhu, Varma, KDD 2016), and returns these quotients: of about equally likely labels, rare ones come first.
            If scores are probabilities, this ranking has the largest expected `psp@k`.
        propensity : tuple of two floats, default=(0.55, 1.5)
            A and B of 1 / p = 1 + (log(n) - 1) (B + 1)^A (count + B)^-A.
        n_threads : int, default=0
            Number of threads; 0 means one for each core.
        """
        k = whole("k", k, least=1)
        x = self._features(X)
        best = self._native.predict_top_k(x, k, rerank=_ranking(rerank, propensity), n_threads=threads(n_threads))
        return csr(best, (_n_rows(x), self.n_outputs))

    def predict_labels(self, X: Any, *, n_threads: int = 0, memory_limit: int | None = None) -> sp.csr_array[Any]:
        """Return the predicted labels, as CSR of ones.

        A label is predicted if its score reaches its threshold, or 0.5 if the model has no thresholds. Of the classes
        of a column, one is predicted: that whose score exceeds its threshold most. With `decide="f1"` the labels of a
        sample depend on the samples beside it: each label is predicted for the set of samples whose expected F1 is
        largest, and of the classes of a column the most probable of those that would be predicted, or of all. The
        parameters are those of `predict`, whose result is limited.
        """
        scores = self.predict(X, n_threads=n_threads, memory_limit=memory_limit)
        return self.decide(scores, n_threads=n_threads)

    def decide(self, scores: Any, *, n_threads: int = 0) -> sp.csr_array[Any]:
        """Return the labels to predict for samples with these scores, as CSR of ones."""
        scores = dense(scores, "scores")
        return csr(self._native.decide(scores, n_threads=threads(n_threads)), scores.shape)

    def predict_values(
        self, X: Any, *, n_threads: int = 0, memory_limit: int | None = None
    ) -> dict[str, NDArray[Any] | list[list[str]]]:
        """Return the predicted values of the targets by name, in the form in which a table holds them.

        Parameters
        ----------
        X, n_threads, memory_limit
            As for `predict`, whose result is limited.

        Returns
        -------
        dict
            For each target an array of shape (n_samples,): of str for a column of classes, of bool for a label, and of
            float32 for a number. For labels that were listed in a column, the list of those of each sample.

        Examples
        --------
        >>> import numpy as np, rpo
        >>> X = np.arange(8, dtype=np.float32).reshape(-1, 1)
        >>> y = np.repeat(["bronze", "silver", "gold"], [3, 3, 2])
        >>> forest = rpo.ExtraTreesClassifier(10, random_state=0).fit(X, y)
        >>> forest.model_.predict_values(X[::3])
        {'class': array(['bronze', 'silver', 'gold'], dtype=object)}
        """
        scores = self.predict(X, n_threads=n_threads, memory_limit=memory_limit)
        values = partial(self._native.target_values, n_threads=threads(n_threads))
        # There may be no samples: the kinds of the values are those of another one.
        kinds = [type(column[0]) for column in values(np.zeros((1, self.n_outputs), np.float32))]
        columns = values(scores) if len(scores) else [[] for _ in kinds]
        return {
            name: column if kind is list else np.array(column, _DTYPES[kind])
            for name, column, kind in zip(self._native.value_columns, columns, kinds, strict=True)
        }

    def predict_intervals(self, X: Any, *, n_threads: int = 0, memory_limit: int | None = None) -> NDArray[np.float32]:
        """Return the lower and the upper bound of each number, of shape (n_samples, n_numbers, 2).

        Bounds are those of prediction intervals, for models fitted with `intervals`, the probability with which they
        cover the true value of new samples like those of training: errors of out-of-bag or withheld predictions are
        counted (split conformal prediction). Outputs that are labels have none.

        Parameters
        ----------
        X, n_threads, memory_limit
            As for `predict`, whose result is limited.

        Raises
        ------
        ValueError
            For a model without intervals.

        Examples
        --------
        >>> import numpy as np, rpo
        >>> rng = np.random.default_rng(0)
        >>> X = rng.random((500, 2))
        >>> y = X[:, 0] + 0.1 * rng.normal(size=500)
        >>> model = rpo.Model.fit(X[:400], y[:400], labels=False, method="extra-trees", intervals=0.9)
        >>> low, high = model.predict_intervals(X[400:])[:, 0].T
        >>> bool(0.8 < np.mean((low <= y[400:]) & (y[400:] <= high)) < 1)
        True
        """
        predicted = self.predict(X, n_threads=n_threads, memory_limit=memory_limit)
        bounds = self._native.bounds(predicted)
        return bounds.reshape(len(bounds), bounds.shape[1] // 2, 2)

    def contributions(
        self,
        X: Any,
        background: Any,
        *,
        outputs: Any = None,
        n_threads: int = 0,
        memory_limit: int | None = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Return what each feature contributes to each score, and the base of each score.

        Contributions are Shapley values: the mean change of the score when the feature becomes seen, over all orders
        in which features can be seen. A score is its base, the mean over the background samples, plus the
        contributions of all features. Trees follow seen features, and average over the branches that the background
        takes otherwise (Lundberg, Erion, Lee 2018); linear models take features as independent.
        Scores are predictions, except for labels of boosting and of linear models: there they are log-odds
        (activations for classes), and for losses of counts they are logarithms of predictions.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            As for `predict`.
        background : array, sparse matrix or DataFrame of shape (n_background, n_features)
            Typical samples to compare with, such as those of training.
        outputs : array of int, of shape (k,) or (n_samples, k), default=None
            The outputs that are explained, for all samples or for each. None means all outputs.
        n_threads : int, default=0
            Number of threads; 0 means one for each core.
        memory_limit : int or None, default=None
            Largest size of the result in bytes; None means 4 GiB.

        Returns
        -------
        contributions : array of shape (n_samples, n_features, k)
            The layout of `shap`.
        base : array of shape (k,) or (n_samples, k)
            The mean scores over the background.

        Raises
        ------
        ValueError
            For another model than a forest, boosting or a linear model; for no background sample.
        MemoryError
            For contributions that are larger than the limit.

        Examples
        --------
        >>> import numpy as np, rpo
        >>> rng = np.random.default_rng(0)
        >>> X = rng.random((200, 3))
        >>> Y = np.column_stack([X[:, 0], X[:, 1] * X[:, 2]])
        >>> model = rpo.Model.fit(X, Y, labels=False, method="gbmort", seed=0)
        >>> contributions, base = model.contributions(X[:5], X)
        >>> contributions.shape, base.shape
        ((5, 3, 2), (2,))
        >>> bool(np.allclose(base + contributions.sum(axis=1), model.predict(X[:5]), atol=1e-5))
        True
        """
        x, usual = self._features(X), self._features(background)
        n = _n_rows(x)
        chosen = np.arange(self.n_outputs) if outputs is None else np.asarray(outputs)
        if chosen.dtype.kind not in "iu" or chosen.ndim not in (1, 2):
            raise ValueError("outputs must be indices, of shape (k,) or (n_samples, k)")
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < self.n_outputs:
            raise ValueError(f"outputs must be at least 0 and below {self.n_outputs}, the number of outputs")
        if chosen.ndim == 2 and len(chosen) != n:
            raise ValueError(f"outputs has {len(chosen)} rows; X has {n}")
        k, p = chosen.shape[-1], self.n_features
        what = f"contributions of {n} samples, {p} features and {k} outputs"
        check_memory(what, n * p * k * 4, memory_limit, ", or name fewer outputs or samples")
        of_samples = np.broadcast_to(chosen, (n, k)).tolist()
        found, base = self._native.contributions(x, of_samples, usual, n_threads=threads(n_threads))
        values = csr(found, (n * k, p)).toarray().reshape(n, k, p)
        return values.transpose(0, 2, 1), base[chosen]

    def apply(self, X: Any, *, n_threads: int = 0) -> NDArray[np.uint32] | None:
        """Return the leaf that each sample reaches in each tree, of shape (n_samples, n_trees).

        The trees of boosting are in the order of steps, and those of a step in the order of outputs; the trees of
        forests per output are in the order of outputs. None for models without trees and combined models.
        """
        return self._native.apply(self._features(X), n_threads=threads(n_threads))

    def staged_predict(self, X: Any, *, n_threads: int = 0) -> Iterator[NDArray[np.float32]]:
        """Return the predictions after each step of boosting, one after the other; the last equals that of `predict`.

        Each step is added to the previous ones, so all of them cost little more than one prediction.

        Raises
        ------
        ValueError
            For a model of another method.
        """
        stages = self._native.stages(self._features(X), n_threads=threads(n_threads))
        if stages is None:
            raise ValueError(
                f"{self.parameters.get('method', 'the model')} has no predictions step by step; only boosting has"
            )
        return stages

    def oob_predictions(self, X: Any, *, n_threads: int = 0) -> tuple[NDArray[np.float32], NDArray[np.uint32]] | None:
        """Return predictions for the training samples by the trees that did not see them, and the numbers of trees.

        None if the model has no such predictions.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The features of the training, in their order. Only their number is checked: the trees know samples by their
            positions, so that for others, or for the same in another order, predictions are not out of bag, and a score
            of them is too good.
        n_threads : int, default=0
            Number of threads; 0 means one for each core.

        Raises
        ------
        ValueError
            For another number of samples than in training.
        """
        return self._native.oob_predictions(self._features(X), n_threads=threads(n_threads))

    def evaluate(
        self,
        X: Any,
        Y: Any,
        metrics: Sequence[str] = (),
        *,
        rerank: str | None = None,
        propensity: tuple[float, float] = PROPENSITY,
        n_threads: int = 0,
        memory_limit: int | None = None,
    ) -> dict[str, float]:
        """Return the value of each metric (`rpo.metrics.names()`) by name; missing outputs are left out.

        The default metrics are `macro-auc` for up to four labels, `lrap` and `p@1` for more, `r2` for numbers, or the
        deviance or `mae` that boosting minimized, and `pinball` for quantiles.
        Of a model of labels and numbers, metrics of labels are those of the labels, and others those of the numbers.
        The columns of DataFrames `X` and `Y` are found by name. `Y` has the outputs, one for each class of a target, or
        the targets as `predict_values` returns them: classes, truth values, numbers, or a list of labels per sample. A
        class that training did not have raises `ValueError`; such labels of a list are left out, with a warning.
        Metrics that compare with training, such as `psp@5` and `arrmse`, use the training summary in the model.
        `rerank` and `propensity` are as for `predict_top_k`, for metrics of the best k labels.

        Scores of more than `memory_limit` bytes, 4 GiB by default, are computed in blocks of samples; a metric that
        needs those of all samples at once then raises `MemoryError`.
        """
        first = self._native.default_metric()
        names = names_of("metrics", metrics) or (["lrap", "p@1"] if first == "lrap" else [first])
        data = self._dataset(X, Y)
        with limited(memory_limit) as limit:
            values = self._native.evaluate(
                data,
                names,
                weights=numbers_of("propensity", propensity),
                rerank=_ranking(rerank, propensity),
                n_threads=threads(n_threads),
                **limit,
            )
        return dict(zip(names, values, strict=True))

    def permutation_importances(
        self,
        X: Any,
        Y: Any,
        metric: str | None = None,
        *,
        repeats: int = 5,
        seed: int = 0,
        n_threads: int = 0,
        memory_limit: int | None = None,
    ) -> dict[str, tuple[float, float]]:
        """Return how much worse a metric gets when the values of a column are shuffled among the samples.

        It is for every method. On other samples than those of training, these are the columns that predictions need.
        Columns that carry the same information may each have a small importance, as the others remain (Breiman 2001).
        All terms of a column of texts are shuffled together, and so are the parts of a date.

        Parameters
        ----------
        X, Y : arrays, sparse matrices or DataFrames
            Features, and outputs or targets as for `evaluate`; the columns of DataFrames are found by name.
        metric : str, optional
            By default the first that `evaluate` returns.
        repeats : int, default=5
            How often each column is shuffled; each time takes as long as `evaluate`.
        seed : int, default=0
            Seed of the shuffles.
        n_threads, memory_limit
            As for `evaluate`.

        Returns
        -------
        dict
            For each column, by name ("0", "1", ... if the model was fitted without names), the mean and the standard
            deviation over the shuffles, in units of the metric; NaN for the deviation of one shuffle.

        Examples
        --------
        >>> import numpy as np, rpo
        >>> X = np.random.default_rng(0).random((200, 2))
        >>> model = rpo.Model.fit(X, X[:, 0], method="extra-trees", labels=False, trees=20)
        >>> found = model.permutation_importances(X, X[:, 0])
        >>> [name for name, (mean, _) in found.items() if mean > 1]
        ['0']
        """
        with limited(memory_limit) as limit:
            found = self._native.permutation_importances(
                self._dataset(X, Y),
                self._native.default_metric() if metric is None else metric,
                repeats=whole("repeats", repeats, least=1),
                seed=whole("seed", seed, least=0),
                n_threads=threads(n_threads),
                **limit,
            )
        return {name: (mean, deviation) for name, mean, deviation in found}

    def evaluate_by_frequency(
        self,
        X: Any,
        Y: Any,
        n_groups: int = 10,
        at: Sequence[int] = (1, 3, 5),
        *,
        rerank: str | None = None,
        propensity: tuple[float, float] = PROPENSITY,
        n_threads: int = 0,
    ) -> list[dict[str, Any]]:
        """Score frequent and rare labels separately.

        Labels are grouped from the most to the least frequent in training, with about equally many positives each.

        Parameters
        ----------
        X, Y : arrays, sparse matrices or DataFrames
            Features, and labels or targets as for `evaluate`; the columns of DataFrames are found by name.
        n_groups : int, default=10
            Number of groups: 10 for deciles.
        at : sequence of int, default=(1, 3, 5)
            Numbers of best labels to score.
        rerank, propensity, n_threads
            As for `predict_top_k`.

        Returns
        -------
        list of dict
            For each group `labels`, the number of labels; `least_frequent` and `most_frequent`, counts in training
            (None without labels); `positives` in `Y`; `r@k`, the fraction of the positives among the best k (NaN if
            there are none); and `p@k`, their contribution to the precision at k. `pandas.DataFrame` accepts this list.
        """
        at = [whole("at", k, least=1) for k in at]
        groups = self._native.evaluate_by_frequency(
            self._dataset(X, Y),
            whole("n_groups", n_groups, least=1),
            at,
            rerank=_ranking(rerank, propensity),
            n_threads=threads(n_threads),
        )
        found = []
        for n_labels, counts, positives, at_k in groups:
            least, most = counts or (None, None)
            group: dict[str, Any] = {"labels": n_labels, "least_frequent": least, "most_frequent": most}
            group["positives"] = positives
            for k, (recall, precision) in zip(at, at_k, strict=True):
                group |= {f"r@{k}": recall, f"p@{k}": precision}
            found.append(group)
        return found

    def merge(self, other: Model) -> Model:
        """Merge two forests that were grown in parts on the same data into one model.

        Forests grown with successive `first_tree`, in either order, and otherwise equal parameters merge into the
        model that one training would have produced.
        """
        return Model(self._native.merge(_model(other)._native))

    @classmethod
    def from_parts(cls, parts: Iterable[Model | bytes | bytearray | memoryview | Path]) -> Model:
        """Merge parts of a forest that were grown on the same data into one model, in the order of their trees.

        Parts are read one after the other, so an iterator need not hold them all.

        Parameters
        ----------
        parts : iterable of Model, bytes or path
            Models, model files, or the contents of model files.

        Raises
        ------
        ValueError
            For parts that do not belong together, or if there are none.
        TypeError
            For a single part that is not in a list.

        Examples
        --------
        >>> import numpy as np, rpo
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(60, 4)).astype(np.float32)
        >>> Y = (X[:, :3] > 0).astype(np.float32)
        >>> grow = lambda first, n: rpo.Model.fit(X, Y, labels=True, thresholds=None, first_tree=first, trees=n)
        >>> rpo.Model.from_parts(grow(i, 2) for i in (0, 2, 4)) == grow(0, 6)
        True
        """
        if isinstance(parts, (str, *_BYTES, PathLike, Model)):
            one = "..." if isinstance(parts, _BYTES) else repr(parts)
            raise TypeError(f"parts must be a list of models or files: [{one}]")

        def opened() -> Iterator[_native.Model | bytes]:
            for part in parts:
                if isinstance(part, (str, PathLike)):
                    yield _native.Model.load(part)
                else:
                    yield _as_bytes(part) if isinstance(part, _BYTES) else _model(part)._native

        return cls(_native.Model.from_parts(opened()))

    def relabel(
        self,
        X: Any,
        Y: Any,
        *,
        labels: bool,
        training_samples: bool = False,
        missing_outputs: bool = False,
        sample_weight: Any = None,
        output_names: Sequence[str] | None = None,
        n_threads: int = 0,
    ) -> Model:
        """Return a model with the same trees, whose leaves predict other outputs.

        The trees of a forest stay as they are, and their leaves predict the mean outputs of the samples that reach
        them: further labels, corrected ones, or numbers instead of labels, in the time of a prediction. Branches that
        no sample reaches are removed. With samples other than those of training, trees are honest: the values of
        leaves do not depend on the samples that chose the splits.

        Where the outputs have the names of those of the model, in that order (without names: where there are as many),
        the trees of single-target forests predict the output that they grew on, and those of structured forests keep
        their weights; otherwise every tree predicts all outputs alike.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            As for `predict`.
        Y : array, sparse matrix or DataFrame of shape (n_samples,) or (n_samples, n_outputs)
            All outputs of the new model.
        labels : bool
            True for labels, 0 or 1; False for numbers.
        training_samples : bool, default=False
            True if the samples are those that the model was fitted to, in the same order: each tree then takes only
            the samples that it grew on, so that `oob_predictions` predicts the others out of bag. Their number is
            checked, and that each leaf receives one. Others, or another order, can pass both, above all where leaves
            are large; predictions are then not out of bag, and a score of them is too good.
        missing_outputs : bool, default=False
            Leave out missing outputs (NaN); by default they are refused.
        sample_weight : array of shape (n_samples,), optional
            Weights of the samples.
        output_names : sequence of str, optional
            Names of the outputs; by default those of a DataFrame, otherwise numbers.
        n_threads : int, default=0
            Number of threads; 0 means one for each core. The model does not depend on it.

        Raises
        ------
        ValueError
            For another model than a forest whose leaves predict means (random forests, Extra-Trees, forests of single
            targets and structured forests); with `training_samples`, for another number of samples than in training,
            and for samples that leave a leaf empty.

        Examples
        --------
        >>> import numpy as np, rpo
        >>> rng = np.random.default_rng(0)
        >>> X = rng.random((200, 4))
        >>> grown = rpo.Model.fit(X, X[:, :2] > 0.5, labels=True, seed=0)
        >>> added = grown.relabel(X, X[:, :3] > 0.5, labels=True, training_samples=True)
        >>> added.predict(X).shape
        (200, 3)
        >>> bool((added.predict(X)[:, :2] == grown.predict(X)).all())
        True
        """
        data = _samples(
            self._features(X),
            Y,
            labels=labels,
            missing_outputs=missing_outputs,
            sample_weight=sample_weight,
            groups=None,
            feature_names=self._native.feature_names,
            output_names=output_names,
            nominal=self._native.nominal,
        )
        native = self._native.relabel(
            data, training_samples=flag("training_samples", training_samples), n_threads=threads(n_threads)
        )
        return Model(native)

    def with_thresholds(self, thresholds: Sequence[float] | None) -> Model:
        """Return the model with the score from which each label is predicted."""
        return Model(self._native.with_thresholds(None if thresholds is None else list(thresholds)))

    def inspect(self) -> dict[str, Any]:
        """Describe the model and how it was made: method, parameters, sizes, statistics of its trees."""
        return cast("dict[str, Any]", json.loads(self._native.describe()))

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the training by name, including the method."""
        return cast("dict[str, Any]", self.inspect()["parameters"])

    @property
    def importances(self) -> NDArray[np.float64] | None:
        """The importances of the features, which sum to 1; None if the model has none.

        That of a category, or of a column of texts, is the sum of those of the columns that encode it.
        """
        return self._native.importances()

    @property
    def feature_names(self) -> list[str]:
        """The names of the features."""
        return self._native.feature_names or numbered(self.n_features)

    @property
    def output_names(self) -> list[str]:
        """The names of the outputs."""
        return self._native.output_names or numbered(self.n_outputs)

    @property
    def is_multilabel(self) -> bool:
        """True if the outputs are labels, false if they are numbers."""
        return self._native.is_multilabel

    @property
    def n_train(self) -> int:
        """Number of training samples."""
        return self._native.sizes[0]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self._native.sizes[1]

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return self._native.sizes[2]

    @property
    def n_trees(self) -> int:
        """Number of trees; 0 if the model has none."""
        return self._native.n_trees

    def _dataset(self, X: Any, Y: Any) -> _native.Dataset:
        """Return features in the order of the model, and outputs; columns of tables are found by name."""
        y, names = outputs_of_model(self._native, Y)
        return _native.Dataset.from_arrays(
            self._features(X),
            borrow(y, "Y"),
            labels=self.is_multilabel,
            missing_outputs=True,
            feature_names=self._native.feature_names,
            output_names=names,
            nominal=self._native.nominal,
        )

    def _features(self, X: Any) -> Borrowed:
        """Return features in the order of the model; refuse infinite ones as estimators do."""
        x = self._ordered(X)
        check_finite(x, "X", self._native.feature_names)
        return x

    def _ordered(self, X: Any) -> Borrowed:
        if not is_frame(X):
            return borrow(X, "X")
        return borrow(read_frame(self._columns_of(X), self._native.nominal).values, "X")

    def _columns_of(self, X: Any) -> Any:
        """Return the columns of a table that are features, found by name, or by position if neither has names."""
        wanted, names = self.feature_names, column_names(X)
        present = set(names)
        # Numbered columns have the numbers as names, as in the command.
        if self._native.feature_names is None and not present.issuperset(wanted):
            if len(names) == len(wanted):
                return X
            raise ValueError(f"X has {len(names)} columns; the model has {len(wanted)} features, without names")
        if missing := [name for name in wanted if name not in present]:
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            # The command names what it makes of a text or a date `column[part]`.
            of_command = (
                "; the command made it of texts or dates, from which `rpo predict` and `rpo serve` predict, and this "
                "package does not"
            )
            made = of_command if missing[0].endswith("]") else ""
            raise ValueError(f"the data has no feature {missing[0]!r}{more}, which the model needs{made}")
        return selected(X, wanted)

    def __getstate__(self) -> bytes:
        """Return the content of the model's file, so that a model can be kept wherever bytes can."""
        return self.to_bytes()

    def __setstate__(self, content: bytes) -> None:
        self._native = _native.Model.from_bytes(content)

    def __eq__(self, other: object) -> bool:
        """Return true if the models are equal."""
        return isinstance(other, Model) and self._native == other._native

    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the method and the sizes."""
        method = self.parameters.get("method", "model")
        return (
            f"<rpo.Model: {method}, {self.n_train} training samples, "
            f"{self.n_features} features, {self.n_outputs} outputs>"
        )


def _samples(
    x: Borrowed,
    Y: Any,
    *,
    labels: bool,
    missing_outputs: bool,
    sample_weight: Any,
    groups: Any,
    feature_names: list[str] | None,
    output_names: Sequence[str] | None,
    nominal: dict[int, list[str]],
) -> _native.Dataset:
    """Return samples to learn from; warnings are those of the caller's caller."""
    if output_names is None:
        output_names = names_of_outputs(Y)
    Y = as_columns(outputs_as_array(Y))
    output_names = None if output_names is None else names_of("output_names", output_names)
    if not flag("missing_outputs", missing_outputs) and Y.dtype.kind == "f":
        check_outputs(Y, "Y", output_names, "missing_outputs=True leaves them out, if the method can do so")
    if not flag("labels", labels):
        check_precision(Y, output_names, stacklevel=3)
    weights = None if sample_weight is None else weights_in_single(sample_weight, "sample_weight", stacklevel=3)
    of_samples = weights is None or weights.ndim == 1
    return _native.Dataset.from_arrays(
        x,
        borrow(Y, "Y"),
        labels=bool(labels),
        missing_outputs=bool(missing_outputs),
        feature_names=feature_names,
        output_names=output_names,
        nominal=nominal,
        weights=weights if of_samples else None,
        cell_weights=None if of_samples else weights,
        groups=group_numbers(groups, Y.shape[0]),
    )


def methods() -> dict[str, dict[str, Any]]:
    """Return the methods by name, each with a summary and its parameters.

    A parameter has `help`, `default`, `label_default` (its default for labels, if it is another one), `choices` and
    `range`.

    Examples
    --------
    >>> import rpo
    >>> rpo.methods()["random-forest"]["parameters"]["trees"]["default"]
    100
    """
    described = {}
    for method in json.loads(_native.methods()):
        parameters = {parameter.pop("name"): parameter for parameter in method["parameters"]}
        described[method["name"]] = {"summary": method["summary"], "parameters": parameters}
    return described


def _model(given: Any) -> Model:
    """Return a model; refuse anything else, and say where an estimator has its model."""
    if isinstance(given, Model):
        return given
    more = "; the model of an estimator is its attribute model_" if hasattr(given, "model_") else ""
    raise TypeError(f"a Model is expected, not an object of {type(given).__name__}{more}")


def _as_bytes(data: bytes | bytearray | memoryview) -> bytes:
    if not isinstance(data, _BYTES):
        raise TypeError(f"the content of a model file is bytes, not {type(data).__name__}; Model.load reads a path")
    return bytes(data)


def _ranking(rerank: str | None, propensity: tuple[float, float]) -> tuple[float, float] | None:
    """Return the propensity model to rank by, or None to rank by score."""
    if rerank not in (None, "propensity"):
        raise ValueError(f"rerank is None or 'propensity', not {rerank!r}")
    return numbers_of("propensity", propensity) if rerank else None


def _n_rows(x: Borrowed) -> int:
    return x[3][0] if isinstance(x, tuple) else x.shape[0]
