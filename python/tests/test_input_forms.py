"""Forms of X and y that users have, and what is refused of them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import rpo


@pytest.mark.parametrize("dtype", [bool, float, int])
def test_tables_of_sparse_columns_are_features(dtype):
    words = pd.DataFrame({"c": np.random.default_rng(0).choice(list("abc"), 60)})
    X = pd.get_dummies(words, sparse=True, dtype=dtype)
    y = (words.c == "a").astype(float)
    dense = rpo.RandomForestRegressor(5, random_state=0).fit(pd.get_dummies(words, dtype=dtype), y)
    found = rpo.RandomForestRegressor(5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), dense.predict(pd.get_dummies(words, dtype=dtype)))


@pytest.mark.parametrize("form", ["coo", "lil", "dok", "dia", "csc", "bsr"])
def test_labels_may_have_any_sparse_form(form):
    Y = sp.lil_matrix((60, 3))
    Y[0, 0] = Y[1, 1] = Y[2, 2] = 1
    X = np.random.default_rng(0).random((60, 3))
    expected = rpo.RandomForestClassifier(3, random_state=0).fit(X, Y.tocsr())
    found = rpo.RandomForestClassifier(3, random_state=0).fit(X, Y.asformat(form))
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    rpo.Model.fit(X, Y.asformat(form), labels=True, method="extra-trees", trees=2)


def test_metrics_refuse_columns_in_another_order():
    Y = pd.DataFrame((np.random.default_rng(0).random((50, 3)) < 0.4).astype(int), columns=list("abc"))
    assert rpo.metrics.f1(Y, Y) == 1.0
    for score in [rpo.metrics.f1, rpo.metrics.roc_auc, rpo.metrics.r2, rpo.metrics.confusion_counts, rpo.metrics.lrap]:
        with pytest.raises(ValueError, match="different order"):
            score(Y, Y[["c", "b", "a"]])


def test_intervals_of_no_samples_and_of_no_model():
    X, y = np.random.default_rng(0).random((100, 2)), np.arange(100.0)
    forest = rpo.RandomForestRegressor(20, params={"intervals": 0.9}, random_state=0)
    with pytest.raises(NotFittedError):
        forest.predict_intervals(X)
    model = forest.fit(X, y).model_
    assert model.predict_intervals(np.empty((0, 2), np.float32)).shape == (0, 1, 2)


def test_a_warm_start_keeps_its_seed():
    X, y = np.random.default_rng(0).random((100, 2)), np.arange(100.0)
    forest = rpo.RandomForestRegressor(5, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="random_state"):
        forest.set_params(n_estimators=8, random_state=7).fit(X, y)


def test_out_of_bag_accuracy_is_of_whole_rows():
    X = np.random.default_rng(0).normal(size=(300, 4))
    Y = np.column_stack([np.digitize(X[:, 0], [-0.5, 0.5]), np.digitize(X[:, 1], [-1, 0, 1])])
    forest = rpo.RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, Y)
    chosen = np.column_stack([scores.argmax(1) for scores in forest.oob_decision_function_])
    assert forest.oob_score_ == np.mean((chosen == Y).all(axis=1))
