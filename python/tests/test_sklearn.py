"""Estimators used through scikit-learn."""

from __future__ import annotations

import copy
import pickle
import warnings

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn import ensemble
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

import rpo
from rpo.projections import OutputProjection

ALL = [
    rpo.RandomForestClassifier(4, random_state=0),
    rpo.ExtraTreesClassifier(4, random_state=0),
    rpo.GradientBoostingClassifier(4, random_state=0),
    rpo.StructuredForestClassifier(4, random_state=0),
    rpo.CraftmlClassifier(4, random_state=0),
    rpo.LabelEmbeddingClassifier(random_state=0),
    rpo.LinearOneVsRestClassifier(random_state=0),
    rpo.LabelTreeClassifier(random_state=0),
]


@pytest.mark.parametrize("estimator", ALL, ids=lambda estimator: type(estimator).__name__)
def test_estimators_are_pickled_copied_and_cloned(estimator, labels, tmp_path):
    X, Y = labels
    fitted = clone(estimator).fit(X, Y)
    joblib.dump(fitted, tmp_path / "model")
    for other in (
        pickle.loads(pickle.dumps(fitted)),
        copy.deepcopy(fitted),
        joblib.load(tmp_path / "model"),
        clone(fitted).fit(X, Y),
    ):
        assert other.model_ == fitted.model_
        assert np.array_equal(other.predict_proba(X), fitted.predict_proba(X))
    assert type(estimator).__name__ in fitted._repr_html_()


def test_pipelines_searches_and_cross_validation(labels):
    X, Y = labels
    pipeline = make_pipeline(StandardScaler(), rpo.RandomForestClassifier(10, random_state=0))
    search = GridSearchCV(pipeline, {"randomforestclassifier__max_features": ["sqrt", None]}, cv=3).fit(X, Y)
    assert 0.0 < search.best_score_ <= 1.0
    assert cross_val_score(rpo.ExtraTreesClassifier(10, random_state=0), X, Y[:, 0], cv=3, n_jobs=2).mean() > 0.7
    assert cross_val_predict(rpo.RandomForestClassifier(5), X, Y, method="predict_proba", cv=3).shape == Y.shape
    calibrated = CalibratedClassifierCV(rpo.RandomForestClassifier(10, random_state=0), cv=3).fit(X, Y[:, 0])
    assert calibrated.predict_proba(X).shape == (120, 2)
    assert calibrated.score(X, Y[:, 0]) > 0.8


def test_multilabel_scorers_take_one_array_of_probabilities(labels):
    X, Y = labels
    forest = rpo.RandomForestClassifier(10, random_state=0)
    for scoring in ("roc_auc", "average_precision", "f1_macro"):
        assert cross_val_score(forest, X, Y, cv=3, scoring=scoring).mean() > 0.5


