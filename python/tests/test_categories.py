"""The parameter `categorical_features`, as in scikit-learn's histogram boosting."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import cross_val_score

import rpo

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

ESTIMATORS = [
    rpo.RandomForestRegressor(20, random_state=0),
    rpo.ExtraTreesRegressor(20, random_state=0),
    rpo.GradientBoostingRegressor(20, random_state=0),
    rpo.RandomForestClassifier(20, random_state=0),
    rpo.ExtraTreesClassifier(20, random_state=0),
    rpo.GradientBoostingClassifier(20, random_state=0),
]

VALUES = np.array([3.0, 10.0, 7.5, -4.0, 100.0, 12.0])
"""Values of a category, whose effect does not depend on their order."""


@pytest.fixture
def coded():
    rng = np.random.default_rng(8)
    code = rng.integers(6, size=240)
    X = np.column_stack([rng.normal(size=240), VALUES[code], rng.normal(size=240)]).astype(np.float32)
    return X, (code % 2 + 0.1 * X[:, 0] > 0.5).astype(int)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_forms_of_the_choice_give_one_model(estimator, coded):
    X, y = coded
    given = X.copy()
    expected = clone(estimator).set_params(categorical_features=[1]).fit(X, y)
    assert np.array_equal(X, given)
    assert list(expected.is_categorical_) == [False, True, False]
    nominal = {1: ["-4", "3", "7.5", "10", "12", "100"]}
    assert expected.model_._native.nominal == nominal
    for choice in ([False, True, False], np.array([1]), (1,)):
        assert clone(estimator).set_params(categorical_features=choice).fit(X, y).model_ == expected.model_
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for choice, table in (
        (["b"], frame),
        ([1], frame),
        ("from_dtype", frame.astype({"b": "category"})),
        (["b"], frame.astype({"b": "category"})),
    ):
        model = clone(estimator).set_params(categorical_features=choice).fit(table, y)
        assert model.model_._native.nominal.keys() == {1}
        assert np.allclose(model.predict(table), expected.predict(X))
        assert np.array_equal(model.model_.predict(table), model.model_.predict(table[["c", "a", "b"]]))
    plain = clone(estimator).fit(X, y)
    assert plain.is_categorical_ is None
    for table in (X, frame, frame.astype({"b": "category"})):
        numbers = clone(estimator).set_params(categorical_features=None).fit(table, y)
        assert numbers.is_categorical_ is None
        assert np.array_equal(numbers.predict(table), plain.predict(X))
    copied = pickle.loads(pickle.dumps(expected))
    assert np.array_equal(copied.predict(X), expected.predict(X))


def test_words_are_categories_where_they_are_chosen(coded):
    X, y = coded
    words = np.array(["red", "green", "blue", "pink", "grey", "nan"], object)
    frame = pd.DataFrame({"size": X[:, 0], "color": words[np.searchsorted(np.sort(VALUES), X[:, 1])]})
    model = rpo.GradientBoostingClassifier(20, categorical_features=["color"], random_state=0).fit(frame, y)
    assert model.model_._native.nominal == {1: ["blue", "green", "grey", "nan", "pink", "red"]}
    assert model.score(frame, y) > 0.95
    holes = frame.assign(color=frame["color"].where(np.arange(240) % 4 != 0, None))
    assert (
        rpo.GradientBoostingClassifier(20, categorical_features=["color"], random_state=0).fit(holes, y).score(holes, y)
        > 0.8
    )
    for library in ("polars", "pyarrow"):
        module = pytest.importorskip(library)
        table = module.DataFrame if library == "polars" else module.table
        for given in (frame, holes):
            other = table(
                {
                    "size": given["size"].to_numpy(),
                    "color": [word if isinstance(word, str) else None for word in given["color"]],
                }
            )
            expected = rpo.GradientBoostingClassifier(20, categorical_features=["color"], random_state=0).fit(given, y)
            found = rpo.GradientBoostingClassifier(20, categorical_features=["color"], random_state=0).fit(other, y)
            assert found.model_ == expected.model_
            assert np.array_equal(expected.predict(other), expected.predict(given))


@pytest.mark.parametrize("form", ["objects", "texts", "lists"])
@pytest.mark.parametrize("choice", [[1], [False, True, False]])
def test_selected_columns_of_arrays_may_hold_words(form, choice, coded):
    X, y = coded
    words = np.array(["red", "green", "blue", "pink", "grey", "12"], object)[np.searchsorted(np.sort(VALUES), X[:, 1])]
    frame = pd.DataFrame({"size": X[:, 0], "color": words, "width": X[:, 2]})
    made = {"objects": np.asarray, "texts": lambda x: np.asarray(x).astype(str), "lists": lambda x: x.tolist()}[form]
    array = made(frame.to_numpy(object))
    expected = rpo.ExtraTreesClassifier(10, categorical_features=[1], random_state=0).fit(frame, y)
    model = rpo.ExtraTreesClassifier(10, categorical_features=choice, random_state=0).fit(array, y)
    assert model.is_categorical_.tolist() == [False, True, False]
    assert model.model_._native.nominal == expected.model_._native.nominal
    assert np.array_equal(model.predict_proba(array), expected.predict_proba(frame))
    # After a fit on a table, too; and positions in place of words.
    with pytest.warns(UserWarning, match="feature names"):
        assert np.array_equal(expected.predict_proba(array), expected.predict_proba(frame))
    positions = X.astype(float)
    positions[:, 1] = np.searchsorted(np.unique(words.astype(str)), words.astype(str))
    assert np.array_equal(model.predict_proba(positions), model.predict_proba(array))
    unseen = frame.to_numpy(object)
    unseen[::5, 1] = "violet"
    with pytest.warns(UserWarning, match="row 0 has the value 'violet' of column 1, .*; 48 such values count as miss"):
        found = model.predict_proba(made(unseen))
    unseen[::5, 1] = None
    if form != "texts":
        assert np.array_equal(found, model.predict_proba(made(unseen)))
        unseen[3, 1] = 12
        with pytest.raises(ValueError, match=r"column 1 has the categories .*12.* and .*12.*, which are one as text"):
            rpo.ExtraTreesClassifier(2, categorical_features=[1]).fit(made(np.vstack([unseen, array])), np.tile(y, 2))


def test_equal_dates_are_one_category_whatever_their_type():
    days = pd.date_range("2024-01-01", periods=6).repeat(30)
    X = pd.DataFrame({"day": days, "size": np.random.default_rng(0).normal(size=180)})
    y = days.dayofweek.to_numpy() % 2
    model = rpo.RandomForestClassifier(20, categorical_features=["day"], random_state=0).fit(X, y)
    expected = model.predict_proba(X)
    table = pa.table({"day": pa.array([None, *days[1:]], pa.timestamp("us")), "size": X["size"]})
    others = [X.assign(day=days.astype(f"datetime64[{unit}]")) for unit in ("s", "ms", "us", "ns")]
    others += [X.assign(day=days.date), X.assign(day=days.astype(str)), X.assign(day=pd.Categorical(days))]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for other in others:
            assert np.array_equal(model.predict_proba(other), expected)
        assert np.array_equal(model.predict_proba(table)[1:], expected[1:])


def test_estimators_that_need_every_feature_refuse_other_categories():
    X = pd.DataFrame({"color": pd.Categorical(["a", "b"] * 20), "size": np.arange(40.0)})
    model = rpo.LinearOneVsRestClassifier(random_state=0).fit(X, np.arange(40) % 2)
    unseen = pd.DataFrame({"color": ["a", "c"], "size": [1.0, 2.0]})
    message = "row 1 has the value 'c' of column 'color', which did not occur in training. .* needs every feature"
    with pytest.raises(ValueError, match=message):
        model.predict(unseen)
    imputing = rpo.LinearOneVsRestClassifier(random_state=0, params={"impute": "median"}).fit(X, np.arange(40) % 2)
    with pytest.warns(UserWarning, match="1 such values count as missing"):
        imputing.predict(unseen)


def test_values_of_arrays_are_those_of_training(coded):
    X, y = coded
    model = rpo.GradientBoostingRegressor(30, categorical_features=[1]).fit(X, y)
    permuted = X[::-1]
    assert np.array_equal(model.predict(permuted), model.predict(X)[::-1])
    unseen, missing = X.copy(), X.copy()
    unseen[::5, 1], missing[::5, 1] = 55.0, np.nan
    with pytest.warns(UserWarning, match="row 0 has the value '55' of column 1, .*; 48 such values count as missing"):
        found = model.predict(unseen)
    assert np.array_equal(found, model.predict(missing))


def test_categories_are_learned_as_by_histogram_boosting(coded):
    X, y = coded
    options = {"categorical_features": [1], "random_state": 0}
    theirs = HistGradientBoostingRegressor(max_iter=15, max_depth=1, **options)
    ours = rpo.GradientBoostingRegressor(15, max_depth=1, **options)
    as_numbers = rpo.GradientBoostingRegressor(15, max_depth=1, random_state=0)
    theirs, ours, as_numbers = (cross_val_score(model, X, y, cv=4).mean() for model in (theirs, ours, as_numbers))
    assert ours > theirs - 0.01
    assert ours > as_numbers + 0.1


def test_choices_that_are_none_are_refused(coded):
    X, y = coded
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for choice, data, message in (
        ([3], X, "has 3; there are 3 features"),
        ([-1], X, "has -1"),
        ([True, False], X, "2 booleans for 3 features"),
        (["b"], X, "the features have none"),
        (["d"], frame, "has 'd', which is not a feature"),
        ("dtype", X, "must be 'from_dtype'"),
        ([1.5], X, "must be a list"),
        ([1], sp.csr_array(X), "dense X"),
        ([0], frame.assign(b=pd.Categorical(["x"] * 240)), "'b' is a category; categorical_features does not name it"),
    ):
        with pytest.raises(ValueError, match=message):
            rpo.RandomForestRegressor(2, categorical_features=choice).fit(data, y)
    with pytest.raises(AttributeError, match="not fitted"):
        _ = rpo.RandomForestRegressor().is_categorical_


def test_values_that_are_one_as_text_are_refused_by_column_and_value(coded):
    X, y = coded
    frame = pd.DataFrame(X[:, :1], columns=["size"])
    mixed = np.array([1, "1"] * 120, object)
    message = "column 'kind' has the categories 1 and '1', which are one as text"
    for fit in (
        lambda: rpo.RandomForestRegressor(2).fit(frame.assign(kind=pd.Categorical(mixed)), y),
        lambda: rpo.Model.fit(frame.assign(kind=pd.Categorical(mixed)), y[:, None], labels=False),
        lambda: rpo.RandomForestRegressor(2, categorical_features=["kind"]).fit(frame.assign(kind=mixed), y),
    ):
        with pytest.raises(ValueError, match=message):
            fit()
    for values in ([1, "a"], [True, "1"], [1.0, 2.5]):
        kind = pd.Categorical(np.array(values * 120, object))
        model = rpo.RandomForestRegressor(2, random_state=0).fit(frame.assign(kind=kind), y)
        assert model.is_categorical_[1]


@pytest.mark.parametrize("encoding", ["one-hot", "target", "codes", "native"])
def test_importances_are_those_of_features(encoding, coded):
    X, y = coded
    frame = (
        pd.DataFrame(X, columns=["a", "b", "c"]).assign(d=pd.Categorical(["x", "y"] * 120)).astype({"b": "category"})
    )
    for first in (["a", "b", "c", "d"], ["b", "d", "a", "c"]):
        table = frame[first].assign(e=pd.Categorical(list("uvw") * 80))
        for estimator, outputs in (
            (rpo.RandomForestClassifier(20, random_state=0), y),
            (rpo.GradientBoostingRegressor(20, random_state=0), np.column_stack([y, y, X[:, 0]])),
        ):
            model = estimator.set_params(params={"nominal": encoding}).fit(table, outputs)
            importances = model.feature_importances_
            assert importances.shape == (5,)
            assert importances.sum() == pytest.approx(1.0)
            assert importances.argmax() == first.index("b")
        assert SelectFromModel(model, prefit=True).transform(table).shape[1] < 5


@pytest.mark.parametrize("dtype", [int, float])
def test_an_array_has_the_numbers_of_the_categories_of_a_table(dtype):
    values = np.array([10, 20, 30, 40])[np.random.default_rng(4).integers(4, size=200)]
    frame = pd.DataFrame({"size": np.arange(200.0), "kind": pd.Categorical(values)})
    y = np.isin(values, (10, 40)).astype(int)
    for estimator in (rpo.GradientBoostingClassifier(20), rpo.ExtraTreesClassifier(10, random_state=0)):
        model = estimator.fit(frame, y)
        array = frame.astype(dtype).to_numpy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # without names of features
            assert np.array_equal(model.predict_proba(array), model.predict_proba(frame))
            assert model.score(array, y) > 0.95
        with pytest.warns(UserWarning, match="'25' of column 1, which did not occur in training"):
            model.predict(np.array([[1.0, 25.0]]))


def test_numbers_that_are_no_positions_are_refused_in_prediction():
    words = np.array(["red", "green", "blue"])[np.arange(90) % 3]
    frame = pd.DataFrame({"size": np.arange(90.0), "kind": pd.Categorical(words)})
    y = (words == "red").astype(int)
    for given in (y, np.column_stack([y, 1 - y])):
        model = rpo.Model.fit(frame, given, labels=True, trees=5, seed=0)
        positions = np.column_stack([frame["size"], frame["kind"].cat.codes])
        assert np.array_equal(model.predict(positions), model.predict(frame))
        for value in (3.0, 10.0, 1.5, -3.0):
            wrong = positions.copy()
            wrong[7, 1] = value
            for call in (
                model.predict,
                model.predict_labels,
                model.predict_values,
                model.apply,
                lambda X: model.predict_top_k(X, 1),  # noqa: B023
                lambda X: model.evaluate(X, given),  # noqa: B023
            ):
                with pytest.raises(
                    ValueError, match=r"nominal feature 1 of sample 7 is .*; its codes are whole numbers below 3"
                ):
                    call(wrong)
        positions[7, 1] = np.nan
        assert model.predict(positions).shape[0] == 90


def test_rows_with_few_of_the_categories_are_read_like_all():
    rng = np.random.default_rng(0)
    names = [str(i) for i in range(300)]
    column = pd.Categorical(rng.choice(names, 500), categories=names)
    table = pd.DataFrame({"c": column, "x": rng.random(500)})
    model = rpo.ExtraTreesRegressor(5, random_state=0).fit(table, table.x)
    expected = model.predict(table)
    for row in range(0, 500, 50):
        np.testing.assert_array_equal(model.predict(table[row : row + 1]), expected[row : row + 1])
