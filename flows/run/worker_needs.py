"""What a campaign needs of workers that are not its own."""

import os
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from flows.jobs.job_environment import SOURCE_VARIABLES
from flows.run.worker_check import (
    Address,
    WorkerNeeds,
    code_hash,
    compared,
    fingerprint,
    python_version,
)
from schemas.choices import remote_model
from schemas.judgement.run_request import RunRequest
from schemas.run import Module, WorkRequest
from schemas.settings import Settings
from schemas.work import Request
from tasks.judging.model_keys import model_variables
from tasks.shards.work import Shard
from warehouse.shared_database import shared_database
from warehouse.stores.budget_file import this_machine
from warehouse.warehouse import Warehouse

_DOCUMENT_VARIABLES = ("GROBID_URL", "UNPAYWALL_EMAIL")


def needs_of(
    request: WorkRequest,
    shards: Sequence[Shard],
    shard_file: Path,
    settings: Settings,
    *,
    in_sandbox: bool = False,
) -> WorkerNeeds:
    """What the workers of `request` must have, whose shards these are; one of them is in the file.

    Args:
        in_sandbox: whether the work runs programs in a sandbox.

    Raises:
        SharedStateError: the catalogue's database cannot be reached.
    """
    database, files = shared_database(), {path for shard in shards for path in shard.files}
    embeds = True
    if isinstance(request, Request):
        _, *judges = request.engines
        # A judge without a model compares embeddings.
        embeds = request.literature is not None or any(one.engine.is_baseline for one in judges)
    return WorkerNeeds(
        assay_version=metadata.version("assay"),
        python_version=python_version(),
        code=code_hash(),
        settings=compared(settings),
        warehouse=Warehouse(shards[0].warehouse, settings).address,
        shard_file=shard_file.absolute(),
        machine=this_machine(),
        database=None if database is None else database.identity,
        shares_folder=bool(getattr(request, "batch", False)),
        files={path: found for path in sorted(files) if (found := fingerprint(path)) is not None},
        variables=_variables(request, settings, embeds=embeds),
        unset=tuple(name for name in _DOCUMENT_VARIABLES if not os.environ.get(name)),
        addresses=_addresses(request),
        gateway_url=getattr(shards[0], "gateway_url", None),
        literature=getattr(shards[0], "literature", None),
        embeds=embeds,
        in_sandbox=in_sandbox,
        container=settings.experiments.container if in_sandbox else None,
    )


def _variables(request: WorkRequest, settings: Settings, *, embeds: bool) -> tuple[str, ...]:
    """Keys and the like that the command has: it has tried that they do."""
    models = [place.model for place, _ in _engines(request)]
    for part in (request, getattr(request, "profile", None)):
        judging = getattr(part, "judging", None)
        models += judging.models if judging is not None else ()
    if embeds:
        models.append(remote_model(settings.embeddings.model))
    wanted = set[str]().union(*(model_variables(model) for model in models if model is not None))
    if isinstance(request, RunRequest) and Module.COMMITTEE in request.parameters.modules:
        wanted |= SOURCE_VARIABLES
    if getattr(request, "full_text", False):
        wanted.update(_DOCUMENT_VARIABLES)
    return tuple(sorted(name for name in wanted if os.environ.get(name)))


def _engines(request: Any) -> list[tuple[Any, str | None]]:
    if isinstance(request, Request):
        return [(each.engine, each.api_base) for each in request.engines]
    return [(request.engine, getattr(request, "api_base", None))]


def _addresses(request: WorkRequest) -> tuple[Address, ...]:
    bases = dict.fromkeys(base for _, base in _engines(request) if base is not None)
    found = [
        Address(
            what="the model's server",
            url=base,
            mend="name one in --api-base that every machine reaches",
        )
        for base in bases
    ]
    if prefect := os.environ.get("PREFECT_API_URL"):
        found.append(
            Address(
                what="Prefect's server",
                url=f"{prefect.rstrip('/')}/health",
                mend=(
                    "run `prefect server start --host 0.0.0.0` and export"
                    " PREFECT_API_URL=http://ITS_HOST:4200/api for the command"
                ),
            )
        )
    if getattr(request, "full_text", False) and (grobid := os.environ.get("GROBID_URL")):
        found.append(
            Address(what="GROBID", url=grobid, mend="name one in GROBID_URL that all reach")
        )
    return tuple(found)
