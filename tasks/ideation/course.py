"""Ideas made in rounds: the versions of each round go through the main job, and the next round
begins with what was found wanting. How an idea goes on is decided by rule, or by people.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from schemas.base import replace
from schemas.identifiers import RunId, content_hash
from schemas.judgement.run_request import EvaluationParameters, GivenIdeas, RunRequest
from schemas.people.decisions import Decision, Request, Verdict
from schemas.reasons import Reason
from schemas.run import Run, RunState
from schemas.settings import Settings
from schemas.work import Summary
from schemas.works.ideation import IdeaVersion, Move, kept_versions
from schemas.works.ideation_run import (
    IDEATIONS,
    IdeationHead,
    IdeationParameters,
    IdeationRequest,
    PlannedRound,
)
from tasks.accounting.remaining import remaining
from tasks.ideas.json_lines import write_ideas
from tasks.ideation.stacks import Branch, Place, Stacks, landed_round, next_concept
from tasks.text.words import shorten_words
from tasks.work.course import Course, Follow, Runs
from warehouse.app.database import ServiceDatabase
from warehouse.app.decisions import decisions, open_requests, request_all
from warehouse.app.records import fold_into_lake
from warehouse.kinds.runs.landing import RUNS
from warehouse.ledger import parts_by_unit
from warehouse.units.kind import kind_of
from warehouse.units.landing import complete_receipt, iterate_receipts
from warehouse.warehouse import Warehouse

ANOTHER_CONCEPT, REVISE, STAND = 1, 2, 3
WAYS = ("go on with another concept", "revise the proposal", "leave it as it is")
"""The alternatives that are laid before people, in the order of their numbers."""
_BY_RULE = {
    Move.ADD_KEYWORD: "a concept would be added",
    Move.REPLACE_KEYWORD: "a concept would be replaced",
    Move.REVISE: "the proposal would be revised",
}
_FINDINGS_SHOWN, _WORDS_OF_A_FINDING = 2, 30


@dataclass(frozen=True, slots=True)
class Decided:
    """Decisions by idea, None leaving it as it is; and the requests that nobody has answered."""

    moves: Mapping[Place, Move | None]
    waiting: tuple[Request, ...] = ()


def decide_branches(
    parameters: IdeationParameters,
    warehouse: Warehouse,
    run_id: RunId,
    evaluated: Sequence[RunId],
    branches: Sequence[Branch],
) -> Decided:
    """Ask about each branch what was not asked before, and say what was answered.

    A request is about the evaluation of one version: where that changes, it is asked anew. To send
    all alternatives back leaves the idea as it is.

    Args:
        evaluated: the runs that evaluated versions so far, in order.
    """
    with warehouse.queries() as queries:
        found = {
            unit: (each, parts)
            for each in evaluated
            for unit, parts in parts_by_unit(queries.connection, each).items()
        }
    to_ask = [
        _request(parameters.asked_of, run_id, branch, *found[branch.version.version_id])
        for branch in branches
    ]
    with ServiceDatabase(warehouse) as database:
        asked = request_all(database, to_ask)
        known = decisions(database)
    fold_into_lake(warehouse)
    maximum = parameters.maximum_keywords
    moves = {
        branch.place: _move(known[each.request_id], branch, maximum)
        for branch, each in zip(branches, asked, strict=True)
        if each.request_id in known
    }
    return Decided(moves, tuple(each for each in asked if each.request_id not in known))


def _move(decision: Decision, branch: Branch, maximum_keywords: int) -> Move | None:
    if decision.verdict is not Verdict.CHOSEN or decision.choice == STAND:
        return None
    if decision.choice == REVISE:
        return Move.REVISE
    return next_concept(branch.version.keywords, maximum_keywords)


def _request(
    asked_of: tuple[str, ...],
    run_id: RunId,
    branch: Branch,
    evaluated: RunId,
    parts: tuple[str, ...],
) -> Request:
    version_id = branch.version.version_id
    return Request(
        request_id=content_hash(run_id, version_id, *parts, length=12),
        run_id=evaluated,
        unit_id=version_id,
        stage=None,
        criteria=". ".join(_told(branch)),
        options=WAYS,
        parts=parts,
        asked_by=None,
        asked_of=asked_of,
        requested_at=datetime.now(UTC),
    )


def _told(branch: Branch) -> Iterator[str]:
    """The idea, its gravest findings, and what would be done without anybody."""
    yield branch.version.title.rstrip(".")
    for finding in branch.findings[:_FINDINGS_SHOWN]:
        said, _ = shorten_words(finding.text, _WORDS_OF_A_FINDING)
        yield f"{finding.key} ({finding.kind.replace('_', ' ')}): {said.rstrip('.')}"
    yield f"By rule {_BY_RULE[branch.move]}"


PROPOSAL_WORDS = 600
IdeationSummary = Summary[IdeationHead]


def make_in_rounds(request: IdeationRequest, settings: Settings, runs: Runs) -> IdeationSummary:
    """Make, evaluate and revise ideas, round by round, and publish; the same request again goes on
    where the last one stopped.
    """
    warehouse, parameters = Warehouse(request.warehouse, settings), request.parameters
    run_id = runs.run_id("ideate", request)
    (first,) = request.units
    stacks = Stacks([slot.seed for slot in first.slots], parameters, request.cutoff_date)
    rounds: list[PlannedRound] = []
    evaluated: list[RunId] = []
    decided = Decided({})
    for number in range(1, parameters.rounds + 1):
        slots = stacks.slots(number, decided.moves)
        if not slots:
            break
        rounds.append(replace(first, round_id=f"round-{number}", slots=slots))
        if complete_receipt(warehouse, kind_of(IDEATIONS), run_id, f"round-{number}") is None:
            budget = remaining(request.budget, warehouse, evaluated)
            made = runs("ideate", replace(request, units=tuple(rounds), budget=budget))
            if not made.published or made.head.incomplete_reason is not None:
                return made
        versions = landed_round(warehouse, run_id, f"round-{number}").versions
        stacks.add(versions)
        kept = kept_versions(versions)
        if not kept:
            break
        path = _idea_file(kept, warehouse, run_id, number)
        budget = remaining(request.budget, warehouse, [run_id, *evaluated])
        summary = runs("evaluate", replace(evaluation_of(request, settings, path), budget=budget))
        evaluated.append(summary.head.run_id)
        ended = _ended_early(warehouse, summary.head)
        rounds[-1] = replace(rounds[-1], evaluated_run_id=evaluated[-1], ended_reason=ended)
        if not summary.published or ended is not None:
            break
        with warehouse.queries() as queries:
            stacks.judge(tuple(queries.idea_reviews(evaluated[-1])))
        if parameters.by_people and number < parameters.rounds:
            branches = tuple(stacks.branches())
            decided = decide_branches(parameters, warehouse, run_id, evaluated, branches)
            if decided.waiting:
                rounds[-1] = replace(rounds[-1], ended_reason=Reason.UNDECIDED)
                break
    summary = runs("ideate", replace(request, units=tuple(rounds)))
    if summary.head.incomplete_reason is not Reason.UNDECIDED:
        return summary
    return replace(summary, waits_for=_asked_about(warehouse, [run_id, *evaluated]))


def _asked_about(warehouse: Warehouse, run_ids: Sequence[RunId]) -> tuple[Any, ...]:
    """Return what people are asked by hand of these runs, and have not answered."""
    with ServiceDatabase(warehouse) as database:
        found = tuple(open_requests(database))
    return tuple(each for each in found if each.run_id in run_ids and each.stage is None)


def _ended_early(warehouse: Warehouse, run: Run) -> Reason | None:
    """Why an evaluation did not run to its end: the next round would begin without its findings."""
    if run.state is RunState.BUDGET_EXHAUSTED:
        return Reason.BUDGET_EXHAUSTED
    receipts = iterate_receipts(warehouse, RUNS, run.run_id)
    return next(filter(None, (receipt.incomplete_reason for receipt in receipts)), None)


def _idea_file(
    kept: Sequence[IdeaVersion], warehouse: Warehouse, run_id: RunId, number: int
) -> Path:
    folder = warehouse.state / "ideations" / run_id
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"round-{number}.jsonl"
    write_ideas([version.idea for version in kept], path)
    return path


def evaluation_of(request: IdeationRequest, settings: Settings, ideas: Path | None) -> RunRequest:
    """The evaluation of the versions in a file, as the options of the command say."""
    parameters, literature = request.parameters, request.literature
    assert literature is not None
    return RunRequest(
        units=() if ideas is None else (GivenIdeas(path=ideas),),
        literature=literature,
        parameters=EvaluationParameters(
            modules=parameters.modules,
            survey=parameters.survey,
            experiment_run_ids=parameters.experiment_run_ids,
            label=parameters.label,
            idea_timeout_seconds=settings.runs.idea_timeout_seconds,
            allowed_unscored_share=settings.runs.allowed_unscored_share,
            batch=parameters.batch,
            batch_failures=parameters.batch_failures,
        ),
        cutoff_date=request.cutoff_date,
        full_text=request.full_text,
        **request.command_fields,
    )


def version_count(request: IdeationRequest) -> int:
    """Versions that are made where none is dropped; an engine that does not write makes leads."""
    (first,) = request.units
    rounds = 1 if request.engine.is_baseline else request.parameters.rounds
    return len(first.slots) * rounds


def _follows(request: IdeationRequest, settings: Settings) -> tuple[Follow, ...]:
    """The evaluation of every version; leads are not evaluated."""
    if request.engine.is_baseline:
        return ()
    asked = partial(evaluation_of, request, settings)
    return (Follow("evaluate", asked, "word " * PROPOSAL_WORDS, version_count(request)),)


IN_ROUNDS = Course(run=make_in_rounds, follows=_follows)
