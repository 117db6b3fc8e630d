"""A draft of an idea: written from claims, checked, landed, published and reported."""

from pathlib import Path

from dashboards.views.write_draft import draft_page
from flows.run.campaign import Campaign, Plan, Summary
from schemas.identifiers import RunId
from schemas.settings import Settings
from schemas.works.draft_run import DraftHead, DraftRequest
from tasks.judging.identity import model_identity, prompts_of, run_id_of, sampling_identity
from tasks.shards.work import ShardWork
from tasks.telemetry.reporting import traceparent
from tasks.writing.draft_shard import METHOD_VERSION, DraftJob, draft_job, material_hash
from tasks.writing.expected import steps_of
from warehouse.kinds.drafts import DRAFTS
from warehouse.units.landing import begun_head

DraftSummary = Summary[DraftHead]


class Writing(Campaign[Plan[DraftHead], DraftHead]):
    """A draft under way."""

    kind = DRAFTS
    name = "write"
    artifact_key = "draft"
    verb, nouns = "written", "drafts"
    work = ShardWork(DraftJob, draft_job, "draft shard", "drafts")

    def __init__(self, request: DraftRequest) -> None:
        super().__init__(request, request.warehouse, engine=request.engine.text)
        self.request = request

    @property
    def run_id(self) -> RunId:
        return draft_run_id(self.request, self.warehouse.settings)

    def plan(self) -> Plan[DraftHead]:
        drafts = {self.request.draft_id: self.request}
        return Plan(
            head=begun_head(self.warehouse, DRAFTS, self._head()),
            unit_names=tuple(drafts),
            shards=self.shards_of(drafts, self._job),
        )

    def _head(self) -> DraftHead:
        request = self.request
        return DraftHead(
            run_id=self.run_id,
            engine=request.engine.text,
            idea_run_id=request.idea_run_id,
            experiment_run_ids=request.experiment_run_ids,
            survey_run_id=request.survey_run_id,
            revises=request.revision.run_id if request.revision else "",
            review_run_id=request.revision.review_run_id if request.revision else "",
            venue=request.material.venue.venue,
            started_at=self.started_at,
            finished_at=self.started_at,
        )

    def _job(self, _: tuple[DraftRequest, ...]) -> DraftJob:
        return DraftJob(run_id=self.run_id, request=self.request, trace_parent=traceparent())

    def write_reports(self, head: DraftHead) -> tuple[Path, ...]:
        page = draft_page(self.warehouse, head.run_id)
        return page.write(self.warehouse.reports / head.run_id)

    def describe(self, head: DraftHead) -> str:
        return f"A draft of {self.request.draft_id}; engine {head.engine}."

    def remarks(self) -> tuple[str, ...]:
        return self.request.remarks


def draft_run_id(request: DraftRequest, settings: Settings) -> RunId:
    """The identity of a draft; without a model no step is asked."""
    again, profile = request.revision, request.profile
    asked = (sampling_identity(profile), *prompts_of(steps_of(profile.judging)))
    return run_id_of(
        "draft",
        f"{METHOD_VERSION} {request.draft_id} {material_hash(request)}",
        *model_identity(request.engine, settings, request.api_base),
        *(() if request.engine.is_baseline else asked),
        *((again.run_id, *(each.model_dump_json() for each in again.points)) if again else ()),
    )
