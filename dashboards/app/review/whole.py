"""The whole review of one idea: what it comes to first, then each module, what is missing, and who
judged what.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import streamlit as st

from dashboards.app import text
from dashboards.app.data import Lake
from dashboards.app.review import (
    cited,
    committee,
    contribution,
    novelty,
    plan,
    provenance,
    rest,
    soundness,
    tried,
    words,
)
from dashboards.app.review.scores import show_scores
from dashboards.render import figures, wording
from dashboards.render.render import first_page_markdown, written
from dashboards.views.idea.idea_blocks import idea_view
from dashboards.views.idea.idea_page import idea_page
from warehouse.answers import IdeaReview


@dataclass(frozen=True, slots=True)
class Part:
    """One tab: its name, whether this review has it, and what draws it."""

    name: str
    present: bool
    draw: Callable[[IdeaReview], None]


def show(review: IdeaReview, lake: Lake) -> None:
    """The first page; the rest in tabs, the open one in the address as `part`. Citations lead to
    what was read of a paper, below, and on to its page.
    """
    idea = review.evaluation.idea
    st.header(text.line(idea.title or idea.idea_id), anchor=False)
    with text.leading_to(cited.anchors(review)):
        st.markdown(text.for_streamlit(first_page_markdown(idea_page(review).first)))
        _show_parts(review, lake)
    cited.show(review)


def _show_parts(review: IdeaReview, lake: Lake) -> None:
    evaluation = review.evaluation
    parts = [
        Part("The plan", idea_page(review).plan is not None, plan.show),
        Part("Scores", True, _show_scores),
        Part("Tried", bool(evaluation.experimental_results), tried.show),
        Part("Soundness", evaluation.soundness is not None, soundness.show),
        Part("Contribution", evaluation.contribution is not None, contribution.show),
        Part("Committee", evaluation.committee is not None, committee.show),
        Part("Novelty", evaluation.novelty is not None, novelty.show),
        Part("The idea", True, rest.show_idea),
        Part("What is missing", True, rest.show_missing),
        Part("Bibliography", True, rest.show_bibliography),
        Part("Provenance", True, partial(provenance.show, lake=lake)),
    ]
    present = [part for part in parts if part.present]
    for tab, part in zip(
        st.tabs([part.name for part in present], key="part", bind="query-params"),
        present,
        strict=True,
    ):
        if tab.open:
            with tab:
                part.draw(review)


def show_downloads(review: IdeaReview, key: str) -> None:
    """The first page or the full report as files, made when asked for."""
    name = file_name(review)
    page = idea_page(review)
    left, right, more = st.columns([1, 1, 3])
    full = more.checkbox("Full report", key=f"{key}_full")
    left.download_button(
        "Download Markdown",
        lambda: written(idea_view(page, full=full), "md"),
        f"{name}.md",
        "text/markdown",
        key=f"{key}_md",
        on_click="ignore",
    )
    right.download_button(
        "Download HTML",
        lambda: written(idea_view(page, full=full), "html"),
        f"{name}.html",
        "text/html",
        key=f"{key}_html",
        on_click="ignore",
    )


def file_name(review: IdeaReview) -> str:
    """The title in letters and figures of every file system; the key where it has none."""
    idea = review.evaluation.idea
    words = "".join(
        letter if letter.isascii() and letter.isalnum() else " " for letter in idea.title.lower()
    ).split()
    return f"review-{'-'.join(words)[:60].strip('-') or review.evaluation.evaluation_key[:12]}"


def _show_scores(review: IdeaReview) -> None:
    _show_head(review)
    show_scores(review)
    if review.evaluation.assessment is None:
        _show_summary(review)


def _show_head(review: IdeaReview) -> None:
    evaluation, idea = review.evaluation, review.evaluation.idea
    rank = f"rank {review.rank} of {review.group_size}" if review.rank is not None else "no rank"
    cutoff = (
        f"cutoff {figures.day(idea.cutoff_date)}: nothing later is cited"
        if idea.cutoff_date
        else "no cutoff date"
    )
    group = [f"group {idea.group}"] if idea.group is not None else []
    st.caption(text.line(" · ".join([f"Idea {idea.idea_id}", *group, rank, cutoff])))
    made = [
        f"run {evaluation.run_id}",
        f"engine {evaluation.engine}",
        f"profile {evaluation.profile}",
    ]
    made += [
        f"literature: {wording.literature(evaluation.literature, review.run.literature_name)}",
        f"evaluated {figures.moment(evaluation.finished_at)}",
    ]
    made += [f"cost {figures.usd(review.cost_usd, review.unknown_price_calls)}"]
    made += (
        [f"taken over from run {paid_by}"]
        if (paid_by := review.evaluation.reused_from_run_id)
        else []
    )
    st.caption(text.line(" · ".join(made)))
    if idea.duplicate_of is not None:
        st.warning(text.line(f"Nearly the same as idea {idea.duplicate_of}."))


def _show_summary(review: IdeaReview) -> None:
    st.subheader("Summary", anchor=False)
    found = review.evaluation.soundness
    if found is None:
        st.markdown("No summary: soundness was not asked for.")
    elif found.summary is None:
        st.markdown("unscored: no summary was made.")
    elif found.summary.unscored_reason is not None:
        st.markdown(text.line(f"{wording.unscored(found.summary.unscored_reason)}."))
    else:
        summary = found.summary
        named = zip(
            ("Strengths", "Weaknesses", "Suggestions"),
            (summary.strengths, summary.weaknesses, summary.suggestions),
            strict=True,
        )
        for column, (heading, lines) in zip(st.columns(3), named, strict=True):
            column.markdown(words.points(heading, lines))
