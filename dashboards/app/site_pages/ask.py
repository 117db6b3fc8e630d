"""Ask two engines: a question of the voter's own, the wait for both answers, and the vote."""

from datetime import UTC, datetime
from typing import NamedTuple
from uuid import uuid4

from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from dashboards.app.access import services_of
from dashboards.app.evaluating.asking import NO_RUNNER, expected_of
from dashboards.app.site import Shown, Visit, controls, markup
from dashboards.app.site_pages.decide import PATH, parts, written
from dashboards.app.site_pages.votes import ballot, blocks_of, choice_of
from dashboards.render import wording
from schemas.errors import AssayError, ConfigurationError, NotAllowedError
from schemas.people.live_question import (
    LONGEST_IDEA,
    LiveQuestion,
    QuestionKind,
    Sides,
    estimates_for,
    tidy,
)
from schemas.works.survey_run import LONGEST_QUESTION
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

_HERE = f"{PATH}/ask"
_TITLE = "Ask two engines"
_LABELS = {
    QuestionKind.QUESTION: "Your question",
    QuestionKind.IDEA: "The idea: problem, method, planned experiments",
    QuestionKind.TOPIC: "The topic, as a question",
}


class _Draft(NamedTuple):
    asked: QuestionKind
    text: str
    sides: Sides
    expected: str


_DRAFTS: dict[tuple[str, str], _Draft] = {}
"""By warehouse and voter. A page must not hold the two who answer, whom a vote is not to know."""


def act(visit: Visit) -> Shown | Response:
    """Do what a button of the page asks.

    Raises:
        NotAllowedError: the reader may not vote, or the question is another's.
        ConfigurationError: the form is none of this page.
    """
    voter, wanted = visit.pseudonym, visit.word("do")
    try:
        if wanted == "estimate":
            _estimate(visit, voter)
        elif wanted == "ask":
            _ask(visit, voter)
        elif wanted == "change":
            return show(visit, draft=_DRAFTS.pop(_key(visit, voter), None))
        else:
            _end(visit, voter, wanted)
    except NotAllowedError:
        raise
    except AssayError as error:
        return show(visit, note=str(error))
    return RedirectResponse(_HERE, 303)


def _estimate(visit: Visit, voter: str) -> None:
    """Draw who would answer, and say what both answers take together."""
    warehouse, asked = visit.lake.warehouse, _asked(visit.word("asked"))
    settings, text = warehouse.settings, tidy(asked, visit.word("text").replace("\r\n", "\n"))
    sides = draw_sides(services_of(warehouse), voter, asked, text, settings)
    if all(side.engine.is_baseline for side in sides):
        told = wording.BASELINE_ANSWERS
    else:  # of either alone it would tell who answers
        found = estimates_for(asked, text, sides, datetime.now(UTC), key=uuid4().hex)
        bound = settings.voting.question_cost_usd
        told = wording.both_answers(expected_of(warehouse, found), bound)
    _DRAFTS[_key(visit, voter)] = _Draft(asked, text, sides, told)


def _ask(visit: Visit, voter: str) -> None:
    draft = _DRAFTS.pop(_key(visit, voter), None)
    if draft is not None:  # else it was asked already, or the server began anew
        warehouse = visit.lake.warehouse
        ask(warehouse, services_of(warehouse), voter, draft.asked, draft.text, draft.sides)


def _end(visit: Visit, voter: str, wanted: str) -> None:
    """Vote on the question that is open, leave it, or go on to another one.

    One that has ended stays as it is: the form was sent twice.
    """
    warehouse = visit.lake.warehouse
    database = services_of(warehouse)
    question = open_question(database, voter)
    if question is None or question.question_id != visit.word("question"):
        return
    if wanted == "leave":
        leave(warehouse, database, question)
    elif wanted == "another":
        if at_work(warehouse, database, question):
            return
        found = _found(visit, question)
        end(database, question, (SEEN if isinstance(found, Answers) else found).ended)
    elif wanted == "vote":
        choice, reason, offer_id = choice_of(visit), written(visit), visit.word("offer")
        answer(database, voter, question, offer_id, choice, reason, warehouse.settings)
    else:
        raise ConfigurationError("there is no such button on this page: open it again")


def show(visit: Visit, note: str = "", draft: _Draft | None = None) -> Shown:
    """The question that is open, what another would take, or the form."""
    voter, warehouse = visit.pseudonym, visit.lake.warehouse
    question = open_question(services_of(warehouse), voter)
    waits = question is not None and at_work(warehouse, services_of(warehouse), question)
    asked = (
        draft.asked
        if draft is not None
        else _asked(visit.word("asked") or visit.query.get("asked", ""))
    )
    head = controls(
        "ask",
        parts=parts(visit),
        here=_HERE,
        note=note,
        question=question,
        waits=waits,
        no_runner=NO_RUNNER if waits and runner_at_work(warehouse) is False else "",
        body=Markup() if question is None or waits else _answered(visit, question),
        draft=_DRAFTS.get(_key(visit, voter)),
        kinds=[(each, each.capitalize()) for each in QuestionKind],
        asked=asked,
        label=_LABELS[asked],
        text=draft.text if draft is not None else visit.word("text"),
        longest=LONGEST_IDEA if asked is QuestionKind.IDEA else LONGEST_QUESTION,
        rows=10 if asked is QuestionKind.IDEA else 3,
    )
    return Shown(_TITLE, (), head, live=waits)


def _answered(visit: Visit, question: LiveQuestion) -> Markup:
    """The ballot, or why there is none."""
    database, settings = services_of(visit.lake.warehouse), visit.lake.warehouse.settings
    found = _found(visit, question)
    offered = None
    if isinstance(found, Answers):
        offered = offer_of(database, question, found, settings)
    if isinstance(found, NoVote) or offered is None:
        told = found if isinstance(found, NoVote) else SEEN
        left = markup(blocks_of(told.left))
        return controls("no_vote", here=_HERE, question=question, why=told.why, left=left)
    text_of = dict(zip((side.name for side in found.sides), found.texts, strict=True))
    sides = (text_of[offered.first.contender.name], text_of[offered.second.contender.name])
    fields = {"question": question.question_id, "do": "vote"}
    return ballot(_HERE, offered, sides, fields, reason=visit.word("reason"))


def _found(visit: Visit, question: LiveQuestion) -> Answers | NoVote:
    if not visit.lake.exists:
        return NoVote("Neither of the two gave an answer, so there is nothing to vote on.")
    with visit.lake.queries() as queries:
        return answers_to(visit.lake.warehouse, queries, question)


def _asked(word: str) -> QuestionKind:
    return QuestionKind(word) if word in set(QuestionKind) else QuestionKind.QUESTION


def _key(visit: Visit, voter: str) -> tuple[str, str]:
    return str(visit.lake.warehouse.root), voter
