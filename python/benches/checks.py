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
    # By check and reason, the estimators.
    failures: dict[tuple[str, str], list[str]] = {}
    skipped: dict[tuple[str, str], list[str]] = {}
    for estimator in ESTIMATORS:
        expected = expected_failures(estimator)
        found = check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
        n = Counter(check["status"] for check in found)
        for check in found:
            name, ours = check["check_name"], type(estimator).__name__
            if check["status"] == "xfail":
                failures.setdefault((name, expected[name]), []).append(ours)
            elif check["status"] == "skipped":
                reason = str(check["exception"]).split(":", maxsplit=1)[0].rstrip(".").replace(ours, "it")
                skipped.setdefault((name, reason), []).append(ours)
        print(f"| {type(estimator).__name__} | {n['passed']} | {n['skipped']} | {n['xfail']} | {n['failed']} |")
    for what, reasons in (("Expected to fail", failures), ("Skipped", skipped)):
        print(f"\n{what}:\n")
        for (name, reason), estimators in reasons.items():
            print(f"* `{name}`, of {', '.join(estimators)}: {reason}.")


if __name__ == "__main__":
    main()
