"""The scores of one idea, each with what it is the mean of and what is missing from it."""

import streamlit as st

from dashboards.app import text
from dashboards.reports import figures
from dashboards.reports.wording import baseline_mark, score_in_words
from warehouse.answers import IdeaReview, IdeaScore


def show_scores(review: IdeaReview) -> None:
    """One metric per module that was asked for, the whole first."""
    score = review.score
    lines = [
        (
            "Overall, of 10",
            score.score,
            f"of {score_in_words(review.run, score)}",
        ),
        *_modules(score),
    ]
    mark = baseline_mark(review.evaluation.engine)
    for column, (label, value, basis) in zip(st.columns(len(lines)), lines, strict=True):
        column.metric(f"{label}{mark}", figures.mean(value))
        column.caption(text.line(basis))


def _modules(score: IdeaScore) -> list[tuple[str, float | None, str]]:
    found = []
    if score.soundness_requested:
        methods = figures.counted(score.method_count, "method")
        basis = (
            f"{score.scored_method_count:,} of {methods}, {score.unscored_method_count:,} unscored"
        )
        found.append(("Soundness, of 10", score.soundness_0_to_10, basis))
    if score.contribution_requested:
        compared = figures.counted(score.scored_comparison_count, "comparison")
        basis = (
            f"{compared} in {figures.counted(score.dimension_count, 'dimension')},"
            f" {score.unscored_comparison_count:,} unscored"
        )
        found.append(("Contribution, of 10", score.contribution_0_to_10, basis))
    if score.committee_requested:
        scored = score.persona_review_count - score.unscored_persona_review_count
        basis = (
            f"{figures.counted(scored, 'review')}, {score.unscored_persona_review_count:,} unscored"
        )
        found.append(("Committee, of 10", score.committee_0_to_10, basis))
    if score.novelty_requested:
        basis = (
            "unscored"
            if score.novelty_1_to_5 is None
            else f"{score.novelty_1_to_5:g} on 1 … 5, 0 unscored"
        )
        found.append(("Novelty, of 10", score.novelty_0_to_10, basis))
    return found
