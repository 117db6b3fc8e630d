"""Campaign of any declared kind of work."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import dashboards
from dashboards.views.pages_by_kind import page_of
from dashboards.views.published_page import PublishedPage
from flows.run.campaign import Campaign, Plan
from flows.run.gateway import OpenGateway, open_gateway
from schemas.base import Noun, replace
from schemas.identifiers import RunId
from schemas.settings import Settings
from schemas.work import Request, paths_in
from tasks.judging.identity import (
    documents_identity,
    model_identity,
    prompts_of,
    run_id_of,
    sampling_identity,
    search_identity,
    seed_identity,
)
from tasks.telemetry.reporting import traceparent
from tasks.work.declaration import Work
from tasks.work.shard import WorkShard
from tasks.works import WorkByName
from warehouse.units.landing import resumed_head
from warehouse.warehouse import Warehouse

_PACKAGE_FOLDER = Path(dashboards.__file__).parent
"""Every worker has the installed files, at whatever path."""
_REQUEST_FIELDS = {"parameters", "cutoff_date", "full_text"}


def run_id(
    work: Work[Any, Any, Any], request: Request[Any, Any], literature: str, settings: Settings
) -> RunId:
    """Return the identity of a run: a hash of all that can change its results.

    Args:
        literature: with its fingerprint; empty: the kind uses none.
    """
    units = (unit.model_dump_json(include=set(work.identity)) for unit in request.units)
    engines = (
        part
        for each in request.engines
        for part in model_identity(each.engine, settings, each.api_base)
    )
    asks_models = any(not each.engine.is_baseline for each in request.engines)
    sampling = sampling_identity if asks_models else seed_identity
    return run_id_of(
        work.name,
        request.model_dump_json(include=_REQUEST_FIELDS),
        *engines,
        sampling(request.profile),
        *search_identity(literature, settings),
        documents_identity(settings) if work.documents or request.full_text else "",
        *prompts_of(work.steps(request)),
        *(units if work.identity else ()),
    )


class DeclaredCampaign(Campaign[Plan[Any], Any]):
    gateway: OpenGateway | None = None

    def __init__(self, work: Work[Any, Any, Any], request: Request[Any, Any]) -> None:
        super().__init__(request, engine=request.engine.text)
        self.declaration = work
        self.kind = work.kind  # type: ignore[misc]
        self.name = self.command = self.artifact_key = work.name  # type: ignore[misc]
        self.verb, self.nouns = "finished", work.units_noun  # type: ignore[misc]
        self.work = WorkByName(work.name)  # type: ignore[misc]
        self.in_sandbox = work.sandbox  # type: ignore[misc]

    @contextmanager
    def open(self) -> Iterator[None]:
        literature = self.request.literature
        if literature is None:
            yield
            return
        place = self.request.scheduler_address
        with open_gateway(literature, self.warehouse, place) as self.gateway:
            yield

    @cached_property
    def run_id(self) -> RunId:
        return run_id(self.declaration, self.request, self._literature, self.warehouse.settings)

    @property
    def _literature(self) -> str:
        return "" if self.gateway is None else self.gateway.literature

    def plan(self) -> Plan[Any]:
        units = {self.declaration.unit_name(unit): unit for unit in self.request.units}
        return Plan(
            head=resumed_head(self.warehouse, self.kind, self._head()),
            unit_names=tuple(units),
            shards=self.shards_of(units, self._shard),
        )

    def _head(self) -> Noun:
        request = self.request
        values = request.parameters.model_dump() | {
            "run_id": self.run_id,
            "engine": request.engine.text,
            "profile": request.profile.name,
            "seed": request.profile.seed,
            "literature": self._literature,
            "cutoff_date": request.cutoff_date,
            f"{self.declaration.unit_noun}_count": len(request.units),
            "started_at": self.started_at,
            "finished_at": self.started_at,
            **self.declaration.head(request),
        }
        head: type[Noun] = self.kind.head
        return head(**{name: values[name] for name in values.keys() & head.model_fields.keys()})

    def _shard(self, units: tuple[Any, ...]) -> WorkShard[Any]:
        work = self.declaration
        return WorkShard[work.request](  # type: ignore[name-defined]
            run_id=self.run_id,
            request=replace(self.request, units=units),
            names=tuple(map(work.unit_name, units)),
            read_from=tuple(
                path for path in paths_in(units) if not path.is_relative_to(_PACKAGE_FOLDER)
            ),
            gateway_url=None if self.gateway is None else self.gateway.url,
            trace_parent=traceparent(),
        )

    def write_reports(self, head: Any) -> tuple[Path, ...]:
        self.page = published_page(self.declaration, self.warehouse, head.run_id, self.request)
        paths: tuple[Path, ...] = self.page.write(self.warehouse.reports / head.run_id)
        return paths

    def remarks(self) -> tuple[str, ...]:
        return () if self.page is None else tuple(self.page.notes)

    def faults(self) -> tuple[str, ...]:
        return () if self.page is None else tuple(self.page.faults)

    def describe(self, head: Any) -> str:
        count = len(self.request.units)
        return f"{count} {self.nouns}; engine {head.engine}."


def published_page(
    work: Work[Any, Any, Any],
    warehouse: Warehouse,
    run_id: RunId,
    request: Request[Any, Any] | None = None,
    page: Any = None,
) -> PublishedPage:
    """Return the page of a published run.

    Args:
        request: of the command that ran; None if the page is opened later.
        page: the page as it was read before; None: it is read.

    Raises:
        UnknownNameError: it is not published.
    """
    page = page_of(work.kind, warehouse, run_id) if page is None else page
    complete_page: PublishedPage = dataclasses.replace(page, **work.figures(page, request))
    return complete_page
