"""Models and their files, in Python and with the command."""

from __future__ import annotations

import copy
import importlib.metadata
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import rpo


def write_csv(path, X, Y, names):
    table = np.hstack([X, Y])
    rows = [",".join(names), *(",".join(repr(float(v)) for v in row) for row in table)]
    path.write_text("\n".join(rows) + "\n")


METHODS = [
    ("random-forest", {"trees": 7, "projection": "gaussian", "components": 3}),
    ("extra-trees", {"trees": 7, "max_features": 0.5, "min_samples_leaf": 2}),
    ("single-target-forest", {"trees": 3}),
    ("gbmort", {"iterations": 5}),
    ("gbrt-relabel-rpo", {"iterations": 5, "learning_rate": 0.3}),
    ("structured-forest", {"trees": 3}),
    ("craftml", {"trees": 3}),
    ("label-embedding", {}),
    ("ridge", {}),
    ("baseline", {}),
]


@pytest.mark.parametrize(("method", "parameters"), METHODS)
def test_the_command_writes_the_same_file(tmp_path, command, labels, method, parameters):
    X, Y = labels
    names = [f"x{j}" for j in range(8)] + [f"y{j}" for j in range(6)]
    write_csv(tmp_path / "data.csv", X, Y, names)
    options = [f"--{name.replace('_', '-')}={value}" for name, value in parameters.items()]
    command(
        "train",
        "--data",
        tmp_path / "data.csv",
        "--n-targets",
        6,
        "--layout",
        "dense",
        "--method",
        method,
        "--seed",
        3,
        "--model",
        tmp_path / "command.rpo",
        *options,
    )
    fitted = rpo.Model.fit(
        X,
        Y,
        method=method,
        labels=True,
        seed=3,
        feature_names=names[:8],
        output_names=names[8:],
        **parameters,
    )
    fitted.save(tmp_path / "python.rpo")
    assert (tmp_path / "python.rpo").read_bytes() == (tmp_path / "command.rpo").read_bytes()
    loaded = rpo.Model.load(tmp_path / "command.rpo")
    assert loaded == fitted
    assert np.array_equal(loaded.predict(X), fitted.predict(X))


def test_an_estimator_fits_the_model_of_the_command(labels):
    X, Y = labels
    forest = rpo.RandomForestClassifier(9, random_state=4, projection="gaussian", n_components=2).fit(X, Y)
    model = rpo.Model.fit(X, Y, labels=True, trees=9, seed=4, projection="gaussian", components=2, bootstrap=True)
    assert forest.model_.to_bytes() == model.to_bytes()


def test_models_are_pickled_and_copied_by_their_bytes(labels):
    X, Y = labels
    model = rpo.Model.fit(X, Y, labels=True, trees=3)
    assert model.to_bytes() in pickle.dumps(model)
    assert pickle.loads(pickle.dumps(model)) == copy.deepcopy(model) == model


def test_bad_files_and_parameters_are_refused(tmp_path, labels):
    X, Y = labels
    with pytest.raises(FileNotFoundError, match="no-such"):
        rpo.Model.load(tmp_path / "no-such.rpo")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        rpo.Model.fit(X, Y, labels=True, trees=1).save(tmp_path)
    data = bytearray(rpo.Model.fit(X, Y, labels=True, trees=2).to_bytes())
    data[-5] ^= 1
    with pytest.raises(ValueError, match="damaged"):
        rpo.Model.from_bytes(bytes(data))
    with pytest.raises(ValueError, match=r"did you mean trees\?"):
        rpo.Model.fit(X, Y, labels=True, tres=3)
    with pytest.raises(ValueError, match="`trees` must be at least 1, got 0"):
        rpo.Model.fit(X, Y, labels=True, trees=0)
    with pytest.raises(ValueError, match="did you mean"):
        rpo.Model.fit(X, Y, labels=True, method="random-forst")
    with pytest.raises(ValueError, match="labels are 0 or 1"):
        rpo.Model.fit(X, Y * 2, labels=True)
    with pytest.raises(ValueError, match="features"):
        rpo.Model.fit(X, Y, labels=True, trees=2).predict(X[:, :3])


