"""The results of scikit-learn's estimator checks, as run by the tests, in a table.

python benches/checks.py
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from pathlib import Path

import sklearn
from sklearn.utils.estimator_checks import check_estimator

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from test_checks import ESTIMATORS, expected_failures


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"scikit-learn {sklearn.__version__}\n")
    print("| estimator | passed | skipped | expected to fail | failed |\n| --- | ---: | ---: | ---: | ---: |")
    failures: dict[str, str] = {}
    skipped: dict[str, str] = {}
    for estimator in ESTIMATORS:
        expected = expected_failures(estimator)
        found = check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
        n = Counter(check["status"] for check in found)
        for check in found:
            name = check["check_name"]
            if check["status"] == "xfail":
                failures[name] = expected[name]
            elif check["status"] == "skipped":
                skipped[name] = (
                    str(check["exception"])
                    .split(":", maxsplit=1)[0]
                    .rstrip(".")
                    .replace(type(estimator).__name__, "it")
                )
        print(f"| {type(estimator).__name__} | {n['passed']} | {n['skipped']} | {n['xfail']} | {n['failed']} |")
    for what, reasons in (("Expected to fail", failures), ("Skipped", skipped)):
        print(f"\n{what}:\n")
        for name, reason in reasons.items():
            print(f"* `{name}`: {reason}.")


if __name__ == "__main__":
    main()
