"""Tables of pandas, polars and Arrow."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

import rpo
from rpo import metrics
from rpo.projections import OutputProjection

pd = pytest.importorskip("pandas")


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    size = rng.normal(size=150)
    color = rng.choice(["red", "green", "blue"], size=150)
    y = (size + (color == "green") > 0.5).astype(int)
    return pd.DataFrame({"size": size, "color": pd.Categorical(color, ["red", "green", "blue"])}), y


def others(frame):
    made = []
    try:
        import polars as pl  # noqa: PLC0415

        values = {"size": frame["size"].to_numpy(), "color": frame["color"].astype(str).to_numpy()}
        made.append(pl.DataFrame(values).with_columns(pl.col("color").cast(pl.Enum(["red", "green", "blue"]))))
    except ImportError:
        pass
    try:
        import pyarrow as pa  # noqa: PLC0415

        codes = pa.DictionaryArray.from_arrays(
            pa.array(frame["color"].cat.codes.to_numpy().astype(np.int32)), pa.array(["red", "green", "blue"])
        )
        made.append(pa.table({"size": frame["size"].to_numpy(), "color": codes}))
    except ImportError:
        pass
    return made


def test_categories_are_positions_in_their_list(table):
    frame, y = table
    model = rpo.RandomForestClassifier(20, random_state=0).fit(frame, y)
    assert list(model.feature_names_in_) == ["size", "color"]
    assert model.model_.feature_names == ["size", "color"]
    assert model.score(frame, y) > 0.95
    positions = np.column_stack([frame["size"], frame["color"].cat.codes]).astype(np.float32)
    assert np.array_equal(model.model_.predict(positions), model.model_.predict(frame))
    reordered = frame.assign(color=frame["color"].cat.reorder_categories(["blue", "red", "green"]))
    assert np.array_equal(model.predict(reordered), model.predict(frame))
    assert np.array_equal(model.model_.predict(reordered[["color", "size"]]), model.model_.predict(frame))


def test_every_library_gives_the_same_model(table):
    frame, y = table
    expected = rpo.RandomForestClassifier(10, random_state=0).fit(frame, y)
    found = others(frame)
    for other in found:
        model = rpo.RandomForestClassifier(10, random_state=0).fit(other, y)
        assert model.model_ == expected.model_
        assert np.array_equal(expected.predict(other), expected.predict(frame))
        assert np.array_equal(expected.model_.predict(other), expected.model_.predict(frame))


def test_missing_values_of_columns(table):
    frame, y = table
    holes = frame.copy()
    holes.loc[::5, "color"] = None
    holes.loc[::7, "size"] = np.nan
    holes["extra"] = pd.array([None if i % 3 else i for i in range(len(y))], dtype="Int64")
    model = rpo.RandomForestClassifier(20, random_state=0).fit(holes, y)
    assert model.score(holes, y) > 0.9


def test_columns_that_do_not_fit_are_named(table):
    frame, y = table
    model = rpo.RandomForestClassifier(3, random_state=0).fit(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["color", "size"]])
    with pytest.raises(ValueError, match="no feature 'size'"):
        model.model_.predict(frame[["color"]])
    with pytest.raises(ValueError, match="'color' is a number"):
        model.predict(frame.assign(color=1.0))
    with pytest.raises(ValueError, match="'size' is a category"):
        model.predict(frame.assign(size=frame["color"]))
    with pytest.raises(ValueError, match="'text' holds"):
        rpo.Model.fit(frame.assign(text="word"), y.reshape(-1, 1), labels=True)


def test_values_that_training_did_not_have_count_as_missing(table):
    frame, y = table
    model = rpo.RandomForestClassifier(5, random_state=0).fit(frame, y)
    color = frame["color"].astype(str).where(np.arange(len(y)) % 3 != 1, "violet")
    missing = frame.assign(color=frame["color"].where(np.arange(len(y)) % 3 != 1))
    unseen = frame.assign(color=color.astype("category"))
    for predict in (model.predict_proba, model.model_.predict):
        with pytest.warns(UserWarning, match="row 1 has the value 'violet' of column 'color'.*; 50 such values"):
            found = predict(unseen)
        assert np.array_equal(found, predict(missing))


@pytest.mark.parametrize("library", ["numpy", "scipy", "pandas"])
@pytest.mark.parametrize(
    "estimator", [rpo.LabelEmbeddingClassifier, rpo.LinearOneVsRestClassifier, rpo.CraftmlClassifier]
)
def test_methods_that_need_every_value_fill_in_what_is_missing(estimator, library, labels):
    X, Y = labels
    holes = np.where(X > 1.5, np.nan, X)
    if library == "scipy":
        holes = sp.csr_array(holes)
    elif library == "pandas":
        holes = pd.DataFrame(holes, columns=list("abcdefgh")).assign(c=pd.Categorical(np.where(Y[:, 0], "u", None)))
    model = estimator(params={"impute": "median"}, random_state=0).fit(holes, Y)
    assert model.predict(holes).shape == Y.shape
    assert model.__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(ValueError, match="X contains NaN"):
        estimator(params={"impute": None}).fit(holes, Y)


def test_columns_that_are_neither_numbers_nor_categories_are_named_by_column_and_type(table):
    frame, y = table
    for column, type_name in ((["a"] * 150, "str|object"), (pd.date_range("2020-01-01", periods=150), "datetime64")):
        # With and without a category beside.
        for of in (frame, frame[["size"]]):
            with pytest.raises(ValueError, match=f"column 'note' holds ({type_name})"):
                rpo.RandomForestClassifier(2).fit(of.assign(note=column), y)


def test_numbers_in_columns_of_objects_are_numbers(table):
    frame, y = table
    numbers = np.where(np.arange(150) % 4 == 0, np.nan, np.arange(150))
    expected = rpo.RandomForestClassifier(5, random_state=0).fit(frame.assign(size=numbers), y)
    objects = frame.assign(size=pd.Series([None if i % 4 == 0 else i for i in range(150)], dtype=object))
    assert rpo.RandomForestClassifier(5, random_state=0).fit(objects, y).model_ == expected.model_
    marked = frame.assign(size=frame["size"] > 0)
    model = rpo.RandomForestClassifier(5, random_state=0).fit(marked, y)
    as_objects = marked.assign(size=marked["size"].astype(object))
    assert np.array_equal(model.predict(as_objects), model.predict(marked))


def test_a_category_may_be_missing_from_all_samples(table):
    frame, y = table
    model = rpo.RandomForestClassifier(5, random_state=0).fit(frame, y)
    missing = frame.assign(color=pd.Categorical([None] * 150, frame["color"].cat.categories))
    for column in (np.nan, None):
        assert np.array_equal(model.predict(frame.assign(color=column)), model.predict(missing))


def test_decimal_numbers_are_numbers(table):
    pl = pytest.importorskip("polars")
    _, y = table
    numbers = [None, *range(149)]
    floats = pl.DataFrame({"a": numbers}, schema={"a": pl.Float64})
    expected = rpo.RandomForestClassifier(3, random_state=0).fit(floats, y)
    for kind in (pl.Decimal(10, 2), pl.Int64, pl.UInt8):
        cast = floats.with_columns(pl.col("a").cast(kind))
        assert rpo.RandomForestClassifier(3, random_state=0).fit(cast, y).model_ == expected.model_
    whole = floats.with_columns(pl.col("a").fill_null(0).cast(pl.Decimal(10, 2)))
    assert rpo.RandomForestClassifier(3, random_state=0).fit(whole, y).score(whole, y) > 0.5
    with pytest.raises(ValueError, match="column 'a' holds Date"):
        expected.predict(floats.with_columns(pl.date(2020, 1, 1).alias("a")))


@pytest.mark.parametrize("kind", ["Int128", "UInt128"])
def test_whole_numbers_of_128_bits_are_numbers(kind, table):
    pl = pytest.importorskip("polars")
    if not hasattr(pl, kind):
        pytest.skip(f"polars has no {kind}")
    _, y = table
    classifier = rpo.RandomForestClassifier(3, random_state=0)
    regressor = rpo.RandomForestRegressor(3, random_state=0, missing_outputs=True)
    coded = rpo.RandomForestClassifier(3, random_state=0, categorical_features=["a"])
    for first in (0, None, 2**70):
        wide = pl.DataFrame({"a": [first, *range(1, 150)]}, schema={"a": getattr(pl, kind)})
        floats = wide.cast(pl.Float64)
        assert classifier.fit(wide, y).model_ == classifier.fit(floats, y).model_
        expected = regressor.fit(floats, floats["a"]).model_
        assert regressor.fit(floats, wide["a"]).model_ == expected
        with pytest.warns(DataConversionWarning):
            assert regressor.fit(floats, wide).model_ == expected
        values = coded.fit(wide, y).model_._native.nominal[0]
        assert values == [str(i) for i in (*range(0 if first == 0 else 1, 150), *([first] if first else []))]
    classes = pl.Series("big", y).cast(getattr(pl, kind))
    assert classifier.fit(floats, classes).model_ == classifier.fit(floats, pd.Series(y, name="big")).model_
    assert classifier.classes_.dtype.kind == "i"


def test_values_beyond_numbers_are_said_to_be_of_the_features(table):
    frame, y = table
    with pytest.raises(ValueError, match="Input X contains infinity"):
        rpo.RandomForestClassifier(2).fit(frame.assign(size=np.inf), y)


def test_record_batches_are_tables(table):
    pa = pytest.importorskip("pyarrow")
    frame, y = table
    color = pa.array(frame["color"].astype(str)).dictionary_encode()
    whole, labels = pa.table({"size": frame["size"].to_numpy(), "color": color}), pa.table({"big": y, "small": 1 - y})
    batch, of_labels = whole.to_batches()[0], labels.to_batches()[0]
    expected = rpo.RandomForestClassifier(5, random_state=0).fit(whole, labels)
    model = rpo.RandomForestClassifier(5, random_state=0).fit(batch, of_labels)
    assert model.model_ == expected.model_
    assert (list(model.feature_names_in_), model.output_names_) == (["size", "color"], ["big", "small"])
    assert np.array_equal(model.predict(batch), expected.predict(whole))
    assert np.array_equal(model.model_.predict(batch.select(["color", "size"])), expected.model_.predict(whole))
    assert rpo.Model.fit(batch, of_labels, labels=True, trees=2) == rpo.Model.fit(whole, labels, labels=True, trees=2)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(batch.select(["color", "size"]))


def test_tables_that_are_not_read_are_refused_with_what_reads_them(table):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    dataset = pytest.importorskip("pyarrow.dataset")
    frame, y = table
    sizes = pa.table({"size": frame["size"].to_numpy()})
    lazy = pl.DataFrame({"size": frame["size"].to_numpy()}).lazy()
    model = rpo.RandomForestClassifier(2, random_state=0).fit(sizes, y)
    for unread, reader in (
        (lazy, r"LazyFrame of polars .* collect\(\)"),
        (dataset.dataset(sizes), r"Dataset of pyarrow .* to_table\(\)"),
        (dataset.dataset(sizes).scanner(), r"Scanner of pyarrow .* to_table\(\)"),
        (sizes.to_reader(), r"RecordBatchReader of pyarrow .* read_all\(\)"),
    ):
        for call in (
            lambda unread=unread: rpo.RandomForestClassifier(2).fit(unread, y),
            lambda unread=unread: rpo.RandomForestClassifier(2).fit(sizes, unread),
            lambda unread=unread: rpo.Model.fit(unread, y[:, None], labels=True),
            lambda unread=unread: model.predict(unread),
            lambda unread=unread: model.model_.predict(unread),
            lambda unread=unread: rpo.describe(unread, y),
            lambda unread=unread: OutputProjection(n_components=2).fit(unread),
            lambda unread=unread: metrics.rmse(unread, np.zeros((len(y), 1))),
        ):
            with pytest.raises(TypeError, match=reader):
                call()


def test_sets_of_labels_of_numbered_columns_are_indices(labels):
    X, Y = labels
    forest = rpo.RandomForestClassifier(5, random_state=0)
    expected = forest.fit(X, Y).predict_sets(X)
    numbered = forest.fit(X, pd.DataFrame(Y)).predict_sets(X)
    assert all(found.dtype.kind == "i" for found in numbered)
    assert all(np.array_equal(found, row) for found, row in zip(numbered, expected, strict=True))
    for names in (list("abcdef"), [str(j) for j in range(6)], list(range(10, 16))):
        named = forest.fit(X, pd.DataFrame(Y, columns=names)).predict_sets(X)
        words = np.array([str(name) for name in names])
        assert all(np.array_equal(found, words[row]) for found, row in zip(named, expected, strict=True))


def numbered_samples(n=150):
    """Samples with features of different weight, so that another order gives other predictions."""
    X = np.random.default_rng(5).normal(size=(n, 4)).astype(np.float32)
    return X, X @ [4.0, 1.0, -2.0, 0.5]


@pytest.mark.parametrize("form", ["numbers", "categories"])
@pytest.mark.parametrize("names", [[3, 2, 1, 0], [10, 20, 30, 40], [0.5, 1.5, 2.5, 3.5]])
def test_columns_whose_names_are_numbers_are_found_by_name(form, names, command, tmp_path):
    X, y = numbered_samples()
    table = pd.DataFrame(X, columns=names)
    if form == "categories":
        table[names[1]] = pd.Categorical(np.where(X[:, 1] > 0, "high", "low"))
    forest = rpo.RandomForestRegressor(5, random_state=0).fit(table, y)
    assert not hasattr(forest, "feature_names_in_")
    assert forest.model_.feature_names == [str(name) for name in names]
    expected = forest.predict(table)
    model = forest.model_
    for given in (table, table[names[::-1]], table.assign(other=1.0)):
        assert np.array_equal(model.predict(given)[:, 0], expected)
        assert model.evaluate(given, y)["r2"] == pytest.approx(forest.score(table, y))
        assert np.array_equal(model.oob_predictions(given)[0], model.oob_predictions(table)[0], equal_nan=True)
        found, base = model.contributions(given, given)
        assert np.allclose(base + found.sum(axis=1), model.predict(table), atol=1e-4)
    with pytest.raises(ValueError, match=rf"in another order: column 0 is {names[3]}, and was {names[0]}"):
        forest.predict(table[names[::-1]])
    if form == "numbers":
        # As in scikit-learn, which takes such columns for unnamed ones, other names and arrays count by position.
        assert np.array_equal(forest.predict(X), expected)
        assert np.array_equal(forest.predict(pd.DataFrame(X, columns=[5, 6, 7, 8])), expected)
    if names[0] == 0.5:
        return  # The command refuses a first line of such numbers.
    path, data = tmp_path / "forest.rpo", tmp_path / "data.csv"
    model.save(path)
    table.to_csv(data, index=False)
    lines = command("predict", "--model", path, "--data", data).split()[1:]
    assert np.allclose([float(line) for line in lines], expected, rtol=1e-5)


def test_columns_of_a_model_without_names_are_found_by_position():
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    X, y = numbered_samples()
    forest = rpo.RandomForestRegressor(5, random_state=0).fit(X, y)
    model = forest.model_
    assert rpo.RandomForestRegressor(5, random_state=0).fit(pd.DataFrame(X), y).model_ == model
    expected = model.predict(X)
    named = pd.DataFrame(X, columns=list("abcd"))
    for table in (
        pd.DataFrame(X),
        named,
        pd.DataFrame(X, columns=[1, 2, 3, 4]),
        pl.from_pandas(named),
        pl.DataFrame(X),
        pa.Table.from_pandas(named),
        pd.DataFrame(X).assign(other=1.0)[["other", 3, 2, 1, 0]],
        pd.DataFrame(X)[[3, 2, 1, 0]],
    ):
        assert np.array_equal(model.predict(table), expected)
        assert model.evaluate(table, y) == model.evaluate(X, y)
    with pytest.raises(ValueError, match="in another order: column 0 is 3, and was 0"):
        forest.predict(pd.DataFrame(X)[[3, 2, 1, 0]])
    with pytest.raises(ValueError, match="X has 3 columns; the model has 4 features, without names"):
        model.predict(named[["a", "b", "c"]])


@pytest.mark.parametrize("second", ["b", 7])
def test_a_name_that_two_columns_have_is_refused(second):
    X, y = numbered_samples()
    name = str(second)
    table = pd.DataFrame(X, columns=["a", name, "c", "d"])
    twice = pd.concat([table, pd.DataFrame({second: np.zeros(len(X))})], axis=1)
    model = rpo.Model.fit(table, y, labels=False, trees=5)
    pa = pytest.importorskip("pyarrow")
    arrow = pa.Table.from_arrays([pa.array(column) for column in [*X.T, X[:, 0]]], names=list(map(str, twice.columns)))
    for given in (twice, arrow):
        for use in (model.predict, model.apply, lambda x: model.evaluate(x, y), lambda x: model.contributions(x, x)):
            with pytest.raises(ValueError, match=rf"X has the columns 1 and 4 with one name, '{name}'"):
                use(given)
    with pytest.raises(ValueError, match=f'"{name}" is used twice'):
        rpo.Model.fit(twice, y, labels=False, trees=5)
    # Columns that the model has no use for may be named anyhow.
    other = pd.concat([table, pd.DataFrame(np.zeros((len(X), 2)), columns=["e", "e"])], axis=1)
    assert np.array_equal(model.predict(other), model.predict(table))
