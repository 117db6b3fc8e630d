"""Manuscripts: what was checked, which problems were found in each, and what judges said."""

import polars
import streamlit as st

from dashboards.app import empty, state, tables, text
from dashboards.app.data import Lake
from dashboards.render import figures, wording
from dashboards.views.check_blocks import missing_files, missing_macros, nothing_found
from dashboards.views.check_findings import outcome, was_checked
from dashboards.views.idea.preferences import NAME as PREFERENCES
from dashboards.views.write_check import CheckPage
from schemas.identifiers import RunId
from schemas.works.check_run import CHECKS, CheckHead
from schemas.works.manuscripts import Attempt, ManuscriptCheck, ManuscriptReview
from warehouse.units.kind import kind_of


def show(lake: Lake) -> None:
    """One check, its manuscripts as a table, and the problems of the one chosen."""
    heads = lake.heads(kind_of(CHECKS))
    if not heads:
        empty.show(
            "No manuscript has been checked here yet.",
            f"assay check paper.pdf --warehouse {lake.warehouse.address}\n"
            f"assay demo --warehouse {lake.warehouse.address}",
        )
        return
    chosen = state.choose(
        "Check", list(heads), key="check", shown=lambda name: _check_title(heads[name])
    )
    page = CheckPage(heads[chosen], lake.units(kind_of(CHECKS), RunId(chosen)))
    _tell(page)
    names = {check.manuscript_id: _title(check) for check in page.checks}
    if not names:
        return
    tables.show(
        polars.DataFrame([_row(check) for check in page.checks], infer_schema_length=None),
        {
            "title": tables.wide("Manuscript"),
            "outcome": "Outcome",
            "problems": tables.count("Problems"),
            "words": tables.count("Words"),
            "cost_usd": tables.dollars("Cost"),
            "identifier": "Identifier",
        },
        key="manuscripts",
        rows_shown=8,
    )
    wanted = state.choose(
        "Manuscript", list(names), key="manuscript", shown=lambda name: names[name]
    )
    _one(page, next(check for check in page.checks if check.manuscript_id == wanted))


def _check_title(head: CheckHead) -> str:
    count = figures.counted(head.manuscript_count, "manuscript")
    return f"{head.started_at:%Y-%m-%d %H:%M} · {count} · {head.dataset or head.engine}"


def _title(check: ManuscriptCheck) -> str:
    return " ".join(check.title.split()) or check.manuscript_id


def _tell(page: CheckPage) -> None:
    head = page.head
    for banner in wording.banners(head.engine, ""):
        st.caption(text.line(banner))
    if head.incomplete_reason is not None:
        why = wording.reason(head.incomplete_reason)
        st.warning(f"The check ended early: {why}. What is missing is not free of problems.")
    st.markdown(f"**{text.line(page.verdict)}** {text.line(page.tested)}")
    if head.revises:
        st.caption(text.line(f"It revises {head.revises} by what people said of its findings."))
    judges = f", judged by {', '.join(head.judges)}" if head.judges else ""
    st.caption(
        text.line(
            f"Engine {head.engine}, form {head.form},"
            f" {figures.counted(head.attempt_count, 'attempt')} each,"
            f" up to {figures.counted(head.maximum_problems, 'problem')} an attempt{judges}."
            f" {page.unread:,} could not be read."
        )
    )


def _row(check: ManuscriptCheck) -> dict[str, object]:
    costs = [each.cost_usd for each in check.attempts if each.cost_usd is not None]
    return {
        "title": _title(check),
        "outcome": outcome(check),
        "problems": len(check.standing) if was_checked(check) else None,
        "words": check.word_count or None,
        "cost_usd": sum(costs) if costs else None,
        "identifier": check.manuscript_id,
    }


def _one(page: CheckPage, check: ManuscriptCheck) -> None:
    if check.unread_reason is not None:
        st.info(text.line(f"It could not be read: {wording.reason(check.unread_reason)}."))
    for attempt in check.attempts:
        if len(check.attempts) > 1:
            st.subheader(f"Attempt {attempt.attempt}", anchor=False)
        _attempt(page, check, attempt)
    if check.reference_count is not None:
        _works(page, check)
    if check.known_reason:
        st.subheader("The authors' own reason", anchor=False)
        st.markdown(text.prose(check.known_reason))


