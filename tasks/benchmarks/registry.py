"""The one list of suites: the command line, the reports and the tests iterate it."""

from schemas.judgement.benchmark import SuiteName
from tasks.benchmarks.suite import Suite
from tasks.benchmarks.suites import (
    agreement,
    ask,
    concepts,
    coverage,
    critical_problems,
    decisions,
    groups,
    ideation,
    injected_errors,
    novelty,
    pairs,
    recommendation,
    survey,
    votes,
)

_SUITES: tuple[Suite, ...] = (
    coverage.SUITE,
    novelty.SUITE,
    decisions.SUITE,
    pairs.SUITE,
    groups.SUITE,
    critical_problems.SUITE,
    injected_errors.SUITE,
    agreement.SUITE,
    recommendation.SUITE_OF_DATA_SETS,
    recommendation.SUITE_OF_LEADERBOARDS,
    survey.SUITE,
    votes.SUITE,
    ask.SUITE,
    concepts.SUITE,
    ideation.SUITE,
)

SUITES: dict[str, Suite] = {suite.name: suite for suite in _SUITES}
"""A suite added here is run by `assay benchmark`, named in its help, published and reported."""

assert tuple(SUITES) == tuple(SuiteName), (
    "schemas/judgement/benchmark.py names the suites in the help"
)
