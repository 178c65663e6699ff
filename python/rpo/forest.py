"""Forests under the names and parameters of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ._forest import ForestClassifier, ForestRegressor


class RandomForestClassifier(ForestClassifier):
    """A random forest for classes or labels (Breiman 2001).

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        Measure of a split; only "gini" with a projection.
    max_depth : int, optional
        Largest depth of a leaf; unlimited by default.
    min_samples_split : int or float, default=2
        Smallest number of samples of a node that is split, or the fraction of all samples.
    min_samples_leaf : int or float, default=1
        Smallest number of samples of a leaf, or the fraction of all samples.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Number of features drawn at a node, or their fraction; None means all.
    max_leaf_nodes : int, optional
        Largest number of leaves; if set, the split with the largest gain is made first.
    min_impurity_decrease : float, default=0.0
        Smallest decrease of the impurity by a split, weighted by the fraction of the samples in its node. With "gini"
        it is that of scikit-learn, averaged over outputs. Entropy, in bits, is averaged over labels: it is that of
        scikit-learn for labels and two classes, while each of more classes is a label. With a projection it is the
        decrease of the variance of its components, averaged over them.
    bootstrap : bool or None, default=True
        Grows each tree on samples drawn with replacement. Use None with `params={"row_share": 0.7}`.
    oob_score : bool or callable, default=False
        Scores the out-of-bag predictions, those by the trees that did not see a sample: accuracy, or a function of y
        and predictions.
    n_jobs : int, optional
        Number of threads, as scikit-learn counts them: None means 1, -1 all cores. The forest does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed; with an int the forest is the same each time, for any number of threads.
    verbose : int, default=0
        Prints the number of trees grown.
    warm_start : bool, default=False
        Keeps the trees of the last fit, if data and parameters are the same, and grows only the missing ones.
    projection : str, optional
        Random projection of the outputs on which the trees grow (Joly, Geurts, Wehenkel, ECML-PKDD 2014): "gaussian",
        "rademacher", "achlioptas", "sparse", "hadamard", "subsample", "hashing", or one that learns from data, "pca" or
        "label-embedding". Leaves still predict the original outputs. For hundreds of dense outputs, or many labels
        per sample; with few labels per sample it saves no time and may score less.
    n_components : int or {"ln", "d"}, optional
        Number of components of the projection, if any; by default the logarithm of the number of outputs.
    missing_outputs : bool, default=False
        Allows missing outputs (NaN), which are left out of splits, leaves and scores.
    categorical_features : "from_dtype", None or list of bool, int or str, default="from_dtype"
        The features that are categories, which are split between subsets of their values: those declared as such in
        a DataFrame, none, or those selected by a mask, indices or names. A selected column may hold numbers or words.
        Values unseen in training count as missing, with a warning.
        To a model fitted on a DataFrame, an array gives the numbers of categories that are numbers, and words of other
        categories, or positions in their list.
    params : dict, optional
        Other parameters of the method, under their names in the command and `rpo.methods()`, such as `"leaves"`,
        `"feature_share"`, `"thresholds"` or `"impute"`.

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
    feature_importances_ : ndarray of shape (n_features,)
        Fractions of the decrease of impurity in training, which favour features of many different values;
        `sklearn.inspection.permutation_importance` on other samples does not.
    is_categorical_ : ndarray of bool of shape (n_features,) or None
        Mask of the features that are categories; None if there are none.
    oob_score_, oob_decision_function_
        With `oob_score`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from rpo import RandomForestClassifier
    >>> X = sp.random_array((200, 30), density=0.3, format="csr", dtype=np.float32, random_state=0)
    >>> Y = (X[:, :10] > 0.5).astype(np.int8)  # ten labels, sparse
    >>> forest = RandomForestClassifier(50, projection="gaussian", n_components=5, random_state=0).fit(X, Y)
    >>> forest.predict_proba(X).shape
    (200, 10)
    >>> forest.predict_top_k(X, 3).nnz <= 600
    True
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        max_features: str | int | float | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool | None = True,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        projection: str | None = None,
        n_components: int | str | None = None,
        missing_outputs: bool = False,
        categorical_features: Any = "from_dtype",
        params: Mapping[str, Any] | None = None,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.projection = projection
        self.n_components = n_components
        self.missing_outputs = missing_outputs
        self.categorical_features = categorical_features
        self.params = params

    @property
    def _method(self) -> str:
        return "random-forest"