def test_frames_out_of_a_pipeline(labels):
    pd = pytest.importorskip("pandas")
    X, Y = labels
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    scale = ColumnTransformer([("scale", StandardScaler(), ["x0", "x1"])], remainder="passthrough")
    model = make_pipeline(scale, rpo.RandomForestClassifier(5, random_state=0)).set_output(transform="pandas")
    model.fit(frame, Y)
    assert list(model[-1].feature_names_in_)[:2] == ["scale__x0", "scale__x1"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_projections_give_tables(labels, library):
    module = pytest.importorskip(library)
    _, Y = labels
    projection = OutputProjection(n_components=2, random_state=0)
    table = projection.set_output(transform=library).fit(Y).transform(Y)
    assert isinstance(table, module.DataFrame)
    assert list(table.columns) == ["outputprojection0", "outputprojection1"]


def test_notebooks_show_parameters_and_whether_it_is_fitted(labels):
    forest = rpo.RandomForestClassifier(7, projection="gaussian")
    before, after = forest._repr_html_(), forest.fit(*labels)._repr_html_()
    assert "Not fitted" in before
    assert "Not fitted" not in after
    for text in ("RandomForestClassifier", "n_estimators", "gaussian"):
        assert text in before
        assert text in after


@pytest.mark.parametrize(
    "estimator", [rpo.RandomForestClassifier(2), rpo.LinearOneVsRestClassifier(C=1.0), rpo.GradientBoostingRegressor(2)]
)
def test_the_memory_limit_of_predictions_can_be_set(estimator, labels):
    X, Y = labels
    model = estimator.fit(X, Y)
    names = ["predict", "predict_proba", "predict_log_proba", "predict_sets"]
    calls = [(getattr(model, name), X) for name in names if hasattr(model, name)]
    for call, *data in (*calls, (model.score, X, Y)):
        # What is returned counts: indicators are int64 and numbers float64.
        size = Y.size * (8 if call.__name__ in ("predict", "score") else 4)
        with pytest.raises(MemoryError, match=f"{size} bytes.*; memory_limit raises the limit"):
            call(*data, memory_limit=size - 1)
        found = call(*data, memory_limit=size)
        assert isinstance(found, float) or len(found) == len(X)
        assert not isinstance(found, np.ndarray) or found.nbytes == size


def test_the_memory_limit_counts_the_probabilities_of_classes(labels):
    X, Y = labels
    for y in (Y[:, 0], Y[:, 0] + Y[:, 1]):
        model = rpo.RandomForestClassifier(2, random_state=0).fit(X, y)
        size = model.predict_proba(X).nbytes
        assert model.predict_proba(X, memory_limit=size).nbytes == size
        with pytest.raises(MemoryError, match=f"would take {size} bytes"):
            model.predict_proba(X, memory_limit=size - 1)
    sparse = rpo.RandomForestClassifier(2, random_state=0).fit(X, sp.csr_array(Y))
    assert sparse.predict(X, memory_limit=Y.size * 4).shape == Y.shape


def test_a_weight_counts_as_often_as_the_sample_occurs(labels):
    X, Y = labels
    X = X * [1, 10, 100, 1, 1, 1, 1, 1] + 5
    times = np.random.default_rng(0).integers(0, 4, len(X))
    # The order of the samples has an effect only within the tolerances.
    exact = {"tolerance": 1e-6, "max_passes": 10_000, "prune": 0, "precision": "single", "cost_exponent": 0}
    for estimator in (rpo.LinearOneVsRestClassifier, rpo.LabelTreeClassifier):

        def difference(params, estimator=estimator):
            model = estimator(C=0.1, random_state=0, params=params)
            weighted = model.fit(X, Y, sample_weight=times).model_.predict(X)
            repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0)).model_.predict(X)
            # Margins become probabilities by two numbers that are found on other samples; sure ones are bent.
            margins = [np.log(p.astype(float) / (1 - p)).ravel() for p in (weighted, repeated)]
            straight = (margins[0] < 7) & (margins[1] < 7)
            slope, shift = np.polyfit(margins[1][straight], margins[0][straight], 1)
            weighted = weighted.ravel()[straight]
            repeated = 1 / (1 + np.exp(-(slope * margins[1][straight] + shift)))
            return np.abs(weighted - repeated).max()

        assert difference(exact) < 1e-5
        assert 1e-5 < difference({}) < 0.1


def test_weights_are_routed(labels):
    X, Y = labels
    with sklearn.config_context(enable_metadata_routing=True):
        forest = rpo.RandomForestClassifier(5, random_state=0).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, forest).fit(X, Y[:, 0], sample_weight=np.arange(120.0))
        direct = make_pipeline(StandardScaler()).fit_transform(X)
        expected = rpo.RandomForestClassifier(5, random_state=0).fit(direct, Y[:, 0], np.arange(120.0))
        assert routed[-1].model_ == expected.model_