def test_large_results_are_refused_before_they_are_made(labels):
    X, Y = labels
    for options in ({"method": "random-forest", "trees": 2}, {"method": "one-vs-rest"}, {"method": "baseline"}):
        model = rpo.Model.fit(X, Y, labels=True, **options)
        for limited in (model.predict, model.predict_labels):
            with pytest.raises(MemoryError, match="memory_limit raises the limit"):
                limited(X, memory_limit=100)
            assert limited(X, memory_limit=X.shape[0] * Y.shape[1] * 4).shape == Y.shape
        whole = model.evaluate(X, Y, ["p@1", "example-f1"])
        assert model.evaluate(X, Y, ["p@1", "example-f1"], memory_limit=100) == whole
        with pytest.raises(MemoryError, match=r"macro-auc, which needs .*; memory_limit raises the limit"):
            model.evaluate(X, Y, ["macro-auc"], memory_limit=100)


def test_parts_of_a_forest_merge_into_the_whole(sparse):
    X, Y = sparse
    grow = lambda first, trees: rpo.Model.fit(  # noqa: E731
        X, Y, labels=True, seed=5, first_tree=first, trees=trees, projection="gaussian", components=4
    )
    merged = grow(0, 3).merge(grow(3, 4)).merge(grow(7, 1))
    assert merged.to_bytes() == grow(0, 8).to_bytes()


def test_evaluation_is_that_of_the_metrics(sparse):
    X, Y = sparse
    model = rpo.Model.fit(X, Y, labels=True, trees=5, seed=1)
    names = ["lrap", "p@3", "macro-auc", "hamming"]
    values = model.evaluate(X, Y, names)
    assert values == rpo.metrics.evaluate(Y, model.predict(X), names)
    assert model.evaluate(X, Y, ["p@3"]) == rpo.metrics.evaluate(Y, model.predict_top_k(X, 3), ["p@3"])
    one = rpo.Model.fit(X, Y[:, :1], labels=True, trees=5, seed=1)
    assert one.evaluate(X, Y[:, :1]) == rpo.metrics.evaluate(Y[:, :1], one.predict(X), ["macro-auc"])


def test_ranking_by_propensity_divides_scores_by_propensities(sparse):
    X, Y = sparse
    model = rpo.Model.fit(X, Y, labels=True, trees=5, seed=1)
    counts = np.asarray(Y.sum(axis=0)).ravel()
    for a, b in [(0.55, 1.5), (0.6, 2.6)]:
        inverse = rpo.metrics.inverse_propensities(counts, X.shape[0], a=a, b=b)
        expected = np.sort(model.predict(X) * inverse, axis=1)[:, -3:]
        best = model.predict_top_k(X, 3, rerank="propensity", propensity=(a, b))
        np.testing.assert_allclose(np.sort(np.sort(best.toarray(), axis=1)[:, -3:], axis=1), expected, rtol=1e-6)
        scored = rpo.metrics.evaluate(Y, best, ["psp@3"], inverse_propensities=inverse)
        assert model.evaluate(X, Y, ["psp@3"], rerank="propensity", propensity=(a, b)) == pytest.approx(scored)
    forest = rpo.RandomForestClassifier(n_estimators=5, random_state=1).fit(X, Y)
    best = forest.model_.predict_top_k(X, 3, rerank="propensity")
    assert (forest.predict_top_k(X, 3, rerank="propensity") != best).nnz == 0
    with pytest.raises(ValueError, match="rerank is None or 'propensity', not 'rare'"):
        model.predict_top_k(X, 3, rerank="rare")
    with pytest.raises(ValueError, match="lrap"):
        model.evaluate(X, Y, ["lrap"], rerank="propensity")


def test_groups_of_labels_by_frequency_add_up_to_precision(sparse):
    X, Y = sparse
    model = rpo.Model.fit(X, Y, labels=True, trees=5, seed=1)
    groups = model.evaluate_by_frequency(X, Y, 2, at=[1, 3])
    assert sum(group["labels"] for group in groups) == Y.shape[1]
    assert sum(group["positives"] for group in groups) == Y.sum()
    assert groups[0]["least_frequent"] >= groups[1]["most_frequent"]
    for k in (1, 3):
        total = sum(group[f"p@{k}"] for group in groups)
        assert total == pytest.approx(model.evaluate(X, Y, [f"p@{k}"])[f"p@{k}"])
    assert all(0 < group["r@3"] <= 1 for group in groups)


