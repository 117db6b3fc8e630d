"""`assay vote`: a question answered by two engines or profiles, and a blind vote on the two."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from flows.cli.answer import EXIT_DONE, EXIT_FAILURES, print_answer
from flows.cli.options import Json
from flows.cli.talk import print_note, print_warning, safe
from schemas.errors import ConfigurationError
from schemas.people.live_question import (
    LiveQuestion,
    QuestionKind,
    Sides,
    VoteOptions,
    estimates_for,
    tidy,
)
from schemas.people.votes import Choice
from schemas.settings import Settings
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    from schemas.people.votes import Offer
    from warehouse.app.contests import Part
    from warehouse.app.questions import Answers, NoVote

_CHOICES = {
    "a": Choice.FIRST,
    "b": Choice.SECOND,
    "good": Choice.BOTH_GOOD,
    "bad": Choice.BOTH_BAD,
    "skip": None,
}


def vote(
    options: VoteOptions,
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="What is asked, in quotation marks.")
    ] = None,
    json: Json = False,
) -> int:
    """Have two engines or profiles answer, read both answers without names, and vote on them.

    The same TEXT again goes on where it stopped; `--choice` votes on what you were shown. Who
    answers is drawn from the models that the dashboard offers, or the profiles of the baseline.
    """
    from warehouse.app.people import participant

    if (text is None) is (options.choice is None):
        raise ConfigurationError("say TEXT to ask, or --choice to vote on what you were shown")
    warehouse = Warehouse(options.warehouse.resolve())
    if text is None:
        warehouse.existing()
    with ServiceDatabase(warehouse) as database:
        who = participant(database, options.by).participant_id
        if text is None:
            return _cast(warehouse, database, who, options, as_json=json)
        if options.dry_run:
            return _tell_expected(warehouse, database, who, options.kind, text, as_json=json)
        question = _asked(warehouse, database, who, options.kind, text)
        return _shown(warehouse, database, question, as_json=json)


def _asked(
    warehouse: Warehouse, database: ServiceDatabase, who: str, asked: QuestionKind, text: str
) -> LiveQuestion:
    from flows.jobs.runner import run_jobs
    from warehouse.app.questions import ask, at_work, draw_sides, open_question

    settings, known = Settings(), open_question(database, who)
    written = tidy(asked, text)
    if known is None or (known.kind, known.text) != (asked, written):
        sides = draw_sides(database, who, asked, written, settings)
        print_note(_expected(warehouse, asked, written, sides))
        known = ask(warehouse, database, who, asked, written, sides)
    question = known
    if at_work(warehouse, database, question):
        print_note("both answers are being written; the same command goes on if it is stopped")
        run_jobs(warehouse, over=lambda: not at_work(warehouse, database, question))
    return question


def _shown(
    warehouse: Warehouse, database: ServiceDatabase, question: LiveQuestion, *, as_json: bool
) -> int:
    from warehouse.app.questions import NoVote, end

    found, offer = _offered(warehouse, database, question)
    if isinstance(found, NoVote):
        end(database, question, found.ended)
        if as_json:
            print_answer("no_vote", [_side("left", found.left)], warnings=(found.why,))
        else:
            if found.left:
                _print_side("What there is", found.left)
            print_warning(found.why)
        return EXIT_FAILURES
    assert offer is not None
    sides = dict(zip((side.name for side in found.sides), found.texts, strict=True))
    a, b = sides[offer.first.contender.name], sides[offer.second.contender.name]
    if as_json:
        print_answer("answered", [_side("a", a), _side("b", b)], question=question.text)
        return EXIT_DONE
    _print_side("A", a)
    _print_side("B", b)
    print_note(f"vote with: assay vote --by {question.voter} --choice a|b|good|bad|skip --reason …")
    return EXIT_DONE


def _cast(
    warehouse: Warehouse,
    database: ServiceDatabase,
    who: str,
    options: VoteOptions,
    *,
    as_json: bool,
) -> int:
    from warehouse.app.questions import answer, at_work, open_question

    if options.choice not in _CHOICES:
        raise ConfigurationError(f"--choice {options.choice!r}: say one of {', '.join(_CHOICES)}")
    question = open_question(database, who)
    if question is None:
        raise ConfigurationError("no question of yours is open: ask one with `assay vote TEXT`")
    if at_work(warehouse, database, question):
        raise ConfigurationError(
            "both answers are not there yet: the same TEXT again waits for them"
        )
    found, offer = _offered(warehouse, database, question)
    if offer is None:
        raise ConfigurationError(getattr(found, "why", "there is nothing to vote on"))
    made = answer(
        database,
        who,
        question,
        offer.offer_id,
        _CHOICES[options.choice],
        options.reason,
        Settings(),
    )
    said = made.choice.replace("_", " ") if made is not None else "skipped"
    if as_json:
        print_answer(said, [] if made is None else [made])
    else:
        print_note("skipped" if made is None else "your vote is kept")
    return EXIT_DONE


def _offered(
    warehouse: Warehouse, database: ServiceDatabase, question: LiveQuestion
) -> "tuple[Answers | NoVote, Offer | None]":
    from warehouse.app.questions import SEEN, NoVote, answers_to, offer_of

    settings = Settings()
    with warehouse.queries() as queries:
        found = answers_to(warehouse, queries, question)
    if isinstance(found, NoVote):
        return found, None
    offer = offer_of(database, question, found, settings)
    if offer is None:
        return SEEN, None
    return found, offer


def _tell_expected(
    warehouse: Warehouse,
    database: ServiceDatabase,
    who: str,
    asked: QuestionKind,
    text: str,
    *,
    as_json: bool,
) -> int:
    from warehouse.app.questions import draw_sides

    written = tidy(asked, text)
    sides = draw_sides(database, who, asked, written, Settings())
    told = _expected(warehouse, asked, written, sides)
    if as_json:
        print_answer("expected", expected=told)
    else:
        typer.echo(safe(told))
    return EXIT_DONE


def _expected(warehouse: Warehouse, asked: QuestionKind, text: str, sides: Sides) -> str:
    from dashboards.render.wording import BASELINE_ANSWERS, both_answers
    from flows.jobs.runner import run_jobs
    from warehouse.app.jobs import read_job, submit, take_expected

    if all(side.engine.is_baseline for side in sides):
        return BASELINE_ANSWERS
    settings = Settings()
    requests = estimates_for(asked, text, sides, datetime.now(UTC), key=uuid4().hex)
    names = [submit(warehouse, request) for request in requests]

    def over() -> bool:
        found = [read_job(warehouse, name) for name in names]
        return not any(job is not None and job.at_work for job in found)

    run_jobs(warehouse, over)
    found = [take_expected(warehouse, name) for name in names]
    return both_answers(found, settings.voting.question_cost_usd)


def _side(name: str, parts: "Sequence[Part]") -> dict[str, Any]:
    return {"side": name, "parts": [part._asdict() for part in parts]}


def _print_side(name: str, parts: "Sequence[Part]") -> None:
    typer.echo(f"\n== {name} ==\n")
    for part in parts:
        if part.heading:
            typer.echo(f"{safe(part.heading)}:")
        typer.echo(f"{safe(part.text)}\n")
