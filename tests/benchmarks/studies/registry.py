"""Studies by name."""

from tasks.benchmarks.suite import Suite
from tests.benchmarks.studies import concepts, ideation, injected_errors, stacking, survey_reviews

STUDIES: dict[str, Suite] = {
    study.SUITE.name: study.SUITE
    for study in (concepts, ideation, injected_errors, stacking, survey_reviews)
}