def test_inspection_shows_how_a_model_was_made(numbers):
    X, Y = numbers
    model = rpo.Model.fit(X, Y, labels=False, method="extra-trees", trees=4, seed=9, output_names=["a", "b", "c"])
    shown = model.inspect()
    assert (shown["method"], shown["task"], shown["n_samples"]) == ("extra-trees", "regression", 100)
    assert len(shown["tree_leaves"]) == model.n_trees == 4
    assert model.parameters["seed"] == 9
    assert model.output_names == ["a", "b", "c"]
    assert model.feature_names == ["0", "1", "2", "3", "4"]
    assert "extra-trees" in repr(model)
    assert model.importances.sum() == pytest.approx(1.0)


def test_registry_lists_methods_and_parameters():
    methods = rpo.methods()
    assert {"random-forest", "gbmort", "craftml", "ridge"} <= methods.keys()
    trees = methods["random-forest"]["parameters"]["trees"]
    assert trees["range"] == "at least 1"
    assert "trees" in trees["help"]


def test_any_method_of_the_registry_fits(labels):
    X, Y = labels
    for method, described in rpo.methods().items():
        few = {name: 3 for name in ("trees", "iterations") if name in described["parameters"]}
        model = rpo.Model.fit(X, Y, method=method, labels=True, **few)
        top = model.predict_top_k(X, 2)
        assert isinstance(top, sp.csr_array)
        assert top.shape == Y.shape


def test_outputs_of_tables_have_their_names_and_are_found_by_them(labels):
    pd = pytest.importorskip("pandas")
    X, Y = labels
    table = pd.DataFrame(Y, columns=list("abcdef"))
    model = rpo.Model.fit(X, table, labels=True, trees=3)
    assert model.output_names == list("abcdef")
    assert model == rpo.Model.fit(X, Y, labels=True, trees=3, output_names=list("abcdef"))
    expected = model.evaluate(X, Y)
    assert model.evaluate(X, table[list("fedcba")]) == expected
    assert model.evaluate_by_frequency(X, table[list("fedcba")], 2) == model.evaluate_by_frequency(X, Y, 2)
    with pytest.raises(ValueError, match='no output "a"'):
        model.evaluate(X, table[list("bcdef")])
    numbered = rpo.Model.fit(X, Y, labels=True, trees=3)
    assert numbered.evaluate(X, table) == expected


def test_columns_of_tables_may_be_numbers(labels):
    pd = pytest.importorskip("pandas")
    X, Y = labels
    model = rpo.RandomForestClassifier(3, random_state=0).fit(pd.DataFrame(X), Y).model_
    assert np.array_equal(model.predict(pd.DataFrame(X)[[3, 2, 1, 0, 7, 6, 5, 4]]), model.predict(X))


def test_models_with_categories_and_with_levels_are_evaluated(labels):
    pd = pytest.importorskip("pandas")
    X, Y = labels
    table = pd.DataFrame(X, columns=list("abcdefgh")).assign(c=pd.Categorical(np.array(["u", "v", "w"])[Y[:, 2] * 2]))
    model = rpo.Model.fit(table, Y, labels=True, trees=3)
    assert model.evaluate(table, Y, ["lrap"])["lrap"] == rpo.metrics.lrap(Y, model.predict(table))
    for names in (None, ["low"]):
        options = {"method": "gbmort", "loss": "quantile", "quantile": "0.1,0.9", "iterations": 3}
        model = rpo.Model.fit(X, X[:, :1], labels=False, output_names=names, **options)
        expected = rpo.metrics.pinball(X[:, [0, 0]], model.predict(X), levels=[0.1, 0.9])
        assert model.evaluate(X, X[:, :1], ["pinball"])["pinball"] == pytest.approx(expected, rel=1e-5)