def _works(page: CheckPage, check: ManuscriptCheck) -> None:
    """What was looked up before it was judged."""
    with st.expander(f"What was looked up: {len(check.works)}"):
        st.markdown(text.line(f"{page.found(check)} {page.used(check)}"))
        for work in check.works:
            when = work.date_in_words("no date")
            mark = f", {work.mark}" if work.mark else ""
            st.caption(text.line(f"{work.title} ({when}{mark}): {page.why_found(work)}"))


def _ratings(written: ManuscriptReview) -> None:
    rated = {
        "soundness": written.soundness_1_to_5,
        "clarity": written.clarity_1_to_5,
        "confidence": written.confidence_1_to_5,
    }
    told = ", ".join(f"{name} {value} of 5" for name, value in rated.items() if value is not None)
    if told:
        st.caption(text.line(f"Ratings: {told}."))
    for title, points in (("Strengths", written.strengths), ("Questions", written.questions)):
        if points:
            with st.expander(f"{title}: {len(points)}"):
                for point in points:
                    st.markdown(text.prose(point))


def _others(page: CheckPage, check: ManuscriptCheck, attempt: Attempt) -> None:
    """What a review holds behind the first problems."""
    listed = {
        "Further problems that stand": page.behind(check, attempt),
        "Open questions to the authors": page.open_questions(check, attempt),
        "Set aside": page.set_aside(check, attempt),
    }
    for title, problems in listed.items():
        if not problems:
            continue
        with st.expander(f"{title}: {len(problems)}"):
            for problem in problems:
                st.markdown(text.prose(f"{problem.problem} {problem.explanation}"))
                told = page.decided(problem) or problem.second_look
                st.caption(text.line(f"Where: {problem.location}. {told}"))


def _disputed(page: CheckPage, check: ManuscriptCheck, attempt: Attempt) -> None:
    """Both readings side by side of what reviewers disagree over, for a person to decide."""
    problems = page.disputed(check, attempt)
    if not problems:
        return
    st.subheader("Reviewers disagree; a person decides", anchor=False)
    for problem in problems:
        with st.container(border=True, key=f"dispute_{problem.problem_id}"):
            st.markdown(f"**{problem.problem_id}** {text.line(problem.problem)}")
            standing = "stands" if problem.stands else "is set aside"
            st.caption(text.line(f"{problem.dispute} Now it {standing}."))
            if problem.optimistic:
                left, right = st.columns(2)
                left.markdown(text.prose(f"For the authors: {problem.optimistic}"))
                right.markdown(text.prose(f"Against them: {problem.sceptical}"))
            if problem.would_decide:
                st.caption(text.line(f"What would decide: {problem.would_decide}"))
    st.caption(
        f"Say what you think in {PREFERENCES} beside the report, then: assay check --revise."
    )


def _attempt(page: CheckPage, check: ManuscriptCheck, attempt: Attempt) -> None:
    if attempt.unscored_reason is not None and check.unread_reason is None:
        why = wording.reason(attempt.unscored_reason)
        st.warning(text.line(f"Not checked: {why}. {attempt.unscored_detail}"))
    if (written := page.written(check, attempt)) is not None:
        st.markdown(text.prose(written.summary or ""))
        _ratings(written)
    if attempt.problem_count == 0:
        st.markdown(text.line(nothing_found(check)))
    elif told := missing_files(check):
        st.warning(text.line(f"{told}. What they say was not checked."))
    if told := missing_macros(check):
        st.caption(text.line(f"{told}."))
    for number, problem in enumerate(page.problems(check, attempt), 1):
        with st.container(border=True, key=f"problem_{attempt.attempt}_{number}"):
            st.markdown(f"**{number}.** {text.line(problem.problem)}")
            lost = " (the manuscript has no such place)" if problem.location_found is False else ""
            st.caption(f"Where: {text.line(problem.location or 'not said')}{lost}")
            if problem.quote and problem.quote not in problem.explanation:
                st.markdown(text.prose(f"“{problem.quote}”"))
            st.markdown(text.prose(problem.explanation))
            if problem.second_look:
                st.caption(text.line(f"Second look: {problem.second_look}"))
            if decided := page.decided(problem):
                st.caption(text.line(decided))
            for vote in page.votes(check, problem):
                said = "yes" if vote.hit else "no answer" if vote.hit is None else "no"
                st.caption(text.line(f"{vote.judge}: {said}. {vote.explanation}"))
    _disputed(page, check, attempt)
    _others(page, check, attempt)
