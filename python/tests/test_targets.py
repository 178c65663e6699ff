"""The treatment of y in classifiers and regressors."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils import compute_sample_weight

import rpo


def forest(**options):
    return rpo.RandomForestClassifier(10, random_state=0, **options)


def test_labels_of_every_kind_give_the_same_forest(labels):
    X, Y = labels
    expected = forest().fit(X, Y)
    probabilities = expected.predict_proba(X)
    assert probabilities.shape == Y.shape
    assert probabilities.dtype == np.float32
    assert ((probabilities > 0) & (probabilities < 1)).all()
    for y in (
        Y.astype(bool),
        Y.astype(float),
        sp.csr_array(Y),
        sp.csc_array(Y),
        sp.csr_matrix(Y.astype(bool)),
    ):
        other = forest().fit(X, y)
        assert other.model_ == expected.model_
        predicted = other.predict(X)
        assert sp.issparse(predicted) == sp.issparse(y)
        dense = predicted.toarray() if sp.issparse(predicted) else predicted
        assert np.array_equal(dense, expected.predict(X))
    assert np.array_equal(expected.predict(X), (probabilities >= 0.5).astype(int))


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float32", "category"])
def test_labels_in_nullable_columns_and_categories_are_labels(labels, dtype):
    pd = pytest.importorskip("pandas")
    X, Y = labels
    expected = forest().fit(X, Y)
    other = forest().fit(X, pd.DataFrame(Y).astype(dtype))
    assert np.array_equal(other.predict_proba(X), expected.predict_proba(X))


def test_missing_numbers_of_nullable_columns_are_missing(numbers):
    pd = pytest.importorskip("pandas")
    X, Y = numbers
    Y = Y.copy()
    Y[::7, 0] = np.nan
    fit = lambda y: rpo.RandomForestRegressor(5, random_state=0, missing_outputs=True).fit(X, y)  # noqa: E731
    table = pd.DataFrame(Y).astype("Float64")
    assert np.array_equal(fit(table).predict(X), fit(Y).predict(X))


def test_columns_of_pandas_are_read_as_tables_are(labels, numbers):
    pd = pytest.importorskip("pandas")
    X, Y = labels
    holes = np.where(np.arange(120) % 5 == 0, np.nan, Y[:, 0])
    expected = forest(missing_outputs=True).fit(X, holes)
    for dtype in ("boolean", "Int8", "Float32"):
        y = pd.Series(holes).astype(dtype)
        assert forest(missing_outputs=True).fit(X, y).model_ == expected.model_
        assert expected.score(X, y) == expected.score(X, holes)
        if dtype != "Float32":
            assert list(forest().fit(X, pd.Series(Y[:, 0]).astype(dtype)).classes_) == [0, 1]
    expected = forest().fit(X, Y)
    for dtype in (pd.SparseDtype(int, 0), pd.SparseDtype(bool, False), pd.SparseDtype(float, np.nan)):
        table = pd.DataFrame(Y).astype(dtype)
        assert np.array_equal(forest().fit(X, table).predict_proba(X), expected.predict_proba(X))
        assert expected.score(X, table) == expected.score(X, Y)
    X, Y = numbers
    sparse = pd.Series(Y[:, 0]).astype(pd.SparseDtype(float, np.nan))
    assert rpo.RandomForestRegressor(5, random_state=0).fit(X, sparse).score(X, sparse) > 0.5


@pytest.mark.parametrize("y", [[[0], [1, 2]], [{0}, {1}], np.array([(0,), (1, 2)], object)])
def test_sets_of_labels_are_refused_with_what_makes_a_matrix_of_them(y):
    with pytest.raises(ValueError, match="MultiLabelBinarizer"):
        forest().fit(np.eye(2, dtype=np.float32), y)


@pytest.mark.parametrize(
    "lists", [[["a"], [], ["b", "c"], []], [["a", "b"], ["b", "c"]] * 2, [["a"], ["b"]] * 2, [[1.0, 2.0]] * 4]
)
@pytest.mark.parametrize("form", ["polars", "array of polars", "pandas", "pandas of arrays", "pyarrow"])
def test_columns_of_lists_are_refused_with_what_makes_a_matrix_of_them(lists, form):
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    if form == "array of polars":
        if len({len(values) for values in lists}) > 1:
            pytest.skip("arrays have equal sizes")
        kind = pl.Array(pl.Float64 if lists[0][0] == 1.0 else pl.String, len(lists[0]))
        column = pl.Series("tags", lists, dtype=kind)
        tables = [
            column.to_frame(),
            column.to_frame().with_columns(pl.lit(1.0).alias("number")).select("number", "tags"),
        ]
    elif form == "polars":
        column = pl.Series("tags", lists)
        tables = [column.to_frame(), pl.DataFrame({"number": [1.0, 2.0] * 2, "tags": lists})]
    elif form.startswith("pandas"):
        column = pd.Series([np.array(values) for values in lists] if form.endswith("arrays") else lists, name="tags")
        tables = [column.to_frame(), column.to_frame().assign(number=1)]
    else:
        column = pa.array(lists)
        tables = [pa.table({"tags": column}), pa.table({"number": [1, 2] * 2, "tags": column})]
    X = np.eye(4, dtype=np.float32)
    helped = ".* lists of labels with scikit-learn's MultiLabelBinarizer, and lists of numbers to a matrix"
    for y, what in ((column, "y is a list of lists"), *((table, "column 'tags' of y holds lists") for table in tables)):
        for call in (
            forest().fit,
            rpo.RandomForestRegressor(2).fit,
            rpo.describe,
            lambda X, y: rpo.Model.fit(X, y, labels=True),
        ):
            with pytest.raises(ValueError, match=what + helped):
                call(X, y)


@pytest.mark.parametrize("values", [[0, 1], ["no", "yes"], [3, 7, 11], ["a", "b", "c", "d"], [1.0, 2.0], [True, False]])
def test_classes_are_predicted_as_they_were_given(labels, values):
    X, _ = labels
    y = np.array(values)[np.digitize(X[:, 0], np.quantile(X[:, 0], np.arange(1, len(values)) / len(values)))]
    model = forest().fit(X, y)
    assert list(model.classes_) == sorted(values)
    assert model.n_classes_ == len(values)
    assert model.score(X, y) > 0.9
    probabilities = model.predict_proba(X)
    assert probabilities.shape == (len(y), len(values))
    assert np.allclose(probabilities.sum(axis=1), 1.0)
    assert np.array_equal(model.predict(X), model.classes_[probabilities.argmax(axis=1)])


def test_samples_without_a_class_are_named(labels):
    X, Y = labels
    words = np.where(Y[:, 0] == 1, "yes", "no").astype(object)
    words[7] = None
    for y in (words, np.column_stack([words, words])):
        with pytest.raises(ValueError, match="y has no class for sample 7"):
            forest().fit(X, y)


def test_several_outputs_of_classes(labels):
    X, Y = labels
    y = np.column_stack([Y[:, 0] * 2 + Y[:, 1], Y[:, 2] + 1])
    model = forest().fit(X, y)
    assert [list(classes) for classes in model.classes_] == [[0, 1, 2, 3], [1, 2]]
    first, second = model.predict_proba(X)
    assert (first.shape, second.shape) == ((120, 4), (120, 2))
    predicted = model.predict(X)
    assert predicted.shape == y.shape
    assert model.score(X, y) == (predicted == y).all(axis=1).mean() > 0.8
    assert model.output_names_ == ["0=0", "0=1", "0=2", "0=3", "1=1", "1=2"]


def test_missing_labels_are_left_out(labels):
    X, Y = labels
    y = Y.astype(float)
    y[::3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        forest().fit(X, y)
    for given in (y, sp.csr_array(y)):
        model = forest(missing_outputs=True).fit(X, given)
        observed = ~np.isnan(y[:, 1])
        assert (model.predict_proba(X)[observed, 1].round() == y[observed, 1]).mean() > 0.9
        assert np.isfinite(model.predict_proba(X)).all()


def test_missing_labels_are_left_out_of_scores(labels):
    X, Y = labels
    y = Y.astype(float)
    y[::3, 1] = np.nan
    y[7] = np.nan
    model = rpo.RandomForestClassifier(40, random_state=0, missing_outputs=True, oob_score=True).fit(X, y)
    right = ((model.predict(X) == y) | np.isnan(y)).all(axis=1)
    observed = np.arange(len(y)) != 7
    assert model.score(X, y) == pytest.approx(right[observed].mean()) == pytest.approx(model.score(X, sp.csr_array(y)))
    assert model.score(X, y) == pytest.approx(rpo.metrics.subset_accuracy(y, model.predict(X)))
    weights = np.arange(len(y)) % 2
    assert model.score(X, y, weights) == pytest.approx(right[observed & (weights == 1)].mean())
    assert 0.1 < model.oob_score_ < 1.0
    assert model.score(X, Y) == np.mean((model.predict(X) == Y).all(axis=1))


def test_one_label_may_be_missing(labels):
    X, Y = labels
    y = np.where(np.arange(len(Y)) % 3 == 0, np.nan, Y[:, 0])
    model = rpo.RandomForestClassifier(40, random_state=0, missing_outputs=True, oob_score=True).fit(X, y)
    observed = ~np.isnan(y)
    assert model.predict(X).shape == y.shape
    assert model.predict_proba(X).shape == (len(y), 2)
    assert model.score(X, y) == np.mean(model.predict(X)[observed] == y[observed]) > 0.9
    assert 0.7 < model.oob_score_ < 1.0
    with pytest.raises(ValueError, match=r"holds indicators of labels: .*; sample \d+ has 2"):
        forest(missing_outputs=True).fit(X, y + 1)
    with pytest.raises(ValueError, match="missing_outputs=True y holds indicators"):
        forest(missing_outputs=True).fit(X, np.where(Y[:, 0] == 1, "yes", "no"))


def test_sparse_outputs_are_scored(labels, numbers):
    X, Y = labels
    assert forest().fit(X, sp.csr_array(Y[:, :1])).score(X, sp.csr_array(Y[:, :1])) > 0.9
    X, Y = numbers
    model = rpo.RandomForestRegressor(5, random_state=0).fit(X, sp.csr_array(Y))
    assert model.score(X, sp.csr_array(Y)) == model.score(X, Y)


def test_missing_numbers_are_left_out(numbers):
    pd = pytest.importorskip("pandas")
    X, Y = numbers
    y = Y.copy()
    y[::4, 2] = np.nan
    for estimator in (rpo.RandomForestRegressor, rpo.GradientBoostingRegressor):
        with pytest.raises(ValueError, match="NaN"):
            estimator(5).fit(X, y)
        model = estimator(50, random_state=0, missing_outputs=True).fit(X, y)
        assert np.isfinite(model.predict(X)).all()
        assert model.score(X, y) == pytest.approx(rpo.metrics.r2(y, model.predict(X)))
        assert model.score(X, y) > 0.7
    model = rpo.RandomForestRegressor(50, random_state=0, missing_outputs=True, oob_score=True).fit(X, y)
    assert model.oob_score_ == pytest.approx(rpo.metrics.r2(y, model.oob_prediction_), rel=1e-4)
    with pytest.raises(ValueError, match="column 0 of y"):
        model.fit(X, pd.DataFrame(y, columns=["a", "b", "c"])).score(X, pd.DataFrame(y, columns=["c", "b", "a"]))


def test_scores_leave_out_outputs_that_are_not_observed(numbers, labels):
    X, Y = numbers
    model = rpo.RandomForestRegressor(20, random_state=0, missing_outputs=True).fit(X, Y)
    y = Y[:30].copy()
    for n_observed in (0, 1, 2):
        y[n_observed:, 1] = np.nan
        expected = rpo.metrics.r2(y, model.predict(X[:30]))
        assert model.score(X[:30], y) == pytest.approx(expected)
        assert model.score(X[:30], y, np.ones(30)) == pytest.approx(expected)
        y = Y[:30].copy()
    y[:] = np.nan
    with pytest.warns(Warning, match="R² is undefined, because no output is observed"):
        assert np.isnan(model.score(X[:30], y))
    X, Y = labels
    classifier = forest(missing_outputs=True).fit(X, Y)
    for weights in (None, np.ones(9)):
        with pytest.warns(Warning, match="accuracy is undefined, because no output is observed"):
            assert np.isnan(classifier.score(X[:9], np.full((9, 6), np.nan), weights))


def test_regression_of_one_output_and_of_many(numbers):
    X, Y = numbers
    for estimator in (
        rpo.RandomForestRegressor(20),
        rpo.ExtraTreesRegressor(20),
        rpo.GradientBoostingRegressor(60),
    ):
        many = estimator.set_params(random_state=0).fit(X, Y)
        assert many.predict(X).shape == Y.shape
        assert many.score(X, Y) > 0.8
        one = estimator.fit(X, Y[:, 0])
        assert one.predict(X).shape == (100,)
        with pytest.warns(Warning, match="column-vector"):
            column = estimator.fit(X, Y[:, :1])
        assert np.array_equal(column.predict(X), one.predict(X))


def test_weights_count_as_repetition_where_all_samples_grow(labels):
    X, Y = labels
    weights = np.arange(len(X)) % 3
    weighted = rpo.ExtraTreesClassifier(5, max_features=None, random_state=0).fit(X, Y, sample_weight=weights)
    kept = weights > 0
    same = rpo.ExtraTreesClassifier(5, max_features=None, random_state=0).fit(X[kept], Y[kept], weights[kept])
    assert np.allclose(weighted.predict_proba(X), same.predict_proba(X), atol=1e-6)
    with pytest.raises(ValueError, match=r"negative|weight"):
        forest().fit(X, Y, sample_weight=-np.ones(len(X)))
    with pytest.raises(TypeError):
        rpo.CraftmlClassifier(2).fit(X, Y, sample_weight=weights)


def test_the_best_labels_are_those_of_all_scores(sparse):
    X, Y = sparse
    model = forest().fit(X, Y)
    top = model.predict_top_k(X, 5)
    scores = model.model_.predict(X)
    assert top.shape == Y.shape
    for i in range(0, 300, 37):
        row = top[[i]].toarray().ravel()
        assert np.array_equal(np.sort(row[row > 0]), np.sort(scores[i])[-5:][np.sort(scores[i])[-5:] > 0])


def test_sets_are_the_predicted_labels_by_name(labels):
    pd = pytest.importorskip("pandas")
    X, Y = labels
    names = np.array(["a", "b", "c", "d", "e", "f"])
    model = forest().fit(X, pd.DataFrame(Y, columns=names))
    assert model.output_names_ == list(names)
    sets, predicted = model.predict_sets(X), model.predict(X)
    assert all(np.array_equal(found, names[row == 1]) for found, row in zip(sets, predicted, strict=True))
    assert np.array_equal(forest().fit(X, Y).predict_sets(X)[0], np.flatnonzero(predicted[0]))


def test_thresholds_of_the_model_decide(labels):
    X, Y = labels
    model = forest(params={"thresholds": "macro-f"}).fit(X, Y)
    expected = model.model_.decide(model.model_.predict(X)).toarray()
    assert np.array_equal(model.predict(X), expected)
    assert model.model_.inspect()["thresholds"] is not None


def test_a_probability_of_one_half_is_decided_as_by_the_model():
    # Equal samples with different labels: each leaf has as many of both.
    X, y = np.zeros((8, 1), np.float32), np.array([0, 1] * 4)
    forest = rpo.RandomForestClassifier(2, bootstrap=False, random_state=0)
    labels = forest.fit(X, np.column_stack([y, 1 - y, y]))
    assert (labels.predict_proba(X) == 0.5).all()
    assert (labels.predict(X) == 1).all()
    assert np.array_equal(labels.predict(X), labels.model_.predict_labels(X).toarray())
    assert [list(found) for found in labels.predict_sets(X[:1])] == [[0, 1, 2]]
    # Of equally probable classes, scikit-learn predicts the first.
    assert (forest.fit(X, np.where(y, "yes", "no")).predict(X) == "no").all()


@pytest.mark.parametrize("rule", [{"thresholds": "macro-f"}, {"thresholds": "rate"}, {"decide": "f1"}])
def test_rules_decide_two_classes(labels, rule):
    X, _ = labels
    y = np.where(X[:, 0] + np.random.default_rng(0).normal(size=len(X)) > 1.2, "yes", "no")
    n_more = []
    for estimator in (
        rpo.RandomForestClassifier(30, random_state=0, oob_score=True, params=rule),
        rpo.GradientBoostingClassifier(5, random_state=0, params=rule),
        rpo.StructuredForestClassifier(10, random_state=0, params=rule),
    ):
        model = estimator.fit(X, y)
        decided = model.model_.predict_labels(X).toarray()[:, 0] == 1
        assert np.array_equal(model.predict(X), np.where(decided, "yes", "no"))
        assert model.score(X, y) == np.mean(decided == (y == "yes"))
        n_more.append(decided.sum() - (model.predict_proba(X)[:, 1] > 0.5).sum())
    # The rare class is predicted more often than by the threshold of 0.5.
    assert max(n_more) > 0
    forest = rpo.RandomForestClassifier(30, random_state=0, oob_score=True, params=rule).fit(X, y)
    scores, _ = forest.model_.oob_predictions(X)
    decided = forest.model_.decide(scores).toarray()[:, 0] == 1
    assert forest.oob_score_ == np.mean(decided == (y == "yes"))
    staged = rpo.GradientBoostingClassifier(5, random_state=0, params=rule).fit(X, y)
    assert np.array_equal(list(staged.staged_predict(X))[-1], staged.predict(X))


def test_rules_without_effect_are_refused(labels):
    X, Y = labels
    for y in (Y[:, 0] + Y[:, 1], np.column_stack([Y[:, 0] + Y[:, 1], Y[:, 2]])):
        with pytest.raises(
            ValueError, match="params has 'thresholds', which decides labels and two classes; y is multi"
        ):
            forest(params={"thresholds": "macro-f"}).fit(X, y)
        assert forest(params={"thresholds": None, "decide": "threshold"}).fit(X, y).score(X, y) > 0.8


def test_weights_of_classes_are_those_of_the_observed_outputs(labels):
    X, Y = labels
    missing = np.where(X[:, :6] > 1.0, np.nan, Y)
    missing[:, 5] = Y[:, 5]
    observed = ~np.isnan(missing)
    expected = np.ones(Y.shape)
    for j in range(6):
        expected[observed[:, j], j] = compute_sample_weight("balanced", Y[observed[:, j], j])
    given = rpo.GradientBoostingClassifier(5, random_state=0, missing_outputs=True).fit(X, missing, expected)
    balanced = rpo.GradientBoostingClassifier(5, random_state=0, missing_outputs=True, class_weight="balanced")
    for y in (missing, sp.csr_array(missing), sp.lil_array(missing)):
        assert balanced.fit(X, y).model_ == given.model_
    assert balanced.fit(X, missing, np.full(len(X), 2.0)).model_ == given.fit(X, missing, 2.0 * expected).model_
    assert balanced.fit(X, missing, np.full(Y.shape, 2.0)).model_ == given.model_
    by_label = balanced.set_params(class_weight=[{0: 1, 1: 2}] * 6).fit(X, missing)
    weights = np.where(observed & (Y == 1), 2.0, 1.0)
    assert by_label.model_ == given.fit(X, missing, weights).model_
    one = balanced.set_params(class_weight={0: 1, 1: 3}).fit(X, missing[:, 0])
    assert one.model_ == given.fit(X, missing[:, 0], np.where(missing[:, 0] == 1, 3.0, 1.0)).model_
    with pytest.raises(ValueError, match="'balanced' or a list with a dict for each of 6 outputs"):
        balanced.fit(X, missing)
    with pytest.raises(ValueError, match=r"sample_weight must have the shape \(120,\) or \(120, 6\), got \(120, 2\)"):
        balanced.set_params(class_weight="balanced").fit(X, missing, np.ones((120, 2)))


def test_weights_of_classes_of_several_outputs_are_those_of_each(labels):
    X, Y = labels
    y = np.column_stack([Y[:, 0] * 2 + Y[:, 1], Y[:, 2] + 1])
    first, second = (compute_sample_weight("balanced", column) for column in y.T)
    weights = np.column_stack([*[first] * 4, *[second] * 2])
    balanced = rpo.GradientBoostingClassifier(5, random_state=0, class_weight="balanced").fit(X, y)
    assert balanced.model_ == rpo.GradientBoostingClassifier(5, random_state=0).fit(X, y, weights).model_
    one = rpo.GradientBoostingClassifier(5, random_state=0, class_weight="balanced").fit(X, y[:, 0])
    assert one.model_ == rpo.GradientBoostingClassifier(5, random_state=0).fit(X, y[:, 0], first).model_


def test_many_balanced_labels_are_learned():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 20))
    scores = X @ rng.normal(size=(20, 150)) * 0.3 + rng.normal(size=(600, 150))
    Y = (scores > np.quantile(scores, 0.93, axis=0)).astype(int)
    fit = lambda **options: rpo.GradientBoostingClassifier(20, random_state=0, **options).fit(X[:400], Y[:400])  # noqa: E731
    plain, balanced = (fit(class_weight=given).predict_proba(X[400:]) for given in (None, "balanced"))
    assert rpo.metrics.lrap(Y[400:], balanced) > 0.9 * rpo.metrics.lrap(Y[400:], plain)
    found = [rpo.metrics.f1(Y[400:], scores > 0.5, average="macro") for scores in (plain, balanced)]
    assert found[1] > found[0] + 0.1


def test_times_and_complex_numbers_are_no_numbers(numbers):
    X, Y = numbers
    times = np.arange(100).astype("datetime64[s]")
    for call, message in (
        (lambda: rpo.RandomForestRegressor(2).fit(X, times), r"y must be numbers, got datetime64\[s\]"),
        (lambda: rpo.RandomForestRegressor(2).fit(times[:, None], Y), r"X must be numbers, got datetime64\[s\]"),
        (lambda: rpo.Model.fit(X, (times - times[0])[:, None], labels=False), r"Y must be numbers, got timedelta64"),
        (lambda: rpo.Model.fit(X + 1j, Y, labels=False), "Complex data not supported: X has complex64"),
        (lambda: rpo.Model.fit(X, np.full((100, 1), "a"), labels=True), "Y must be numbers: could not convert"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def tables(table):
    """Return a table of pandas and those of other libraries with its content."""
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    return table, pl.from_pandas(table), pa.table(table)


def test_numbers_and_truth_values_side_by_side_are_labels(labels):
    pd = pytest.importorskip("pandas")
    X, Y = labels
    table = pd.DataFrame({"number": Y[:, 0], "truth": Y[:, 1].astype(bool)})
    expected = forest().fit(X, table.astype(int))
    for y in tables(table):
        assert forest().fit(X, y).model_ == expected.model_


def test_words_and_numbers_are_classes_side_by_side(labels):
    pd = pytest.importorskip("pandas")
    X, Y = labels
    table = pd.DataFrame({"word": np.where(Y[:, 0] == 1, "gold", "iron"), "number": Y[:, 1] + 2 * Y[:, 2]})
    expected = forest().fit(X, table.astype(str))
    assert expected.output_names_[:3] == ["word=gold", "word=iron", "number=0"]
    for y in (*tables(table), table.astype({"word": "category"}), table.astype({"number": "Int64"})):
        model = forest().fit(X, y)
        assert model.model_ == expected.model_
        assert [classes.tolist() for classes in model.classes_] == [["gold", "iron"], [0, 1, 2, 3]]
        predicted = model.predict(X)
        assert np.array_equal(predicted.astype(str), expected.predict(X))
        assert model.score(X, y) == (predicted == table.to_numpy()).all(axis=1).mean()
        assert rpo.describe(X, y)["n_outputs"] == 6
    boosting = rpo.GradientBoostingClassifier(3, class_weight="balanced").fit(X, table, eval_set=(X, table))
    assert boosting.predict(X).shape == (120, 2)
    mixed = table.astype(object)
    mixed.loc[3, "word"] = 7
    with pytest.raises(ValueError, match=r"Unknown label type: unknown.* holds int"):
        forest().fit(X, mixed)


def test_missing_outputs_are_refused_with_their_place_and_what_helps(labels, numbers):
    pd = pytest.importorskip("pandas")
    X, Y = labels
    holes = Y.astype(float)
    holes[7, 1] = np.nan
    helped = "row 7, column {}. Outputs are missing: missing_outputs=True leaves them out"
    elsewhere = "Outputs are missing: forests and boosting take missing outputs with missing_outputs=True"
    numbers = numbers[1].copy()
    numbers[7, 1] = np.nan
    objects = np.where(np.isnan(numbers), None, numbers)
    classes = np.where(np.arange(120) == 7, np.nan, np.arange(120) % 3)
    many = rpo.GradientBoostingRegressor(2)
    for fit, message in (
        (lambda: forest().fit(X, holes), helped.format(1)),
        (lambda: forest().fit(X, pd.DataFrame(holes, columns=list("abcdef"))), helped.format("'b'")),
        (lambda: forest().fit(X, np.where(np.isnan(holes), None, holes)), helped.format(1)),
        (lambda: rpo.AutoClassifier(configurations=1).fit(X, holes), helped.format(1)),
        (lambda: rpo.LinearOneVsRestClassifier().fit(X, holes), elsewhere),
        (lambda: forest().fit(X, classes), "row 7. Outputs are missing: leave out samples without a class"),
        (lambda: many.fit(X[:100], numbers), helped.format(1)),
        (lambda: many.fit(X[:100], objects), helped.format(1)),
        (lambda: rpo.Model.fit(X, holes, labels=True), "Input Y contains NaN. The first is in " + helped.format(1)),
        (lambda: rpo.Model.fit(X[:100], numbers, labels=False), helped.format(1)),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match=re.escape(message)):
                fit()
    objects = np.where(np.isnan(holes), None, holes)
    expected = forest(missing_outputs=True).fit(X, holes).model_
    assert forest(missing_outputs=True).fit(X, objects).model_ == expected


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_matrix])
@pytest.mark.parametrize("missing", [False, True])
def test_sparse_numbers_have_an_out_of_bag_score(form, missing, numbers):
    X, Y = numbers
    Y = np.where(np.abs(Y) < 1, 0.0, Y)
    if missing:
        Y[::9, 1] = np.nan
    for columns in (Y, Y[:, :1]):
        forest = rpo.RandomForestRegressor(30, oob_score=True, missing_outputs=missing, random_state=0)
        expected = forest.fit(X, columns).oob_score_
        found = forest.fit(X, form(columns)).oob_score_
        # Sums in another order choose other splits of equal quality.
        assert found == pytest.approx(expected, abs=0.05)
        truth = columns[:, 0] if forest.oob_prediction_.ndim == 1 else columns
        assert found == pytest.approx(rpo.metrics.r2(truth.reshape(100, -1), forest.oob_prediction_.reshape(100, -1)))
        forest.set_params(oob_score=lambda y, predicted: float(np.nansum(y - predicted)))
        assert np.isfinite(forest.fit(X, form(columns)).oob_score_)


def test_entries_of_sparse_outputs_are_summed(labels, numbers):
    X, Y = labels
    # The first label of each sample is -1 and 2, or 1 and -1.
    first = np.where(Y[:, :1] == 1, [[-1, 2]], [[1, -1]])
    values = np.column_stack([first, Y[:, 1:]])
    y = sp.csr_array((values.ravel(), np.tile([0, *range(6)], 120), np.arange(0, 841, 7)), shape=(120, 6))
    assert np.array_equal(y.toarray(), Y)
    assert not y.has_canonical_format
    before = y.data.copy()
    model = forest().fit(X, Y)
    assert forest().fit(X, y).model_ == model.model_
    for score in (
        lambda y: model.score(X, y),
        lambda y: model.score(X, y.tocoo()),
        lambda y: forest(missing_outputs=True).fit(X, Y).score(X, y.astype(float)),
        lambda y: forest(oob_score=True).fit(X, y).oob_score_,
        lambda y: model.model_.evaluate(X, y, ["subset-accuracy"])["subset-accuracy"],
    ):
        assert score(y) == score(sp.csr_array(Y))
    assert len(y.data) == 840
    assert np.array_equal(y.data, before)
    X, Y = numbers
    halves = sp.csr_array((np.repeat(Y / 2, 2), np.tile(np.repeat(range(3), 2), 100), np.arange(0, 601, 6)))
    model = rpo.RandomForestRegressor(5, random_state=0).fit(X, halves)
    assert model.score(X, halves) == pytest.approx(model.score(X, Y))


def test_missing_labels_beside_truth_values_are_described():
    pl = pytest.importorskip("polars")
    for y in (
        pl.DataFrame({"a": [True, None, False], "b": [True, True, False]}),
        np.array([[True, True], [None, True], [False, False]], object),
    ):
        figures = rpo.describe(np.eye(3), y)
        assert (figures["task"], figures["missing_outputs"], figures["cardinality"]) == ("multi-label", 1, 1.0)


def test_models_take_a_vector_of_outputs(numbers):
    pd = pytest.importorskip("pandas")
    X, Y = numbers
    fit = lambda y: rpo.Model.fit(X, y, labels=False, trees=2, seed=1)  # noqa: E731
    model = fit(Y[:, :1])
    assert fit(Y[:, 0]) == model
    assert model.evaluate(X, Y[:, 0]) == model.evaluate(X, Y[:, :1])
    assert fit(pd.Series(Y[:, 0], name="size")).output_names == ["size"]
