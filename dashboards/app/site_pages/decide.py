"""Page “Decide”: open requests with their reviews, and past decisions."""

from collections.abc import Iterable, Iterator
from shlex import quote
from typing import Any, NamedTuple

import polars
from markupsafe import Markup
from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from dashboards.app.access import services_of
from dashboards.app.site import (
    PageContent,
    Visit,
    controls,
    idea_path,
    markup,
    run_path,
    with_query,
)
from dashboards.app.site_pages.ideas import gives_verdicts, verdict_on
from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.prose import prose
from dashboards.views.idea.idea_page import idea_page
from dashboards.views.idea.plan_blocks import first_blocks
from schemas.base import encodable
from schemas.errors import (
    AssayError,
    ConfigurationError,
    ConflictError,
    NotAllowedError,
    UnknownNameError,
)
from schemas.identifiers import IdeaId, RunId
from schemas.people.decisions import LONGEST_REASON, Decision, GivenAnswer, Request, Stage, Verdict
from schemas.people.ledger import Participant
from schemas.people.role import Action
from warehouse.app.database import services_file
from warehouse.app.decisions import decide_and_fold, decisions, open_requests, request_named
from warehouse.app.people import participant_with, participants, reason_of
from warehouse.app.records import records_of
from warehouse.queries import Queries
from warehouse.units.kind import Kind

PATH = "/decide"
MOST_LISTED = 200
_REQUESTED_WHEN = {
    Stage.RANK: "before it enters the ranking",
    Stage.REPORT: "before the run is reported",
    None: "asked by hand",
}
_BUTTONS = {
    Verdict.APPROVED: ("Approve", "a"),
    Verdict.REJECTED: ("Reject", "r"),
    Verdict.SENT_BACK: ("Return for change", "b"),
    Verdict.COMMENTED: ("Comment only", "c"),
}


class AnswerButton(NamedTuple):
    """A button for one answer to a request.

    Attributes:
        answer: the value that the form sends.
        done: confirmation shown after the answer.
    """

    answer: str
    label: str
    key: str
    done: str


class _Subject(NamedTuple):
    """The subject of a request.

    Attributes:
        summary: verdict and score of an idea, or the state of a run.
    """

    title: str
    summary: str
    review: pg.Span


def show(visit: Visit) -> PageContent | Response:
    """Show the open requests, and the review of the one named in the URL.

    Raises:
        UnknownNameError: there is no such request.
    """
    if not visit.may(Action.DECIDE):
        return RedirectResponse(f"{PATH}/votes", 303)
    request_id, warehouse = visit.query.get("request"), visit.lake.warehouse
    if request_id is None:
        return _page(visit, None)
    if not services_file(warehouse).exists():
        raise UnknownNameError("nothing was ever asked here")
    return _page(visit, request_named(services_of(warehouse), request_id))


def count_waiting(visit: Visit) -> int:
    """Return how many requests wait for the signed-in reader."""
    participant = _participant(visit)
    return 0 if participant is None else len(_open_requests_of(visit, participant))


def answer(visit: Visit) -> PageContent | Response:
    """Record a confirmed answer; ask for confirmation otherwise.

    Raises:
        NotAllowedError: the request is for others, or the account belongs to no participant.
        UnknownNameError: there is no such request.
        ConfigurationError: the form is invalid.
    """
    participant = _participant(visit)
    if participant is None:
        raise NotAllowedError(_no_participant_message(visit))
    request = request_named(services_of(visit.lake.warehouse), visit.form_text("request"))
    if participant.participant_id not in request.asked_of:
        raise NotAllowedError(f"request {request.request_id} is asked of others")
    given_answer = _read_answer(visit)
    if _is_repeated(visit, request, participant, given_answer):
        return RedirectResponse(with_query(PATH, request=request.request_id), 303)
    if given_answer.verdict is Verdict.COMMENTED and given_answer.reason is None:
        return _page(visit, request, "Nothing was kept: write the comment under “Remark” first.")
    if not visit.form_text("confirmed"):
        return _confirmation(visit, request, given_answer)
    warehouse, name = visit.lake.warehouse, request.request_id
    try:
        decide_and_fold(
            warehouse, services_of(warehouse), name, participant.participant_id, given_answer
        )
    except ConflictError as error:
        return _page(visit, request, f"Your answer was not taken: {error}.")
    return RedirectResponse(PATH, 303)


def decisions_on_unit(visit: Visit, run_id: RunId, unit_id: str) -> Iterator[pg.Block]:
    """Yield the decisions on one unit; nothing if there are none."""
    unit_decisions = [
        each for each in _decisions(visit) if (each.run_id, each.unit_id) == (run_id, unit_id)
    ]
    if unit_decisions:
        yield pg.heading("What was decided")
        yield _table(visit, unit_decisions)


def parts(visit: Visit) -> Markup:
    """Render the links between the pages of Decide that this reader may open."""
    pages = (
        (PATH, "Requests", (Action.DECIDE,)),
        (f"{PATH}/votes", "Votes", (Action.VOTE,)),
        (f"{PATH}/ask", "Ask two engines", (Action.VOTE,)),
        (f"{PATH}/standings", "Standings", (Action.READ, Action.VOTE)),
    )
    links = [(path, label) for path, label, actions in pages if any(map(visit.may, actions))]
    return controls("parts", whole="Decide", ways=links, here=visit.request.url.path)


