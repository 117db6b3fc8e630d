"""Registry of benchmark suites."""

from schemas.judgement.benchmark import SuiteName
from tasks.benchmarks.suite import Suite
from tasks.benchmarks.suites import (
    agreement,
    ask,
    coverage,
    critical_problems,
    decisions,
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
        agreement.SUITE,
        recommendation.DATA_SETS,
        recommendation.LEADERBOARDS,
        survey.SUITE,
        votes.SUITE,
        ask.SUITE,
    )
}
"""Suites by name, in the order of `assay benchmark all`."""

assert tuple(SUITES) == tuple(SuiteName), "SuiteName lists the suites for the help"
