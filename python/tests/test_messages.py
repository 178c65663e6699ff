"""Errors that say what is wrong, and what helps."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import ensemble

import rpo


@pytest.mark.parametrize("options", [{}, {"categorical_features": [1]}])
def test_words_in_an_array_that_are_not_selected_belong_into_a_table(options):
    X = np.array([["red", 1.0], ["blue", 2.0]] * 20, object)
    for given in (X, X.astype(str), X.tolist()):
        with pytest.raises(ValueError, match=r"X has words \(could not convert .*\); give a DataFrame"):
            rpo.RandomForestClassifier(2, **options).fit(given, [0, 1] * 20)


@pytest.mark.parametrize(
    "estimator",
    [
        rpo.LinearOneVsRestClassifier,
        rpo.LabelTreeClassifier,
        rpo.LabelEmbeddingClassifier,
        rpo.StructuredForestClassifier,
    ],
)
@pytest.mark.parametrize("form", [np.asarray, "frame"])
def test_missing_features_may_be_filled_in(estimator, form, labels):
    if form == "frame":
        form = pytest.importorskip("pandas").DataFrame
    X, Y = labels
    X = X.copy()
    X[3, 1] = np.nan
    help_ = r"\w+ needs every feature; params={'impute': 'median'} fills in .*, such as RandomForestClassifier"
    with pytest.raises(ValueError, match=r"Input X contains NaN. The first is in row 3, column '?1'?. " + help_):
        estimator().fit(form(X), Y)
    assert estimator(params={"impute": "median"}).fit(form(X), Y).predict(form(X)).shape == Y.shape


def test_the_row_and_the_column_of_a_number_are_named(labels):
    pd = pytest.importorskip("pandas")
    X, Y = labels
    wrong = X.astype(float)
    wrong[5, 2] = np.inf
    frame, good = (pd.DataFrame(x, columns=list("abcdefgh")) for x in (wrong, X))
    coded = frame.assign(h=pd.Categorical(["x", "y"] * 60))
    model = rpo.RandomForestRegressor(2).fit(good, Y)
    named = r"Input X contains infinity .* The first is in row 5, column 'c'\.$"
    for call in (
        lambda: rpo.RandomForestClassifier(2).fit(frame, Y),
        lambda: rpo.RandomForestClassifier(2).fit(coded, Y),
        lambda: model.predict(frame),
        lambda: model.model_.predict(frame),
        lambda: rpo.describe(frame, Y),
    ):
        with pytest.raises(ValueError, match=named):
            call()
    with pytest.raises(ValueError, match=r"feature 2 of sample 5 is inf; .* \(column \"c\"\)$"):
        rpo.Model.fit(frame, Y, labels=True)
    plain = rpo.Model.fit(X, Y, labels=True)
    for x in (wrong, sp.csr_array(wrong), sp.csc_array(wrong)):
        with pytest.raises(ValueError, match=r"The first is in row 5, column 2\.$"):
            plain.predict(x)
    with pytest.raises(ValueError, match=r"Input y contains infinity .* row 5, column 'c'\.$"):
        rpo.RandomForestRegressor(2).fit(X, frame)
    with pytest.raises(ValueError, match=r"Input y contains infinity .* row 5\.$"):
        rpo.RandomForestRegressor(2).fit(X, frame["c"])
    with pytest.raises(ValueError, match=r"labels are 0 or 1 \(column \"a\"\)$"):
        rpo.Model.fit(X, good, labels=True)
    words = good.astype(object)
    words.loc[7, "b"] = "none"
    with pytest.raises(ValueError, match=r"column 'b' holds object, .* \(row 7 has 'none'\); make it a category"):
        rpo.RandomForestClassifier(2).fit(words, Y)


@pytest.mark.parametrize("method", ["one-vs-rest", "ridge", "structured-forest"])
def test_a_model_that_needs_every_feature_says_what_helps(method, labels):
    X, Y = labels
    missing = X.copy()
    missing[3, 1] = np.nan
    model = rpo.Model.fit(X, Y, labels=True, method=method)
    with pytest.raises(ValueError, match=r"row 3 lacks feature \"1\"; .* fitted with `impute` = median fills"):
        model.predict(missing)
    with pytest.raises(ValueError, match=r"set `impute` = median to fill them in, or use .* such as random-forest"):
        rpo.Model.fit(missing, Y, labels=True, method=method)
    assert rpo.Model.fit(missing, Y, labels=True, method=method, impute="median").predict(missing).shape == Y.shape


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_errors_of_a_later_block_count_samples_from_the_first(form, labels):
    X, Y = labels
    model = rpo.Model.fit(X, Y, labels=True, method="one-vs-rest")
    many = np.resize(X, (20_000, X.shape[1]))
    for row in (3, 4095, 4096, 15_000, 19_999):
        missing = many.copy()
        missing[row, 1] = np.nan
        for predict in (model.predict, lambda x: model.predict_top_k(x, 2)):
            with pytest.raises(ValueError, match=rf"row {row} lacks feature \"1\";"):
                predict(form(missing))


def test_objects_are_classes_or_numbers_as_in_scikit_learn(labels):
    X, Y = labels
    for y in (Y[:, 0].astype(object), Y.astype(object), (Y[:, 0] > 0).astype(object)):
        for classifier in (rpo.RandomForestClassifier(2), ensemble.RandomForestClassifier(2)):
            with pytest.raises(ValueError, match="Unknown label type: unknown"):
                classifier.fit(X, y)
        with pytest.raises(ValueError, match=r"dtype object and holds (int|bool), .* with y.astype\(int\)"):
            rpo.GradientBoostingClassifier(2).fit(X, y)
        number, expected = (rpo.RandomForestRegressor(2, random_state=0).fit(X, z) for z in (y, y.astype(float)))
        assert number.model_ == expected.model_
    words = rpo.RandomForestClassifier(2).fit(X, np.where(Y[:, 0], "yes", "no").astype(object))
    assert words.classes_.tolist() == ["no", "yes"]


def test_a_single_index_is_no_list_of_categories(labels):
    for choice in (5, True, 1.5):
        with pytest.raises(TypeError, match="categorical_features must be 'from_dtype', None, or a list"):
            rpo.RandomForestClassifier(2, categorical_features=choice).fit(*labels)


@pytest.mark.parametrize("form", ["lists", "arrays", "list of polars", "array of polars", "pyarrow", "sets"])
def test_lists_are_no_categories(form):
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    lists = [[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]] * 4
    table = {
        "lists": lambda: pd.DataFrame({"size": 1.0, "pair": lists}),
        "arrays": lambda: pd.DataFrame({"size": 1.0, "pair": [np.array(pair) for pair in lists]}),
        "list of polars": lambda: pl.DataFrame({"size": [1.0] * 12, "pair": lists}),
        "array of polars": lambda: pl.DataFrame(
            {"size": [1.0] * 12, "pair": lists}, schema={"size": pl.Float64, "pair": pl.Array(pl.Float64, 2)}
        ),
        "pyarrow": lambda: pa.table({"size": [1.0] * 12, "pair": lists}),
        "sets": lambda: pd.DataFrame({"size": 1.0, "pair": [set(pair) for pair in lists]}),
    }[form]()
    with pytest.raises(ValueError, match=r"column 'pair' has .*1\..*, 2\..* in row 0; a category is a number, a text"):
        rpo.RandomForestClassifier(2, categorical_features=["pair"]).fit(table, [0, 1] * 6)
    with pytest.raises(ValueError, match=r"column 'pair' holds .*, neither numbers nor categories"):
        rpo.RandomForestClassifier(2).fit(table, [0, 1] * 6)
    if form in ("lists", "arrays", "sets"):
        words = pd.DataFrame({"size": 1.0, "pair": ["a", "b", "c"] * 4})
        model = rpo.RandomForestClassifier(2, categorical_features=["pair"]).fit(words, [0, 1] * 6)
        with pytest.raises(ValueError, match=r"column 'pair' has .* a category is a number, a text"):
            model.predict(table)


def test_outputs_without_columns_are_named(labels):
    X, Y = labels
    for y in (Y[:, :0], sp.csr_array(Y[:, :0]), Y[:, :0].astype(float)):
        for fit in (
            rpo.RandomForestClassifier(2).fit,
            rpo.GradientBoostingClassifier(2, missing_outputs=True).fit,
            rpo.RandomForestRegressor(2).fit,
            lambda X, y: rpo.Model.fit(X, y, labels=True),
        ):
            with pytest.raises(ValueError, match=r"y has no columns, but the shape \(120, 0\)"):
                fit(X, y)


def test_sparse_arrays_of_one_dimension_are_named(labels):
    X, Y = labels
    model = rpo.Model.fit(X, Y, labels=True, trees=2)
    for call, name in (
        (lambda: model.predict(sp.coo_array(X[0])), "X"),
        (lambda: model.evaluate(sp.coo_array(X[0]), Y), "X"),
        (lambda: rpo.metrics.lrap(sp.coo_array(Y[0]), Y), "truth"),
    ):
        with pytest.raises(ValueError, match=f"{name} must have two dimensions, got 1"):
            call()


def test_errors_of_loaders_are_in_plain_words(tmp_path):
    table = tmp_path / "houses.csv"
    table.write_text("size,price\n1,2\n3,4\n5,7\n")
    for name in ("price", tmp_path / "labels.xml"):
        with pytest.raises(FileNotFoundError, match=r"is taken for a label file, which does not exist; .* give \['"):
            rpo.datasets.load_csv(table, name)
    assert rpo.datasets.load_csv(table, ["price"], task="regression").target.shape == (3, 1)
    with pytest.raises(TypeError, match=r"no option 'foo' of reading; there are task, .*memory_limit$"):
        rpo.datasets.load_csv(table, 1, foo=1)
    with pytest.raises(ValueError, match=r"unknown variant `regress`, expected `multi-label` or `regression`$"):
        rpo.datasets.load_csv(table, 1, task="regress")
    with pytest.raises(TypeError, match="`task` cannot be"):
        rpo.datasets.load_csv(table, 1, task=object())


@pytest.mark.parametrize("name", [name for name in rpo.__all__ if name.endswith(("Classifier", "Regressor"))])
def test_estimators_document_their_attributes(name):
    X = np.random.default_rng(0).normal(size=(60, 4))
    limits = {"configurations": 1} if name.startswith("Auto") else {}
    estimator = getattr(rpo, name)(**limits)
    estimator.fit(X, (X[:, :2] > 0).astype(int))
    described = estimator.__doc__
    assert "    Examples\n    --------\n    >>> " in described
    attributes = described.split("    Attributes\n    ----------\n")[1]
    for attribute in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
        assert attribute in attributes


def test_numbers_of_numpy_are_named_as_numbers(labels):
    X, Y = labels
    with pytest.raises(ValueError, match=r"`subsample` must be in .*got np\.int64"):
        rpo.GradientBoostingClassifier(5, subsample=np.int64(2)).fit(X, Y)


@pytest.mark.parametrize("name", ["RandomForest", "ExtraTrees", "GradientBoosting"])
@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_parameters_that_scikit_learn_refuses_are_refused(name, kind, labels):
    X, Y = labels
    estimator, theirs = getattr(rpo, name + kind), getattr(ensemble, name + kind)
    for parameter, value, message in (
        ("warm_start", "no", "must be True or False, got 'no'"),
        ("warm_start", None, "must be True or False, got None"),
        ("max_depth", 0, "must be at least 1, got 0"),
        ("max_leaf_nodes", 1, "must be at least 2, got 1"),
        ("max_leaf_nodes", np.int64(0), "must be at least 2, got"),
        ("n_components", 0, "must be a whole number of at least 1, .* got 0"),
        ("n_components", "all", "must be a whole number of at least 1, .* got 'all'"),
    ):
        with pytest.raises(ValueError, match=f"`?{parameter}`? {message}"):
            estimator(2, **{parameter: value}).fit(X, Y)
        if parameter != "n_components":
            with pytest.raises(ValueError, match=parameter):
                theirs(n_estimators=2, **{parameter: value}).fit(X, Y[:, 0])
    for parameter, value in (("max_features", 100), ("max_depth", 1), ("max_leaf_nodes", 2), ("warm_start", np.True_)):
        theirs(n_estimators=2, **{parameter: value}).fit(X, Y[:, 0])
        estimator(2, **{parameter: value}).fit(X, Y)
    for n_components in (1, "ln", "d"):
        estimator(2, n_components=n_components).fit(X, Y)


def test_forests_with_thresholds_do_not_grow_further(labels):
    X, Y = labels
    forest = rpo.RandomForestClassifier(5, warm_start=True, random_state=0, params={"thresholds": "macro-f"}).fit(X, Y)
    with pytest.raises(ValueError, match="decision thresholds cannot be grown further"):
        forest.set_params(n_estimators=10).fit(X, Y)
    with ThreadPoolExecutor(2) as pool, pytest.raises(ValueError, match="grown in blocks has no decision thresholds"):
        rpo.distributed.fit(forest.set_params(warm_start=False), X, Y, pool)


def test_forests_with_intervals_do_not_grow_further(numbers):
    X, Y = numbers
    forest = rpo.RandomForestRegressor(20, warm_start=True, random_state=0, params={"intervals": 0.9}).fit(X, Y)
    with pytest.raises(ValueError, match="prediction intervals cannot be grown further"):
        forest.set_params(n_estimators=30).fit(X, Y)
    with ThreadPoolExecutor(2) as pool, pytest.raises(ValueError, match="grown in blocks has no prediction intervals"):
        rpo.distributed.fit(forest.set_params(warm_start=False), X, Y, pool)


@pytest.mark.parametrize("kind", ["zone", "plain", "period", "span", "date"])
def test_outputs_that_are_times_are_no_numbers(kind, numbers):
    pd = pytest.importorskip("pandas")
    X = numbers[0]
    days = pd.Series(pd.date_range("2020-01-01", periods=len(X), tz="UTC" if kind == "zone" else None))
    if kind == "period":
        days = days.dt.to_period("D")
    elif kind == "span":
        days = (days - days[0]).astype(object)
    elif kind == "date":
        days = days.dt.date
    holes = days.where(np.arange(len(X)) > 0)
    for y in (days, holes, pd.DataFrame({"day": days, "size": X[:, 0]})):
        for estimator in (rpo.RandomForestRegressor(3), rpo.GradientBoostingRegressor(3)):
            with pytest.raises(ValueError, match=r"y must be numbers, got (Time|datetime64|Period|date)"):
                estimator.fit(X, y)
        with pytest.raises(ValueError, match=r"Y must be numbers, got (Time|datetime64|Period|date)"):
            rpo.Model.fit(X, y, labels=False, trees=3)


@pytest.mark.parametrize("form", ["pandas", "zone", "period", "polars", "pyarrow"])
def test_columns_of_dates_are_to_become_numbers(form, numbers):
    pd = pytest.importorskip("pandas")
    X, Y = numbers
    day = pd.Series(pd.date_range("2020-01-01", periods=len(X), tz="UTC" if form == "zone" else None))
    table = pd.DataFrame({"size": X[:, 0], "day": day.dt.to_period("D") if form == "period" else day})
    library = form if form in ("polars", "pyarrow") else "pandas"
    if library != "pandas":
        module = pytest.importorskip(library)
        make = module.table if form == "pyarrow" else module.DataFrame
        table = make({"size": X[:, 0], "day": day.dt.to_pydatetime().tolist()})
    advice = {
        "pandas": "df['day'].dt.day_of_year",
        "polars": "pl.col('day').dt.ordinal_day()",
        "pyarrow": "pyarrow.compute.day_of_year(table['day'])",
    }
    for fit in (rpo.RandomForestRegressor(3).fit, lambda x, y: rpo.Model.fit(x, y, labels=False)):
        with pytest.raises(ValueError, match=r"column 'day' holds .*, times and not numbers") as refused:
            fit(table, Y)
        assert advice[library] in str(refused.value)
        assert "category" not in str(refused.value)
    expression = {"df": table, "table": table}
    if library != "pandas":
        module = pytest.importorskip("pyarrow.compute" if form == "pyarrow" else "polars")
        expression |= {"pl": module, "pyarrow": pytest.importorskip("pyarrow")}
    made = eval(advice[library], expression)
    numbers_of_days = table.select(made).to_series() if form == "polars" else made
    assert list(np.asarray(numbers_of_days))[:3] == [1, 2, 3]


def test_durations_are_no_categories(numbers):
    pd = pytest.importorskip("pandas")
    X, Y = numbers
    waited = pd.to_timedelta(np.arange(len(X)), unit="h")
    for column in (waited, pd.Series([timedelta(hours=i) for i in range(len(X))], dtype=object)):
        with pytest.raises(ValueError, match=r"column 'waited' holds .*, durations and not numbers"):
            rpo.RandomForestRegressor(3).fit(pd.DataFrame({"size": X[:, 0], "waited": column}), Y)