def test_what_a_fit_takes_is_routed(labels):
    X, Y = labels
    with sklearn.config_context(enable_metadata_routing=True):
        boosting = rpo.GradientBoostingClassifier(50, n_iter_no_change=5, random_state=0)
        boosting.set_fit_request(sample_weight=True, eval_set=True).set_score_request(sample_weight=True)
        weights, held = np.arange(1.0, 81.0), (X[80:], Y[80:, 0])
        routed = make_pipeline("passthrough", boosting).fit(X[:80], Y[:80, 0], sample_weight=weights, eval_set=held)
        direct = clone(boosting).fit(X[:80], Y[:80, 0], weights, eval_set=held)
        assert routed[-1].model_ == direct.model_
        forest = rpo.RandomForestClassifier(5, random_state=0).set_fit_request(sample_weight=True)
        forest.set_score_request(sample_weight=True)
        search = GridSearchCV(forest, {"max_depth": [1, None]}, cv=3)
        assert search.fit(X, Y[:, 0], sample_weight=np.arange(120.0)).best_score_ > 0.7


def test_meta_estimators_of_several_outputs(numbers, labels):
    """Compare our forests with those of scikit-learn on its examples of several outputs."""
    rng = np.random.default_rng(1)
    angle = np.sort(rng.uniform(-100.0, 100.0, size=(600, 1)), axis=0)
    circle = np.pi * np.column_stack([np.sin(angle), np.cos(angle)]) + rng.uniform(-0.5, 0.5, size=(600, 2))
    train, test = np.arange(600) % 3 != 0, np.arange(600) % 3 == 0
    scores = {}
    for library in (rpo, ensemble):
        for wrap in (MultiOutputRegressor, RegressorChain, lambda forest: forest):
            model = wrap(library.RandomForestRegressor(50, max_depth=30, random_state=0)).fit(
                angle[train], circle[train]
            )
            scores.setdefault(library, []).append(model.score(angle[test], circle[test]))
    assert np.allclose(scores[rpo], scores[ensemble], atol=0.03)
    X, Y = labels
    for wrap in (MultiOutputClassifier, ClassifierChain, OneVsRestClassifier):
        model = wrap(rpo.ExtraTreesClassifier(20, random_state=0)).fit(X, Y)
        assert np.asarray(model.predict(X)).shape == Y.shape


def test_growing_on_gives_the_forest_grown_at_once(labels):
    X, Y = labels
    at_once = rpo.RandomForestClassifier(9, random_state=3, projection="gaussian", n_components=2).fit(X, Y)
    forest = clone(at_once).set_params(warm_start=True, n_estimators=4).fit(X, Y)
    forest.set_params(n_estimators=9).fit(X, Y)
    assert forest.model_.to_bytes() == at_once.model_.to_bytes()
    with pytest.warns(UserWarning, match="without increasing"):
        forest.fit(X, Y)
    with pytest.raises(ValueError, match="must be larger or equal"):
        forest.set_params(n_estimators=3).fit(X, Y)


@pytest.mark.parametrize("method", ["gbmort", "single-target-gbrt", "gbrt-relabel-rpo"])
def test_boosting_goes_on_where_it_stopped(method, labels):
    X, Y = labels
    at_once = rpo.GradientBoostingClassifier(9, random_state=3, method=method).fit(X, Y)
    model = clone(at_once).set_params(warm_start=True, n_estimators=4).fit(X, Y)
    model.set_params(n_estimators=9).fit(X, Y)
    assert model.n_estimators_ == 9
    assert np.allclose(model.predict_proba(X), at_once.predict_proba(X), atol=1e-5)
    with pytest.warns(UserWarning, match="without increasing"):
        model.fit(X, Y)
    with pytest.raises(ValueError, match="must be larger or equal"):
        model.set_params(n_estimators=3).fit(X, Y)
    with pytest.raises(ValueError, match="goes on with the same data"):
        model.set_params(n_estimators=20).fit(X[:50], Y[:50])


