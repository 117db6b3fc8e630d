"""Check of manuscripts: critical problems and votes of judges, landed, published and reported."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dashboards.views.write_check import check_page
from flows.run.campaign import Campaign, Plan
from flows.run.gateway import OpenGateway, open_gateway
from schemas.identifiers import RunId
from schemas.settings import Settings
from schemas.work import Summary
from schemas.works.check_run import CheckHead, CheckRequest, ManuscriptSource
from tasks.judging.identity import (
    documents_identity,
    model_identity,
    prompts_of,
    run_id_of,
    search_identity,
)
from tasks.judging.step import Step
from tasks.manuscripts.check_shard import check_job
from tasks.manuscripts.collect import CheckJob
from tasks.manuscripts.pool import POOL_STEPS
from tasks.manuscripts.review import REVIEW_STEPS
from tasks.manuscripts.revise import REVISION_STEPS
from tasks.manuscripts.steps.find_problems import FIND_PROBLEMS
from tasks.manuscripts.steps.judge_hit import JUDGE_HIT
from tasks.shards.work import ShardWork
from tasks.telemetry.reporting import traceparent
from warehouse.kinds.manuscripts.landing import CHECKS
from warehouse.units.landing import begun_head

CheckSummary = Summary[CheckHead]


class Check(Campaign[Plan[CheckHead], CheckHead]):
    """A check of manuscripts."""

    kind = CHECKS
    name = "check"
    artifact_key = "check"
    verb, nouns = "checked", "manuscripts"
    work = ShardWork(CheckJob, check_job, "check shard", "manuscripts")

    gateway: OpenGateway | None = None

    def __init__(self, request: CheckRequest) -> None:
        super().__init__(request, request.warehouse, engine=request.engine.text)
        self.request = request

    @contextmanager
    def open(self) -> Iterator[None]:
        if self.request.literature is None:
            yield
            return
        place = self.request.scheduler_address
        with open_gateway(self.request.literature, self.warehouse, place) as self.gateway:
            yield

    @property
    def run_id(self) -> RunId:
        return check_run_id(self.request, self.warehouse.settings, self._literature)

    @property
    def _literature(self) -> str:
        return self.gateway.literature if self.gateway is not None else ""

    def plan(self) -> Plan[CheckHead]:
        sources = {source.manuscript_id: source for source in self.request.sources}
        return Plan(
            head=begun_head(self.warehouse, CHECKS, self._head()),
            unit_names=tuple(sources),
            shards=self.shards_of(sources, self._job),
        )

    def _head(self) -> CheckHead:
        request = self.request
        before = request.revision.head if request.revision is not None else None
        return CheckHead(
            run_id=self.run_id,
            engine=request.engine.text,
            judges=request.judges_named,
            form=request.form,
            maximum_problems=request.maximum_problems,
            review=request.review,
            literature=before.literature if before else self._literature,
            cutoff_date=before.cutoff_date if before else request.cutoff_date,
            revises=before.run_id if before else "",
            attempt_count=request.attempt_count,
            repetition_count=request.repetition_count,
            seed=request.seed,
            manuscript_count=len(request.sources),
            started_at=self.started_at,
            finished_at=self.started_at,
        )

    def _job(self, sources: tuple[ManuscriptSource, ...]) -> CheckJob:
        return CheckJob(
            run_id=self.run_id,
            request=self.request,
            sources=sources,
            gateway_url=self.gateway.url if self.gateway is not None else None,
            trace_parent=traceparent(),
        )

    def write_reports(self, head: CheckHead) -> tuple[Path, ...]:
        page = check_page(self.warehouse, head.run_id)
        return page.write(self.warehouse.reports / head.run_id)

    def describe(self, head: CheckHead) -> str:
        judges = ", ".join(head.judges) or "none"
        return f"{head.manuscript_count} manuscripts; engine {head.engine}; judges: {judges}."


def _steps(request: CheckRequest) -> tuple[Step[Any, Any], ...]:
    """Those that the check asks."""
    review = REVIEW_STEPS if request.revision is None else REVISION_STEPS
    found = review if request.review else (FIND_PROBLEMS,)
    looked_up = POOL_STEPS if request.literature is not None else ()
    return (*looked_up, *found, JUDGE_HIT)


def check_run_id(request: CheckRequest, settings: Settings, literature: str = "") -> RunId:
    """The identity of a check.

    Args:
        literature: what stands behind the gateway, with its fingerprint; empty: nothing is asked.
    """
    revision = request.revision
    asked = {"form", "maximum_problems", "attempt_count", "repetition_count", "seed"}
    if request.review:
        asked.add("review")
    if literature:
        asked.add("cutoff_date")
    if not request.engine.is_baseline:
        asked.add("effort")
    return run_id_of(
        "check",
        request.model_dump_json(include=asked),
        *model_identity(request.engine, settings, request.api_base),
        *(
            part
            for judge in request.judges
            for part in model_identity(judge.engine, settings, judge.api_base)
        ),
        *search_identity(literature, settings),
        documents_identity(settings),
        *(
            (revision.head.run_id, *(one.model_dump_json() for one in revision.preferences))
            if revision
            else ()
        ),
        *prompts_of(_steps(request)),
        *(
            f"{source.manuscript_id}:{source.content_sha256}:{source.known_reason}"
            for source in request.sources
        ),
    )
