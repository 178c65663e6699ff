"""Sparse linear classifiers for very many labels: one-vs-rest, label trees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from .multilabel import LabelMethod

if TYPE_CHECKING:
    from typing_extensions import Self


class _LinearMethod(LabelMethod):
    """Linear classifiers, which support sample weights."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features; with `params={"impute": "median"}` some may be missing (NaN).
        y : array or sparse matrix of shape (n_samples,) or (n_samples, n_outputs)
            Indicators of labels, dense or sparse; or classes.
        sample_weight : array of shape (n_samples,), optional
            Nonnegative weights: a sample of weight 2 counts as two in the loss and in the standardization of features.
            The model equals that of two samples only up to the tolerance of the solver, which by default ends early:
            probabilities differ by some hundredths, and by less than a millionth with `params={"tolerance": 1e-6,
            "max_passes": 10_000, "prune": 0, "precision": "single"}`. The search for `C`, where it is not given, draws
            the samples it withholds without regard to weights, as does `params={"impute": ...}`, which fills in the
            value that is typical of the unweighted samples.
        groups : array of shape (n_samples,), optional
            The group of each sample, such as a patient or a customer: numbers, texts or other values. Samples of a
            group are never withheld from each other to find `C`,
            probabilities or thresholds.
        """
        return self._fit(X, y, sample_weight, groups=groups)


class LinearOneVsRestClassifier(_LinearMethod):
    """A sparse linear classifier for each label, with one solver for all (Hsieh et al., ICML 2008).

    Samples are scaled to length 1 and small weights are dropped, so that thousands of labels take only megabytes.

    Parameters
    ----------
    C : float, optional
        Weight of the loss relative to the penalty; by default the power of two that is best on withheld samples.
    loss : {"squared-hinge", "logistic"}, optional
        Loss of a margin; "squared-hinge" by default.
    n_jobs : int, optional
        Number of threads, as scikit-learn counts them. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed.
    verbose : int, default=0
        Prints when the fit is done.
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
    is_categorical_ : ndarray of bool of shape (n_features,) or None
        Mask of the features that are categories; None if there are none.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from rpo import LinearOneVsRestClassifier
    >>> X = sp.random_array((200, 30), density=0.3, format="csr", dtype=np.float32, random_state=0)
    >>> Y = (X[:, :10] > 0.5).astype(np.int8)  # ten labels, sparse
    >>> model = LinearOneVsRestClassifier(C=1.0).fit(X, Y)
    >>> model.predict_top_k(X, 3).shape
    (200, 10)
    """

    _renamed: ClassVar[dict[str, str]] = {"C": "cost"}
    _own: ClassVar[tuple[str, ...]] = ("loss",)

    def __init__(
        self,
        *,
        C: float | None = None,
        loss: str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        params: Mapping[str, Any] | None = None,
    ):
        self.C = C
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.params = params

    @property
    def _method(self) -> str:
        return "one-vs-rest"


class LabelTreeClassifier(_LinearMethod):
    """Trees of labels with linear classifiers in their nodes, for very many labels (Prabhu et al., WWW 2018).

    Parameters
    ----------
    n_estimators : int, default=3
        Number of trees.
    C : float, optional
        Weight of the loss relative to the penalty; by default the power of two that is best on withheld samples.
    loss : {"squared-hinge", "logistic"}, optional
        Loss of a margin; "squared-hinge" by default.
    clusters : int, optional
        Largest number of children of a node.
    leaf_labels : int, optional
        Largest number of labels of a leaf.
    beam : int, optional
        Number of nodes followed at each depth of a prediction.
    n_jobs : int, optional
        Number of threads, as scikit-learn counts them. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed.
    verbose : int, default=0
        Prints the number of trees grown.
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
    is_categorical_ : ndarray of bool of shape (n_features,) or None
        Mask of the features that are categories; None if there are none.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from rpo import LabelTreeClassifier
    >>> X = sp.random_array((200, 30), density=0.3, format="csr", dtype=np.float32, random_state=0)
    >>> Y = (X[:, :10] > 0.5).astype(np.int8)  # ten labels, sparse
    >>> trees = LabelTreeClassifier(3, C=1.0, leaf_labels=4, random_state=0).fit(X, Y)
    >>> trees.predict_top_k(X, 3).shape
    (200, 10)
    """

    _renamed: ClassVar[dict[str, str]] = {"n_estimators": "trees", "C": "cost"}
    _own: ClassVar[tuple[str, ...]] = ("loss", "clusters", "leaf_labels", "beam")

    def __init__(
        self,
        n_estimators: int = 3,
        *,
        C: float | None = None,
        loss: str | None = None,
        clusters: int | None = None,
        leaf_labels: int | None = None,
        beam: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        params: Mapping[str, Any] | None = None,
    ):
        self.n_estimators = n_estimators
        self.C = C
        self.loss = loss
        self.clusters = clusters
        self.leaf_labels = leaf_labels
        self.beam = beam
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.params = params

    @property
    def _method(self) -> str:
        return "label-tree"