def test_outputs_of_samples_have_weights(labels, numbers):
    X, Y = labels
    model = rpo.GradientBoostingClassifier(10, random_state=0)
    plain = clone(model).fit(X, Y)
    weights = np.ones(Y.shape)
    # Without weights of outputs, odds are kept in single precision.
    ones = clone(model).fit(X, Y, weights)
    assert np.allclose(ones.predict_proba(X), plain.predict_proba(X), atol=1e-5)
    weights[::2, 1] = 0.0
    some = clone(model).fit(X, Y, weights)
    missing = np.where(weights == 0.0, np.nan, Y)
    expected = clone(model).set_params(missing_outputs=True).fit(X, missing)
    assert np.array_equal(some.predict_proba(X), expected.predict_proba(X))
    X, Y = numbers
    weighted = rpo.GradientBoostingRegressor(10, random_state=0).fit(X, Y, np.tile([1.0, 2.0, 3.0], (len(X), 1)))
    assert weighted.predict(X).shape == Y.shape
    with pytest.raises(ValueError, match="weights of outputs"):
        rpo.GradientBoostingRegressor(10).fit(X, Y, np.ones((len(X), 2)))
    with pytest.raises(ValueError, match=r"1D|2D"):
        rpo.RandomForestRegressor(10).fit(X, Y, np.ones(Y.shape))


def test_out_of_bag_scores(labels, numbers):
    X, Y = labels
    forest = rpo.RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, Y)
    assert forest.oob_decision_function_.shape == Y.shape
    assert 0.1 < forest.oob_score_ < forest.score(X, Y)
    assert rpo.RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, Y[:, 0]).oob_score_ > 0.7
    # No tree sees a sample of weight 0, and the forest is that of the others.
    weights = (np.arange(len(Y)) % 4 > 0).astype(float)
    weighted = rpo.RandomForestClassifier(60, oob_score=True, random_state=0).fit(X, Y, sample_weight=weights)
    without = rpo.RandomForestClassifier(60, oob_score=True, random_state=0).fit(X[weights > 0], Y[weights > 0])
    assert np.array_equal(weighted.predict_proba(X), without.predict_proba(X))
    found = weighted.oob_decision_function_
    assert np.array_equal(found[weights > 0], without.oob_decision_function_)
    assert np.array_equal(found[weights == 0], without.predict_proba(X[weights == 0]))
    by_function = rpo.RandomForestClassifier(60, oob_score=lambda y, p: 7.0, random_state=0).fit(X, Y)
    assert by_function.oob_score_ == 7.0
    for refused, reason in (
        (rpo.ExtraTreesClassifier(5, oob_score=True), "only available if bootstrap is True"),
        (
            rpo.RandomForestClassifier(5, bootstrap=None, oob_score=True, params={"bootstrap": False}),
            "bootstrap is True",
        ),
        (rpo.RandomForestClassifier(5, oob_score="x"), "oob_score must be True or False, got 'x'"),
    ):
        # Before anything grows: so is the criterion, later.
        with pytest.raises(ValueError, match=reason):
            refused.set_params(criterion="none").fit(X, Y)
    rpo.ExtraTreesClassifier(20, bootstrap=None, oob_score=True, params={"row_share": 0.5}).fit(X, Y)
    X, Y = numbers
    regressor = rpo.RandomForestRegressor(60, oob_score=True, random_state=0).fit(X, Y)
    assert regressor.oob_prediction_.shape == Y.shape
    assert 0.3 < regressor.oob_score_ < 1.0


def test_importances_and_leaves(numbers):
    X, Y = numbers
    for forest in (
        rpo.RandomForestRegressor(10, random_state=0),
        rpo.ExtraTreesRegressor(10, random_state=0),
    ):
        forest.fit(X, Y[:, 0])
        assert forest.feature_importances_.sum() == pytest.approx(1.0)
        assert set(np.argsort(forest.feature_importances_)[-2:]) == {0, 2}
        leaves = forest.apply(X)
        assert leaves.shape == (100, 10)
        same = leaves[:, 0] == leaves[0, 0]
        assert len(np.unique(leaves[:, 0])) > 10
        assert same.sum() < 20
    boosted = rpo.GradientBoostingRegressor(10, random_state=0).fit(X, Y[:, 0])
    assert boosted.feature_importances_.shape == (5,)


