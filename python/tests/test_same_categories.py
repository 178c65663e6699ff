"""Categories that training and prediction have with different types."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rpo

pd = pytest.importorskip("pandas")

CODES = np.random.default_rng(3).integers(3, size=90)
Y = np.array([0.0, 5.0, -3.0])[CODES]
SIZE = np.zeros(90)


def tables(values, types):
    """Return a table for each type, with the column `kind`; None in the types means the values as they are."""
    kind = pd.Series(np.asarray(values)[CODES])
    return {
        str(dtype): pd.DataFrame({"size": SIZE, "kind": kind if dtype is None else kind.astype(dtype)})
        for dtype in types
    }


def forest(**options):
    return rpo.RandomForestRegressor(10, random_state=0, **options)


@pytest.mark.parametrize(
    ("values", "types"),
    [
        ([3, 1, 20], ["int64", "uint8", "float64", "float32", "Int64", "Float32", object]),
        ([0.5, 1.0, 0.1], ["float64", "float32", "Float64", "Float32", object]),
        ([False, True, True], ["bool", "boolean", object, "int8", "float64"]),
        ([2**53 + 1, 2**53 + 3, 2**53 + 5], ["int64", "uint64", "Int64", object]),
    ],
)
def test_equal_values_of_every_type_are_one_category(values, types):
    plain = tables(values, types)
    declared = {
        f"category of {name}": table.assign(kind=table["kind"].astype("category")) for name, table in plain.items()
    }
    models = {name: forest().fit(table, Y) for name, table in declared.items()}
    models |= {name: forest(categorical_features=["kind"]).fit(table, Y) for name, table in plain.items()}
    expected = models[types[0]].predict(plain[types[0]])
    assert len(np.unique(np.round(expected, 1))) == len(set(values))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in models.values():
            for table in (plain | declared).values():
                assert np.array_equal(model.predict(table), expected)


@pytest.mark.parametrize("dtype", ["float64", "Int64"])
def test_a_missing_value_in_training_does_not_change_the_others(dtype):
    whole = pd.DataFrame({"size": SIZE, "kind": np.array([3, 1, 20])[CODES]})
    holes = whole.assign(kind=whole["kind"].where(np.arange(90) % 9 > 0, None).astype(dtype))
    for train, test in ((holes, whole), (whole, holes)):
        for model in (
            forest(categorical_features=["kind"]).fit(train, Y),
            forest().fit(train.assign(kind=train["kind"].astype("category")), Y),
        ):
            assert model.model_._native.nominal == {1: ["1", "3", "20"]}
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = model.predict(test)
            assert np.corrcoef(found, Y)[0, 1] > 0.9


def test_truth_values_keep_their_names():
    for name in ("pandas", "polars", "pyarrow"):
        module = pytest.importorskip(name)
        table = module.table if name == "pyarrow" else module.DataFrame
        for values in ([True, False] * 45, [None, True, False] * 30):
            kind = pd.array(values, "boolean") if name == "pandas" else values
            given = table({"size": SIZE, "kind": kind})
            model = forest(categorical_features=["kind"]).fit(given, Y)
            assert model.model_._native.nominal == {1: ["False", "True"]}
            assert np.isfinite(forest(categorical_features=None).fit(given, Y).predict(given)).all()


def test_large_whole_numbers_are_different_categories():
    for first, dtypes in ((2**24, ["int64", "float64"]), (2**60, ["int64"])):
        for dtype in dtypes:
            ids = np.array([first, first + 1, first + 2], dtype)[CODES]
            X = np.column_stack([ids, ids * 0]).astype(dtype)
            model = forest(categorical_features=[0]).fit(X, Y)
            assert model.model_._native.nominal == {0: [str(first), str(first + 1), str(first + 2)]}
            assert model.score(X, Y) > 0.9
            assert np.array_equal(model.predict(X.astype(object)), model.predict(X))


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_large_whole_numbers_with_missing_ones_are_different_categories(library):
    module = pytest.importorskip(library)
    table = module.table if library == "pyarrow" else module.DataFrame
    ids = [None, *(2**60 + np.arange(3)[CODES][1:])]
    ids = [None if i is None else int(i) for i in ids]
    given = table({"size": SIZE, "kind": ids})
    model = forest(categorical_features=["kind"]).fit(given, Y)
    assert model.model_._native.nominal == {1: [str(2**60), str(2**60 + 1), str(2**60 + 2)]}


def test_numbers_of_single_precision_keep_their_text():
    values = np.array([0.1, 2.5, 3.0], np.float32)[CODES]
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    holes = np.arange(90) % 9 == 0
    for given in (
        pd.DataFrame({"kind": values}),
        pd.DataFrame({"kind": pd.Series(np.where(holes, np.nan, values)).astype("Float32")}),
        pl.DataFrame({"kind": values}),
        pl.DataFrame({"kind": np.where(holes, np.nan, values)}).fill_nan(None).cast(pl.Float32),
        pa.table({"kind": pa.array(values)}),
        pa.table({"kind": pa.array(values, mask=holes)}),
    ):
        nominal = forest(categorical_features=["kind"]).fit(given, Y).model_._native.nominal
        assert nominal == {0: ["0.1", "2.5", "3"]}


def test_numbers_are_found_as_files_write_them():
    words = pd.DataFrame({"size": SIZE, "kind": pd.Categorical(np.array(["3.0", "1.0", "x"])[CODES])})
    numbers = words.assign(kind=np.array([3, 1, 3])[CODES])
    model = forest().fit(words, Y)
    assert np.array_equal(model.predict(numbers)[CODES < 2], model.predict(words)[CODES < 2])
    # Words, such as versions, are the same only if they are written the same.
    versions = words.assign(kind=pd.Categorical(np.array(["3.00", "1.0", "x"])[CODES]))
    with pytest.warns(UserWarning, match=r"the value '3\.00' of column 'kind', which did not occur"):
        model.predict(versions)
    with pytest.raises(ValueError, match="'kind' is a number; it was a category in training"):
        forest().fit(words.assign(kind=words["kind"].cat.rename_categories(["a", "b", "x"])), Y).predict(numbers)


def test_a_null_in_the_dictionary_of_arrow_is_missing():
    pa = pytest.importorskip("pyarrow")
    codes = pa.array(CODES.astype(np.int32))
    with_null = pa.DictionaryArray.from_arrays(codes, pa.array(["a", None, "b"]))
    plain = pa.DictionaryArray.from_arrays(pa.array([[0, None, 1][code] for code in CODES], pa.int32()), ["a", "b"])
    first, second = (forest().fit(pa.table({"size": SIZE, "kind": kind}), Y) for kind in (with_null, plain))
    assert first.model_._native.nominal == {1: ["a", "b"]}
    assert first.model_ == second.model_


@pytest.mark.parametrize("positions", ["int8", "uint8", "uint32", "int64"])
def test_dictionaries_of_arrow_are_categories_whatever_their_positions(positions):
    pa = pytest.importorskip("pyarrow")
    words = pa.array(["a", "b", None, "c"] * 30).dictionary_encode().cast(pa.dictionary(positions, "string"))
    y = np.tile([1.0, 5.0, 2.0, 3.0], 30)
    forest = rpo.RandomForestRegressor(5, random_state=0)
    model = forest.fit(pa.table({"k": words}), y).model_
    frame = pd.DataFrame({"k": pd.Series(words, dtype=pd.ArrowDtype(words.type))})
    assert forest.fit(frame, y).model_ == model
    assert model._native.nominal == {0: ["a", "b", "c"]}


def test_spans_of_time_are_categories_where_they_are_chosen():
    frame = pd.DataFrame({"k": pd.to_timedelta(np.arange(90) % 3, "D")})
    y = np.arange(90) % 3 * 2.0
    forest = rpo.RandomForestRegressor(5, random_state=0, categorical_features=["k"]).fit(frame, y)
    assert np.abs(forest.predict(frame) - y).max() < 0.5


@pytest.mark.parametrize("chosen", ["from_dtype", ["k"]])
def test_a_category_without_a_value_says_nothing(chosen):
    frame = pd.DataFrame({"x": np.arange(90.0), "k": pd.Categorical([None] * 90, ["u"] if chosen == ["k"] else [])})
    y = np.arange(90) // 45
    forest = rpo.RandomForestClassifier(5, random_state=0, categorical_features=chosen).fit(frame, y)
    later = frame.assign(k=pd.Categorical(["u"] * 90))
    if chosen == ["k"]:
        assert (forest.predict(later) == forest.predict(frame)).all()
    else:
        with pytest.warns(UserWarning, match="did not occur in training"):
            assert (forest.predict(later) == forest.predict(frame)).all()


def declared_as(library, words, declared):
    """Return a table of a library whose category has these words, and declares others."""
    if library == "pandas":
        return pd.DataFrame({"size": np.zeros(len(words)), "kind": pd.Categorical(words, declared)})
    if library == "pandas of Arrow":
        dictionary = declared_as("pyarrow", words, declared).column("kind").combine_chunks()
        kind = pd.Series(dictionary, dtype=pd.ArrowDtype(dictionary.type))
        return pd.DataFrame({"size": np.zeros(len(words)), "kind": kind})
    if library == "pyarrow":
        pa = pytest.importorskip("pyarrow")
        codes = pa.array([None if word is None else declared.index(word) for word in words], pa.int32())
        kind = pa.DictionaryArray.from_arrays(codes, pa.array(declared))
        return pa.table({"size": np.zeros(len(words)), "kind": kind})
    pl = pytest.importorskip("polars")
    dtype = pl.Categorical() if library == "polars Categorical" else pl.Enum(declared)
    return pl.DataFrame({"size": np.zeros(len(words)), "kind": pl.Series(words, dtype=dtype)})


LIBRARIES = ["pandas", "pandas of Arrow", "pyarrow", "polars Enum", "polars Categorical"]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("nominal", [None, "one-hot", "codes"])
def test_categories_that_no_training_sample_has_are_unseen(library, nominal):
    words = [["c", "a", "b"][code] for code in CODES]
    training = declared_as(library, words, ["z", "c", "a", "y", "b"])
    values = ["a", "b", "c"] if library == "polars Categorical" else ["c", "a", "b"]
    params = {} if nominal is None else {"nominal": nominal}
    model = forest(params=params).fit(training, Y)
    assert model._nominal == {1: values}
    assert model.model_ == forest(params=params).fit(declared_as(library, words, values), Y).model_
    later = declared_as(library, ["z", "a", "y", None], ["z", "c", "a", "y", "b"])
    missing = declared_as(library, [None, "a", None, None], ["a"])
    for predict in (model.predict, model.model_.predict):
        with pytest.warns(UserWarning, match="row 0 has the value 'z' of column 'kind', which did not"):
            found = predict(later)
        assert np.array_equal(found, predict(missing))
    assert rpo.Model.fit(training, Y, labels=False, trees=5, n_threads=1)._native.nominal == {1: values}


@pytest.mark.parametrize("library", LIBRARIES)
def test_estimators_that_need_every_feature_refuse_categories_that_no_training_sample_has(library):
    words, declared = ["c", "a", "b"] * 30, ["a", "b", "c", "z"]
    linear = rpo.LinearOneVsRestClassifier(random_state=0).fit(declared_as(library, words, declared), CODES > 0)
    with pytest.raises(ValueError, match=r"the value 'z' of column 'kind', which did not occur in training\. .* needs"):
        linear.predict(declared_as(library, ["z"], declared))


def test_forests_in_parts_agree_on_the_categories_that_occur():
    words = [["c", "a", "b"][code] for code in CODES]
    training = declared_as("pandas", words, ["z", "c", "a", "y", "b"])
    whole = forest().fit(training, Y)
    # Another list of the same values is the same data for a warm start, and every worker has the values of all samples.
    grown = forest(warm_start=True).set_params(n_estimators=4).fit(training, Y)
    grown.set_params(n_estimators=10).fit(declared_as("pandas", words, ["c", "a", "b"]), Y)
    with ThreadPoolExecutor(2) as client:
        spread = rpo.distributed.fit(forest(), training, Y, client, n_blocks=3)
    assert grown.model_ == spread.model_ == whole.model_
    with pytest.raises(ValueError, match="X differs from that of the earlier fit"):
        grown.set_params(n_estimators=12).fit(declared_as("pandas", words, ["a", "b", "c"]), Y)
