"""A question of the voter's own: what it would take, the wait for both answers, and the vote."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import uuid4

import streamlit as st

from dashboards.app import state, text
from dashboards.app.data import Lake
from dashboards.app.evaluating.asking import NO_RUNNER, expected_of
from dashboards.app.voting import ballot
from dashboards.render import wording
from schemas.errors import AssayError
from schemas.people.live_question import (
    LONGEST_IDEA,
    Asked,
    Ended,
    LiveQuestion,
    Sides,
    estimates_for,
    tidy,
)
from schemas.people.votes import Choice
from schemas.settings import Settings
from schemas.works.survey_run import LONGEST_QUESTION
from warehouse.app.database import ServiceDatabase
from warehouse.app.jobs import runner_at_work
from warehouse.app.questions import (
    SEEN,
    Answers,
    NoVote,
    answer,
    answers_to,
    ask,
    at_work,
    draw_sides,
    end,
    leave,
    offer_of,
    open_question,
)

EVERY_SECONDS = 2.0
_DRAFT, _SAID = "a question that is not asked yet", "why a question was not asked"
_LABELS = {
    Asked.QUESTION: "Your question",
    Asked.IDEA: "The idea: problem, method, planned experiments",
    Asked.TOPIC: "The topic, as a question",
}

Voter = Callable[[], str]
"""The pseudonym of who is signed in, asked anew for each thing that is written."""


class _Draft(NamedTuple):
    asked: Asked
    text: str
    sides: Sides
    expected: str


def show(lake: Lake, database: ServiceDatabase, voter: Voter) -> None:
    """The question that is open, else the form."""
    settings = lake.warehouse.settings
    _tell_last()
    question = open_question(database, voter())
    if question is not None:
        st.markdown(f"**{text.line(question.text[:LONGEST_QUESTION])}**")
        if at_work(lake.warehouse, database, question):
            _waiting(lake, database, voter, question)
        else:
            _ballot(lake, database, voter, question, settings)
        return
    ballot.tell_last()
    draft = st.session_state.get(_DRAFT)
    if draft is None:
        _form(lake, database, voter, settings)
    else:
        _confirm(lake, database, voter, draft)


def _form(lake: Lake, database: ServiceDatabase, voter: Voter, settings: Settings) -> None:
    asked = Asked(state.choose("What you ask", list(Asked), key="asked", shown=str.capitalize))
    st.caption(
        "Two engines or profiles answer it; you see both answers side by side, without names, and"
        " vote. What you write, and both answers, can be read by everybody who reads this"
        " warehouse."
    )
    with st.form("question_form", enter_to_submit=False):
        long = asked is Asked.IDEA
        given = st.text_area(
            _LABELS[asked],
            key=f"question_text_{asked}",
            max_chars=LONGEST_IDEA if long else LONGEST_QUESTION,
            height=220 if long else 100,
        )
        sent = st.form_submit_button("See what it takes", type="primary", key="question_estimate")
    if not sent:
        return
    try:
        tidied = tidy(asked, given)
        sides = draw_sides(database, voter(), asked, tidied, settings)
        with st.spinner("Estimating …"):
            expected = _expected(lake, asked, tidied, sides, settings)
    except AssayError as error:
        st.error(text.line(str(error)), icon=":material/error:")
        return
    st.session_state[_DRAFT] = _Draft(asked, tidied, sides, expected)
    st.rerun()


def _expected(lake: Lake, asked: Asked, written: str, sides: Sides, settings: Settings) -> str:
    """What both answers take together: of either alone it would tell who answers."""
    if all(side.engine.is_baseline for side in sides):
        return wording.BASELINE_ANSWERS
    requests = estimates_for(asked, written, sides, datetime.now(UTC), key=uuid4().hex)
    found = expected_of(lake.warehouse, requests)
    return wording.both_answers(found, settings.voting.question_cost_usd)


def _confirm(lake: Lake, database: ServiceDatabase, voter: Voter, draft: _Draft) -> None:
    st.markdown(f"**{text.line(draft.text[:LONGEST_QUESTION])}**")
    st.info(text.line(draft.expected), icon=":material/payments:")
    with st.container(horizontal=True):
        st.button(
            "Ask",
            type="primary",
            key="question_ask",
            on_click=_ask,
            args=(lake, database, voter, draft),
        )
        st.button("Change it", key="question_change", on_click=_forget_draft)


def _forget_draft() -> None:
    st.session_state.pop(_DRAFT, None)


def _ask(lake: Lake, database: ServiceDatabase, voter: Voter, draft: _Draft) -> None:
    _forget_draft()
    asked, written, sides, _ = draft
    try:
        ask(lake.warehouse, database, voter(), asked, written, sides)
    except AssayError as error:
        st.session_state[_SAID] = str(error)


def _tell_last() -> None:
    said = st.session_state.pop(_SAID, "")
    if said:
        st.warning(text.line(said), icon=":material/block:")


def _waiting(lake: Lake, database: ServiceDatabase, voter: Voter, question: LiveQuestion) -> None:
    """Neither how far a side is nor how long it took is told: either might say who it is."""
    st.fragment(_watch, run_every=EVERY_SECONDS)(lake, database, question)
    st.button(
        "Leave this question",
        key="question_leave",
        on_click=_leave,
        args=(lake, database, voter, question),
        help="Stops both answers; what they cost so far is spent.",
    )


def _leave(lake: Lake, database: ServiceDatabase, voter: Voter, question: LiveQuestion) -> None:
    if _is_of(voter, question):
        leave(lake.warehouse, database, question)


def _watch(lake: Lake, database: ServiceDatabase, question: LiveQuestion) -> None:
    """Drawn anew every few seconds, until both have ended and the whole page is."""
    if not at_work(lake.warehouse, database, question):
        st.rerun()
        return
    if runner_at_work(lake.warehouse) is False:
        st.warning(NO_RUNNER)
    st.status("Both answers are being written. You may close this page and come back.")


def _ballot(
    lake: Lake,
    database: ServiceDatabase,
    voter: Voter,
    question: LiveQuestion,
    settings: Settings,
) -> None:
    found = _answers(lake, question)
    if isinstance(found, NoVote):
        _no_vote(database, voter, question, found)
        return
    offered = offer_of(database, question, found, settings)
    if offered is None:
        _no_vote(database, voter, question, SEEN)
        return
    text_of = dict(zip((side.name for side in found.sides), found.texts, strict=True))
    shown = (text_of[offered.first.contender.name], text_of[offered.second.contender.name])
    ballot.tell_last()
    st.caption("Which is better? Keys: A, B, G both good, X both bad, S skip.")

    def take(choice: Choice | None, reason: str) -> None:
        answer(database, voter(), question, offered.offer_id, choice, reason, settings)

    ballot.show(offered, shown, take)


def _answers(lake: Lake, question: LiveQuestion) -> Answers | NoVote:
    if not lake.exists:
        return NoVote("Neither of the two gave an answer, so there is nothing to vote on.")
    with lake.queries() as queries:
        return answers_to(lake.warehouse, queries, question)


def _no_vote(
    database: ServiceDatabase, voter: Voter, question: LiveQuestion, found: NoVote
) -> None:
    st.warning(text.line(found.why), icon=":material/block:")
    if found.left:
        with st.expander("Read what there is"):
            ballot.show_parts(found.left)
    st.button(
        "Ask another question",
        key="question_another",
        on_click=_end,
        args=(database, voter, question, found.ended),
    )


def _end(database: ServiceDatabase, voter: Voter, question: LiveQuestion, how: Ended) -> None:
    if _is_of(voter, question):
        end(database, question, how)


def _is_of(voter: Voter, question: LiveQuestion) -> bool:
    """Whether who is signed in now asked the question; says so where they may no longer vote."""
    try:
        return voter() == question.voter
    except AssayError as error:
        st.session_state[_SAID] = str(error)
        return False