@pytest.mark.parametrize(
    ("estimator", "given", "message"),
    [
        (rpo.RandomForestClassifier, {"n_estimators": 0}, "`n_estimators` must be at least 1, got 0"),
        (rpo.RandomForestClassifier, {"n_estimators": None}, "`n_estimators` must .* got None"),
        (rpo.RandomForestClassifier, {"params": {"trees": 0}}, "`trees` must be at least 1, got 0"),
        (rpo.RandomForestClassifier, {"max_leaf_nodes": 0}, "`max_leaf_nodes` must be at least 2, got 0"),
        (rpo.RandomForestClassifier, {"min_samples_split": 1}, "min_samples_split must be at least 2"),
        (rpo.RandomForestClassifier, {"min_samples_leaf": "a"}, "min_samples_leaf must be a whole number"),
        (rpo.RandomForestClassifier, {"min_impurity_decrease": -1}, "min_impurity_decrease must be .* got -1"),
        (rpo.RandomForestClassifier, {"projection": "gaussian", "n_components": 0}, "`n_components` must be"),
        (rpo.RandomForestClassifier, {"criterion": "mse"}, "one of gini, entropy, log_loss, got 'mse'"),
        (rpo.RandomForestRegressor, {"criterion": "gini"}, "one of squared_error, got 'gini'"),
        (rpo.GradientBoostingClassifier, {"n_estimators": 0}, "`n_estimators` must be at least 1, got 0"),
        (rpo.GradientBoostingClassifier, {"n_iter_no_change": 0}, "`n_iter_no_change` must be at least 1"),
        (rpo.GradientBoostingRegressor, {"loss": "quantile", "alpha": 0}, "`alpha` must be in"),
        (rpo.LinearOneVsRestClassifier, {"C": -1.0}, "`C` must be positive"),
        (rpo.LinearOneVsRestClassifier, {"C": float("nan")}, "`C` must be finite, got nan"),
        (rpo.RandomForestClassifier, {"n_estimators": "ten"}, "`n_estimators` must be .* got 'ten'"),
        (rpo.RandomForestClassifier, {"n_jobs": "all"}, "n_jobs must be a whole number or None, got 'all'"),
        (rpo.RandomForestClassifier, {"missing_outputs": "yes"}, "missing_outputs must be True or False, got 'yes'"),
        (rpo.RandomForestClassifier, {"params": {"method": "craftml"}}, "params cannot have a method"),
        (rpo.GradientBoostingClassifier, {"method": "ridge"}, "method must be one of gbmort, .* got 'ridge'"),
        (rpo.GradientBoostingClassifier, {"loss": None}, "loss must be one of log_loss, .* got None"),
        (rpo.GradientBoostingRegressor, {"loss": "quantile", "alpha": "high"}, "`alpha` must be .* got 'high'"),
    ],
)
def test_messages_have_the_names_of_the_parameters(estimator, given, message, labels):
    X, Y = labels
    with pytest.raises(ValueError, match=message):
        estimator(**given).fit(X, Y)


def test_parameters_that_are_no_dict_are_refused(labels):
    with pytest.raises(TypeError, match="params must be a dict"):
        rpo.RandomForestClassifier(2, params=["trees"]).fit(*labels)


def test_fractions_of_the_samples(labels):
    X, Y = labels
    fit = lambda **options: rpo.RandomForestClassifier(3, random_state=0, **options).fit(X, Y).model_  # noqa: E731
    assert fit(min_samples_leaf=0.05) == fit(min_samples_leaf=6)
    assert fit(min_samples_split=0.1) == fit(min_samples_split=12)
    with pytest.raises(ValueError, match="fraction"):
        fit(min_samples_leaf=1.5)
    with pytest.raises(ValueError, match="criterion"):
        fit(criterion="median")