class RandomForestRegressor(ForestRegressor):
    """A random forest for one or more numbers (Breiman 2001).

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"squared_error"}, default="squared_error"
        Measure of a split: the variance, summed over outputs. Several outputs have the units of their standard
        deviations, so that those of large numbers do not decide alone, unless all are 0 or 1; with
        `params={"scale_outputs": "none"}` their own units, as in scikit-learn, whose scores and importances differ
        from those of the default.
    max_depth : int, optional
        Largest depth of a leaf; unlimited by default.
    min_samples_split : int or float, default=2
        Smallest number of samples of a node that is split, or the fraction of all samples.
    min_samples_leaf : int or float, default=1
        Smallest number of samples of a leaf, or the fraction of all samples.
    max_features : {"sqrt", "log2"}, int, float or None, default=1.0
        Number of features drawn at a node, or their fraction; None means all.
    max_leaf_nodes : int, optional
        Largest number of leaves; if set, the split with the largest gain is made first.
    min_impurity_decrease : float, default=0.0
        Smallest decrease of the variance by a split, weighted by the fraction of the samples in its node and averaged
        over outputs, which have the units of `criterion`: in the outputs' own units that of scikit-learn. With a
        projection it is averaged over its components.
    bootstrap : bool or None, default=True
        Grows each tree on samples drawn with replacement. Use None with `params={"row_share": 0.7}`.
    oob_score : bool or callable, default=False
        Scores the out-of-bag predictions, those by the trees that did not see a sample: r², or a function of y and
        predictions.
    n_jobs : int, optional
        Number of threads, as scikit-learn counts them: None means 1, -1 all cores. The forest does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed; with an int the forest is the same each time, for any number of threads.
    verbose : int, default=0
        Prints the number of trees grown.
    warm_start : bool, default=False
        Keeps the trees of the last fit, if data and parameters are the same, and grows only the missing ones.
    projection : str, optional
        Random projection of the outputs on which the trees grow (Joly, Geurts, Wehenkel, ECML-PKDD 2014): "gaussian",
        "rademacher", "achlioptas", "sparse", "hadamard", "subsample", "hashing", or one that learns from data, "pca" or
        "label-embedding". Leaves still predict the original outputs. For hundreds of dense outputs, or many labels
        per sample; with few labels per sample it saves no time and may score less.
    n_components : int or {"ln", "d"}, optional
        Number of components of the projection, if any; by default the logarithm of the number of outputs.
    missing_outputs : bool, default=False
        Allows missing outputs (NaN), which are left out of splits, leaves and scores.
    categorical_features : "from_dtype", None or list of bool, int or str, default="from_dtype"
        The features that are categories, which are split between subsets of their values: those declared as such in
        a DataFrame, none, or those selected by a mask, indices or names. A selected column may hold numbers or words.
        Values unseen in training count as missing, with a warning.
        To a model fitted on a DataFrame, an array gives the numbers of categories that are numbers, and words of other
        categories, or positions in their list.
    params : dict, optional
        Other parameters of the method, under their names in the command and `rpo.methods()`, such as `"leaves"`,
        `"feature_share"`, `"thresholds"` or `"impute"`.

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
    feature_importances_ : ndarray of shape (n_features,)
        Fractions of the decrease of impurity in training, which favour features of many different values;
        `sklearn.inspection.permutation_importance` on other samples does not.
    is_categorical_ : ndarray of bool of shape (n_features,) or None
        Mask of the features that are categories; None if there are none.
    oob_score_, oob_prediction_
        With `oob_score`.

    Examples
    --------
    >>> import numpy as np
    >>> from rpo import RandomForestRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 4))
    >>> Y = np.column_stack([X[:, 0] + X[:, 1], X[:, 2], X[:, 2] * X[:, 3]])
    >>> forest = RandomForestRegressor(50, n_jobs=2, random_state=0).fit(X[:200], Y[:200])
    >>> forest.predict(X[200:]).shape
    (100, 3)
    >>> bool(forest.score(X[200:], Y[200:]) > 0.8)
    True
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        max_features: str | int | float | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool | None = True,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        projection: str | None = None,
        n_components: int | str | None = None,
        missing_outputs: bool = False,
        categorical_features: Any = "from_dtype",
        params: Mapping[str, Any] | None = None,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.projection = projection
        self.n_components = n_components
        self.missing_outputs = missing_outputs
        self.categorical_features = categorical_features
        self.params = params

    @property
    def _method(self) -> str:
        return "random-forest"


class ExtraTreesClassifier(ForestClassifier):
    """Extremely randomized trees for classes or labels (Geurts, Ernst, Wehenkel 2006).

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"gini", "entropy", "log_loss"}, default="gini"
        Measure of a split; only "gini" with a projection.
    max_depth : int, optional
        Largest depth of a leaf; unlimited by default.
    min_samples_split : int or float, default=2
        Smallest number of samples of a node that is split, or the fraction of all samples.
    min_samples_leaf : int or float, default=1
        Smallest number of samples of a leaf, or the fraction of all samples.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Number of features drawn at a node, or their fraction; None means all.
    max_leaf_nodes : int, optional
        Largest number of leaves; if set, the split with the largest gain is made first.
    min_impurity_decrease : float, default=0.0
        Smallest decrease of the impurity by a split, weighted by the fraction of the samples in its node. With "gini"
        it is that of scikit-learn, averaged over outputs. Entropy, in bits, is averaged over labels: it is that of
        scikit-learn for labels and two classes, while each of more classes is a label. With a projection it is the
        decrease of the variance of its components, averaged over them.
    bootstrap : bool or None, default=False
        Grows each tree on samples drawn with replacement. Use None with `params={"row_share": 0.7}`.
    oob_score : bool or callable, default=False
        Scores the out-of-bag predictions, those by the trees that did not see a sample: accuracy, or a function of y
        and predictions.
    n_jobs : int, optional
        Number of threads, as scikit-learn counts them: None means 1, -1 all cores. The forest does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed; with an int the forest is the same each time, for any number of threads.
    verbose : int, default=0
        Prints the number of trees grown.
    warm_start : bool, default=False
        Keeps the trees of the last fit, if data and parameters are the same, and grows only the missing ones.
    projection : str, optional
        Random projection of the outputs on which the trees grow (Joly, Geurts, Wehenkel, ECML-PKDD 2014): "gaussian",
        "rademacher", "achlioptas", "sparse", "hadamard", "subsample", "hashing", or one that learns from data, "pca" or
        "label-embedding". Leaves still predict the original outputs. For hundreds of dense outputs, or many labels
        per sample; with few labels per sample it saves no time and may score less.
    n_components : int or {"ln", "d"}, optional
        Number of components of the projection, if any; by default the logarithm of the number of outputs.
    missing_outputs : bool, default=False
        Allows missing outputs (NaN), which are left out of splits, leaves and scores.
    categorical_features : "from_dtype", None or list of bool, int or str, default="from_dtype"
        The features that are categories, which are split between subsets of their values: those declared as such in
        a DataFrame, none, or those selected by a mask, indices or names. A selected column may hold numbers or words.
        Values unseen in training count as missing, with a warning.
        To a model fitted on a DataFrame, an array gives the numbers of categories that are numbers, and words of other
        categories, or positions in their list.
    params : dict, optional
        Other parameters of the method, under their names in the command and `rpo.methods()`, such as `"leaves"`,
        `"feature_share"`, `"thresholds"` or `"impute"`.

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
    feature_importances_ : ndarray of shape (n_features,)
        Fractions of the decrease of impurity in training, which favour features of many different values;
        `sklearn.inspection.permutation_importance` on other samples does not.
    is_categorical_ : ndarray of bool of shape (n_features,) or None
        Mask of the features that are categories; None if there are none.
    oob_score_, oob_decision_function_
        With `oob_score`.

    Examples
    --------
    >>> from rpo import ExtraTreesClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ExtraTreesClassifier(50, random_state=0).fit(X[::2], y[::2])
    >>> forest.predict_proba(X[1::2]).shape
    (75, 3)
    >>> bool(forest.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        max_features: str | int | float | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool | None = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        projection: str | None = None,
        n_components: int | str | None = None,
        missing_outputs: bool = False,
        categorical_features: Any = "from_dtype",
        params: Mapping[str, Any] | None = None,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.projection = projection
        self.n_components = n_components
        self.missing_outputs = missing_outputs
        self.categorical_features = categorical_features
        self.params = params

    @property
    def _method(self) -> str:
        return "extra-trees"


class ExtraTreesRegressor(ForestRegressor):
    """Extremely randomized trees for one or more numbers (Geurts, Ernst, Wehenkel 2006).

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion : {"squared_error"}, default="squared_error"
        Measure of a split: the variance, summed over outputs. Several outputs have the units of their standard
        deviations, so that those of large numbers do not decide alone, unless all are 0 or 1; with
        `params={"scale_outputs": "none"}` their own units, as in scikit-learn, whose scores and importances differ
        from those of the default.
    max_depth : int, optional
        Largest depth of a leaf; unlimited by default.
    min_samples_split : int or float, default=2
        Smallest number of samples of a node that is split, or the fraction of all samples.
    min_samples_leaf : int or float, default=1
        Smallest number of samples of a leaf, or the fraction of all samples.
    max_features : {"sqrt", "log2"}, int, float or None, default=1.0
        Number of features drawn at a node, or their fraction; None means all.
    max_leaf_nodes : int, optional
        Largest number of leaves; if set, the split with the largest gain is made first.
    min_impurity_decrease : float, default=0.0
        Smallest decrease of the variance by a split, weighted by the fraction of the samples in its node and averaged
        over outputs, which have the units of `criterion`: in the outputs' own units that of scikit-learn. With a
        projection it is averaged over its components.
    bootstrap : bool or None, default=False
        Grows each tree on samples drawn with replacement. Use None with `params={"row_share": 0.7}`.
    oob_score : bool or callable, default=False
        Scores the out-of-bag predictions, those by the trees that did not see a sample: r², or a function of y and
        predictions.
    n_jobs : int, optional
        Number of threads, as scikit-learn counts them: None means 1, -1 all cores. The forest does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed; with an int the forest is the same each time, for any number of threads.
    verbose : int, default=0
        Prints the number of trees grown.
    warm_start : bool, default=False
        Keeps the trees of the last fit, if data and parameters are the same, and grows only the missing ones.
    projection : str, optional
        Random projection of the outputs on which the trees grow (Joly, Geurts, Wehenkel, ECML-PKDD 2014): "gaussian",
        "rademacher", "achlioptas", "sparse", "hadamard", "subsample", "hashing", or one that learns from data, "pca" or
        "label-embedding". Leaves still predict the original outputs. For hundreds of dense outputs, or many labels
        per sample; with few labels per sample it saves no time and may score less.
    n_components : int or {"ln", "d"}, optional
        Number of components of the projection, if any; by default the logarithm of the number of outputs.
    missing_outputs : bool, default=False
        Allows missing outputs (NaN), which are left out of splits, leaves and scores.
    categorical_features : "from_dtype", None or list of bool, int or str, default="from_dtype"
        The features that are categories, which are split between subsets of their values: those declared as such in
        a DataFrame, none, or those selected by a mask, indices or names. A selected column may hold numbers or words.
        Values unseen in training count as missing, with a warning.
        To a model fitted on a DataFrame, an array gives the numbers of categories that are numbers, and words of other
        categories, or positions in their list.
    params : dict, optional
        Other parameters of the method, under their names in the command and `rpo.methods()`, such as `"leaves"`,
        `"feature_share"`, `"thresholds"` or `"impute"`.

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
    feature_importances_ : ndarray of shape (n_features,)
        Fractions of the decrease of impurity in training, which favour features of many different values;
        `sklearn.inspection.permutation_importance` on other samples does not.
    is_categorical_ : ndarray of bool of shape (n_features,) or None
        Mask of the features that are categories; None if there are none.
    oob_score_, oob_prediction_
        With `oob_score`.

    Examples
    --------
    >>> import numpy as np
    >>> from rpo import ExtraTreesRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 4))
    >>> Y = np.column_stack([X[:, 0] + X[:, 1], X[:, 2], X[:, 2] * X[:, 3]])
    >>> forest = ExtraTreesRegressor(50, n_jobs=2, random_state=0).fit(X[:200], Y[:200])
    >>> forest.predict(X[200:]).shape
    (100, 3)
    >>> bool(forest.score(X[200:], Y[200:]) > 0.8)
    True
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        max_features: str | int | float | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool | None = False,
        oob_score: bool | Callable[..., float] = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        projection: str | None = None,
        n_components: int | str | None = None,
        missing_outputs: bool = False,
        categorical_features: Any = "from_dtype",
        params: Mapping[str, Any] | None = None,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.projection = projection
        self.n_components = n_components
        self.missing_outputs = missing_outputs
        self.categorical_features = categorical_features
        self.params = params

    @property
    def _method(self) -> str:
        return "extra-trees"
