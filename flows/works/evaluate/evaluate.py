"""Evaluation of a batch of ideas."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from flows.cli.terminal import print_note
from flows.run.batch_waves import BatchWaves
from flows.run.campaign import Campaign, Plan
from flows.run.gateway import OpenGateway, open_gateway
from flows.works.evaluate.idea_input import print_remarks
from flows.works.evaluate.plan import KeyedBatch, key_batch, write_remaining_shards
from flows.works.evaluate.reevaluation import reevaluation_input
from flows.works.evaluate.request import literature_name
from schemas.base import replace
from schemas.identifiers import RunId
from schemas.judgement.run_request import RunRequest
from schemas.run import Run, RunState
from schemas.settings import Settings
from schemas.work import Summary
from tasks.evaluation.evaluate_job import evaluate_job
from tasks.evaluation.manuscripts import read_given_ideas
from tasks.evaluation.shard_job import ShardJob
from tasks.shards.work import ShardWork
from warehouse.kinds.runs.landing import RUNS, refused_run
from warehouse.units.landing import iterate_receipts

RunSummary = Summary[Run]


class Evaluation(Campaign[Plan[Run], Run]):
    """A run of ideas. Its id depends on the literature, so it is set in `open`."""

    kind = RUNS
    name, command = "run", "evaluate"
    artifact_key = "evaluate-batch"
    verb, nouns = "evaluated", "ideas"
    work = ShardWork(ShardJob, evaluate_job, "shard", "ideas")

    keyed: KeyedBatch
    gateway: OpenGateway

    def __init__(self, request: RunRequest) -> None:
        super().__init__(request, engine=request.engine.text, profile=request.profile.name)
        self.batch, self.papers = read_given_ideas(request, self.warehouse.settings)
        print_remarks(self.batch.remarks)

    @staticmethod
    def complete_options(
        arguments: tuple[Path | None], options: Any, settings: Settings
    ) -> tuple[tuple[Path | None], Any]:
        """Complete the options from an earlier run if `--again` names one."""
        earlier_run = getattr(options, "again", None)
        return (
            (arguments, options)
            if earlier_run is None
            else reevaluation_input(earlier_run, options, settings)
        )

    @contextmanager
    def open(self) -> Iterator[None]:
        place = self.request.scheduler_address
        with open_gateway(self.request.literature, self.warehouse, place) as self.gateway:
            if self.gateway.lacks:
                print_note(self.gateway.lacks)
            self.keyed = key_batch(
                self.batch,
                self.request,
                self.warehouse.settings,
                self.gateway.literature,
                self.papers,
            )
            yield

    @property
    def run_id(self) -> RunId:
        return self.keyed.run_id

    def plan(self) -> Plan[Run]:
        return Plan(
            head=self._head(),
            unit_names=tuple(entry.evaluation_key for entry in self.keyed.planned),
            shards=write_remaining_shards(self.keyed, self.request, self.gateway, self.warehouse),
        )

    def waves(self) -> BatchWaves | None:
        if not self.request.parameters.batch:
            return None
        run_id = self.run_id
        return BatchWaves(self.request, (run_id,), run_id, self.warehouse)

    def _head(self) -> Run:
        request = self.request
        return Run(
            run_id=self.run_id,
            label=request.parameters.label,
            profile=request.profile.name,
            engine=request.engine.text,
            literature=self.gateway.literature,
            literature_name=literature_name(request.literature),
            literature_lacks=self.gateway.lacks,
            requests_per_second=self.warehouse.settings.literature.requests_per_second
            if request.literature.asks_upstream
            else None,
            maximum_requests=request.budget.maximum_requests,
            modules=",".join(request.parameters.modules),
            idea_count=len(self.keyed.planned),
            rejected_count=len(self.keyed.rejected),
            reading_remarks=self.batch.remarks,
            evaluated_count=0,
            failed_count=0,
            scored_count=0,
            partly_scored_count=0,
            unscored_count=0,
            in_order=False,
            state=RunState.NOT_PUBLISHED,
            started_at=self.started_at,
            finished_at=self.started_at,
            duration_seconds=0,
            assay_version=metadata.version("assay"),
            again_run_id=request.parameters.again,
            score_weights=request.profile.score_weights,
            allowed_unscored_share=request.parameters.allowed_unscored_share,
        )

    def final_head(self, plan: Plan[Run]) -> Run:
        receipts = tuple(iterate_receipts(self.warehouse, RUNS, self.run_id))
        start_times = (each.started_at for each in receipts if each.reused_from_run_id is None)
        started_at = min((self.started_at, *start_times))
        timed_head = replace(
            plan.head,
            started_at=started_at,
            finished_at=self.watch.finished_at,
            duration_seconds=self.watch.seconds,
        )
        return timed_head.concluded(receipts)

    def refused_head(self, head: Run, expectations: tuple[str, ...]) -> Run:
        return refused_run(head, expectations)

    def published_head(self, head: Run) -> Run:
        with self.warehouse.queries(as_defined=False) as queries:
            return queries.run(head.run_id)

    def current_reports(self) -> tuple[Path, ...]:
        folder = self.warehouse.reports / self.run_id
        reports = tuple(folder / name for name in ("index.html", "index.md"))
        return reports if all(path.exists() for path in reports) else ()

    def write_reports(self, head: Run) -> tuple[Path, ...]:
        from dashboards.views.write_run import write_reports

        return write_reports(self.warehouse, head.run_id)

    def describe(self, head: Run) -> str:
        return (
            f"{head.order_in_words} {head.states_in_words}; profile {head.profile}, engine "
            f"{head.engine}, literature {head.literature}. Took {head.duration_seconds:.0f} s."
        )
