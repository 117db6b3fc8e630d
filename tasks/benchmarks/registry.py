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
    ideation,
    injected_errors,
    matches,
    novelty,
    recommendation,
    survey,
    votes,
)

SUITES: dict[str, Suite] = {
    suite.name: suite
    for suite in (
        coverage.SUITE,
        novelty.SUITE,
        decisions.SUITE,
        matches.PAIRS,
        matches.GROUPS,
        critical_problems.SUITE,
        injected_errors.SUITE,
        agreement.SUITE,
        recommendation.DATA_SETS,
        recommendation.LEADERBOARDS,
        survey.SUITE,
        votes.SUITE,
        ask.SUITE,
        concepts.SUITE,
        ideation.SUITE,
    )
}
"""A suite added here is run by `assay benchmark`, named in its help, published and reported."""

assert tuple(SUITES) == tuple(SuiteName), (
    "schemas/judgement/benchmark.py names the suites in the help"
)
