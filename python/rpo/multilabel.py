"""Methods for labels: structured forests, CRAFTML, label embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray

from ._supervised import Classifier

if TYPE_CHECKING:
    from typing_extensions import Self


class LabelMethod(Classifier):
    """A method with further parameters under its own names."""

    _own: ClassVar[tuple[str, ...]] = ()
    """Parameters under the method's own names, passed on unless they are None."""

    _allows_nan: ClassVar[bool] = False

    missing_outputs: bool = False
    """These methods need every output."""

    def _parameters(self, n_samples: int, n_labels: NDArray[Any]) -> dict[str, Any]:
        given = super()._parameters(n_samples, n_labels)
        return given | {name: value for name in self._own if (value := getattr(self, name)) is not None}

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> Self:
        """Fit.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features; with `params={"impute": "median"}` some may be missing (NaN).
        y : array or sparse matrix of shape (n_samples,) or (n_samples, n_outputs)
            Indicators of labels, dense or sparse; or classes.
        groups : array of shape (n_samples,), optional
            The group of each sample, such as a patient or a customer: numbers, texts or other values. Samples of a
            group are never withheld from each other to find thresholds or
            the number of epochs (`params`).
        """
        return self._fit(X, y, groups=groups)


class StructuredForestClassifier(LabelMethod):
    """A structured Hellinger forest for imbalanced labels (Daniels, Metaxas, AAAI 2017) or one of its variants.

    The threshold of labels is 0.5, as scikit-learn expects, with `params={"preset": "paper"}` too.
    `params={"thresholds": "label-f"}` decides as in the paper, by the thresholds with the largest F-measure of each
    label on out-of-bag predictions; with "macro-f" no label is predicted more than five times as often as it occurs.

    Parameters
    ----------
    n_estimators : int, default=50
        Number of trees.
    variant : str, optional
        The way nodes are split; `rpo.methods()["structured-forest"]` lists the variants.
    max_depth : int, optional
        Largest depth of a leaf.
    min_samples_leaf : int, default=3
        Smallest number of samples of a leaf.
    n_jobs : int, optional
        Number of threads, as scikit-learn counts them. The forest does not depend on it.
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
    >>> from rpo import StructuredForestClassifier
    >>> X = sp.random_array((200, 30), density=0.3, format="csr", dtype=np.float32, random_state=0)
    >>> Y = (X[:, :10] > 0.5).astype(np.int8)  # ten labels, sparse
    >>> forest = StructuredForestClassifier(20, random_state=0, params={"thresholds": "macro-f"}).fit(X, Y)
    >>> len(forest.model_.inspect()["thresholds"])
    10
    >>> forest.predict(X).shape
    (200, 10)
    """

    _renamed: ClassVar[dict[str, str]] = {
        "n_estimators": "trees",
        "max_depth": "max_depth",
        "min_samples_leaf": "min_samples_leaf",
    }
    _own: ClassVar[tuple[str, ...]] = ("variant",)

    def __init__(
        self,
        n_estimators: int = 50,
        *,
        variant: str | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 3,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        params: Mapping[str, Any] | None = None,
    ):
        self.n_estimators = n_estimators
        self.variant = variant
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.params = params

    def _parameters(self, n_samples: int, n_labels: NDArray[Any]) -> dict[str, Any]:
        return {"thresholds": None} | super()._parameters(n_samples, n_labels)

    @property
    def _method(self) -> str:
        return "structured-forest"


class CraftmlClassifier(LabelMethod):
    """A CRAFTML forest for very many labels (Siblini, Kuntz, Meyer, ICML 2018).

    Parameters
    ----------
    n_estimators : int, default=50
        Number of trees.
    preset : str, optional
        Settings that replace the defaults: those of the "paper", of a student "report", or of its code with two
        defects, "report-quirks".
    clusters : int, optional
        Largest number of children of a node; 5 by default for up to 100 labels and 10 for more.
    min_samples_split : int, optional
        Smallest number of samples of a node that is split.
    n_jobs : int, optional
        Number of threads, as scikit-learn counts them. The forest does not depend on it.
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
    >>> from rpo import CraftmlClassifier
    >>> X = sp.random_array((200, 30), density=0.3, format="csr", dtype=np.float32, random_state=0)
    >>> Y = (X[:, :10] > 0.5).astype(np.int8)  # ten labels, sparse
    >>> forest = CraftmlClassifier(20, random_state=0).fit(X, Y)
    >>> forest.predict_top_k(X, 3).shape
    (200, 10)
    """

    _renamed: ClassVar[dict[str, str]] = {"n_estimators": "trees"}
    _own: ClassVar[tuple[str, ...]] = ("preset", "clusters", "min_samples_split")

    def __init__(
        self,
        n_estimators: int = 50,
        *,
        preset: str | None = None,
        clusters: int | None = None,
        min_samples_split: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        params: Mapping[str, Any] | None = None,
    ):
        self.n_estimators = n_estimators
        self.preset = preset
        self.clusters = clusters
        self.min_samples_split = min_samples_split
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.params = params

    @property
    def _method(self) -> str:
        return "craftml"


class LabelEmbeddingClassifier(LabelMethod):
    """A randomized label embedding with a link of random features (Mineiro, Karampatziakis 2015).

    Parameters
    ----------
    mode : str, optional
        The model: "full", the default, random features of a learned embedding; "linear", a learned embedding alone;
        "cs" and "cs-linear", the same with a random embedding; or "kernel", random features of the features themselves.
    rank : int or str, optional
        Number of dimensions of the embedding.
    link_loss : {"logistic", "squared", "softmax"}, optional
        Loss of the final fit.
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
    >>> from rpo import LabelEmbeddingClassifier
    >>> X = sp.random_array((200, 30), density=0.3, format="csr", dtype=np.float32, random_state=0)
    >>> Y = (X[:, :10] > 0.5).astype(np.int8)  # ten labels, sparse
    >>> model = LabelEmbeddingClassifier(rank=5, random_state=0).fit(X, Y)
    >>> model.predict_top_k(X, 3).shape
    (200, 10)
    """

    _own: ClassVar[tuple[str, ...]] = ("mode", "rank", "link_loss")

    def __init__(
        self,
        *,
        mode: str | None = None,
        rank: int | str | None = None,
        link_loss: str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        params: Mapping[str, Any] | None = None,
    ):
        self.mode = mode
        self.rank = rank
        self.link_loss = link_loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.params = params

    @property
    def _method(self) -> str:
        return "label-embedding"
