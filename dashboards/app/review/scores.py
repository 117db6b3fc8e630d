"""The scores of one idea, each with what it is the mean of and what is missing from it."""

import streamlit as st

from dashboards.app import text
from dashboards.render import figures
from dashboards.render.safe_text import prose_line
from dashboards.render.wording import baseline_mark, score_in_words, unscored
from schemas.judgement.assessment import AssessmentCriterion, AssessmentEvaluation
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
    if review.evaluation.assessment is not None:
        _show_assessment(review.evaluation.assessment)


def _show_assessment(assessment: AssessmentEvaluation) -> None:
    """One line per criterion, and the venue that its probabilities are about."""
    for row in assessment.assessments:
        name = str(row.criterion).replace("_", " ")
        if row.probability_0_to_1 is None:
            why = row.unscored_reason
            told = unscored(why) if why is not None else "unscored"
        else:
            told = f"{row.probability_0_to_1:.0%}"
            if row.repetition_count > 1 and row.lowest_0_to_1 is not None:
                told += f" ({row.lowest_0_to_1:.0%} to {row.highest_0_to_1:.0%})"
        reasons = text.for_streamlit(prose_line(" ".join(row.reasons)))
        st.markdown(f"- **{text.line(name)}** {text.line(told)}. {reasons}")
        if row.criterion is AssessmentCriterion.OVERALL and row.venue:
            st.caption(text.line(f"Venue: {row.venue}"))


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
