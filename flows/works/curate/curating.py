"""Papers with their reviews made into rated ideas, landed, published and reported."""

from pathlib import Path

from dashboards.views.write_curation import curation_page
from flows.run.campaign import Campaign, Plan, Summary
from flows.works.curate.curation_agreement import agreement_on
from schemas.identifiers import RunId
from schemas.settings import Settings
from schemas.works.curation_run import CurationHead, CurationRequest, PaperSource
from tasks.curation.collect import CurationJob
from tasks.curation.curation_shard import curation_job
from tasks.curation.steps import STEPS
from tasks.judging.identity import (
    documents_identity,
    model_identity,
    prompts_of,
    run_id_of,
    sampling_identity,
)
from tasks.shards.work import ShardWork
from tasks.telemetry.reporting import traceparent
from warehouse.kinds.curations.landing import CURATIONS
from warehouse.units.landing import begun_head

CurationSummary = Summary[CurationHead]


class Curating(Campaign[Plan[CurationHead], CurationHead]):
    """A set of rated ideas in the making."""

    kind = CURATIONS
    name = "curate"
    artifact_key = "curation"
    verb, nouns = "curated", "papers"
    work = ShardWork(CurationJob, curation_job, "curation shard", "papers")

    def __init__(self, request: CurationRequest) -> None:
        super().__init__(request, request.warehouse, engine=request.engine.text)
        self.request = request

    @property
    def run_id(self) -> RunId:
        return curation_run_id(self.request, self.warehouse.settings)

    def plan(self) -> Plan[CurationHead]:
        sources = {source.paper_id: source for source in self.request.sources}
        return Plan(
            head=begun_head(self.warehouse, CURATIONS, self._head()),
            unit_names=tuple(sources),
            shards=self.shards_of(sources, self._job),
        )

    def _head(self) -> CurationHead:
        request = self.request
        return CurationHead(
            run_id=self.run_id,
            engine=request.engine.text,
            fewest_reviews=request.parameters.fewest_reviews,
            most_rating_spread=request.parameters.most_rating_spread,
            paper_count=len(request.sources),
            started_at=self.started_at,
            finished_at=self.started_at,
        )

    def _job(self, sources: tuple[PaperSource, ...]) -> CurationJob:
        return CurationJob(
            run_id=self.run_id,
            request=self.request,
            sources=sources,
            trace_parent=traceparent(),
        )

    def write_reports(self, head: CurationHead) -> tuple[Path, ...]:
        page = curation_page(self.warehouse, head.run_id, agreement_on)
        return page.write(self.warehouse.reports / head.run_id)

    def describe(self, head: CurationHead) -> str:
        return f"{head.paper_count} papers with reviews; engine {head.engine}."


def curation_run_id(request: CurationRequest, settings: Settings) -> RunId:
    """The identity of a curation."""
    return run_id_of(
        "curation",
        request.model_dump_json(include={"parameters"}),
        *model_identity(request.engine, settings, request.api_base),
        sampling_identity(request.profile),
        documents_identity(settings),
        *prompts_of(STEPS),
        *(
            f"{source.paper_id}:{source.reviewed_at}:{source.content_sha256}"
            for source in request.sources
        ),
    )
