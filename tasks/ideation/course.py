"""Rounds of ideation: make versions, evaluate them, and revise by the findings."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from schemas.base import replace
from schemas.identifiers import RunId, content_hash
from schemas.judgement.run_request import EvaluationParameters, GivenIdeas, RunRequest
from schemas.people.decisions import Request, Verdict
from schemas.reasons import Reason
from schemas.run import Run, RunState
from schemas.settings import Settings
from schemas.work import Summary
from schemas.works.ideation import Move, kept_versions
from schemas.works.ideation_run import (
    IDEATIONS,
    IdeationHead,
    IdeationParameters,
    IdeationRequest,
    PlannedRound,
)
from tasks.accounting.budgets import remaining
from tasks.ideas.json_lines import write_ideas
from tasks.ideation.stacks import Branch, Place, Stacks, landed_round, next_concept
from tasks.text.words import shorten_words
from tasks.work.declaration import Follow, Runs
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


Moves = Mapping[Place, Move | None]
"""Moves by idea; None leaves an idea as it is."""


def _moves_by_people(
    parameters: IdeationParameters,
    warehouse: Warehouse,
    run_id: RunId,
    evaluation_runs: Sequence[RunId],
    branches: Sequence[Branch],
) -> Moves | None:
    """Request decisions about branches; return them, or None while one is open.

    A request is about one evaluation of one version; a new evaluation needs a new request. If
    people reject all options, the idea stays as it is.
    """
    with warehouse.queries() as queries:
        parts_of_version = {
            unit: (run, parts)
            for run in evaluation_runs
            for unit, parts in parts_by_unit(queries.connection, run).items()
        }
    to_ask = []
    for branch in branches:
        version_id = branch.version.version_id
        evaluation_run, parts = parts_of_version[version_id]
        to_ask.append(
            Request(
                request_id=content_hash(run_id, version_id, *parts, length=12),
                run_id=evaluation_run,
                unit_id=version_id,
                stage=None,
                criteria=". ".join(_criteria(branch)),
                options=WAYS,
                parts=parts,
                asked_by=None,
                asked_of=parameters.asked_of,
                requested_at=datetime.now(UTC),
            )
        )
    with ServiceDatabase(warehouse) as database:
        requests = request_all(database, to_ask)
        answers = decisions(database)
    fold_into_lake(warehouse)
    if any(each.request_id not in answers for each in requests):
        return None
    moves: dict[Place, Move | None] = {}
    for branch, request in zip(branches, requests, strict=True):
        decision = answers[request.request_id]
        is_chosen = decision.verdict is Verdict.CHOSEN
        moves[branch.place] = None
        if is_chosen and decision.choice == REVISE:
            moves[branch.place] = Move.REVISE
        elif is_chosen and decision.choice != STAND:
            keywords = branch.version.keywords
            moves[branch.place] = next_concept(keywords, parameters.maximum_keywords)
    return moves


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
    stacks = Stacks(first.seeds, parameters, request.cutoff_date)
    rounds: list[PlannedRound] = []
    evaluation_runs: list[RunId] = []
    moves: Moves = {}
    for number in range(1, parameters.rounds + 1):
        slots = stacks.slots(number, moves)
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
        path = warehouse.state / "ideations" / run_id / f"round-{number}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_ideas([version.idea for version in ideas_to_evaluate], path)
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
            answers = _moves_by_people(parameters, warehouse, run_id, evaluation_runs, branches)
            if answers is None:
                rounds[-1] = replace(rounds[-1], ended_reason=Reason.UNDECIDED)
                break
            moves = answers
    summary = runs("ideate", replace(request, units=tuple(rounds)))
    if summary.head.incomplete_reason is not Reason.UNDECIDED:
        return summary
    with ServiceDatabase(warehouse) as database:
        waiting = [
            each
            for each in open_requests(database)
            if each.run_id in (run_id, *evaluation_runs) and each.stage is None
        ]
    return replace(summary, waits_for=tuple(waiting))


def _early_end(warehouse: Warehouse, run: Run) -> Reason | None:
    """Return why the evaluation is incomplete; the next round would lack its findings."""
    if run.state is RunState.BUDGET_EXHAUSTED:
        return Reason.BUDGET_EXHAUSTED
    receipts = iterate_receipts(warehouse, RUNS, run.run_id)
    return next(filter(None, (receipt.incomplete_reason for receipt in receipts)), None)


def evaluation_of(request: IdeationRequest, settings: Settings, ideas: Path) -> RunRequest:
    """Return the request to evaluate the versions in a file."""
    parameters, literature = request.parameters, request.literature
    assert literature is not None
    return RunRequest(
        units=(GivenIdeas(path=ideas),),
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


def follow_ups(request: IdeationRequest, settings: Settings, folder: Path) -> tuple[Follow, ...]:
    """Return the evaluation of all versions; leads are not evaluated."""
    if request.engine.is_baseline:
        return ()
    path = folder / "proposal.md"
    path.write_text("word " * PROPOSAL_WORDS)
    return (("evaluate", evaluation_of(request, settings, path), version_count(request)),)