def test_what_is_no_matrix_is_named(labels):
    X, Y = labels
    fit = lambda X, Y: rpo.Model.fit(X, Y, labels=True, trees=2)  # noqa: E731
    model = fit(X, Y)
    for call, message in (
        (lambda: fit(X[:, 0], Y), "X must have two dimensions, got 1"),
        (lambda: fit(X, Y[:, :, None]), "y must have one or two dimensions, got 3"),
        (lambda: model.predict(X[0]), "X must have two dimensions, got 1"),
        (lambda: model.decide(sp.csr_array(Y)), "scores must be dense"),
        (lambda: rpo.metrics.lrap(Y[:, :, None], Y), "truth must have two dimensions, got 3"),
        (lambda: rpo.metrics.mse(None, Y), "truth must have two dimensions, got 0"),
        (lambda: rpo.metrics.roc_auc(Y, sp.csr_array(Y)), "scores must be dense"),
        (lambda: rpo.metrics.mse([["a"]], [[1]]), "truth must be numbers: could not convert"),
        (lambda: model.predict(X, n_threads=-1), "n_threads must be a number of threads"),
        (lambda: model.predict_top_k(X, -1), "k must be a whole number, at least 1, got -1"),
        (lambda: rpo.metrics.f1(Y, Y, average="none"), "average must be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    for evaluate in (model.evaluate, rpo.metrics.evaluate):
        with pytest.raises(TypeError, match=r"list of names: \['lrap'\]"):
            evaluate(X[:, :6] if evaluate != model.evaluate else X, Y, "lrap")


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seeds_that_are_none_are_refused(labels, seed):
    X, Y = labels
    for use in (
        lambda: rpo.RandomForestClassifier(2, random_state=seed).fit(X, Y),
        lambda: next(rpo.model_selection.IterativeStratifiedKFold(2, random_state=seed).split(X, Y)),
        lambda: rpo.projections.OutputProjection(random_state=seed).fit(Y),
    ):
        with pytest.raises(ValueError, match="random_state must be from 0"):
            use()
    most = 2**64 - 1
    assert rpo.RandomForestClassifier(2, random_state=most).fit(X, Y).model_.parameters["seed"] == most


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, "frame"])
def test_infinite_features_are_refused_as_by_estimators(labels, form):
    X, Y = labels
    if form == "frame":
        pd = pytest.importorskip("pandas")
        form = lambda X: pd.DataFrame(X, columns=list("abcdefgh"))  # noqa: E731
    estimator = rpo.GradientBoostingClassifier(3, random_state=0).fit(form(X), Y)
    model = estimator.model_
    for value in (np.inf, -np.inf, 1e300):
        infinite = X.astype(np.float64)
        infinite[3, 1] = value
        message = "Input X contains infinity or a value too large for dtype\\('float32'\\)"
        if value == 1e300:
            message = "too large for (dtype|single precision)"
        for call in (
            estimator.predict,
            model.predict,
            model.predict_labels,
            model.apply,
            model.staged_predict,
            model.oob_predictions,
            lambda X: model.predict_top_k(X, 2),
            lambda X: model.evaluate(X, Y),
        ):
            with pytest.raises(ValueError, match=message):
                call(form(infinite))
    assert np.isfinite(model.predict(form(np.where(X > 1, np.nan, X)))).all()


def test_a_single_part_is_refused(labels, tmp_path):
    X, Y = labels
    model = rpo.Model.fit(X, Y, labels=True, trees=2, thresholds=None)
    path = tmp_path / "part.rpo"
    model.save(path)
    assert rpo.Model.from_parts([str(path)]) == rpo.Model.from_parts([path]) == rpo.Model.from_parts((model,)) == model
    for part in (str(path), path, model.to_bytes(), model):
        with pytest.raises(TypeError, match=r"parts must be a list of models or files: \["):
            rpo.Model.from_parts(part)
    path.write_text("nothing")
    with pytest.raises(ValueError, match=r"part.rpo: not a model file"):
        rpo.Model.from_parts([path])
    with pytest.raises(FileNotFoundError, match="no-such"):
        rpo.Model.from_parts([tmp_path / "no-such.rpo"])


