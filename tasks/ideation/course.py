"""Rounds of ideation: make versions, evaluate them, and revise by the findings.

The next move of an idea is decided by rule or by people.
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
from tasks.ideas.json_lines import write_ideas
from tasks.ideation.stacks import Branch, Place, Stacks, landed_round, next_concept
from tasks.text.words import shorten_words
from tasks.work.course import Course, Follow, Runs, remaining
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
"""Options of a request to people, in the order of their numbers."""
_BY_RULE = {
    Move.ADD_KEYWORD: "a concept would be added",
    Move.REPLACE_KEYWORD: "a concept would be replaced",
    Move.REVISE: "the proposal would be revised",
}
_FINDINGS_SHOWN, _WORDS_OF_A_FINDING = 2, 30


@dataclass(frozen=True, slots=True)
class BranchDecisions:
    """Moves by idea (None leaves an idea as it is), and the open requests."""

    moves: Mapping[Place, Move | None]
    waiting: tuple[Request, ...] = ()


def decide_branches(
    parameters: IdeationParameters,
    warehouse: Warehouse,
    run_id: RunId,
    evaluation_runs: Sequence[RunId],
    branches: Sequence[Branch],
) -> BranchDecisions:
    """Request decisions about branches, and return those that were answered.

    A request is about one evaluation of one version; a new evaluation needs a new request. If
    people reject all options, the idea stays as it is.

    Args:
        evaluated: runs that evaluated versions so far, in order.
    """
    with warehouse.queries() as queries:
        parts_of_version = {
            unit: (run, parts)
            for run in evaluation_runs
            for unit, parts in parts_by_unit(queries.connection, run).items()
        }
    to_ask = [
        _request(parameters.asked_of, run_id, branch, *parts_of_version[branch.version.version_id])
        for branch in branches
    ]
    with ServiceDatabase(warehouse) as database:
        requests = request_all(database, to_ask)
        answers = decisions(database)
    fold_into_lake(warehouse)
    maximum = parameters.maximum_keywords
    moves = {
        branch.place: _move(answers[each.request_id], branch, maximum)
        for branch, each in zip(branches, requests, strict=True)
        if each.request_id in answers
    }
    return BranchDecisions(
        moves, tuple(each for each in requests if each.request_id not in answers)
    )


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
    evaluation_runs: RunId,
    parts: tuple[str, ...],
) -> Request:
    version_id = branch.version.version_id
    return Request(
        request_id=content_hash(run_id, version_id, *parts, length=12),
        run_id=evaluation_runs,
        unit_id=version_id,
        stage=None,
        criteria=". ".join(_criteria(branch)),
        options=WAYS,
        parts=parts,
        asked_by=None,
        asked_of=asked_of,
        requested_at=datetime.now(UTC),
    )


def _criteria(branch: Branch) -> Iterator[str]:
    """Yield the title, the gravest findings, and the move by rule."""
    yield branch.version.title.rstrip(".")
    for finding in branch.findings[:_FINDINGS_SHOWN]:
        text, _ = shorten_words(finding.text, _WORDS_OF_A_FINDING)
        yield f"{finding.key} ({finding.kind.replace('_', ' ')}): {text.rstrip('.')}"
    yield f"By rule {_BY_RULE[branch.move]}"


PROPOSAL_WORDS = 600
IdeationSummary = Summary[IdeationHead]


def make_in_rounds(request: IdeationRequest, settings: Settings, runs: Runs) -> IdeationSummary:
    """Make, evaluate and revise ideas round by round, and publish.

    A repeated request resumes after the last finished step.
    """
    warehouse, parameters = Warehouse(request.warehouse, settings), request.parameters
    run_id = runs.run_id("ideate", request)
    (first,) = request.units
    stacks = Stacks([slot.seed for slot in first.slots], parameters, request.cutoff_date)
    rounds: list[PlannedRound] = []
    evaluation_runs: list[RunId] = []
    decisions_so_far = BranchDecisions({})
    for number in range(1, parameters.rounds + 1):
        slots = stacks.slots(number, decisions_so_far.moves)
        if not slots:
            break
        rounds.append(replace(first, round_id=f"round-{number}", slots=slots))
        if complete_receipt(warehouse, kind_of(IDEATIONS), run_id, f"round-{number}") is None:
            budget = remaining(request.budget, warehouse, evaluation_runs)
            made_summary = runs("ideate", replace(request, units=tuple(rounds), budget=budget))
            if not made_summary.published or made_summary.head.incomplete_reason is not None:
                return made_summary
        versions = landed_round(warehouse, run_id, f"round-{number}").versions
        stacks.add(versions)
        ideas_to_evaluate = kept_versions(versions)
        if not ideas_to_evaluate:
            break
        path = _idea_file(ideas_to_evaluate, warehouse, run_id, number)
        budget = remaining(request.budget, warehouse, [run_id, *evaluation_runs])
        summary = runs("evaluate", replace(evaluation_of(request, settings, path), budget=budget))
        evaluation_runs.append(summary.head.run_id)
        end_reason = _early_end(warehouse, summary.head)
        rounds[-1] = replace(
            rounds[-1], evaluated_run_id=evaluation_runs[-1], ended_reason=end_reason
        )
        if not summary.published or end_reason is not None:
            break
        with warehouse.queries() as queries:
            stacks.judge(tuple(queries.idea_reviews(evaluation_runs[-1])))
        if parameters.by_people and number < parameters.rounds:
            branches = tuple(stacks.branches())
            decisions_so_far = decide_branches(
                parameters, warehouse, run_id, evaluation_runs, branches
            )
            if decisions_so_far.waiting:
                rounds[-1] = replace(rounds[-1], ended_reason=Reason.UNDECIDED)
                break
    summary = runs("ideate", replace(request, units=tuple(rounds)))
    if summary.head.incomplete_reason is not Reason.UNDECIDED:
        return summary
    return replace(summary, waits_for=_open_requests(warehouse, [run_id, *evaluation_runs]))


def _open_requests(warehouse: Warehouse, run_ids: Sequence[RunId]) -> tuple[Any, ...]:
    """Return the open requests about these runs that were made here."""
    with ServiceDatabase(warehouse) as database:
        requests = tuple(open_requests(database))
    return tuple(each for each in requests if each.run_id in run_ids and each.stage is None)


def _early_end(warehouse: Warehouse, run: Run) -> Reason | None:
    """Return why the evaluation is incomplete; the next round would lack its findings."""
    if run.state is RunState.BUDGET_EXHAUSTED:
        return Reason.BUDGET_EXHAUSTED
    receipts = iterate_receipts(warehouse, RUNS, run.run_id)
    return next(filter(None, (receipt.incomplete_reason for receipt in receipts)), None)


def _idea_file(
    versions: Sequence[IdeaVersion], warehouse: Warehouse, run_id: RunId, number: int
) -> Path:
    folder = warehouse.state / "ideations" / run_id
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"round-{number}.jsonl"
    write_ideas([version.idea for version in versions], path)
    return path


def evaluation_of(request: IdeationRequest, settings: Settings, ideas: Path | None) -> RunRequest:
    """Return the request to evaluate the versions in a file."""
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
    """Count versions if none is dropped; the baseline engine makes leads in one round."""
    (first,) = request.units
    rounds = 1 if request.engine.is_baseline else request.parameters.rounds
    return len(first.slots) * rounds


def _follows(request: IdeationRequest, settings: Settings) -> tuple[Follow, ...]:
    """Return the evaluation of all versions; leads are not evaluated."""
    if request.engine.is_baseline:
        return ()
    evaluation = partial(evaluation_of, request, settings)
    return (Follow("evaluate", evaluation, "word " * PROPOSAL_WORDS, version_count(request)),)


IN_ROUNDS = Course(run=make_in_rounds, follows=_follows)