def test_impurity_decrease_is_that_of_scikit_learn(labels):
    """Both packages prune the same nodes of a single tree on all samples and features."""
    from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415

    X, Y = labels
    for y in (Y, Y[:, 0], Y[:, 0] + Y[:, 1] + Y[:, 2]):
        for decrease in (0.005, 0.02, 0.05):
            options = {"max_features": None, "min_impurity_decrease": decrease, "random_state": 0}
            ours = rpo.RandomForestClassifier(1, bootstrap=False, **options).fit(X, y)
            theirs = DecisionTreeClassifier(**options).fit(X, y)
            assert ours.model_.inspect()["tree_leaves"] == [theirs.get_n_leaves()]


def test_impurity_decrease_has_the_documented_units(labels, numbers):
    from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415
    from sklearn.tree import DecisionTreeRegressor  # noqa: PLC0415

    X, Y = labels
    options = {"max_features": None, "bootstrap": False, "random_state": 0}
    leaves = lambda model: model.model_.inspect()["tree_leaves"]  # noqa: E731
    entropy = options | {"criterion": "entropy", "min_impurity_decrease": 0.05}
    for y in (Y, Y[:, 0]):
        theirs = RandomForestClassifier(1, **entropy).fit(X, y).estimators_[0].get_n_leaves()
        assert leaves(rpo.RandomForestClassifier(1, **entropy).fit(X, y)) == [theirs]

    # The variance of a component is 1 over its standard deviation, whose squares are the units.
    X, y = numbers
    regressor = rpo.RandomForestRegressor(1, min_impurity_decrease=0.3, **options)
    own = rpo.RandomForestRegressor(1, min_impurity_decrease=0.3, params={"scale_outputs": "none"}, **options)
    tree = DecisionTreeRegressor(min_impurity_decrease=0.3, random_state=0)
    assert leaves(own.fit(X, y)) == [tree.fit(X, y).get_n_leaves()]
    assert leaves(regressor.fit(X, y)) == [tree.fit(X, y / y.std(axis=0)).get_n_leaves()]

    # All components of the identity are the labels, of which Gini's impurity is twice the variance.
    X, Y = labels
    identity = {"params": {"projection": "identity", "projection_scope": "shared"}} | options
    projected = rpo.RandomForestClassifier(1, min_impurity_decrease=0.01, **identity).fit(X, Y)
    plain = rpo.RandomForestClassifier(1, min_impurity_decrease=0.02, **options).fit(X, Y)
    assert leaves(projected) == leaves(plain)


def test_boosting_stops_on_samples_given_or_withheld(labels):
    X, Y = labels
    options = {"n_estimators": 200, "learning_rate": 0.5, "n_iter_no_change": 5, "random_state": 0}
    given = rpo.GradientBoostingClassifier(**options).fit(X[:80], Y[:80], eval_set=(X[80:], Y[80:]))
    withheld = rpo.GradientBoostingClassifier(validation_fraction=0.3, **options).fit(X, Y)
    assert 0 < given.n_estimators_ < 200
    assert 0 < withheld.n_estimators_ < 200
    multiclass = rpo.GradientBoostingClassifier(**options).fit(X[:80], Y[:80, 0] * 2, eval_set=(X[80:], Y[80:, 0] * 2))
    assert set(multiclass.predict(X)) == {0, 2}
    with pytest.raises(ValueError, match="did not occur in training"):
        rpo.GradientBoostingClassifier(**options).fit(X, Y[:, 0], eval_set=(X, Y[:, 0] + 5))