def test_what_is_no_model_is_refused(labels):
    X, Y = labels
    model = rpo.Model.fit(X, Y, labels=True, trees=2)
    forest = rpo.RandomForestClassifier(2).fit(X, Y)
    for call, message in (
        (lambda: rpo.Model("x.rpo"), r"Model.load\(path\) reads a model"),
        (lambda: model.merge(3), "a Model is expected, not an object of int"),
        (lambda: model.merge(forest), "the model of an estimator is its attribute model_"),
        (lambda: rpo.Model.from_parts([forest]), "the model of an estimator is its attribute model_"),
        (lambda: rpo.Model.fit(X, Y, labels=True, feature_names="abcdefgh"), r"list of names: \['abcdefgh'\]"),
        (lambda: rpo.Model.fit(X, Y, labels=True, output_names="abcdef"), r"list of names: \['abcdef'\]"),
        (lambda: rpo.Model.fit(X, Y, labels=True, max_depth=np.array([1])), "`max_depth` cannot be array"),
    ):
        with pytest.raises(TypeError, match=message):
            call()


def test_arguments_that_are_out_of_range_are_named(labels):
    X, Y = labels
    model = rpo.Model.fit(X, Y, labels=True, trees=2)
    for call, message in (
        (lambda: model.predict(X, n_threads=None), "n_threads must be a number of threads"),
        (lambda: model.predict(X, memory_limit=-1), "memory_limit must be a whole number, at least 0, got -1"),
        (lambda: model.predict_top_k(X, "2"), "k must be a whole number, at least 1, got '2'"),
        (lambda: model.predict_top_k(X, 2**70), "k must be a whole number"),
        (lambda: model.evaluate_by_frequency(X, Y, -1), "n_groups must be a whole number, at least 1, got -1"),
        (lambda: model.evaluate_by_frequency(X, Y, 2, [1, 0]), "at must be a whole number, at least 1, got 0"),
        (lambda: model.evaluate_by_frequency(X, Y, n_threads=-1), "n_threads must be a number of threads"),
        (lambda: model.evaluate(X, Y, propensity=0.5), "propensity must be a pair of numbers, got 0.5"),
        (lambda: rpo.Model.fit(X, Y, labels="yes"), "labels must be True or False, got 'yes'"),
        (lambda: rpo.Model.fit(X, Y, labels=True, min_impurity_decrease=np.nan), "`min_impurity_decrease` must be fin"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_outputs_of_samples_have_weights_in_models_too(labels):
    X, Y = labels
    weights = (np.arange(Y.size).reshape(Y.shape) % 5).astype(float)
    expected = rpo.GradientBoostingClassifier(3, subsample=1.0, random_state=0).fit(X, Y, weights).model_
    assert rpo.Model.fit(X, Y, labels=True, sample_weight=weights, **expected.parameters) == expected
    with pytest.raises(ValueError, match="not take weights of single outputs"):
        rpo.Model.fit(X, Y, labels=True, sample_weight=weights)


def test_bytes_of_any_kind_are_a_model(labels):
    model = rpo.Model.fit(*labels, labels=True, trees=2)
    content = model.to_bytes()
    for kind in (bytes, bytearray, memoryview):
        assert rpo.Model.from_bytes(kind(content)) == model
        assert rpo.Model.from_parts([kind(content)]) == model
        with pytest.raises(TypeError, match=r"parts must be a list of models or files: \[\.\.\.\]"):
            rpo.Model.from_parts(kind(content))
    with pytest.raises(TypeError, match=r"is bytes, not str; Model\.load reads a path"):
        rpo.Model.from_bytes("forest.rpo")


def test_the_version_is_that_of_the_package(labels):
    assert rpo.__version__ == importlib.metadata.version("rpo-learn")
    assert rpo.__version__.startswith("0.")


def test_sizes_of_groups_of_outputs_are_a_parameter():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 4))
    one = lambda k: np.eye(k)[random.integers(k, size=80)]  # noqa: E731
    Y = np.hstack([one(3), one(2)])
    model = rpo.Model.fit(X, Y, method="gbmort", labels=True, loss="softmax", groups="3,2", iterations=3)
    predicted = model.predict(X)
    assert np.allclose(predicted[:, :3].sum(axis=1), 1)
    assert np.allclose(predicted[:, 3:].sum(axis=1), 1)
    assert rpo.Model.fit(X, Y, labels=True, **model.parameters) == model
