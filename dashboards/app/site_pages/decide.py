"""Decide: what is asked of who is signed in, each request with its review, and what was decided."""

from collections.abc import Iterable, Iterator
from shlex import quote
from typing import Any, NamedTuple

import polars
from markupsafe import Markup
from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from dashboards.app.access import services_of
from dashboards.app.site import (
    Shown,
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
from schemas.people.decisions import (
    LONGEST_REASON,
    Decision,
    GivenAnswer,
    Request,
    Stage,
    Verdict,
)
from schemas.people.ledger import Participant
from schemas.people.role import Action
from schemas.run import Run
from warehouse.app.database import services_file
from warehouse.app.decisions import decide_and_fold, decisions, open_requests, request_named
from warehouse.app.people import participant_with, participants, reason_of
from warehouse.app.records import records_of
from warehouse.queries import Queries
from warehouse.units.kind import Kind

PATH = "/decide"
MOST_LISTED = 200
_WHY = {
    Stage.RANK: "before it enters the ranking",
    Stage.REPORT: "before the run is reported",
    None: "asked by hand",
}
_WAYS = {
    Verdict.APPROVED: ("Approve", "a"),
    Verdict.REJECTED: ("Reject", "r"),
    Verdict.SENT_BACK: ("Return for change", "b"),
    Verdict.COMMENTED: ("Comment only", "c"),
}


class Way(NamedTuple):
    """One answer that a request takes: what the form sends, the button, its key, what was done."""

    answer: str
    label: str
    key: str
    done: str


class _Subject(NamedTuple):
    """What a request is about; `told`: its verdict and score, or how the run ended."""

    title: str
    told: str
    review: pg.Span


def show(visit: Visit) -> Shown | Response:
    """The requests that wait, and the review of the one that the address names.

    Raises:
        UnknownNameError: there is no such request.
    """
    if not visit.may(Action.DECIDE):
        return RedirectResponse(f"{PATH}/votes", 303)
    named = visit.query.get("request")
    return _shown(visit, None if named is None else _request_named(visit, named))


def waiting(visit: Visit) -> int:
    """How many requests wait for whoever is signed in."""
    who = _participant(visit)
    return 0 if who is None else len(_open(visit, who))


def answer(visit: Visit) -> Shown | Response:
    """Write down an answer that was confirmed; ask whether it is meant where it was not.

    Raises:
        NotAllowedError: it is asked of others, or the account stands for no participant.
        UnknownNameError: there is no such request.
        ConfigurationError: the form is none of this page.
    """
    who = _participant(visit)
    if who is None:
        raise NotAllowedError(_nobody(visit))
    request = request_named(services_of(visit.lake.warehouse), visit.word("request"))
    if who.participant_id not in request.asked_of:
        raise NotAllowedError(f"request {request.request_id} is asked of others")
    given = _given(visit)
    if _was_given(visit, request, who, given):
        return RedirectResponse(with_query(PATH, request=request.request_id), 303)
    if given.verdict is Verdict.COMMENTED and given.reason is None:
        return _shown(visit, request, "Nothing was kept: write the comment under “Remark” first.")
    if not visit.word("confirmed"):
        return _confirmation(visit, request, given)
    warehouse, name = visit.lake.warehouse, request.request_id
    try:
        decide_and_fold(warehouse, services_of(warehouse), name, who.participant_id, given)
    except ConflictError as error:
        return _shown(visit, request, f"Your answer was not taken: {error}.")
    return RedirectResponse(PATH, 303)


def decided(visit: Visit, run_id: RunId, unit_id: str) -> Iterator[pg.Block]:
    """What was decided about one thing; nothing where nothing was."""
    found = [each for each in _decisions(visit) if (each.run_id, each.unit_id) == (run_id, unit_id)]
    if found:
        yield pg.heading("What was decided")
        yield _table(visit, found)


def parts(visit: Visit) -> Markup:
    """The ways between the pages below Decide that are for this reader."""
    ways = (
        (PATH, "Requests", (Action.DECIDE,)),
        (f"{PATH}/votes", "Votes", (Action.VOTE,)),
        (f"{PATH}/ask", "Ask two engines", (Action.VOTE,)),
        (f"{PATH}/standings", "Standings", (Action.READ, Action.VOTE)),
    )
    listed = [(path, label) for path, label, needs in ways if any(map(visit.may, needs))]
    return controls("parts", whole="Decide", ways=listed, here=visit.request.url.path)


def written(visit: Visit, name: str = "reason") -> str:
    """What somebody wrote in a field.

    Raises:
        ConfigurationError: it is too long, or no text.
    """
    text = visit.word(name).replace("\r\n", "\n").strip()
    if len(text) > LONGEST_REASON or "\x00" in text or not encodable(text):
        raise ConfigurationError(f"write a text of at most {LONGEST_REASON:,} characters")
    return text


def _shown(visit: Visit, chosen: Request | None, note: str = "") -> Shown:
    who = _participant(visit)
    found = [] if who is None else _open(visit, who)
    shown = chosen or next(iter(found), None)
    items = [(each, _subject(visit, each), _WHY[each.stage]) for each in found[:MOST_LISTED]]
    about = None if shown is None else _subject(visit, shown)
    head = controls(
        "decide",
        parts=parts(visit),
        note=note,
        nobody=_nobody(visit) if who is None else "",
        account=quote(visit.person.name) if visit.person is not None else "",
        items=items,
        count=len(found),
        shown=shown,
        about=about,
        chosen=chosen is not None,
        waits=shown in found,
        state="" if shown is None or shown in found else _state(visit, shown, who),
        review=Markup() if shown is None or about is None else _review(visit, shown, about),
        ways=() if shown is None else tuple(ways_of(shown)),
        options=() if shown is None else [markup(prose(each)) for each in shown.options],
        reason=visit.word("reason"),
        longest=LONGEST_REASON,
        moment=figures.moment,
    )
    made = _decisions(visit)
    below = [_table(visit, made[:MOST_LISTED])] if made else [pg.text("Nothing yet.")]
    return Shown("Decide", (pg.heading("What was decided"), *below), head, live=True)


def ways_of(request: Request) -> Iterator[Way]:
    """What may be answered, in the order of the buttons; alternatives by their number first."""
    for number in range(1, len(request.options) + 1):
        key = str(number) if number < 10 else ""
        yield Way(f"{Verdict.CHOSEN} {number}", f"Choose {number}", key, f"Chosen {number}")
    ends = (Verdict.SENT_BACK,) if request.options else (Verdict.APPROVED, Verdict.REJECTED)
    for verdict in (*ends, Verdict.COMMENTED):
        label, key = _WAYS[verdict]
        yield Way(verdict, label, key, _in_words(verdict))


def _in_words(verdict: Verdict) -> str:
    return "Returned for change" if verdict is Verdict.SENT_BACK else verdict.capitalize()


def _confirmation(visit: Visit, request: Request, given: GivenAnswer) -> Shown:
    """For browsers without script, which hold no answer back for a while."""
    told = next((way for way in ways_of(request) if way.answer == visit.word("answer")), None)
    if told is None:
        raise ConfigurationError("this request takes no such answer: open it again")
    fields = {name: visit.word(name) for name in ("request", "version", "answer", "reason")}
    head = controls(
        "confirm",
        told=told,
        about=_subject(visit, request),
        reason=given.reason,
        fields=fields | {"confirmed": "1"},
        back=with_query(PATH, request=request.request_id),
    )
    return Shown("Decide", (), head)


def _given(visit: Visit) -> GivenAnswer:
    verdict, _, number = visit.word("answer").partition(" ")
    try:
        return GivenAnswer(
            verdict=Verdict(verdict),
            choice=int(number) if number else None,
            reason=written(visit) or None,
            version_sha256=visit.word("version"),
        )
    except (ValueError, ValidationError):
        raise ConfigurationError("there is no such answer: open the request again") from None


def _was_given(visit: Visit, request: Request, who: Participant, given: GivenAnswer) -> bool:
    """Whether the same was answered before: a form that is sent twice says nothing new."""
    database = services_of(visit.lake.warehouse)
    name, choice = request.request_id, given.choice
    return any(
        (each.request_id, each.participant_id) == (name, who.participant_id)
        and (each.verdict, each.choice) == (given.verdict, choice)
        and (each.verdict.ends or reason_of(database, each.reason_sha256) == given.reason)
        for each in records_of(database, "decisions", Decision)
    )


def _participant(visit: Visit) -> Participant | None:
    """Who is signed in, where they may decide and a ledger may name them."""
    person, warehouse = visit.person, visit.lake.warehouse
    if person is None or not visit.may(Action.DECIDE) or not services_file(warehouse).exists():
        return None
    return participant_with(services_of(warehouse), person.name)


def _nobody(visit: Visit) -> str:
    account = visit.person.name if visit.person is not None else "ACCOUNT"
    return (
        f"Nothing can be asked of the account {account} yet, for no participant belongs to it:"
        " whoever runs this dashboard adds one, and names it in the project or in `assay request`."
    )


def _open(visit: Visit, who: Participant) -> list[Request]:
    return list(open_requests(services_of(visit.lake.warehouse), who.participant_id))


def _request_named(visit: Visit, name: str) -> Request:
    if not services_file(visit.lake.warehouse).exists():
        raise UnknownNameError("nothing was ever asked here")
    return request_named(services_of(visit.lake.warehouse), name)


def _state(visit: Visit, request: Request, who: Participant | None) -> str:
    """Why a request takes no answer of this reader."""
    made = decisions(services_of(visit.lake.warehouse)).get(request.request_id)
    if made is not None:
        by = _who(visit, made, _names(visit))
        return f"{_verdict(made)} by {by} on {figures.moment(made.decided_at)}."
    if who is None or who.participant_id not in request.asked_of:
        return "It is asked of others: you may read it, and they answer."
    return "It was asked anew, of another version or of others: this one takes no answer."


def _subject(visit: Visit, request: Request) -> _Subject:
    run_id, unit, lake = request.run_id, request.unit_id, visit.lake
    run = next((each for each in lake.runs() if each.run_id == run_id), None)
    whole = pg.report("The report", run_path(run_id))
    if run is None:
        try:
            kind = lake.kind(run_id)
        except AssayError:
            return _Subject(unit or run_id, "not published here", whole)
        return _Subject(_title_of_unit(visit, kind, run_id, unit), "", whole)
    if not unit:
        return _Subject(f"Run {run.label or run_id}", run.states_in_words, whole)
    rows = lake.frame("leaderboard", run_id=run_id).filter(polars.col("idea_id") == unit).to_dicts()
    if not rows:
        return _Subject(unit, "not in the run", whole)
    return _Subject(
        wording.titled(rows[0]["title"], unit),
        _told(run, rows[0]),
        pg.report("The full review", idea_path(run_id, unit)),
    )


def _told(run: Run, row: dict[str, Any]) -> str:
    score = f"score {figures.mean(row['score'])}" if row["score"] is not None else "unscored"
    return f"{verdict_on(row).value}, {score}" if gives_verdicts(run) else score


def _title_of_unit(visit: Visit, kind: Kind[Any, Any, Any], run_id: RunId, unit: str) -> str:
    if not unit:
        return kind.title(run_id)
    for each in visit.lake.units(kind, run_id):
        if getattr(each, kind.name_column) == unit:
            return wording.titled(getattr(each, "title", ""), unit)
    return unit


def _review(visit: Visit, request: Request, about: _Subject) -> Markup:
    """The first page of an idea; of all else the way to its report."""
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
    """All that was answered here, newest first."""
    warehouse = visit.lake.warehouse
    if not services_file(warehouse).exists():
        return []
    return list(records_of(services_of(warehouse), "decisions", Decision))[::-1]


def _table(visit: Visit, made: Iterable[Decision]) -> pg.Table:
    """Names and reasons are for who may decide; others read pseudonyms, as in the ledger."""
    names, database = _names(visit), services_of(visit.lake.warehouse)
    rows = []
    for each in made:
        request = request_named(database, each.request_id)
        about = _subject(visit, request)
        why = each.rule
        if not why and visit.may(Action.DECIDE):
            why = reason_of(database, each.reason_sha256) or ""
        place = with_query(PATH, request=each.request_id)
        link = pg.report(about.title, place) if visit.may(Action.DECIDE) else about.title
        rows.append((each.decided_at, link, _verdict(each), _who(visit, each, names), why))
    return pg.table(("When", "What", "Decision", "Who", "Why"), rows)


def _verdict(made: Decision) -> str:
    words = _in_words(made.verdict)
    return words if made.choice is None else f"{words} {made.choice}"


def _names(visit: Visit) -> dict[str, str]:
    if not visit.may(Action.DECIDE):
        return {}
    people = participants(services_of(visit.lake.warehouse))
    return {each.participant_id: each.name for each in people}


def _who(visit: Visit, made: Decision, names: dict[str, str]) -> str:
    who = _participant(visit)
    if made.participant_id is None:
        return "a rule of the project"
    own = who is not None and who.participant_id == made.participant_id
    return "you" if own else names.get(made.participant_id, made.participant_id)