def test_classes_are_boosted_together(labels):
    X, Y = labels
    several = np.column_stack([Y[:, 0] + Y[:, 1], Y[:, 2]])
    for y, groups in ((several[:, 0], "3"), (several, "3,2")):
        model = rpo.GradientBoostingClassifier(20, random_state=0).fit(X, y)
        parameters = model.model_.parameters
        assert (parameters["loss"], parameters["groups"]) == ("softmax", groups)
        scores = model.model_.predict(np.asarray(X, np.float32))
        np.testing.assert_allclose(scores[:, :3].sum(axis=1), 1.0, rtol=1e-5)
        assert (model.predict(X) == y).mean() > 0.6
        alone = rpo.GradientBoostingClassifier(20, method="single-target-gbrt").fit(X, y)
        assert alone.model_.parameters["loss"] == "logistic"


def test_levels_are_columns(labels):
    X, Y = labels
    y = X[:, 0] + Y[:, 0]
    params = {"loss": "quantile", "quantile": "0.1,0.9"}
    found = rpo.GradientBoostingRegressor(20, params=params).fit(X, y).predict(X)
    assert found.shape == (len(X), 2)
    assert (found[:, 0] <= found[:, 1]).all()
    both = rpo.GradientBoostingRegressor(20, params={"output_losses": "square,logistic"})
    found = both.fit(X, np.column_stack([y, Y[:, 0]])).predict(X)
    assert ((found[:, 1] >= 0) & (found[:, 1] <= 1)).all()


@pytest.mark.skipif(parse_version(sklearn.__version__) < parse_version("1.9"), reason="no callbacks before 1.9")
def test_callbacks_are_called_for_every_step(labels):
    from sklearn.callback import ProgressBar, ScoringMonitor  # noqa: PLC0415
    from sklearn.metrics import f1_score  # noqa: PLC0415

    X, Y = labels

    class Count:
        def __init__(self):
            self.begun = self.ended = self.open = 0

        def setup(self, estimator, context):
            self.open += 1

        def on_fit_task_begin(self, estimator, context):
            self.begun += 1

        def on_fit_task_end(self, estimator, context):
            self.ended += 1

        def teardown(self, estimator, context):
            self.open -= 1

    count = Count()
    rpo.RandomForestClassifier(12, random_state=0).set_callbacks(count).fit(X, Y)
    # The fit and its twelve trees.
    assert (count.begun, count.ended, count.open) == (13, 13, 0)
    monitor = ScoringMonitor(scoring="f1_macro")
    forest = rpo.RandomForestClassifier(12, random_state=0).set_callbacks(monitor).fit(X, Y)
    scored = monitor.get_logs().data[-1]
    assert scored["f1_macro"] == pytest.approx(f1_score(Y, forest.predict(X), average="macro"))
    rpo.GradientBoostingClassifier(5).set_callbacks(ProgressBar()).fit(X, Y)
    # They predict for what was passed, not for the positions of categories.
    category = np.repeat([10.0, 20.0, 30.0, 40.0], 10)[:, None]
    monitor = ScoringMonitor(scoring="r2")
    make = rpo.RandomForestRegressor(12, random_state=0, categorical_features=[0])
    forest = make.set_callbacks(monitor).fit(category, category[:, 0] % 20)
    scored = monitor.get_logs().data[-1]["r2"]
    assert scored == pytest.approx(forest.score(category, category[:, 0] % 20))
    # For each fit of a search, and for the steps of a pipeline.
    count = Count()
    for estimator in (
        GridSearchCV(rpo.RandomForestClassifier(3), {"max_depth": [1, 2]}, cv=2),
        make_pipeline(StandardScaler(), rpo.GradientBoostingClassifier(3)),
    ):
        estimator.set_callbacks(ProgressBar()).fit(X, Y)
    make_pipeline(StandardScaler(), rpo.GradientBoostingClassifier(3).set_callbacks(count)).fit(X, Y)
    assert (count.begun, count.ended, count.open) == (4, 4, 0)


