"""Numbers that single precision cannot represent or tell apart."""

from __future__ import annotations

import re
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


def test_numbers_that_become_zero_are_warned_of(numbers):
    pd = pytest.importorskip("pandas")
    X, Y = numbers
    weights = np.where(np.arange(100) < 3, 1e-50, 1.0)
    tiny = X * [1.0, 1e-50, 1e-50, 1.0, 1.0]
    table = pd.DataFrame(tiny, columns=list("abcde"))
    for fit, message in (
        (lambda: regressor().fit(X, Y * [1.0, 1e-50, 1.0]), "output 1 has numbers that are 0 in single precision"),
        (lambda: regressor().fit(X, sp.csr_array(Y * [1.0, 1e-50, 1.0])), "output 1 has numbers that are 0"),
        (lambda: regressor().fit(tiny, Y), "feature 1 (and 1 more) has numbers that are 0 in single precision"),
        (lambda: regressor().fit(sp.csr_array(tiny), Y), "feature 1 (and 1 more) has numbers that are 0"),
        (lambda: regressor().fit(table, Y), "feature 'b' (and 1 more) has numbers that are 0"),
        (lambda: regressor().fit(X, Y, weights), "sample_weight has numbers that are 0 in single precision"),
        (lambda: rpo.Model.fit(tiny, Y, labels=False, trees=2), "feature 1 (and 1 more) has numbers that are 0"),
        (lambda: rpo.Model.fit(sp.csr_array(tiny), Y, labels=False, trees=2), "feature 1 (and 1 more) has numbers"),
        (lambda: rpo.Model.fit(X, Y * 1e-50, labels=False, trees=2), "output 0 (and 2 more) has numbers that are 0"),
        (lambda: rpo.Model.fit(X, Y, labels=False, trees=2, sample_weight=weights), "sample_weight has numbers"),
        (
            lambda: rpo.GradientBoostingClassifier(2, class_weight={0: 1e-50, 1: 1.0}).fit(
                X, (Y[:, 0] > 0).astype(int)
            ),
            "class_weight has numbers that are 0",
        ),
    ):
        (found,) = warned(fit)
        assert found.startswith(message)
        assert "by a constant" in found
    assert warned(lambda: regressor().fit(np.where(X > 0, X * 1e-30, 0.0), Y * 1e-30, weights.round())) == []
    with pytest.raises(ValueError, match="sample_weight has numbers that are 0 in single precision, such as 1e-50"):
        regressor().fit(X, Y, np.full(100, 1e-50))


def test_what_is_too_large_is_not_called_infinite(numbers):
    pd = pytest.importorskip("pandas")
    X, Y = numbers
    large, weights = X.astype(np.float64), np.ones(100)
    large[7, 1] = weights[7] = 1e300
    fit = lambda X, y, w=None: rpo.Model.fit(X, y, labels=False, trees=2, sample_weight=w)  # noqa: E731
    for call, place in (
        (lambda: fit(large, Y), "X has 1e+300 in row 7, column 1"),
        (lambda: fit(sp.csr_array(large), Y), "X has 1e+300 in row 7, column 1"),
        (lambda: fit(pd.DataFrame(large, columns=list("abcde")), Y), "column 'b' has 1e+300 in row 7"),
        (lambda: fit(X, sp.csr_array(large)), "Y has 1e+300 in row 7, column 1"),
        (lambda: fit(X, Y, weights), "sample_weight has 1e+300 in row 7"),
        (lambda: regressor().fit(X, Y, weights), "sample_weight has 1e+300 in row 7"),
        (lambda: regressor().fit(X, sp.csr_array(large)), "y has 1e+300 in row 7, column 1"),
        (lambda: regressor().fit(large, Y), None),
    ):
        message = r"or a value too large for dtype\('float32'\)" if place is None else re.escape(f"{place}, too large")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match=message):
                call()
