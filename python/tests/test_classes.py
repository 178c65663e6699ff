"""Models of classes decide as their estimators do, wherever they are used."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

import rpo
from rpo import _native

ESTIMATORS = [
    rpo.RandomForestClassifier(5, random_state=0),
    rpo.AutoClassifier(configurations=3, random_state=0),
    rpo.LinearOneVsRestClassifier(C=1.0, random_state=0),
    rpo.CraftmlClassifier(5, random_state=0),
    rpo.GradientBoostingClassifier(5, random_state=0),
    rpo.GradientBoostingClassifier(5, method="single-target-gbrt", random_state=0),
    rpo.GradientBoostingClassifier(5, loss="squared_error", random_state=0),
]


@pytest.fixture
def classes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features and two columns of classes that depend on them weakly, so that many probabilities are below 0.5."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 6)).astype(np.float32)
    noisy = X + rng.normal(size=X.shape)
    grades = np.array(["bronze", "gold", "iron", "silver"])[noisy[:, :4].argmax(axis=1)]
    return X, grades, np.column_stack([grades, np.array(["large", "mid", "small"])[noisy[:, 3:].argmax(axis=1)]])


def one_hot(y: np.ndarray) -> np.ndarray:
    columns = y.reshape(len(y), -1).T
    return np.column_stack([column == value for column in columns for value in np.unique(column)]).astype(np.float32)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_model_predicts_one_class_of_each_column_as_its_estimator_does(estimator, n_outputs, classes):
    X, grade, both = classes
    y = grade if n_outputs == 1 else both
    train, test = slice(0, 100), slice(100, None)
    fitted = estimator.fit(X[train], y[train])
    predicted = fitted.predict(X[test])
    model = rpo.Model.from_bytes(fitted.model_.to_bytes())
    labels = model.predict_labels(X[test]).toarray()
    sizes = [len(np.unique(column)) for column in y[train].reshape(100, -1).T]
    for part in np.split(labels, np.cumsum(sizes)[:-1], axis=1):
        assert (part.sum(axis=1) == 1).all()
    assert np.array_equal(labels, one_hot(np.concatenate([y[train], predicted]))[100:])
    accuracy = model.evaluate(X[test], one_hot(y)[test], ["subset-accuracy"])["subset-accuracy"]
    assert accuracy == pytest.approx(fitted.score(X[test], y[test]))
    values = model.predict_values(X[test])
    assert list(values) == (["class"] if n_outputs == 1 else ["0", "1"])
    assert np.array_equal(np.column_stack(list(values.values())), predicted.reshape(50, -1))


def test_values_have_the_types_and_names_of_targets(labels, numbers, classes):
    pd = pytest.importorskip("pandas")
    X, Y = labels
    values = (
        rpo.RandomForestClassifier(5, random_state=0)
        .fit(X, pd.DataFrame(Y).add_prefix("label "))
        .model_.predict_values(X)
    )
    assert list(values) == [f"label {j}" for j in range(6)]
    assert {value.dtype for value in values.values()} == {np.dtype(bool)}
    X, Y = numbers
    model = rpo.RandomForestRegressor(5, random_state=0).fit(X, Y).model_
    X = np.tile(X, (50, 1))
    values = model.predict_values(X)
    assert {value.dtype for value in values.values()} == {np.dtype(np.float32)}
    assert np.array_equal(np.column_stack(list(values.values())), model.predict(X))
    X, grade, both = classes
    model = rpo.RandomForestClassifier(5, random_state=0).fit(X, pd.Series(grade, name="grade")).model_
    assert [value.dtype for value in model.predict_values(X[:0]).values()] == [np.dtype(object)]
    assert list(model.predict_values(X)) == ["grade"]
    assert model.output_names == ["grade=bronze", "grade=gold", "grade=iron", "grade=silver"]
    assert list(
        rpo.RandomForestClassifier(2).fit(X, pd.DataFrame(both, columns=["a", "b"])).model_.predict_values(X)
    ) == [
        "a",
        "b",
    ]


def test_lists_of_labels_are_values(tmp_path):
    path = tmp_path / "lists.csv"
    path.write_text("x,tags\n" + "1,a;b\n2,b\n1,a;b\n2,b\n" * 5)
    X, y = [[1.0], [2.0]], sp.csr_array(np.array([[1, 1], [0, 1]]))
    native = _native.Dataset.read(path, json.dumps({"targets": {"list": {"column": "tags", "separator": ";"}}}))
    model = rpo.Model(_native.Model.fit(json.dumps({"method": "extra-trees", "trees": 5}), native)[0])
    assert model.predict_values(X) == {"tags": [["a", "b"], ["b"]]}
    assert np.array_equal(model.predict_labels(X).toarray(), y.toarray())


def test_a_table_with_the_column_of_classes_evaluates_the_model(classes, tmp_path):
    pd = pytest.importorskip("pandas")
    X, grade, _ = classes
    y = pd.Series(grade, name="grade")
    table = pd.DataFrame(X).add_prefix("x")
    fitted = rpo.RandomForestClassifier(5, random_state=0).fit(table[:100], y[:100])
    path = tmp_path / "test.csv"
    table.assign(grade=y)[100:].to_csv(path, index=False)
    data = _native.Dataset.read(path, json.dumps({"targets": {"last": 1}}))
    found = fitted.model_._native.evaluate(data, ["subset-accuracy"], weights=(0.55, 1.5))
    assert found == [pytest.approx(fitted.score(table[100:], y[100:]))]


def test_the_command_predicts_and_evaluates_classes_of_an_estimator(command, classes, tmp_path):
    pd = pytest.importorskip("pandas")
    X, grade, _ = classes
    table = pd.DataFrame(X).add_prefix("x")
    fitted = rpo.RandomForestClassifier(5, random_state=0).fit(table[:100], pd.Series(grade, name="grade")[:100])
    model, path = tmp_path / "grades.rpo", tmp_path / "test.csv"
    fitted.model_.save(model)
    table.assign(grade=grade)[100:].to_csv(path, index=False)
    found = command("predict", "--model", model, "--data", path, "--values").split()
    assert found == ["grade", *fitted.predict(table[100:])]
    decided = command("predict", "--model", model, "--data", path, "--decide").split()
    assert [line.split(",")[1] for line in decided[1:]] == [f"grade={value}" for value in fitted.predict(table[100:])]
    found = command("evaluate", "--model", model, "--data", path, "--metrics", "subset-accuracy", "--json")
    assert json.loads(found)["subset-accuracy"] == pytest.approx(fitted.score(table[100:], grade[100:]))


def test_a_pickled_model_is_kept_by_skops(labels):
    skops = pytest.importorskip("skops.io")
    X, Y = labels
    fitted = rpo.RandomForestClassifier(5, random_state=0).fit(X, Y)
    content = skops.dumps(fitted)
    trusted = skops.get_untrusted_types(data=content)
    assert all(name.startswith("rpo.") for name in trusted)
    loaded = skops.loads(content, trusted=trusted)
    assert loaded.model_ == fitted.model_
    assert np.array_equal(loaded.predict(X), fitted.predict(X))


@pytest.mark.parametrize("values", [(0, 1), (False, True), ("no", "yes"), ("F", "T"), ("die", "live"), (1, 2)])
def test_two_classes_of_a_named_column_are_what_the_command_makes_of_them(values, command, classes, tmp_path):
    pd = pytest.importorskip("pandas")
    X, grade, _ = classes
    y = pd.Series(np.array(values)[(grade == "gold").astype(int)], name="survived")
    table = pd.DataFrame(X).add_prefix("x")
    fitted = rpo.RandomForestClassifier(5, random_state=0).fit(table[:100], y[:100])
    is_label = values not in (("die", "live"), (1, 2))
    assert fitted.output_names_ == (["survived"] if is_label else [f"survived={value}" for value in values])
    predicted = fitted.model_.predict_values(table[100:])["survived"]
    second = values[1] if is_label else str(values[1])
    assert np.array_equal(predicted if is_label else predicted == second, fitted.predict(table[100:]) == values[1])
    model, path = tmp_path / "survived.rpo", tmp_path / "test.csv"
    fitted.model_.save(model)
    table.assign(survived=y)[100:].to_csv(path, index=False)
    found = command("predict", "--model", model, "--data", path, "--values").split()
    assert found[0] == "survived"
    assert len(set(zip(found[1:], predicted, strict=True))) == 2
    found = command("evaluate", "--model", model, "--data", path, "--metrics", "subset-accuracy", "--json")
    assert json.loads(found)["subset-accuracy"] == pytest.approx(fitted.score(table[100:], y[100:]))


def test_two_classes_are_one_label_without_a_name_and_with_a_rule(classes):
    pd = pytest.importorskip("pandas")
    X, grade, _ = classes
    words = np.where(grade == "gold", "gold", "other")
    forest = rpo.RandomForestClassifier(5, random_state=0)
    plain = forest.fit(X, words).predict_proba(X)
    assert forest.output_names_ == ["other"]
    assert rpo.RandomForestClassifier(2).fit(X, pd.DataFrame(words)).output_names_ == ["other"]
    named = pd.Series(words, name="grade")
    assert np.allclose(rpo.RandomForestClassifier(5, random_state=0).fit(X, named).predict_proba(X), plain)
    ruled = rpo.RandomForestClassifier(5, random_state=0, params={"decide": "f1"}).fit(X, named)
    assert ruled.output_names_ == ["grade=other"]
    assert set(ruled.predict(X)) == {"gold", "other"}


@pytest.mark.parametrize("form", ["series", "frame"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_named_column_of_classes_gives_the_file_of_the_command(form, n_classes, command, classes, tmp_path):
    pd = pytest.importorskip("pandas")
    X, grade, _ = classes
    grade = np.where(grade == "gold", "gold", "other") if n_classes == 2 else grade
    table, y = pd.DataFrame(X).add_prefix("x"), pd.Series(grade, name="grade")
    forest = rpo.RandomForestClassifier(5, random_state=3)
    if form == "series":
        forest.fit(table, y)
    else:
        with pytest.warns(DataConversionWarning):
            forest.fit(table, y.to_frame())
    names = np.unique(grade).tolist()
    assert forest.classes_.tolist() == names
    assert forest.output_names_ == forest.model_.output_names == [f"grade={name}" for name in names]
    data, model = tmp_path / "grades.csv", tmp_path / "grades.rpo"
    table.assign(grade=y).to_csv(data, index=False)
    parameters = ["--method", "random-forest", "--trees", 5, "--bootstrap", "--seed", 3]
    command("train", "--data", data, "--targets", "grade", "--model", model, *parameters)
    assert model.read_bytes() == forest.model_.to_bytes()
    plain = rpo.RandomForestClassifier(5, random_state=3).fit(table, grade)
    assert plain.output_names_ == (names if n_classes > 2 else names[1:])
    assert np.allclose(plain.predict_proba(table), forest.predict_proba(table))
