"""Names of the suites, for help pages that load no suite."""

SUITE_NAMES = (
    "coverage",
    "novelty",
    "decisions",
    "pairs",
    "groups",
    "critical_problems",
    "injected_errors",
    "agreement",
    "dataset_recommendation",
    "leaderboards",
    "survey",
    "votes",
    "ask",
    "concepts",
    "ideation",
)
"""As `registry.SUITES` has them, which checks it."""
WITHOUT_DATA = ("ideation",)
"""Suites that read no data set."""
