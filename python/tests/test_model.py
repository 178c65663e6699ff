"""Models and their files, here and by the command."""

from __future__ import annotations

import copy
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
    model = rpo.Model.fit(X, Y, labels=True, trees=2)
    with pytest.raises((MemoryError, ValueError), match="limit"):
        model.predict(X, memory_limit=100)


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