def read_remark(visit: Visit) -> str:
    """Return the remark of a form.

    Raises:
        ConfigurationError: it is too long, or not valid text.
    """
    text = visit.form_text("reason").replace("\r\n", "\n").strip()
    if len(text) > LONGEST_REASON or "\x00" in text or not encodable(text):
        raise ConfigurationError(f"write a text of at most {LONGEST_REASON:,} characters")
    return text


def _page(visit: Visit, request: Request | None, note: str = "") -> PageContent:
    participant = _participant(visit)
    requests = [] if participant is None else _open_requests_of(visit, participant)
    current = request or next(iter(requests), None)
    items = [
        (each, _subject(visit, each), _REQUESTED_WHEN[each.stage])
        for each in requests[:MOST_LISTED]
    ]
    about = None if current is None else _subject(visit, current)
    head = controls(
        "decide",
        parts=parts(visit),
        note=note,
        nobody=_no_participant_message(visit) if participant is None else "",
        account=quote(visit.person.name) if visit.person is not None else "",
        items=items,
        count=len(requests),
        current=current,
        about=about,
        chosen=request is not None,
        waits=current in requests,
        state=""
        if current is None or current in requests
        else _why_closed(visit, current, participant),
        review=Markup() if current is None or about is None else _review(visit, current, about),
        ways=() if current is None else tuple(answer_buttons(current)),
        options=() if current is None else [markup(prose(each)) for each in current.options],
        reason=visit.form_text("reason"),
        longest=LONGEST_REASON,
        moment=figures.moment,
    )
    all_decisions = _decisions(visit)
    decision_blocks = (
        [_table(visit, all_decisions[:MOST_LISTED])] if all_decisions else [pg.text("Nothing yet.")]
    )
    return PageContent(
        "Decide", (pg.heading("What was decided"), *decision_blocks), head, live=True
    )


def answer_buttons(request: Request) -> Iterator[AnswerButton]:
    """Yield the buttons of a request, numbered alternatives first."""
    for number in range(1, len(request.options) + 1):
        key = str(number) if number < 10 else ""
        yield AnswerButton(
            f"{Verdict.CHOSEN} {number}", f"Choose {number}", key, f"Chosen {number}"
        )
    final_verdicts = (
        (Verdict.SENT_BACK,) if request.options else (Verdict.APPROVED, Verdict.REJECTED)
    )
    for verdict in (*final_verdicts, Verdict.COMMENTED):
        label, key = _BUTTONS[verdict]
        yield AnswerButton(verdict, label, key, _in_words(verdict))


def _in_words(verdict: Verdict) -> str:
    return "Returned for change" if verdict is Verdict.SENT_BACK else verdict.capitalize()


def _confirmation(visit: Visit, request: Request, given_answer: GivenAnswer) -> PageContent:
    chosen_way = next(
        (way for way in answer_buttons(request) if way.answer == visit.form_text("answer")), None
    )
    if chosen_way is None:
        raise ConfigurationError("this request takes no such answer: open it again")
    fields = {name: visit.form_text(name) for name in ("request", "version", "answer", "reason")}
    head = controls(
        "confirm",
        way=chosen_way,
        about=_subject(visit, request),
        reason=given_answer.reason,
        fields=fields | {"confirmed": "1"},
        back=with_query(PATH, request=request.request_id),
    )
    return PageContent("Decide", (), head)


def _read_answer(visit: Visit) -> GivenAnswer:
    verdict, _, number = visit.form_text("answer").partition(" ")
    try:
        return GivenAnswer(
            verdict=Verdict(verdict),
            choice=int(number) if number else None,
            reason=read_remark(visit) or None,
            version_sha256=visit.form_text("version"),
        )
    except (ValueError, ValidationError):
        raise ConfigurationError("there is no such answer: open the request again") from None


def _is_repeated(
    visit: Visit, request: Request, participant: Participant, given_answer: GivenAnswer
) -> bool:
    """Return whether the same answer was recorded before: a form may be sent twice."""
    database = services_of(visit.lake.warehouse)
    name, choice = request.request_id, given_answer.choice
    return any(
        (each.request_id, each.participant_id) == (name, participant.participant_id)
        and (each.verdict, each.choice) == (given_answer.verdict, choice)
        and (each.verdict.ends or reason_of(database, each.reason_sha256) == given_answer.reason)
        for each in records_of(database, "decisions", Decision)
    )


def _participant(visit: Visit) -> Participant | None:
    """Return the signed-in participant; None if the reader may not decide."""
    person, warehouse = visit.person, visit.lake.warehouse
    if person is None or not visit.may(Action.DECIDE) or not services_file(warehouse).exists():
        return None
    return participant_with(services_of(warehouse), person.name)


