"""Page “Ask two engines”: a voter's question, both answers, and the vote."""

from datetime import UTC, datetime
from typing import NamedTuple
from uuid import uuid4

from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from dashboards.app.access import services_of
from dashboards.app.site import PageContent, Visit, controls, markup
from dashboards.app.site_pages.decide import PATH, parts, read_remark
from dashboards.app.site_pages.jobs import NO_RUNNER, estimates_of
from dashboards.app.site_pages.votes import ballot, blocks_of, choice_of
from dashboards.render import wording
from schemas.errors import AssayError, ConfigurationError, NotAllowedError
from schemas.people.live_question import (
    LONGEST_IDEA,
    LiveQuestion,
    QuestionKind,
    Sides,
    clean_question,
    estimates_for,
)
from schemas.works.survey_run import LONGEST_QUESTION
from warehouse.app.jobs import runner_at_work
from warehouse.app.questions import (
    ALREADY_VOTED,
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

_HERE = f"{PATH}/ask"
_TITLE = "Ask two engines"
_LABELS = {
    QuestionKind.QUESTION: "Your question",
    QuestionKind.IDEA: "The idea: problem, method, planned experiments",
    QuestionKind.TOPIC: "The topic, as a question",
}


class _Draft(NamedTuple):
    kind: QuestionKind
    text: str
    sides: Sides
    expected: str


# By warehouse and voter. Kept on the server, as the page must not reveal who answers.
_DRAFTS: dict[tuple[str, str], _Draft] = {}


def act(visit: Visit) -> PageContent | Response:
    """Handle a button of the page.

    Raises:
        NotAllowedError: the reader may not vote, or the question is another voter's.
        ConfigurationError: the form has no such button.
    """
    voter, action = visit.pseudonym, visit.form_text("do")
    try:
        if action == "estimate":
            _estimate(visit, voter)
        elif action == "ask":
            _ask(visit, voter)
        elif action == "change":
            return show(visit, draft=_DRAFTS.pop(_key(visit, voter), None))
        else:
            _end(visit, voter, action)
    except NotAllowedError:
        raise
    except AssayError as error:
        return show(visit, note=str(error))
    return RedirectResponse(_HERE, 303)


def _estimate(visit: Visit, voter: str) -> None:
    warehouse, kind = visit.lake.warehouse, _kind_of(visit.form_text("asked"))
    settings, text = (
        warehouse.settings,
        clean_question(kind, visit.form_text("text").replace("\r\n", "\n")),
    )
    sides = draw_sides(services_of(warehouse), voter, kind, text, settings)
    if all(side.engine.is_baseline for side in sides):
        estimate = wording.BASELINE_ANSWERS
    else:  # both together, as one alone would reveal the engine
        requests = estimates_for(kind, text, sides, datetime.now(UTC), key=uuid4().hex)
        question_cost_usd = settings.voting.question_cost_usd
        estimate = wording.both_answers(estimates_of(warehouse, requests), question_cost_usd)
    _DRAFTS[_key(visit, voter)] = _Draft(kind, text, sides, estimate)


def _ask(visit: Visit, voter: str) -> None:
    draft = _DRAFTS.pop(_key(visit, voter), None)
    if draft is not None:  # else it was asked already, or the server restarted
        warehouse = visit.lake.warehouse
        ask(warehouse, services_of(warehouse), voter, draft.kind, draft.text, draft.sides)


def _end(visit: Visit, voter: str, action: str) -> None:
    """Vote on the open question, leave it, or close it for another.

    A question that has ended stays unchanged: the form was sent twice.
    """
    warehouse = visit.lake.warehouse
    database = services_of(warehouse)
    question = open_question(database, voter)
    if question is None or question.question_id != visit.form_text("question"):
        return
    if action == "leave":
        leave(warehouse, database, question)
    elif action == "another":
        if at_work(warehouse, database, question):
            return
        outcome = _read_answers(visit, question)
        end(database, question, (ALREADY_VOTED if isinstance(outcome, Answers) else outcome).ended)
    elif action == "vote":
        choice, reason, offer_id = choice_of(visit), read_remark(visit), visit.form_text("offer")
        answer(database, voter, question, offer_id, choice, reason)
    else:
        raise ConfigurationError("there is no such button on this page: open it again")


def show(visit: Visit, note: str = "", draft: _Draft | None = None) -> PageContent:
    """Show the open question, the estimate of a drafted one, or the form."""
    voter, warehouse = visit.pseudonym, visit.lake.warehouse
    question = open_question(services_of(warehouse), voter)
    is_waiting = question is not None and at_work(warehouse, services_of(warehouse), question)
    kind = (
        draft.kind
        if draft is not None
        else _kind_of(visit.form_text("asked") or visit.query.get("asked", ""))
    )
    head = controls(
        "ask",
        parts=parts(visit),
        here=_HERE,
        note=note,
        question=question,
        waits=is_waiting,
        no_runner=NO_RUNNER if is_waiting and runner_at_work(warehouse) is False else "",
        body=Markup() if question is None or is_waiting else _ballot_or_reason(visit, question),
        draft=_DRAFTS.get(_key(visit, voter)),
        kinds=[(each, each.capitalize()) for each in QuestionKind],
        kind=kind,
        label=_LABELS[kind],
        text=draft.text if draft is not None else visit.form_text("text"),
        longest=LONGEST_IDEA if kind is QuestionKind.IDEA else LONGEST_QUESTION,
        rows=10 if kind is QuestionKind.IDEA else 3,
    )
    return PageContent(_TITLE, (), head, live=is_waiting)


def _ballot_or_reason(visit: Visit, question: LiveQuestion) -> Markup:
    database, settings = services_of(visit.lake.warehouse), visit.lake.warehouse.settings
    outcome = _read_answers(visit, question)
    pair = None
    if isinstance(outcome, Answers):
        pair = offer_of(database, question, outcome, settings)
    if isinstance(outcome, NoVote) or pair is None:
        no_vote = outcome if isinstance(outcome, NoVote) else ALREADY_VOTED
        remaining_answer = markup(blocks_of(no_vote.left))
        return controls(
            "no_vote", here=_HERE, question=question, why=no_vote.why, left=remaining_answer
        )
    text_of = dict(zip((side.name for side in outcome.sides), outcome.texts, strict=True))
    sides = (text_of[pair.first.contender.name], text_of[pair.second.contender.name])
    fields = {"question": question.question_id, "do": "vote"}
    return ballot(_HERE, pair, sides, fields, reason=visit.form_text("reason"))


def _read_answers(visit: Visit, question: LiveQuestion) -> Answers | NoVote:
    if not visit.lake.exists:
        return NoVote("Neither of the two gave an answer, so there is nothing to vote on.")
    with visit.lake.queries() as queries:
        return answers_to(visit.lake.warehouse, queries, question)


def _kind_of(word: str) -> QuestionKind:
    return QuestionKind(word) if word in set(QuestionKind) else QuestionKind.QUESTION


def _key(visit: Visit, voter: str) -> tuple[str, str]:
    return str(visit.lake.warehouse.root), voter
