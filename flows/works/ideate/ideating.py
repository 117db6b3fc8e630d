"""Ideas made in rounds: each round is a piece of work of its own kind, its versions go through the
main job, and the next round begins with what was found wanting.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dashboards.views.write_ideation import ideation_page
from flows.run.campaign import Campaign, Plan
from flows.run.gateway import OpenGateway, indexed, open_gateway
from flows.run.indexing import shown_progress
from flows.run.shards import write_shards
from flows.works.evaluate.evaluate import RunSummary
from flows.works.ideate.ideation_branches import Decided, decide_branches
from flows.works.ideate.ideation_stacks import Stacks, ideas_of, landed_round
from schemas.base import replace
from schemas.identifiers import RunId
from schemas.reasons import Reason
from schemas.run import Budget, Run, RunRequest, RunState
from schemas.settings import Settings
from schemas.work import Summary
from schemas.works.ideation import IdeaVersion, kept_versions
from schemas.works.ideation_run import IdeationHead, IdeationRequest
from tasks.accounting.remaining import remaining
from tasks.ideas.json_lines import write_ideas
from tasks.ideation.ideation_shard import IdeationJob, ideation_job
from tasks.ideation.network import open_network
from tasks.ideation.steps import STEPS
from tasks.ideation.versions import Slot
from tasks.judging.identity import (
    documents_identity,
    model_identity,
    prompts_of,
    run_id_of,
    search_identity,
)
from tasks.shards.work import ShardWork
from tasks.telemetry.reporting import traceparent
from warehouse.kinds.ideations import IDEATIONS
from warehouse.kinds.runs.landing import RUNS
from warehouse.units.landing import begun_head, complete_receipt, iterate_receipts
from warehouse.warehouse import Warehouse

IdeationSummary = Summary[IdeationHead]


@dataclass(frozen=True, slots=True)
class Done:
    """How far a run is: rounds that have landed, runs that evaluated them, why it stopped."""

    round_count: int = 0
    evaluated_run_ids: tuple[RunId, ...] = ()
    incomplete_reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """A round that is to be made; without slots there is nothing left but to publish."""

    number: int
    slots: tuple[Slot, ...] = ()
    done: Done = field(default_factory=Done)
    budget: Budget = field(default_factory=Budget)

    @property
    def round_id(self) -> str:
        return f"round-{self.number}"


class Ideating(Campaign[Plan[IdeationHead], IdeationHead]):
    """One round, published with those before it."""

    kind = IDEATIONS
    name = "ideate"
    artifact_key = "ideation"
    verb, nouns = "made", "rounds"
    work = ShardWork(IdeationJob, ideation_job, "ideation shard", "rounds")

    def __init__(self, request: IdeationRequest, made: Round, gateway: OpenGateway) -> None:
        super().__init__(request, request.warehouse, engine=request.evaluation.engine.text)
        self.request, self.made, self.gateway = request, made, gateway

    @property
    def run_id(self) -> RunId:
        return ideation_run_id(self.request, self.gateway.literature, self.warehouse.settings)

    def plan(self) -> Plan[IdeationHead]:
        count = self.made.number if self.made.slots else self.made.done.round_count
        return Plan(
            head=begun_head(self.warehouse, IDEATIONS, self._head(count)),
            unit_names=tuple(f"round-{number}" for number in range(1, count + 1)),
            shards=self._shards(),
        )

    def _head(self, round_count: int) -> IdeationHead:
        request, evaluation = self.request, self.request.evaluation
        return IdeationHead(
            run_id=self.run_id,
            engine=evaluation.engine.text,
            literature=self.gateway.literature,
            profile=evaluation.profile.name,
            seed_count=len(request.seeds),
            per_seed=request.parameters.per_seed,
            rounds=request.parameters.rounds,
            round_count=round_count,
            evaluated_run_ids=self.made.done.evaluated_run_ids,
            started_at=self.started_at,
            finished_at=self.started_at,
        )

    def _shards(self) -> dict[Path, tuple[str, ...]]:
        snapshot = indexed(self.request.evaluation.literature, self.warehouse.settings).snapshot
        if not self.made.slots or snapshot is None:
            return {}
        job = IdeationJob(
            run_id=self.run_id,
            request=self.request,
            round_id=self.made.round_id,
            slots=self.made.slots,
            snapshot=snapshot,
            gateway_url=self.gateway.url,
            budget=self.made.budget,
            trace_parent=traceparent(),
        )
        return write_shards(self.warehouse.state / "ideations" / self.run_id, [job])

    def ended(self, plan: Plan[IdeationHead]) -> IdeationHead:
        head = super().ended(plan)
        reason = head.incomplete_reason or self.made.done.incomplete_reason
        return replace(head, incomplete_reason=reason)

    def write_reports(self, head: IdeationHead) -> tuple[Path, ...]:
        page = ideation_page(self.warehouse, head.run_id)
        return page.write(self.warehouse.reports / head.run_id)

    def describe(self, head: IdeationHead) -> str:
        return f"{head.round_count} rounds over {head.seed_count} seeds; engine {head.engine}."


Runs = Callable[[Campaign[Any, Any]], Summary[IdeationHead]]
Evaluates = Callable[[RunRequest], RunSummary]


def ideate(
    request: IdeationRequest, settings: Settings, run: Runs, evaluate: Evaluates
) -> IdeationSummary:
    """Make, evaluate and revise ideas, round by round, and publish; the same request again goes on
    where the last one stopped.

    Raises:
        ConfigurationError: the request cannot be met.
        SnapshotError: the snapshot cannot be read.
    """
    warehouse = Warehouse(request.warehouse, settings)
    with open_gateway(
        request.evaluation.literature, warehouse, request.scheduler_address
    ) as gateway:
        _build_networks(request, settings)
        run_id = ideation_run_id(request, gateway.literature, settings)
        stacks, done, decided = Stacks(request), Done(), Decided({})
        for number in range(1, request.parameters.rounds + 1):
            slots = stacks.slots(number, decided.moves)
            if not slots:
                break
            done = dataclasses.replace(done, round_count=number)
            if complete_receipt(warehouse, IDEATIONS, run_id, f"round-{number}") is None:
                budget = remaining(request.evaluation.budget, warehouse, done.evaluated_run_ids)
                summary = run(Ideating(request, Round(number, slots, done, budget), gateway))
                if not summary.published or summary.head.incomplete_reason is not None:
                    return summary
            versions = landed_round(warehouse, run_id, f"round-{number}").versions
            kept = kept_versions(versions)
            stacks.add(versions)
            if not kept:
                break
            others = (run_id, *done.evaluated_run_ids)
            run_summary = evaluate(_evaluation(request, run_id, number, kept, warehouse, others))
            done = dataclasses.replace(
                done,
                evaluated_run_ids=(*done.evaluated_run_ids, run_summary.head.run_id),
                incomplete_reason=_ended_early(warehouse, run_summary.head),
            )
            if not run_summary.published or done.incomplete_reason is not None:
                break
            with warehouse.queries() as queries:
                stacks.judge(tuple(queries.idea_reviews(run_summary.head.run_id)))
            if request.asked_of and number < request.parameters.rounds:
                decided = decide_branches(
                    request, warehouse, run_id, done.evaluated_run_ids, tuple(stacks.branches())
                )
                if decided.waiting:
                    done = dataclasses.replace(done, incomplete_reason=Reason.UNDECIDED)
                    break
        return run(Ideating(request, Round(done.round_count, (), done), gateway))


def _ended_early(warehouse: Warehouse, run: Run) -> Reason | None:
    """Why an evaluation did not run to its end: the next round would begin without its findings."""
    if run.state is RunState.BUDGET_EXHAUSTED:
        return Reason.BUDGET_EXHAUSTED
    receipts = iterate_receipts(warehouse, RUNS, run.run_id)
    return next(filter(None, (receipt.incomplete_reason for receipt in receipts)), None)


def _build_networks(request: IdeationRequest, settings: Settings) -> None:
    """Before any worker needs them, with progress a person can follow."""
    snapshot = indexed(request.evaluation.literature, settings).snapshot
    if snapshot is not None:
        with shown_progress() as progress, open_network(snapshot, settings.home, progress=progress):
            pass


def _evaluation(
    request: IdeationRequest,
    run_id: RunId,
    number: int,
    kept: Sequence[IdeaVersion],
    warehouse: Warehouse,
    others: Sequence[RunId],
) -> RunRequest:
    folder = warehouse.state / "ideations" / run_id
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"round-{number}.jsonl"
    write_ideas(ideas_of(kept), path)
    budget = remaining(request.evaluation.budget, warehouse, others)
    return replace(request.evaluation, ideas_path=path, fields=(), budget=budget)


def ideation_run_id(request: IdeationRequest, literature: str, settings: Settings) -> RunId:
    """The identity of an ideation, whose evaluations are part of it."""
    evaluation = request.evaluation
    return run_id_of(
        "ideation",
        *(f"{seed.content_sha256} {seed.description_sha256}" for seed in request.seeds),
        request.parameters.model_dump_json(),
        evaluation.model_dump_json(include={"profile", "modules", "full_text", "survey", "label"}),
        *model_identity(evaluation.engine, settings, evaluation.api_base),
        *evaluation.experiment_run_ids,
        *search_identity(literature, settings),
        documents_identity(settings) if evaluation.full_text else "",
        *prompts_of(STEPS),
        *(("decided by people",) if request.asked_of else ()),
    )
