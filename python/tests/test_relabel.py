"""New labels for grown forests."""

import numpy as np
import pandas as pd
import pytest

import rpo


def data(n=120):
    rng = np.random.default_rng(0)
    X = rng.random((n, 4)).astype(np.float32)
    return X, (X[:, :3] > 0.5).astype(np.float32)


@pytest.mark.parametrize("method", ["random-forest", "extra-trees", "structured-forest"])
def test_labels_are_added(method):
    X, Y = data()
    grown = rpo.Model.fit(X, Y[:, :2], labels=True, method=method, trees=8, seed=0)
    added = grown.relabel(X, Y, labels=True, training_samples=True)
    assert added.predict(X).shape == Y.shape
    if method == "random-forest":
        np.testing.assert_array_equal(added.predict(X)[:, :2], grown.predict(X))
        (scores, counts), (before, counts_before) = added.oob_predictions(X), grown.oob_predictions(X)
        np.testing.assert_array_equal(counts, counts_before)
        np.testing.assert_array_equal(scores[:, :2], before)
    assert rpo.Model.from_bytes(added.to_bytes()) == added


def test_estimators_have_models_that_can_be_relabelled():
    X, Y = data()
    frame = pd.DataFrame(X, columns=list("abcd"))
    forest = rpo.ExtraTreesClassifier(n_estimators=8, random_state=0).fit(frame, Y[:, 0].astype(int))
    numbers = pd.DataFrame({"price": X[:, 1] * 10, "size": np.where(X[:, 0] > 0.9, np.nan, X[:, 2])})
    relabelled = forest.model_.relabel(frame[::-1], numbers[::-1], labels=False, missing_outputs=True)
    assert relabelled.output_names == ["price", "size"]
    assert relabelled.n_train == len(X)
    error = np.abs(relabelled.predict(frame[["d", "c", "b", "a"]])[:, 0] - numbers["price"])
    assert error.mean() < 3


def test_other_samples_and_weights():
    X, Y = data()
    grown = rpo.Model.fit(X[:60], Y[:60], labels=True, trees=10, seed=0)
    honest = grown.relabel(X[60:], Y[60:], labels=True)
    assert honest.n_train == 60
    weights = np.r_[np.ones(60), np.zeros(60)]
    weighted = grown.relabel(np.r_[X[60:], X[:60]], np.r_[Y[60:], Y[:60]], labels=True, sample_weight=weights)
    np.testing.assert_allclose(weighted.predict(X), honest.predict(X), atol=1e-6)


def test_mistakes_are_named():
    X, Y = data()
    grown = rpo.Model.fit(X, Y, labels=True, trees=5, seed=0)
    with pytest.raises(ValueError, match="pass the training samples, in their original order"):
        grown.relabel(X[::-1], Y, labels=True, training_samples=True)
    with pytest.raises(ValueError, match="training samples"):
        grown.relabel(X[:50], Y[:50], labels=True, training_samples=True)
    with pytest.raises(ValueError, match="missing_outputs"):
        grown.relabel(X, np.where(Y > 0, np.nan, Y), labels=True)
    with pytest.raises(ValueError, match="weights of samples"):
        grown.relabel(X, Y, labels=True, sample_weight=np.ones(Y.shape))
    with pytest.raises(ValueError, match="training_samples must be True or False"):
        grown.relabel(X, Y, labels=True, training_samples="yes")
    ridge = rpo.Model.fit(X, Y, labels=False, method="ridge")
    with pytest.raises(ValueError, match="not a forest"):
        ridge.relabel(X, Y, labels=False)


def test_out_of_bag_predictions_are_for_as_many_samples_as_in_training():
    X, Y = data()
    grown = rpo.Model.fit(X, Y, labels=True, trees=5, seed=0)
    added = grown.relabel(X, Y, labels=True, training_samples=True)
    for model in (grown, added):
        scores, counts = model.oob_predictions(X)
        assert np.array_equal(np.isnan(scores).all(axis=1), counts == 0)
        with pytest.raises(ValueError, match="training samples: expected 120, got 119"):
            model.oob_predictions(X[1:])
