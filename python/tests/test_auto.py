"""The search for ensembles."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import rpo


def labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5)).astype(np.float32)
    return X, (X[:, :3] + 0.3 * rng.normal(size=(80, 3)) > 0).astype(int)


def test_labels_are_decided_by_thresholds():
    X, Y = labels()
    model = rpo.AutoClassifier(configurations=3, random_state=0).fit(X, Y)
    assert (model.predict(X) == Y).mean() > 0.8
    assert model.predict_proba(X).shape == Y.shape
    decided = model.model_.decide(model.model_.predict(X)).toarray()
    np.testing.assert_array_equal(model.predict(X), decided)
    again = clone(model).fit(X, Y)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_numbers_and_classes():
    X, _ = labels()
    X[::7, 1] = np.nan
    y = 3 * X[:, 0] + X[:, 2]
    model = rpo.AutoRegressor(configurations=3, random_state=0).fit(X, y)
    assert model.predict(X).shape == (80,)
    assert model.score(X, y) > 0.9
    classes = np.where(y > 0, "up", "down")
    assert rpo.AutoClassifier(configurations=2, random_state=0).fit(X, classes).score(X, classes) > 0.8


def test_the_most_probable_of_two_classes_is_predicted_whatever_their_names():
    X, _ = labels()
    rare = X[:, 0] + np.random.default_rng(1).normal(size=80) > 1.0
    model = rpo.AutoClassifier(configurations=2, random_state=0)
    for words in ([False, True], [0, 1], ["a", "b"], ["b", "a"], ["no", "yes"]):
        y = np.array(words)[rare.astype(int)]
        for target in (y, pd.Series(y, name="kind")):
            model.fit(X, target)
            assert model.model_.parameters["thresholds"] is None
            best = model.classes_[model.predict_proba(X).argmax(axis=1)]
            np.testing.assert_array_equal(model.predict(X), best)
    model.set_params(params={"thresholds": "macro-f"}).fit(X, rare)
    new = np.random.default_rng(2).normal(size=(300, X.shape[1]))
    decided = model.model_.predict_labels(new).toarray()[:, 0] == 1
    np.testing.assert_array_equal(model.predict(new), decided)
    assert not np.array_equal(decided, model.predict_proba(new)[:, 1] > 0.5)


def test_what_is_out_of_range_is_refused():
    X, Y = labels()
    with pytest.raises(ValueError, match="configurations"):
        rpo.AutoClassifier(configurations=0).fit(X, Y)
    with pytest.raises(ValueError, match="cannot be combined with"):
        rpo.AutoClassifier(5, configurations=2).fit(X, Y)


def test_missing_outputs_are_left_out(labels, numbers):
    X, Y = labels
    holes = np.where(np.random.default_rng(0).random(Y.shape) < 0.1, np.nan, Y)
    model = rpo.AutoClassifier(configurations=2, random_state=0, missing_outputs=True).fit(X, holes)
    expected = rpo.Model.fit(X, holes, labels=True, method="auto", missing_outputs=True, configurations=2, seed=0)
    assert np.array_equal(model.model_.predict(X), expected.predict(X))
    assert model.score(X, holes) > 0.5
    X, Y = numbers
    holes = np.where(np.random.default_rng(0).random(Y.shape) < 0.1, np.nan, Y)
    assert rpo.AutoRegressor(configurations=2, random_state=0, missing_outputs=True).fit(X, holes).score(X, holes) > 0.5
