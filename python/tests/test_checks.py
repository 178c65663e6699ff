"""scikit-learn's checks of estimators."""

from __future__ import annotations

from pathlib import Path

import pytest
import sklearn
from sklearn.utils import estimator_checks
from sklearn.utils.fixes import parse_version

import rpo
from rpo.projections import OutputProjection

BOOTSTRAP = "a bootstrap draws samples without regard to their weights, which count in the trees"
BOOTSTRAPPED = {
    "check_sample_weight_equivalence_on_dense_data": BOOTSTRAP,
    "check_sample_weight_equivalence_on_sparse_data": BOOTSTRAP,
}
# With a given cost only the tolerance is left, which can be made small, but not as small as the checks ask.
SOLVED = (
    "the solver ends at a tolerance, within which weighted and repeated samples differ; and the cost is chosen by "
    "withheld samples, which are drawn without regard to their weights"
)
TOLERANT = {
    "check_sample_weight_equivalence_on_dense_data": SOLVED,
    "check_sample_weight_equivalence_on_sparse_data": SOLVED,
}
THRESHOLDS = {
    "check_classifier_multioutput": "each label is decided by its own threshold, not by a probability of 0.5",
}
# Their leaves of several samples are averaged over few trees, without a seed.
HALVES = {
    "check_classifier_multioutput": "a label is predicted from a probability of 0.5 on, which the check rounds to 0",
}

ESTIMATORS = [
    rpo.RandomForestClassifier(5),
    rpo.RandomForestRegressor(5),
    rpo.ExtraTreesClassifier(5),
    rpo.ExtraTreesRegressor(5),
    rpo.GradientBoostingClassifier(5),
    rpo.GradientBoostingRegressor(10),
    rpo.StructuredForestClassifier(5),
    rpo.CraftmlClassifier(5),
    rpo.LabelEmbeddingClassifier(),
    rpo.LinearOneVsRestClassifier(),
    rpo.LabelTreeClassifier(),
    rpo.AutoClassifier(configurations=2),
    rpo.AutoRegressor(configurations=2),
    OutputProjection(n_components=1),
]


def expected_failures(estimator: object) -> dict[str, str]:
    if isinstance(estimator, rpo.AutoClassifier):
        return THRESHOLDS
    if isinstance(estimator, (rpo.StructuredForestClassifier, rpo.CraftmlClassifier)):
        return HALVES
    if isinstance(estimator, (rpo.LinearOneVsRestClassifier, rpo.LabelTreeClassifier)):
        return TOLERANT
    return BOOTSTRAPPED if isinstance(estimator, (rpo.RandomForestClassifier, rpo.RandomForestRegressor)) else {}


@pytest.mark.skipif(parse_version(sklearn.__version__) < parse_version("1.6"), reason="other checks")
@estimator_checks.parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_check(estimator, check):
    check(estimator)


def test_the_figures_have_every_estimator():
    path = Path(__file__).parents[1] / "docs" / "figures.md"
    if not path.exists():
        pytest.skip("no documents beside the tests")
    table = path.read_text().split("## scikit-learn's checks")[1]
    for estimator in ESTIMATORS:
        assert f"| {type(estimator).__name__} | " in table