def _no_participant_message(visit: Visit) -> str:
    account = visit.person.name if visit.person is not None else "ACCOUNT"
    return (
        f"Nothing can be asked of the account {account} yet, for no participant belongs to it:"
        " whoever runs this dashboard adds one, and names it in the project or in `assay request`."
    )


def _open_requests_of(visit: Visit, participant: Participant) -> list[Request]:
    return list(open_requests(services_of(visit.lake.warehouse), participant.participant_id))


def _why_closed(visit: Visit, request: Request, participant: Participant | None) -> str:
    """Return why a request takes no answer of this reader."""
    decision = decisions(services_of(visit.lake.warehouse)).get(request.request_id)
    if decision is not None:
        by = _decider_in_words(visit, decision, _names(visit))
        return f"{_verdict(decision)} by {by} on {figures.moment(decision.decided_at)}."
    if participant is None or participant.participant_id not in request.asked_of:
        return "It is asked of others: you may read it, and they answer."
    return (
        "It was replaced by a request about another version or to others: this one takes no answer."
    )


def _subject(visit: Visit, request: Request) -> _Subject:
    run_id, unit, lake = request.run_id, request.unit_id, visit.lake
    run = next((each for each in lake.runs() if each.run_id == run_id), None)
    report_link = pg.report("The report", run_path(run_id))
    if run is None:
        try:
            kind = lake.kind(run_id)
        except AssayError:
            return _Subject(unit or run_id, "not published here", report_link)
        return _Subject(_title_of_unit(visit, kind, run_id, unit), "", report_link)
    if not unit:
        return _Subject(f"Run {run.label or run_id}", run.states_in_words, report_link)
    rows = lake.frame("leaderboard", run_id=run_id).filter(polars.col("idea_id") == unit).to_dicts()
    if not rows:
        return _Subject(unit, "not in the run", report_link)
    value = rows[0]["score"]
    score = f"score {figures.mean(value)}" if value is not None else "unscored"
    return _Subject(
        wording.title_or_name(rows[0]["title"], unit),
        f"{verdict_on(rows[0]).value}, {score}" if gives_verdicts(run) else score,
        pg.report("The full review", idea_path(run_id, unit)),
    )


def _title_of_unit(visit: Visit, kind: Kind[Any, Any, Any], run_id: RunId, unit: str) -> str:
    if not unit:
        return kind.title(run_id)
    for each in visit.lake.units(kind, run_id):
        if getattr(each, kind.name_column) == unit:
            return wording.title_or_name(getattr(each, "title", ""), unit)
    return unit


def _review(visit: Visit, request: Request, about: _Subject) -> Markup:
    """Return the first page of an idea, or the link to the report of other work."""
    blocks: list[pg.Block] = []
    if request.criteria:
        blocks += [pg.text(pg.strong("What is to be judged")), *prose(request.criteria)]
    run_ids = [run.run_id for run in visit.lake.runs()]
    if request.unit_id and request.run_id in run_ids:
        idea_id = IdeaId(request.unit_id)
        try:
            review = visit.lake.ask(Queries.idea_review, request.run_id, idea_id)
        except UnknownNameError as error:
            blocks.append(pg.note(str(error)))
        else:
            blocks += first_blocks(idea_page(review).first)
    run = pg.report(f"run {request.run_id}", run_path(request.run_id))
    blocks.append(pg.facts(about.review, run, f"version {request.version_shown}"))
    return markup(blocks)


def _decisions(visit: Visit) -> list[Decision]:
    warehouse = visit.lake.warehouse
    if not services_file(warehouse).exists():
        return []
    return list(records_of(services_of(warehouse), "decisions", Decision))[::-1]


def _table(visit: Visit, decisions_made: Iterable[Decision]) -> pg.Table:
    """Tabulate decisions; only deciders see names and reasons, others pseudonyms."""
    names, database = _names(visit), services_of(visit.lake.warehouse)
    rows = []
    for each in decisions_made:
        request = request_named(database, each.request_id)
        about = _subject(visit, request)
        reason = each.rule
        if not reason and visit.may(Action.DECIDE):
            reason = reason_of(database, each.reason_sha256) or ""
        place = with_query(PATH, request=each.request_id)
        link = pg.report(about.title, place) if visit.may(Action.DECIDE) else about.title
        rows.append(
            (each.decided_at, link, _verdict(each), _decider_in_words(visit, each, names), reason)
        )
    return pg.table(("When", "What", "Decision", "Who", "Why"), rows)


def _verdict(decision: Decision) -> str:
    words = _in_words(decision.verdict)
    return words if decision.choice is None else f"{words} {decision.choice}"


def _names(visit: Visit) -> dict[str, str]:
    if not visit.may(Action.DECIDE):
        return {}
    people = participants(services_of(visit.lake.warehouse))
    return {each.participant_id: each.name for each in people}


def _decider_in_words(visit: Visit, decision: Decision, names: dict[str, str]) -> str:
    participant = _participant(visit)
    if decision.participant_id is None:
        return "a rule of the project"
    is_reader = participant is not None and participant.participant_id == decision.participant_id
    return "you" if is_reader else names.get(decision.participant_id, decision.participant_id)
