"""Ensembles of methods that suit the data, found within a time limit or a number of trials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray

from ._estimator import Estimator
from ._labels import MULTILABEL
from ._supervised import Classifier, Regressor

if TYPE_CHECKING:
    from typing_extensions import Self


class _Auto(Estimator):
    """The search for an ensemble."""

    _renamed: ClassVar[dict[str, str]] = {
        "time": "time",
        "configurations": "configurations",
        "combine": "combine",
        "portfolio": "portfolio",
    }

    _n_steps: ClassVar[int | None] = None

    def __init__(
        self,
        time: float | None = None,
        *,
        configurations: int | None = None,
        combine: str | None = None,
        portfolio: str | None = None,
        missing_outputs: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        params: Mapping[str, Any] | None = None,
    ):
        self.time = time
        self.configurations = configurations
        self.combine = combine
        self.portfolio = portfolio
        self.missing_outputs = missing_outputs
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.params = params

    @property
    def _method(self) -> str:
        return "auto"

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> Self:
        """Fit.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            Features; missing values are filled in for members that need every value.
        y : array or sparse matrix of shape (n_samples,) or (n_samples, n_outputs)
            Outputs; NaN where missing, with `missing_outputs`.
        groups : array of shape (n_samples,), optional
            The group of each sample, such as a patient or a customer: numbers, texts or other values. Samples of a
            group are never withheld from each other to choose methods,
            weights and thresholds, so that these suit new groups.
        """
        return self._fit(X, y, groups=groups)


class AutoClassifier(_Auto, Classifier):
    """The best ensemble of many methods for labels or classes that is found within a time limit.

    Labels are predicted by thresholds that are found on withheld samples; of the classes of a column, two or more, the
    most probable one is. `params={"thresholds": "macro-f"}` finds a threshold for the second of two classes.

    Parameters
    ----------
    time : float, optional
        Time limit of the search in seconds: the model depends on the machine. By default 10, plus one for every 100,000
        values of the data, at most 600.
    configurations : int, optional
        Number of configurations to try, instead of a time limit: the model depends only on the data and `random_state`.
    combine : {"mean", "greedy", "greedy-mean", "nnls", "stack"}, optional
        Rule for the weights of members.
    portfolio : str, optional
        File with another list of configurations.
    missing_outputs : bool, default=False
        Allows missing outputs (NaN), which are left out everywhere; only methods that can do so are tried.
    n_jobs : int, optional
        Number of threads, as scikit-learn counts them.
    random_state : int, RandomState or None, default=None
        Seed.
    verbose : int, default=0
        Prints the number of configurations tried.
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
    >>> import numpy as np
    >>> from rpo import AutoClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 5)).astype(np.float32)
    >>> Y = (X[:, :3] + 0.3 * rng.normal(size=(80, 3)) > 0).astype(int)
    >>> model = AutoClassifier(configurations=2, random_state=0).fit(X, Y)
    >>> model.predict(X).shape
    (80, 3)
    >>> len(model.model_.inspect()["thresholds"])  # from which each label is predicted
    3
    """

    def _takes_rule(self, kind: str) -> bool:
        """Return true for labels, whose thresholds the search finds."""
        return super()._takes_rule(kind) or kind == MULTILABEL

    def _parameters(self, n_samples: int, n_labels: NDArray[Any]) -> dict[str, Any]:
        given = super()._parameters(n_samples, n_labels)
        # Of the classes of a column, the most probable is predicted, however they are named and ordered.
        return given | ({} if self._has_rule else {"thresholds": None})


class AutoRegressor(_Auto, Regressor):
    """The best ensemble of many methods for numbers that is found within a time limit.

    Parameters
    ----------
    time : float, optional
        Time limit of the search in seconds: the model depends on the machine. By default 10, plus one for every 100,000
        values of the data, at most 600.
    configurations : int, optional
        Number of configurations to try, instead of a time limit: the model depends only on the data and `random_state`.
    combine : {"mean", "greedy", "greedy-mean", "nnls", "stack"}, optional
        Rule for the weights of members.
    portfolio : str, optional
        File with another list of configurations.
    missing_outputs : bool, default=False
        Allows missing outputs (NaN), which are left out everywhere; only methods that can do so are tried.
    n_jobs : int, optional
        Number of threads, as scikit-learn counts them.
    random_state : int, RandomState or None, default=None
        Seed.
    verbose : int, default=0
        Prints the number of configurations tried.
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
    is_categorical_ : ndarray of bool of shape (n_features,) or None
        Mask of the features that are categories; None if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from rpo import AutoRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 5)).astype(np.float32)
    >>> Y = X[:, :2] + X[:, 2:4]
    >>> model = AutoRegressor(configurations=2, random_state=0).fit(X, Y)
    >>> model.predict(X).shape
    (80, 2)
    """
