"""Losses and stages of boosting."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import ensemble
from sklearn.exceptions import NotFittedError
from sklearn.metrics import d2_pinball_score, d2_tweedie_score, mean_absolute_error, mean_pinball_loss

import rpo

ALGORITHMS = ["gbmort", "gbrt-rpo", "gbrt-relabel-rpo", "single-target-gbrt"]


@pytest.mark.parametrize("method", ALGORITHMS)
def test_stages_of_labels_are_the_predictions_of_shorter_fits(method, labels):
    X, Y = labels
    boost = lambda n: rpo.GradientBoostingClassifier(n, random_state=3, method=method, n_jobs=2).fit(X, Y)  # noqa: E731
    model = boost(6)
    probabilities, predictions = list(model.staged_predict_proba(X)), list(model.staged_predict(X))
    assert len(probabilities) == len(predictions) == 6
    for n in (1, 4, 6):
        shorter = boost(n)
        assert np.array_equal(probabilities[n - 1], shorter.predict_proba(X))
        assert np.array_equal(predictions[n - 1], shorter.predict(X))
    several = [list(rpo.GradientBoostingClassifier(6).fit(X, y).staged_predict_proba(X)) for y in kinds_of_classes(Y)]
    assert [len(stages) for stages in several] == [6, 6, 6]
    assert (several[0][0].shape, several[1][0].shape, len(several[2][0])) == ((120, 2), (120, 3), 2)


def kinds_of_classes(Y):
    return Y[:, 0], Y[:, 0] + Y[:, 1], np.column_stack([Y[:, 0] + Y[:, 1], Y[:, 2]])


def test_stages_of_numbers_are_those_of_scikit_learn(numbers):
    X, Y = numbers
    options = {"n_estimators": 8, "max_depth": 2, "random_state": 0}
    ours = rpo.GradientBoostingRegressor(**options, params={"line_search": "exact", "step_scope": "leaf"}).fit(
        X, Y[:, 0]
    )
    theirs = ensemble.GradientBoostingRegressor(**options).fit(X, Y[:, 0])
    stages = list(ours.staged_predict(X))
    assert np.array_equal(stages[-1], ours.predict(X))
    for found, expected in zip(stages, theirs.staged_predict(X), strict=True):
        assert np.allclose(found, expected, atol=1e-4)
    # Features may be sparse, and the first stages are available without the others.
    first = next(iter(ours.staged_predict(sp.csr_array(X))))
    assert np.array_equal(first, stages[0])


def test_stages_are_of_models_with_steps(labels, numbers):
    X, Y = labels
    with pytest.raises(NotFittedError):
        rpo.GradientBoostingClassifier().staged_predict(X)
    with pytest.raises(ValueError, match="random-forest has no predictions step by step"):
        rpo.RandomForestClassifier(2).fit(X, Y).model_.staged_predict(X)
    model = rpo.GradientBoostingRegressor(5).fit(*numbers)
    with pytest.raises(ValueError, match="features"):
        model.staged_predict(X)
    filled = rpo.Model.fit(X, Y, method="gbmort", labels=True, iterations=5, impute="median", standardize=True)
    holes = np.where(X > 1.0, np.nan, X).astype(np.float32)
    assert np.array_equal(list(filled.staged_predict(holes))[-1], filled.predict(holes))


@pytest.fixture
def noisy():
    rng = np.random.default_rng(4)
    X = rng.uniform(-1.0, 1.0, size=(400, 3)).astype(np.float32)
    return X, 2.0 * X[:, 0] + rng.standard_t(2, size=400)


def test_every_loss_has_a_name(noisy):
    X, y = noisy
    counts = np.random.default_rng(0).poisson(np.exp(X[:, 0]))
    names = {
        "squared_error": "square",
        "absolute_error": "absolute",
        "huber": "huber",
        "quantile": "quantile",
        "poisson": "poisson",
        "tweedie": "tweedie",
        "log_loss": "logistic",
    }
    for name, loss in names.items():
        target = counts if name in ("poisson", "tweedie") else (y > 0) if name == "log_loss" else y
        model = rpo.GradientBoostingRegressor(15, loss=name, random_state=0).fit(X, target)
        assert model.model_.parameters["loss"] == loss
        by_command = {
            word: value
            for word, value in model.model_.parameters.items()
            if word in ("loss", "quantile", "huber_delta") and value is not None
        }
        assert len(by_command) == (2 if name in ("huber", "quantile") else 1)
        again = rpo.GradientBoostingRegressor(15, params=by_command, random_state=0).fit(X, target)
        assert np.array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match=r"loss must be one of squared_error, .*tweedie.*, got 'gamma'"):
        rpo.GradientBoostingRegressor(loss="gamma").fit(X, y)
    with pytest.raises(ValueError, match=r"loss must be one of log_loss, .*, got 'exponential'"):
        rpo.GradientBoostingClassifier(loss="exponential").fit(X, y > 0)
    for name in ("poisson", "tweedie"):
        with pytest.raises(ValueError, match="needs at least 0"):
            rpo.GradientBoostingRegressor(loss=name).fit(X, y)


def test_losses_do_what_they_are_for(noisy):
    X, y = noisy
    options = {"n_estimators": 60, "max_depth": 2, "random_state": 0}
    fit = lambda name, **more: rpo.GradientBoostingRegressor(loss=name, **options, **more)  # noqa: E731
    median = 2.0 * X[:, 0]
    errors = {
        name: mean_absolute_error(median, fit(name).fit(X, y).predict(X))
        for name in ("squared_error", "absolute_error", "huber")
    }
    assert errors["huber"] < errors["squared_error"]
    assert errors["absolute_error"] < errors["squared_error"]
    theirs = ensemble.GradientBoostingRegressor(loss="huber", **options).fit(X, y).predict(X)
    assert errors["huber"] < 1.3 * mean_absolute_error(median, theirs)
    for level in (0.2, 0.9):
        found = fit("quantile", alpha=level).fit(X, y).predict(X)
        assert d2_pinball_score(y, found, alpha=level) > 0.05
        theirs = ensemble.GradientBoostingRegressor(loss="quantile", alpha=level, **options).fit(X, y)
        assert mean_pinball_loss(y, found, alpha=level) < 1.1 * mean_pinball_loss(y, theirs.predict(X), alpha=level)
    counts = np.random.default_rng(0).poisson(np.exp(2.0 * X[:, 0]))
    for name, power in (("poisson", 1.0), ("tweedie", 1.5)):
        found = fit(name).fit(X, counts).predict(X)
        assert (found > 0.0).all()
        assert d2_tweedie_score(counts, found, power=power) > 0.5


def test_levels_of_quantiles(noisy):
    X, y = noisy
    model = rpo.GradientBoostingRegressor(30, loss="quantile", alpha=[0.1, 0.5, 0.9]).fit(X, y)
    levels = model.predict(X)
    with pytest.raises(ValueError, match="several quantile levels have no R²"):
        model.score(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        rpo.GradientBoostingRegressor(2).fit(X, y).score(X, y[:7])
    assert levels.shape == (400, 3)
    assert list(model.model_.evaluate(X, y)) == ["pinball"]
    assert (np.diff(levels, axis=1) >= 0.0).all()
    assert 0.7 < ((levels[:, 0] <= y) & (y <= levels[:, 2])).mean() < 0.95
    for alpha in (0.0, 1.0, [0.5, 0.1], [0.5, 2.0]):
        with pytest.raises(ValueError, match="alpha"):
            rpo.GradientBoostingRegressor(5, loss="quantile", alpha=alpha).fit(X, y)


def test_the_distance_of_huber(noisy):
    X, y = noisy
    model = rpo.GradientBoostingRegressor(5, loss="huber", alpha=0.8).fit(X, y)
    expected = np.quantile(np.abs(y - np.median(y)), 0.8)
    assert model.model_.parameters["huber_delta"] == pytest.approx(expected)
    both = rpo.GradientBoostingRegressor(5, loss=["huber", "squared_error"], alpha=0.8)
    both.fit(X, np.column_stack([y, 1000 * y]))
    assert both.model_.parameters["huber_delta"] == pytest.approx(expected)
    # A weight of 2 is two samples, and one of 0 is none.
    weights = np.arange(len(y)) % 3
    weighted = rpo.GradientBoostingRegressor(5, loss="huber", alpha=0.8).fit(X, y, sample_weight=weights)
    repeated = rpo.GradientBoostingRegressor(5, loss="huber", alpha=0.8).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights, axis=0)
    )
    distance = repeated.model_.parameters["huber_delta"]
    assert weighted.model_.parameters["huber_delta"] == pytest.approx(distance)
    scaled = rpo.GradientBoostingRegressor(5, loss="huber", alpha=0.8).fit(X, 1000.0 * y)
    assert np.allclose(scaled.predict(X), 1000.0 * model.predict(X), rtol=1e-3)
    given = rpo.GradientBoostingRegressor(5, loss="huber", params={"huber_delta": 2.5}).fit(X, y)
    assert given.model_.parameters["huber_delta"] == 2.5
    for alpha in (0.0, 1.5, [0.1, 0.9]):
        with pytest.raises(ValueError, match="alpha must be a number between 0 and 1"):
            rpo.GradientBoostingRegressor(5, loss="huber", alpha=alpha).fit(X, y)
    with pytest.raises(ValueError, match="quantile of the distances of y"):
        rpo.GradientBoostingRegressor(5, loss="huber", alpha=0.5).fit(X, (np.arange(400) == 3).astype(float))


def test_each_output_may_have_its_loss(noisy):
    X, y = noisy
    both = np.column_stack([y, y > 0.0])
    model = rpo.GradientBoostingRegressor(20, loss=["huber", "log_loss"]).fit(X, both)
    assert model.model_.parameters["output_losses"] == "huber,logistic"
    assert ((model.predict(X)[:, 1] >= 0.0) & (model.predict(X)[:, 1] <= 1.0)).all()
    with pytest.raises(ValueError, match="got 'gamma'"):
        rpo.GradientBoostingRegressor(loss=["gamma", "huber"]).fit(X, both)
    with pytest.raises(ValueError, match="loss"):
        rpo.GradientBoostingRegressor(loss=["huber"]).fit(X, both)


def test_samples_to_score_steps_on_have_the_outputs_of_training(labels, numbers):
    pd = pytest.importorskip("pandas")
    X, Y = labels
    boosting = rpo.GradientBoostingClassifier(5, n_iter_no_change=2)
    for kind in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match="y has 3 columns; in training it had 6"):
            boosting.fit(X, kind(Y), eval_set=(X, kind(Y[:, :3])))
    with pytest.raises(ValueError, match="a pair of features and outputs"):
        boosting.fit(X, Y, eval_set=[(X, Y)])
    with pytest.raises(ValueError, match="not a list of pairs"):
        boosting.fit(X, Y, eval_set=[(X, Y), (X, Y)])
    X, Y = numbers
    boosting = rpo.GradientBoostingRegressor(5, n_iter_no_change=2)
    with pytest.raises(ValueError, match="y has 1 columns; in training it had 3"):
        boosting.fit(X, Y, eval_set=(X, Y[:, 0]))
    table = pd.DataFrame(Y, columns=["a", "b", "c"])
    with pytest.raises(ValueError, match="column 0 of y is 'c'; in training it was 'a'"):
        boosting.fit(X, table, eval_set=(X, table[["c", "b", "a"]]))
    boosting.fit(X, table, eval_set=(X, table))


def test_steps_are_stopped_when_probabilities_are_right(labels):
    X, Y = labels
    boosting = rpo.GradientBoostingClassifier(100, random_state=0, n_iter_no_change=10)
    rare = (X[:, 0] > np.quantile(X[:, 0], 0.9)).astype(int)
    predicted = boosting.fit(X, rare).predict(X)
    assert 0.5 * rare.sum() < predicted.sum() < 1.5 * rare.sum()
    # Samples of one class tell steps apart too.
    held = np.flatnonzero(Y[:, 0])
    boosting.set_params(n_iter_no_change=None)
    assert boosting.fit(X, Y[:, 0], eval_set=(X[held], Y[held, 0])).n_estimators_ > 0


def test_scored_steps_cannot_be_continued(numbers):
    X, Y = numbers
    more = {"n_estimators": 40}
    stopped = rpo.GradientBoostingRegressor(20, warm_start=True, n_iter_no_change=3).fit(X, Y)
    with pytest.raises(ValueError, match="more steps with n_iter_no_change: only a model that is fitted to all"):
        stopped.set_params(**more).fit(X, Y)
    with pytest.raises(ValueError, match="the earlier fit withheld samples for n_iter_no_change"):
        stopped.set_params(n_iter_no_change=None).fit(X, Y)
    plain = rpo.GradientBoostingRegressor(20, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="more steps with eval_set"):
        plain.set_params(**more).fit(X, Y, eval_set=(X, Y))
    assert plain.fit(X, Y).n_estimators_ == 40
    assert stopped.set_params(warm_start=False).fit(X, Y).n_estimators_ == 40


def test_steps_are_not_scored_on_constant_outputs(numbers):
    X, Y = numbers
    boosting = rpo.GradientBoostingRegressor(5, random_state=0)
    constant = np.column_stack([Y[:9, 0] * 0 + 2, Y[:9, 1:2] * np.nan, Y[:9, 0] * 0])
    for samples in ((X[:1], Y[:1]), (X[:9], constant), (X[:9], sp.csr_array(Y[:9] * 0))):
        with pytest.raises(ValueError, match="eval_set has constant outputs in its"):
            boosting.set_params(missing_outputs=True).fit(X, Y, eval_set=samples)
    constant[:, 0] = Y[:9, 0]
    assert boosting.fit(X, Y, eval_set=(X[:9], constant)).n_estimators_ > 0
    boosting.set_params(params={"validation_metric": "mse"})
    assert boosting.fit(X, Y, eval_set=(X[:1], Y[:1])).n_estimators_ > 0
    boosting.set_params(params=None, n_iter_no_change=2)
    with pytest.warns(UserWarning, match="no step scored better on the withheld samples than the constant prediction"):
        assert boosting.fit(X, Y * 0).n_estimators_ == 0


def test_a_pipeline_transforms_the_samples_that_score_steps(labels):
    from sklearn import config_context  # noqa: PLC0415
    from sklearn.pipeline import Pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415

    X, Y = labels
    X = 100.0 + 50.0 * X
    boosting = rpo.GradientBoostingClassifier(30, learning_rate=0.5, random_state=0)
    scaler = StandardScaler().fit(X[:80])
    scaled = scaler.transform(X)
    expected = boosting.fit(scaled[:80], Y[:80], eval_set=(scaled[80:], Y[80:])).model_
    assert boosting.fit(scaled[:80], Y[:80], X_val=scaled[80:], y_val=Y[80:]).model_ == expected
    with config_context(enable_metadata_routing=True):
        boosting.set_fit_request(X_val=True, y_val=True)
        steps = [("scale", StandardScaler()), ("boost", boosting)]
        fitted = Pipeline(steps, transform_input=["X_val"]).fit(X[:80], Y[:80], X_val=X[80:], y_val=Y[80:])
    assert fitted["boost"].model_ == expected


def test_samples_that_score_steps_are_given_in_one_way(numbers):
    X, Y = numbers
    boosting = rpo.GradientBoostingRegressor(3)
    with pytest.raises(ValueError, match="give one or the other"):
        boosting.fit(X, Y, eval_set=(X, Y), X_val=X, y_val=Y)
    with pytest.raises(ValueError, match="X_val and y_val must be given together"):
        boosting.fit(X, Y, X_val=X)


@pytest.mark.parametrize("loss", [None, 3, ["squared_error", "hinge"], "hinge"])
def test_losses_that_do_not_exist_are_named(loss, numbers):
    X, Y = numbers
    with pytest.raises(ValueError, match=r"loss must be one of squared_error, .* got"):
        rpo.GradientBoostingRegressor(2, loss=loss).fit(X, Y)
    with pytest.raises(ValueError, match=r"loss must be one of log_loss, .* got"):
        rpo.GradientBoostingClassifier(2, loss=loss).fit(X, Y > 0)


def test_steps_have_validation_scores(labels, numbers):
    X, Y = numbers
    train, test = slice(0, 70), slice(70, 100)
    model = rpo.GradientBoostingRegressor(30, learning_rate=0.5, random_state=0)
    model.fit(X[train], Y[train], eval_set=(X[test], Y[test]))
    assert model.validation_score_.shape == (30,)
    assert model.n_estimators_ == model.validation_score_.argmax() + 1
    stages = list(model.staged_predict(X[test]))
    expected = [rpo.metrics.r2(Y[test], stage) for stage in stages]
    assert np.allclose(model.validation_score_[: len(stages)], expected, atol=1e-5)
    assert not hasattr(model.fit(X, Y), "validation_score_")
    X, Y = labels
    stopped = rpo.GradientBoostingClassifier(200, learning_rate=0.5, n_iter_no_change=5, random_state=0).fit(X, Y)
    assert len(stopped.validation_score_) == stopped.n_estimators_ + 5 < 200
    assert (stopped.validation_score_ < 0).all()
    assert not hasattr(rpo.AutoClassifier(configurations=3, random_state=0).fit(X, Y), "validation_score_")


@pytest.mark.parametrize("name", ["RandomForestRegressor", "GradientBoostingRegressor"])
def test_outputs_have_the_units_of_their_deviations_unless_none_are_chosen(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    Y = X[:, :2] * [100.0, 1.0]
    make = partial(getattr(rpo, name), 20, random_state=0)
    scaled, plain = make().fit(X, Y), make(params={"scale_outputs": "none"}).fit(X, Y)
    assert make(params={"scale_outputs": "deviation"}).fit(X, Y).model_.to_bytes() != plain.model_.to_bytes()
    assert 0.7 < scaled.feature_importances_[0] / scaled.feature_importances_[1] < 1.4
    assert plain.feature_importances_[0] > 0.9
    both = make().fit(X, X[:, :2])
    assert np.allclose(scaled.predict(X) / [100.0, 1.0], both.predict(X), atol=1e-4)


def test_a_weight_is_a_number_of_copies_with_categories_too():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.normal(size=120), "k": pd.Categorical(rng.integers(16, size=120).astype(str))})
    y = table["a"].to_numpy() + rng.normal(size=16)[table["k"].cat.codes]
    weights = rng.integers(1, 4, size=120)
    params = {"bins": "exact", "min_category_count": 1}
    fit = rpo.GradientBoostingRegressor(30, random_state=0, params=params).fit
    weighted = fit(table, y, sample_weight=weights).predict(table)
    rows = np.repeat(np.arange(120), weights)
    assert np.allclose(weighted, fit(table.iloc[rows], y[rows]).predict(table), atol=1e-4)
