"""Metrics, splits, files and projections."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics as theirs
from sklearn.model_selection import cross_val_score

import rpo
from rpo import datasets, metrics
from rpo.model_selection import IterativeStratifiedKFold
from rpo.projections import OutputProjection


@pytest.fixture
def scored():
    rng = np.random.default_rng(5)
    truth = (rng.random((80, 12)) < 0.3).astype(int)
    truth[truth.sum(axis=1) == 0, 0] = 1
    return truth, np.round(rng.random((80, 12)), 2)


def test_metrics_are_those_of_scikit_learn(scored):
    truth, scores = scored
    predicted = (scores >= 0.5).astype(int)
    pairs = [
        (metrics.lrap(truth, scores), theirs.label_ranking_average_precision_score(truth, scores)),
        (metrics.coverage_error(truth, scores), theirs.coverage_error(truth, scores)),
        (metrics.ranking_loss(truth, scores), theirs.label_ranking_loss(truth, scores)),
        (metrics.roc_auc(truth, scores), theirs.roc_auc_score(truth, scores, average="macro")),
        (
            metrics.roc_auc(truth, scores, average="micro"),
            theirs.roc_auc_score(truth, scores, average="micro"),
        ),
        (
            metrics.roc_auc(truth, scores, average="weighted"),
            theirs.roc_auc_score(truth, scores, average="weighted"),
        ),
        (
            metrics.average_precision(truth, scores),
            theirs.average_precision_score(truth, scores, average="macro"),
        ),
        (
            metrics.average_precision(truth, scores, average="micro"),
            theirs.average_precision_score(truth, scores, average="micro"),
        ),
        (metrics.hamming_loss(truth, predicted), theirs.hamming_loss(truth, predicted)),
        (metrics.subset_accuracy(truth, predicted), theirs.accuracy_score(truth, predicted)),
        (metrics.zero_one_loss(truth, predicted), theirs.zero_one_loss(truth, predicted)),
    ]
    for average in ("micro", "macro", "samples", None):
        options = {"average": average, "zero_division": 0.0}
        pairs += [
            (
                metrics.precision(truth, predicted, **options),
                theirs.precision_score(truth, predicted, **options),
            ),
            (metrics.recall(truth, predicted, **options), theirs.recall_score(truth, predicted, **options)),
            (metrics.f1(truth, predicted, **options), theirs.f1_score(truth, predicted, **options)),
            (metrics.jaccard(truth, predicted, **options), theirs.jaccard_score(truth, predicted, **options)),
        ]
    for ours, expected in pairs:
        assert np.allclose(ours, expected, rtol=1e-6)
    counts = metrics.confusion_counts(truth, predicted)
    assert np.array_equal(counts["true_positives"], (truth & predicted).sum(axis=0))
    assert np.array_equal(counts["false_negatives"], (truth & ~predicted & 1).sum(axis=0))


def test_counts_that_are_none_are_refused_by_their_label():
    inverse = rpo.metrics.inverse_propensities
    assert np.array_equal(inverse([1.0, 3.0], 10), inverse(np.array([1, 3]), 10))
    for counts, n_train, message in (
        ([1, -2], 10, "label_counts must be whole numbers, at least 0, got -2 for label 1"),
        ([1, 0.5], 10, "got 0.5 for label 1"),
        ([np.nan], 10, "got nan for label 0"),
        ([np.inf], 10, "got inf for label 0"),
        (["many"], 10, "must be numbers, got an array of <U4"),
        ([1], None, "n_train must be a whole number"),
        ([1], -3, "n_train must be a whole number, at least 0, got -3"),
        ([20], 10, "at most the number of training samples"),
    ):
        with pytest.raises(ValueError, match=message):
            inverse(counts, n_train)


def test_metrics_of_numbers(numbers):
    _, Y = numbers
    predicted = Y + np.random.default_rng(0).normal(size=Y.shape)
    pairs = [
        (metrics.r2(Y, predicted), theirs.r2_score(Y, predicted)),
        (
            metrics.r2(Y, predicted, average="weighted"),
            theirs.r2_score(Y, predicted, multioutput="variance_weighted"),
        ),
        (metrics.r2(Y, predicted, average=None), theirs.r2_score(Y, predicted, multioutput="raw_values")),
        (metrics.half_r2(Y, predicted), theirs.r2_score(Y[:, :1], predicted[:, :1])),
        (metrics.mse(Y, predicted), theirs.mean_squared_error(Y, predicted)),
        (
            metrics.pinball(Y[:, 0], predicted[:, 0], levels=0.8),
            theirs.mean_pinball_loss(Y[:, 0], predicted[:, 0], alpha=0.8),
        ),
        (metrics.mae(Y[:, 0], predicted[:, 0]), theirs.mean_absolute_error(Y[:, 0], predicted[:, 0])),
        (metrics.rmse(Y, predicted), theirs.root_mean_squared_error(Y, predicted)),
        (metrics.rmse(Y, predicted, average="pooled"), np.sqrt(((Y - predicted) ** 2).mean())),
        (
            metrics.arrmse(Y, predicted),
            np.sqrt(((Y - predicted) ** 2).sum(0) / ((Y - Y.mean(0)) ** 2).sum(0)).mean(),
        ),
        (
            metrics.relative_rmse(Y, predicted, train_means=[0, 0, 0]),
            np.sqrt(((Y - predicted) ** 2).sum(0) / (Y**2).sum(0)),
        ),
    ]
    for ours, expected in pairs:
        assert np.allclose(ours, expected)
    with pytest.raises(ValueError, match="average must be one of"):
        metrics.mse(Y, predicted, average="micro")


def test_deviances_are_those_of_scikit_learn():
    random = np.random.default_rng(0)
    Y = random.poisson(0.8, (50, 2)).astype(float)
    predicted = random.uniform(0.1, 3, Y.shape)

    def each(deviance, **options):
        return [deviance(y, m, **options) for y, m in zip(Y.T, predicted.T, strict=True)]

    expected = each(theirs.mean_poisson_deviance)
    assert np.allclose(metrics.poisson_deviance(Y, predicted, average=None), expected)
    assert np.isclose(metrics.poisson_deviance(Y, predicted), np.mean(expected))
    for power in [1.1, 1.5, 1.9]:
        expected = each(theirs.mean_tweedie_deviance, power=power)
        assert np.allclose(metrics.tweedie_deviance(Y, predicted, power=power, average=None), expected)
        name = f"tweedie-deviance@{power}"
        found = metrics.evaluate(Y, predicted.astype(np.float32), [name])
        assert np.isclose(found[name], np.mean(expected), rtol=1e-5)
    assert metrics.tweedie_deviance(Y, predicted) == metrics.tweedie_deviance(Y, predicted, power=1.5)
    holes = Y.copy()
    holes[:7, 1] = np.nan
    rest = theirs.mean_poisson_deviance(Y[7:, 1], predicted[7:, 1])
    assert np.isclose(metrics.poisson_deviance(holes, predicted, average=None)[1], rest)
    assert metrics.poisson_deviance(Y, 0 * predicted) == np.inf
    with pytest.raises(ValueError, match="true values of at least 0"):
        metrics.tweedie_deviance(Y - 1, predicted)
    with pytest.raises(ValueError, match="between 1 and 2"):
        metrics.tweedie_deviance(Y, predicted, power=2)


def test_missing_entries_are_left_out(scored):
    truth, scores = scored
    holes = truth.astype(float)
    holes[:, 3] = np.nan
    kept = np.arange(12) != 3
    for name in ("lrap", "ranking-loss", "hamming", "macro-f1", "macro-auc", "p@1"):
        expected = metrics.evaluate(truth[:, kept], scores[:, kept], [name])[name]
        assert metrics.evaluate(holes, scores, [name])[name] == pytest.approx(expected), name
    assert np.isnan(metrics.roc_auc(holes, scores, average=None)[3])


def test_the_best_labels_are_enough(sparse):
    _, Y = sparse
    scores = np.random.default_rng(0).random(Y.shape).astype(np.float32)
    top = sp.csr_array(np.where(scores >= np.sort(scores)[:, [-5]], scores, 0.0))
    weights = metrics.inverse_propensities(Y.sum(axis=0), Y.shape[0])
    options = {"inverse_propensities": weights}
    names = ["p@1", "p@5", "ndcg@3", "psp@5", "psndcg@3"]
    assert metrics.evaluate(Y, top, names, **options) == metrics.evaluate(Y, scores, names, **options)
    assert metrics.precision_at_k(Y, top, 3) == metrics.evaluate(Y, top, ["p@3"])["p@3"]
    with pytest.raises(ValueError, match="a score for every label"):
        metrics.lrap(Y, top)
    with pytest.raises(ValueError, match="nonsense"):
        metrics.evaluate(Y, scores, ["nonsense"])
    assert "p@K" in metrics.names()
    assert metrics.evaluate(Y, scores, (name for name in ["lrap"])) == {"lrap": metrics.lrap(Y, scores)}


def test_folds_keep_the_frequency_of_labels(labels, sparse):
    X, Y = labels
    folds = list(IterativeStratifiedKFold(5, random_state=1).split(X, Y))
    assert np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(120))
    for train, test in folds:
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(120))
        assert np.abs(Y[test].sum(axis=0) - Y.sum(axis=0) / 5).max() < 2.5
    again = IterativeStratifiedKFold(5, random_state=1).split(X, sp.csr_array(Y))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(folds, again, strict=True))
    folds = IterativeStratifiedKFold(3, random_state=0)
    assert len(cross_val_score(rpo.ExtraTreesClassifier(3), X, Y, cv=folds, scoring="average_precision")) == 3
    assert sum(len(test) for _, test in folds.split(*sparse)) == 300
    assert all(
        np.array_equal(a[1], b[1]) for a, b in zip(*(IterativeStratifiedKFold().split(X, Y) for _ in "ab"), strict=True)
    )
    with pytest.raises(ValueError, match="GroupKFold"):
        next(folds.split(X, Y, groups=np.arange(len(Y))))
    for n_splits in (1, 2.5, "3"):
        with pytest.raises(ValueError, match="n_splits must be a whole number, at least 2"):
            IterativeStratifiedKFold(n_splits)


def test_files_are_read_as_the_command_reads_them(tmp_path):
    (tmp_path / "a.arff").write_text(
        "@relation r\n@attribute x numeric\n@attribute c {red,blue}\n@attribute l1 {0,1}\n@attribute l2 {0,1}\n"
        "@data\n1.5,blue,0,1\n?,red,1,0\n"
    )
    data = datasets.load_arff(tmp_path / "a.arff", 2)
    assert np.array_equal(data.data, np.array([[1.5, 1], [np.nan, 0]], np.float32), equal_nan=True)
    assert np.array_equal(data.target.toarray(), [[0, 1], [1, 0]])
    assert (data.feature_names, data.target_names) == (["x", "c"], ["l1", "l2"])
    assert data.nominal == {1: ["red", "blue"]}
    (tmp_path / "labels.xml").write_text('<labels><label name="l2"></label></labels>')
    one = datasets.load_arff(tmp_path / "a.arff", tmp_path / "labels.xml")
    assert one.target_names == ["l2"]
    (tmp_path / "a.csv").write_text("a,b,y\n1,2,3.5\n4,,NA\n")
    with pytest.raises(ValueError, match=r"a\.csv"):
        datasets.load_csv(tmp_path / "a.csv", ["y"])
    with pytest.raises(TypeError, match="targets must be a number, a label file or names, got True"):
        datasets.load_csv(tmp_path / "a.csv", True)
    table = datasets.load_csv(tmp_path / "a.csv", np.array(["y"]), missing_outputs=True)
    assert np.isnan(table.target[1, 0])
    assert np.isnan(table.data[1, 1])
    (tmp_path / "a.txt").write_text("2 3 4\n0,2 0:1.5\n1 1:1 2:2\n")
    xc = datasets.load_xc(tmp_path / "a.txt")
    assert np.array_equal(xc.target.toarray(), [[1, 0, 1, 0], [0, 1, 0, 0]])
    assert np.array_equal(xc.data.toarray(), [[1.5, 0, 0], [0, 1, 2]])
    with pytest.raises(FileNotFoundError, match="no-such"):
        datasets.load_xc(tmp_path / "no-such.txt")


def test_sets_are_described(sparse):
    X, Y = sparse
    figures = rpo.describe(X, Y)
    assert (figures["n_samples"], figures["n_outputs"], figures["task"]) == (*Y.shape, "multi-label")
    assert figures["cardinality"] == pytest.approx(Y.sum() / Y.shape[0])
    assert figures["layout"] == "sparse"
    numbers = rpo.describe(X.toarray(), np.column_stack([np.arange(X.shape[0]), np.full(X.shape[0], np.nan)]))
    assert (numbers["task"], numbers["missing_outputs"]) == ("regression", X.shape[0])
    assert "cardinality" not in numbers
    classes = rpo.describe(X, np.array(["a", "b", "c"] * (X.shape[0] // 3)))
    assert (classes["n_outputs"], classes["cardinality"]) == (3, 1.0)
    assert rpo.describe(X, np.ones(X.shape[0]), labels=False)["task"] == "regression"


@pytest.mark.parametrize("kind", ["gaussian", "rademacher", "achlioptas", "sparse", "hadamard", "hashing", "pca"])
def test_projections_are_linear(kind, sparse):
    _, Y = sparse
    projection = OutputProjection(kind, n_components=8, random_state=0).fit(Y)
    assert projection.components_.shape == (8, 200)
    dense = projection.transform(Y.toarray())
    assert np.allclose(projection.transform(Y), dense, atol=1e-5)
    assert np.allclose(projection.transform(2 * Y.toarray()), 2 * dense, atol=1e-4)
    again = OutputProjection(kind, n_components=8, random_state=0).fit(Y)
    assert np.array_equal(again.components_, projection.components_)


def test_projections_that_learn_and_those_that_keep_all(sparse):
    X, Y = sparse
    assert np.allclose(OutputProjection("identity", n_components="d").fit_transform(Y.toarray()), Y.toarray())
    with pytest.raises(ValueError, match="features"):
        OutputProjection("label-embedding", n_components=3).fit(Y)
    learned = OutputProjection("label-embedding", n_components=3, random_state=0).fit(Y, features=X)
    assert learned.transform(Y).shape == (300, 3)
    assert len(OutputProjection(random_state=0).fit(Y).get_feature_names_out()) == 5


@pytest.mark.parametrize("values", [["a", "b", "c"], [-1, 1], [2, 0, 7], [True, False]])
def test_folds_keep_the_frequency_of_classes(values):
    rng = np.random.default_rng(0)
    first = np.array(values)[rng.integers(len(values), size=90)]
    second = np.array(["x", "y", None], object)[rng.integers(3, size=90)]
    folds = IterativeStratifiedKFold(3, random_state=0)
    for y in (first, np.column_stack([first, first[::-1]]), np.column_stack([first.astype(object), second])):
        columns = y.reshape(90, -1).T
        for _, test in folds.split(np.zeros((90, 1)), y):
            for column in columns:
                for value in {value for value in column if value is not None}:
                    assert abs((column[test] == value).sum() - (column == value).sum() / 3) <= 2


def test_y_that_has_no_folds_is_refused():
    X, Y = np.zeros((40, 2)), np.eye(2, dtype=int).repeat(25, axis=0)
    folds = IterativeStratifiedKFold(2, random_state=0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        next(folds.split(X, Y))
    for y in (Y + 0.5, Y[:, 0] + 0.5):
        with pytest.raises(ValueError, match="numbers that are not whole"):
            next(folds.split(None, y))
