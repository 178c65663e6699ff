"""Numbers that single precision cannot represent or tell apart."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import rpo

SECONDS = 1.7e9 + np.arange(100)
"""A hundred seconds of 2023: two numbers in single precision."""


def regressor(**options):
    return rpo.RandomForestRegressor(2, random_state=0, **options)


def warned(fit) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fit()
    return [str(warning.message) for warning in found if warning.category is rpo.PrecisionWarning]


def test_numbers_that_become_equal_are_warned_of_once(numbers):
    pd = pytest.importorskip("pandas")
    X, Y = numbers
    table = pd.DataFrame({"size": Y[:, 0], "begin": SECONDS, "end": SECONDS + 1})
    pair = "such as 1700000000.0 and 1700000001.0"
    holes = np.where(X[:, :2] > 0, np.nan, SECONDS[:, None])
    for fit, outputs in (
        (lambda: regressor().fit(X, table), "'begin' (and 1 more)"),
        (lambda: regressor().fit(X, SECONDS), "0"),
        (lambda: rpo.GradientBoostingRegressor(2).fit(X, table[["size", "begin"]]), "'begin'"),
        (lambda: regressor(missing_outputs=True).fit(X, holes), "0 (and 1 more)"),
        (lambda: rpo.Model.fit(X, table, labels=False, trees=2), "'begin' (and 1 more)"),
        (lambda: rpo.Model.fit(X, table, labels=False, trees=2, output_names=["u", "v", "w"]), "'v' (and 1 more)"),
    ):
        (message,) = warned(fit)
        assert message.startswith(f"output {outputs} has numbers")
        assert "subtract a constant" in message
    assert pair in warned(lambda: regressor().fit(X, SECONDS))[0]
    assert "1700000000 and 1700000001" in warned(lambda: regressor().fit(X, SECONDS.astype(np.int64)))[0]


def test_the_warning_points_to_the_fit(numbers):
    X, _ = numbers
    for fit in (regressor().fit, rpo.GradientBoostingRegressor(1).fit):
        with pytest.warns(rpo.PrecisionWarning) as found:
            fit(X, SECONDS)
        assert (found[0].filename, found[0].lineno) == (__file__, sys._getframe().f_lineno - 1)
    with pytest.warns(rpo.PrecisionWarning) as found:
        rpo.Model.fit(X, SECONDS[:, None], labels=False, trees=1)
    assert (found[0].filename, found[0].lineno) == (__file__, sys._getframe().f_lineno - 1)


def test_other_numbers_are_not_warned_of(numbers):
    X, Y = numbers
    rng = np.random.default_rng(5)
    # Of 40,000 samples of continuous quantities some are equal in single precision.
    many = rng.normal(size=(40_000, 1)).astype(np.float32)
    fit = lambda X, y, **options: regressor(**options).fit(X, y)  # noqa: E731
    shallow = {"max_depth": 1}
    for X_, y, options in (
        (X, Y, {}),
        (X, SECONDS - SECONDS.mean(), {}),
        (X, SECONDS.astype(np.float32), {}),
        (X, np.full(100, 0.1), {}),
        (X, 1_000_000 + np.arange(100), {}),
        (X, sp.csr_array(np.where(Y > 0, SECONDS[:, None], 0.0)), {}),
        (many, rng.normal(size=40_000), shallow),
        (many, 273.15 + 10.0 * rng.normal(size=40_000), shallow),
        (many, np.exp(3.0 * rng.normal(size=40_000)), shallow),
    ):
        assert warned(lambda X_=X_, y=y, options=options: fit(X_, y, **options)) == []


def test_numbers_beyond_single_precision_are_refused_by_output_and_sample(numbers):
    pd = pytest.importorskip("pandas")
    X, Y = numbers
    large = Y.copy()
    large[7, 1] = -1e39
    with pytest.raises(ValueError, match=r"output 1 of sample 7 is -1e\+39, too large for single precision"):
        regressor().fit(X, large)
    with pytest.raises(ValueError, match="output 1 of sample 7"):
        rpo.describe(X, large)
    with pytest.raises(ValueError, match="output 'b' of sample 7"):
        rpo.Model.fit(X, pd.DataFrame(large, columns=list("abc")), labels=False)


def test_features_that_become_equal_are_warned_of_once(numbers):
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    X, Y = numbers
    X = np.column_stack([X, SECONDS, 2**40 + np.arange(100)])
    table = pd.DataFrame(X, columns=list("abcdefg")).astype({"g": np.int64})
    holes = table.astype({"g": "Int64"})
    holes.loc[3, "g"] = pd.NA
    for fit, named in (
        (lambda: regressor().fit(X, Y), "5 (and 1 more)"),
        (lambda: regressor().fit(X.tolist(), Y), "5 (and 1 more)"),
        (lambda: regressor().fit(table, Y), "'f' (and 1 more)"),
        (lambda: regressor().fit(table[["a", "g"]], Y), "'g'"),
        (lambda: regressor().fit(holes[["a", "g"]], Y), "'g'"),
        (lambda: regressor().fit(pl.from_pandas(holes), Y), "'f' (and 1 more)"),
        (lambda: rpo.RandomForestClassifier(2).fit(table.assign(g="x").astype({"g": "category"}), Y > 0), "'f'"),
        (lambda: rpo.Model.fit(X, Y, labels=False, trees=2), "5 (and 1 more)"),
        (lambda: rpo.Model.fit(table, Y, labels=False, trees=2), "'f' (and 1 more)"),
        (lambda: regressor(categorical_features=[6]).fit(X, Y), "5"),
    ):
        (message,) = warned(fit)
        assert message.startswith(f"feature {named} has numbers")
    assert "such as 1700000000.0 and 1700000001.0" in warned(lambda: regressor().fit(X, Y))[0]
    assert "such as 1099511627776 and 1099511627777" in warned(lambda: regressor().fit(table[["a", "g"]], Y))[0]
    for fit in (regressor().fit, rpo.GradientBoostingClassifier(1).fit):
        with pytest.warns(rpo.PrecisionWarning) as found:
            fit(X, Y[:, 0] > 0)
        assert (found[0].filename, found[0].lineno) == (__file__, sys._getframe().f_lineno - 1)


def test_features_whose_numbers_stay_different_are_not_warned_of(numbers):
    X, Y = numbers
    rng = np.random.default_rng(5)
    for column in (
        SECONDS - SECONDS.mean(),
        np.exp(10.0 + 3.0 * rng.normal(size=100)),
        # Beyond 2^24, but not whole, and over a wide range.
        1e9 * rng.random(100),
        np.full(100, 1.7e9 + 1.0),
        np.full(100, np.nan),
        3e38 * np.where(X[:, 0] > 0, 1.0, -1.0),
        1_000_000 + np.arange(100),
        2**30 * np.arange(100),
    ):
        assert warned(lambda column=column: regressor().fit(np.column_stack([X, column]), Y)) == []
    assert warned(lambda: regressor().fit(sp.csr_array(np.column_stack([X, SECONDS])), Y)) == []
