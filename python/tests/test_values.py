"""The evaluation of models on classes, truth values, numbers and lists of labels."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rpo
from rpo import _native

pd = pytest.importorskip("pandas")


@pytest.fixture
def samples():
    """Features and a table with classes, a label and a number."""
    rng = np.random.default_rng(5)
    X = rng.random((150, 4)).astype(np.float32)
    grade = np.array(["lo", "mid", "hi"], object)[(X[:, 0] * 3).astype(int)]
    flag = np.where(X[:, 1] > 0.5, "yes", "no")
    return X, pd.DataFrame({"grade": grade, "size": X[:, 2] * 9, "flag": flag, "color": grade[::-1]})


def one_hot(values, model, column=None):
    names = [name if column is None else name.removeprefix(f"{column}=") for name in model.output_names]
    return (np.asarray(values).astype(str)[:, None] == names).astype(float)


@pytest.mark.parametrize("thresholds", [None, [0.9, 0.1, 0.4]])
@pytest.mark.parametrize("kind", ["words", "numbers", "floats", "truth"])
def test_classes_are_indicators_of_them(kind, thresholds, samples):
    X, table = samples
    y = table["grade"].to_numpy()
    if kind != "words":
        y = np.unique(y, return_inverse=True)[1] * (7 if kind == "numbers" else 2.0)
    if kind == "truth":
        y, thresholds = y > 0, None
    frame = pd.DataFrame({"of": y})
    model = rpo.RandomForestClassifier(5, random_state=0).fit(X, frame if kind == "truth" else y).model_
    if kind == "truth":
        expected = frame.to_numpy(float)
    else:
        model = model.with_thresholds(thresholds)
        expected = (y[:, None] == np.unique(y)).astype(float)
    metrics = ["micro-f1", "lrap"] if kind != "truth" else ["micro-f1"]
    scores = model.evaluate(X, expected, metrics)
    assert scores["micro-f1"] > 0.5
    for given in (y, y.tolist(), y[:, None], pd.Series(y), pd.Series(y).astype("category"), y.astype(object)):
        assert model.evaluate(X, given, metrics) == scores
    wrong = model.evaluate(X, expected[::-1], metrics)
    assert model.evaluate(X, y[::-1], metrics) == wrong
    assert wrong != scores
    if kind == "floats":
        assert model.evaluate(X, y.astype(int), metrics) == scores
    if kind != "truth":
        assert model.evaluate_by_frequency(X, y, 2, [1]) == model.evaluate_by_frequency(X, expected, 2, [1])


def test_importances_are_found_with_classes(samples):
    X, table = samples
    model = rpo.RandomForestClassifier(5, random_state=0).fit(X, table["grade"]).model_
    found = model.permutation_importances(X, table["grade"], repeats=2)
    assert found == model.permutation_importances(X, one_hot(table["grade"], model, "grade"), repeats=2)
    assert max(found, key=lambda name: found[name][0]) == "0"


def test_a_class_that_training_did_not_have_is_named(samples):
    X, table = samples
    model = rpo.RandomForestClassifier(5, random_state=0).fit(X, table["grade"]).model_
    other = table["grade"].where(np.arange(150) != 7, "top")
    with pytest.raises(ValueError, match="row 7 has the value 'top' of column 'grade', which did not"):
        model.evaluate(X, other)
    # A missing class is left out, as a missing output.
    observed = np.arange(150) != 7
    missing = table["grade"].where(observed, None)
    assert model.evaluate(X, missing) == model.evaluate(X[observed], table["grade"][observed])
    with pytest.raises(ValueError, match=r"Y has the columns \['color'\]; the targets of the model are \['grade'\]"):
        model.evaluate(X, table[["color"]])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_targets_of_tables_are_found_by_name(library, samples, tmp_path):
    X, table = samples
    path = tmp_path / "data.csv"
    pd.DataFrame(X, columns=list("abcd")).join(table).to_csv(path, index=False)
    data = _native.Dataset.read(path, json.dumps({"targets": {"last": 4}}))
    fitted, *_ = _native.Model.fit(json.dumps({"method": "random-forest", "trees": 5}), data)
    model = rpo.Model(fitted)
    assert list(model.predict_values(X)) == list(table)
    expected = np.column_stack(
        [
            one_hot(table["grade"], model, "grade")[:, :3],
            table["size"],
            table["flag"] == "yes",
            one_hot(table["color"], model, "color")[:, -3:],
        ]
    )
    metrics = ["r2", "lrap", "micro-f1"]
    scores = model.evaluate(X, expected, metrics)
    given = table[["color", "flag", "size", "grade"]]
    predicted = pd.DataFrame(model.predict_values(X))
    if library != "pandas":
        module = pytest.importorskip(library)
        make = module.DataFrame if library == "polars" else module.table
        given = make({name: given[name].tolist() for name in given})
    assert model.evaluate(X, given, metrics) == scores
    assert model.evaluate(X, table.to_numpy(), metrics) == scores
    assert model.evaluate(X, predicted, ["micro-f1"])["micro-f1"] == 1
    with pytest.raises(ValueError, match="row 0 has the value 'perhaps' of 'flag', which is a label: give 0 and 1"):
        model.evaluate(X, table.assign(flag="perhaps"))
    with pytest.raises(ValueError, match="'size' must be numbers"):
        model.evaluate(X, table.assign(size="large"))


def test_lists_of_labels_are_indicators_of_them(tmp_path):
    rng = np.random.default_rng(6)
    X = rng.random((90, 3)).astype(np.float32)
    Y = X > 0.5
    lists = [[name for name, has in zip(["red", "round", "big"], row, strict=True) if has] for row in Y]
    path = tmp_path / "data.csv"
    frame = pd.DataFrame(X, columns=list("abc")).assign(tags=[";".join(labels) for labels in lists])
    frame.to_csv(path, index=False)
    targets = {"list": {"column": "tags", "separator": ";"}}
    data = _native.Dataset.read(path, json.dumps({"targets": targets}))
    fitted, *_ = _native.Model.fit(json.dumps({"method": "random-forest", "trees": 5}), data)
    model = rpo.Model(fitted)
    order = [["red", "round", "big"].index(name) for name in model.output_names]
    scores = model.evaluate(X, Y[:, order], ["lrap", "micro-f1"])
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for given in (
        lists,
        [set(labels) for labels in lists],
        pd.Series(lists),
        pd.DataFrame({"tags": lists}),
        pl.DataFrame({"tags": lists}),
        pa.table({"tags": lists}),
        frame["tags"].str.split(";"),
        [labels or None for labels in lists],
        Y[:, order].astype(int).tolist(),
    ):
        assert model.evaluate(X, given, ["lrap", "micro-f1"]) == scores
    assert model.evaluate(X, model.predict_values(X)["tags"], ["micro-f1"])["micro-f1"] == 1
    with pytest.warns(UserWarning, match="Y has the label 'blue', which did not occur in training; 1 such") as warned:
        assert model.evaluate(X, [[*lists[0], "blue"], *lists[1:]], ["lrap", "micro-f1"]) == scores
    assert warned[0].filename == __file__
    with pytest.raises(ValueError, match=r"row 0 of Y has the text .* give a list of labels"):
        model.evaluate(X, frame["tags"])
