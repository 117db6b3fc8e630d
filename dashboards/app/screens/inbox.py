"""Inbox: what waits for the answer of who is signed in, each with its alternatives side by side."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboards.app import empty, links, text
from dashboards.app.access import check_may, may, services_of
from dashboards.app.data import Lake
from schemas.errors import AssayError, NotAllowedError
from schemas.people.decisions import LONGEST_REASON, GivenAnswer, Request, Verdict
from schemas.people.ledger import Participant
from schemas.people.role import Action
from warehouse.app.decisions import decide_and_fold, open_requests
from warehouse.app.people import participant_with

MOST_SHOWN = 20
_SAID = "what became of the last answer"
_LABELS = {
    Verdict.APPROVED: "Approve",
    Verdict.REJECTED: "Reject",
    Verdict.SENT_BACK: "Send back",
    Verdict.COMMENTED: "Comment only",
}


def show(lake: Lake) -> None:
    """The oldest requests first; an answer is for good."""
    if not lake.exists:
        empty.no_lake(lake.warehouse.address)
        return
    if not may(lake.warehouse, Action.DECIDE):
        empty.show(
            "Who decides signs in as a decider; whoever runs this dashboard makes the account.",
            f"assay accounts add NAME --role decider --warehouse {lake.warehouse.address}",
        )
        return
    _tell_last()
    who = _participant(lake)
    if who is None:
        empty.show(
            "This account stands for no participant yet, of whom something could be asked.",
            f"assay people add NAME --key ACCOUNT --warehouse {lake.warehouse.address}",
        )
        return
    waiting = tuple(open_requests(services_of(lake.warehouse), who.participant_id))
    if not waiting:
        empty.show("Nothing waits for your answer.", "assay inbox")
    if len(waiting) > MOST_SHOWN:
        st.caption(f"{MOST_SHOWN} of {len(waiting):,} requests, the oldest.")
    for request in waiting[:MOST_SHOWN]:
        with st.container(border=True):
            _request(lake, request)


def _participant(lake: Lake) -> Participant | None:
    """Who is signed in, asked anew for each thing that is written."""
    person = check_may(lake.warehouse, Action.DECIDE)
    if person is None:
        return None
    return participant_with(services_of(lake.warehouse), person.name)


def _request(lake: Lake, request: Request) -> None:
    st.subheader(text.line(request.unit_id or request.run_id), anchor=False)
    waits = f", for the stage {request.stage}" if request.stage else ""
    st.caption(
        text.line(
            f"Run {request.run_id}{waits}; asked {request.requested_at:%Y-%m-%d %H:%M} UTC;"
            f" version {request.version_shown}"
        )
    )
    if request.unit_id:
        links.to("idea", "The review", run=request.run_id, idea=request.unit_id)
    elif request.stage is not None:
        links.to("ranking", "The ranking", run=request.run_id)
    if request.criteria:
        st.markdown(text.prose(request.criteria))
    st.text_area("Why", key=_why(request), max_chars=LONGEST_REASON)
    if request.options:
        columns = st.columns(len(request.options))
        for number, (column, told) in enumerate(zip(columns, request.options, strict=True), 1):
            column.markdown(text.prose(told))
            _button(lake, request, column, f"Choose {number}", Verdict.CHOSEN, number)
    ends = (Verdict.SENT_BACK,) if request.options else (Verdict.APPROVED, Verdict.REJECTED)
    row = st.container(horizontal=True)
    for verdict in (*ends, Verdict.COMMENTED):
        _button(lake, request, row, _LABELS[verdict], verdict)


def _why(request: Request) -> str:
    """Where the session holds the reason: what was typed just before the click included."""
    return f"why {request.request_id}"


def _button(
    lake: Lake,
    request: Request,
    place: DeltaGenerator,
    label: str,
    verdict: Verdict,
    choice: int | None = None,
) -> None:
    key, told = f"{label} {request.request_id}", (lake, request, verdict, choice)
    place.button(label, key=key, on_click=_answer, args=told)


def _answer(lake: Lake, request: Request, verdict: Verdict, choice: int | None) -> None:
    """Write the answer about the version that the page showed."""
    reason = str(st.session_state.get(_why(request)) or "")
    try:
        who = _participant(lake)
        if who is None:
            raise NotAllowedError("sign in as the participant of whom it is asked")
        given = GivenAnswer(
            verdict=verdict,
            choice=choice,
            reason=reason.strip() or None,
            version_sha256=request.version_sha256,
        )
        decide_and_fold(
            lake.warehouse,
            services_of(lake.warehouse),
            request.request_id,
            who.participant_id,
            given,
        )
    except AssayError as error:
        st.session_state[_SAID] = (False, str(error))
    else:
        st.session_state[_SAID] = (True, f"Your answer is kept: {verdict.replace('_', ' ')}.")


def _tell_last() -> None:
    taken, said = st.session_state.pop(_SAID, (True, ""))
    if said and taken:
        st.success(text.line(said), icon=":material/check:")
    elif said:
        st.warning(text.line(said), icon=":material/block:")
