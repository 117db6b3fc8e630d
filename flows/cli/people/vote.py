"""`assay vote`: a blind vote on two answers to a question."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from dashboards.render.wording import BASELINE_ANSWERS, both_answers
from flows.cli.answer import EXIT_DONE, EXIT_FAILURES, print_answer
from flows.cli.options import Json
from flows.cli.terminal import print_note, print_warning, safe
from schemas.errors import ConfigurationError
from schemas.people.live_question import (
    LiveQuestion,
    QuestionKind,
    Sides,
    VoteOptions,
    clean_question,
    estimates_for,
)
from schemas.people.votes import Choice, Offer
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:
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

    The same TEXT resumes; `--choice` votes on the answers shown. The engines are drawn from the
    models that the dashboard offers, or from the profiles of the baseline.
    """
    from flows.jobs.runner import run_jobs
    from warehouse.app.people import participant
    from warehouse.app.questions import ask, at_work, draw_sides, open_question

    if (text is None) is (options.choice is None):
        raise ConfigurationError("say TEXT to ask, or --choice to vote on what you were shown")
    warehouse = Warehouse(options.warehouse.resolve())
    if text is None:
        warehouse.existing()
    with ServiceDatabase(warehouse) as database:
        participant_id, kind = participant(database, options.by).participant_id, options.kind
        if text is None:
            return _cast(warehouse, database, participant_id, options, as_json=json)
        text, question = clean_question(kind, text), open_question(database, participant_id)
        if options.dry_run or question is None or (question.kind, question.text) != (kind, text):
            sides = draw_sides(database, participant_id, kind, text, warehouse.settings)
            estimate = _estimate(warehouse, kind, text, sides)
            if options.dry_run:
                if json:
                    print_answer("expected", expected=estimate)
                else:
                    typer.echo(safe(estimate))
                return EXIT_DONE
            print_note(estimate)
            question = ask(warehouse, database, participant_id, kind, text, sides)
        if at_work(warehouse, database, question):
            print_note("both answers are being written; the same command resumes if it is stopped")
            run_jobs(warehouse, is_over=lambda: not at_work(warehouse, database, question))
        return _print_answers(warehouse, database, question, as_json=json)


def _print_answers(
    warehouse: Warehouse, database: ServiceDatabase, question: LiveQuestion, *, as_json: bool
) -> int:
    from warehouse.app.questions import NoVote, end

    outcome, offer = _read_offer(warehouse, database, question)
    if isinstance(outcome, NoVote):
        end(database, question, outcome.ended)
        if as_json:
            print_answer("no_vote", [_side("left", outcome.left)], warnings=(outcome.why,))
        else:
            if outcome.left:
                _print_side("What there is", outcome.left)
            print_warning(outcome.why)
        return EXIT_FAILURES
    assert offer is not None
    sides = dict(zip((side.name for side in outcome.sides), outcome.texts, strict=True))
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
    participant_id: str,
    options: VoteOptions,
    *,
    as_json: bool,
) -> int:
    from warehouse.app.questions import answer, at_work, open_question

    if options.choice not in _CHOICES:
        raise ConfigurationError(f"--choice {options.choice!r}: say one of {', '.join(_CHOICES)}")
    question = open_question(database, participant_id)
    if question is None:
        raise ConfigurationError("no question of yours is open: ask one with `assay vote TEXT`")
    if at_work(warehouse, database, question):
        raise ConfigurationError(
            "both answers are not there yet: the same TEXT again waits for them"
        )
    outcome, offer = _read_offer(warehouse, database, question)
    if offer is None:
        raise ConfigurationError(getattr(outcome, "why", "there is nothing to vote on"))
    cast_vote = answer(
        database,
        participant_id,
        question,
        offer.offer_id,
        _CHOICES[options.choice],
        options.reason,
    )
    state = cast_vote.choice.replace("_", " ") if cast_vote is not None else "skipped"
    if as_json:
        print_answer(state, [] if cast_vote is None else [cast_vote])
    else:
        print_note("skipped" if cast_vote is None else "your vote is kept")
    return EXIT_DONE


def _read_offer(
    warehouse: Warehouse, database: ServiceDatabase, question: LiveQuestion
) -> "tuple[Answers | NoVote, Offer | None]":
    from warehouse.app.questions import ALREADY_VOTED, NoVote, answers_to, offer_of

    with warehouse.queries() as queries:
        outcome = answers_to(warehouse, queries, question)
    if isinstance(outcome, NoVote):
        return outcome, None
    offer = offer_of(database, question, outcome, warehouse.settings)
    return (ALREADY_VOTED, None) if offer is None else (outcome, offer)


def _estimate(warehouse: Warehouse, kind: QuestionKind, text: str, sides: Sides) -> str:
    from flows.jobs.runner import run_jobs
    from warehouse.app.jobs import read_job, submit, take_result

    if all(side.engine.is_baseline for side in sides):
        return BASELINE_ANSWERS
    requests = estimates_for(kind, text, sides, datetime.now(UTC), key=uuid4().hex)
    names = [submit(warehouse, request) for request in requests]

    def is_over() -> bool:
        current_jobs = [read_job(warehouse, name) for name in names]
        return not any(job is not None and job.at_work for job in current_jobs)

    run_jobs(warehouse, is_over)
    estimates = [take_result(warehouse, name) for name in names]
    return both_answers(estimates, warehouse.settings.voting.question_cost_usd)


def _side(name: str, parts: "Sequence[Part]") -> dict[str, Any]:
    return {"side": name, "parts": [part._asdict() for part in parts]}


def _print_side(name: str, parts: "Sequence[Part]") -> None:
    typer.echo(f"\n== {name} ==\n")
    for part in parts:
        if part.heading:
            typer.echo(f"{safe(part.heading)}:")
        typer.echo(f"{safe(part.text)}\n")