def test_entries_of_params_are_given_once_and_can_be_searched(numbers):
    X, Y = numbers
    for estimator in (
        rpo.RandomForestRegressor(max_depth=2, params={"max_depth": 5}),
        rpo.RandomForestRegressor(20, params={"trees": 5}),
        rpo.GradientBoostingRegressor(learning_rate=0.2, params={"learning_rate": 0.1}),
    ):
        with pytest.raises(ValueError, match="which is the same parameter; give it once"):
            estimator.fit(X, Y)
    rpo.RandomForestRegressor(3, params={"max_depth": 2}).fit(X, Y)
    boosting = rpo.GradientBoostingRegressor(5, params={"bins": 32})
    search = GridSearchCV(boosting, {"params__leaf_l2": [0, 100]}, cv=2).fit(X, Y)
    assert search.best_estimator_.params["bins"] == 32
    assert len(set(search.cv_results_["mean_test_score"])) == 2
    assert boosting.params == {"bins": 32}


def test_contributions_take_what_predict_takes():
    category = np.repeat([10.0, 20.0, 30.0, 40.0], 10)[:, None]
    y = category[:, 0] % 20
    forest = rpo.RandomForestRegressor(12, random_state=0, categorical_features=[0]).fit(category, y)
    contributions, base = forest.contributions(category[:15], category)
    np.testing.assert_allclose(base + contributions.sum(axis=1)[:, 0], forest.predict(category[:15]), atol=1e-5)


def test_weights_that_penalties_dominate_are_warned_of(numbers):
    X, Y = numbers
    weights = np.full(len(X), 1.0 / len(X))
    with pytest.warns(UserWarning, match="the mean weight is 1.00e-2") as found:
        rpo.GradientBoostingRegressor(3).fit(X, Y, weights)
    with pytest.warns(UserWarning, match="penalties of this method") as of_model:
        rpo.Model.fit(X, Y, labels=False, method="gbmort", iterations=2, sample_weight=weights)
    assert [of.filename for of in [*found, *of_model]] == [__file__] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rpo.RandomForestRegressor(3).fit(X, Y, weights)


def test_defaults_of_the_registry_and_of_scikit_learn():
    """Parameters with a name in the registry exist there, and have the same defaults."""
    methods = rpo.methods()
    for estimator in [*ALL, rpo.RandomForestRegressor(), rpo.GradientBoostingRegressor()]:
        known = methods[estimator._method]["parameters"]
        assert set(estimator._renamed.values()) <= set(known)
        theirs = getattr(ensemble, type(estimator).__name__, None)
        if theirs is not None:
            shared = set(theirs().get_params()) & set(estimator.get_params())
            differ = {name for name in shared if theirs().get_params()[name] != type(estimator)().get_params()[name]}
            assert differ == set()
    with pytest.raises(ValueError, match="did you mean"):
        rpo.RandomForestClassifier(2, params={"leafs": "dense"}).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("use", ["score", "predict_sets", "feature_importances_", "is_categorical_"])
def test_estimators_without_a_model_are_not_fitted(use, labels):
    estimator = rpo.RandomForestClassifier(2)
    with pytest.raises(NotFittedError, match="not fitted"):
        estimator.score(*labels) if use == "score" else getattr(estimator, use)(labels[0])
    with pytest.raises(NotFittedError, match="not fitted"):
        _ = rpo.GradientBoostingRegressor().n_estimators_


def test_fit_is_typed_to_return_the_estimator():
    for estimator in [*ALL, rpo.RandomForestRegressor(), rpo.GradientBoostingRegressor(), rpo.AutoRegressor()]:
        assert type(estimator).fit.__annotations__["return"] == "Self"


def test_folds_and_searches_take_sparse_labels(sparse):
    X, Y = sparse
    forest = rpo.RandomForestClassifier(3, random_state=0)
    folds = rpo.model_selection.IterativeStratifiedKFold(3).split(X, Y)
    scores = [
        rpo.metrics.lrap(Y[test], clone(forest).fit(X[train], Y[train]).predict_proba(X[test])) for train, test in folds
    ]
    assert len(scores) == 3
    assert min(scores) > 0
    search = GridSearchCV(forest, {}, cv=3).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
