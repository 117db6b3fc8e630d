"""Campaigns on a cluster: a Prefect flow whose shards are tasks on Dask workers."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self
from uuid import UUID, uuid4

import dask
from distributed import Client
from prefect import flow
from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    update_progress_artifact,
)
from prefect_dask import DaskTaskRunner

from flows.cli.terminal import print_warning
from flows.jobs.job_environment import SOURCE_VARIABLES
from flows.run import worker_start
from flows.run.campaign import Campaign, PlanT, carry_out
from flows.run.cluster_access import use_certificates
from flows.run.progress import ProgressSource, Report
from flows.run.worker_check import (
    Address,
    Admission,
    WorkerNeeds,
    admission_refusal,
    code_hash,
    fingerprint,
    python_version,
    refusal_lines,
    shared_settings,
)
from schemas.boundary import ErrorBoundary
from schemas.choices import remote_model
from schemas.errors import ConfigurationError
from schemas.judgement.run_request import RunRequest
from schemas.run import Module
from schemas.settings import Settings
from schemas.work import HeadT, Request, Summary
from tasks.judging.model_keys import model_variables
from tasks.prefect_task import work_on_shard
from tasks.shards.work import Shard, WorksOnShards
from tasks.web.client import ConnectionFailure
from warehouse.shared_database import shared_database
from warehouse.stores.budget_file import this_machine
from warehouse.units.landing import read_receipt
from warehouse.warehouse import Warehouse


class PrefectWorkers:
    """Implements `Workplace` on the task runner of the running flow.

    Args:
        on_landed: called with the file of each shard that has ended.
        external: workers of another scheduler; None: a cluster of this command.
    """

    def __init__(
        self, on_landed: Callable[[Path], None], external: "ExternalWorkers | None"
    ) -> None:
        self._on_landed, self._external = on_landed, external

    def send(self, work: WorksOnShards, paths: Sequence[Path]) -> Iterator[BaseException]:
        contents = [(path.stem, path.read_text()) for path in paths]
        annotations: dict[str, Any] = {}
        if self._external is not None:
            shards = [work.kind.model_validate_json(content) for _, content in contents]
            annotations["resources"] = {self._external.resource_for(shards, paths[0]): 1}
        with dask.annotate(**annotations):
            futures = [work_on_shard.submit(work, content, name) for name, content in contents]
        for path, future in zip(paths, futures, strict=True):
            future.wait()
            self._on_landed(path)
            if future.state.is_failed() or future.state.is_crashed():
                result = future.result(raise_on_failure=False)
                if isinstance(result, BaseException):
                    yield result

    def reporter(self, source: ProgressSource) -> Report | None:
        artifact_id = create_progress_artifact(
            progress=0.0, key=source.artifact_key, description=source.description
        )
        assert isinstance(artifact_id, UUID)  # outside an event loop

        def report(percent: float) -> bool:
            try:
                update_progress_artifact(artifact_id=artifact_id, progress=percent)
            except ConnectionFailure:  # the flow reports a lost server itself
                return False
            return True

        return report

    def add_artifact(self, markdown: str, key: str, description: str) -> None:
        create_markdown_artifact(markdown=markdown, key=key, description=description)


class ExternalWorkers:
    """Workers of a scheduler that this command did not start, for one campaign.

    A context manager: at its end the workers drop the admission of the campaign.
    """

    def __init__(self, campaign: Campaign[Any, Any], address: str, work: str) -> None:
        self._campaign, self._address, self._work = campaign, address, work
        self._admission: Admission | None = None

    def __enter__(self) -> Self:
        use_certificates(self._campaign.warehouse.settings)
        self._client = Client(self._address)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._admission is not None:
            with suppress(ValueError, OSError):  # the scheduler is gone
                self._client.unregister_worker_plugin(self._admission.name)
        self._client.close()

    def resource_for(self, shards: Sequence[Shard], path: Path) -> str:
        """Return the resource of workers that may take `shards`.

        Args:
            path: the file of one of the shards.

        Raises:
            ConfigurationError: every worker refuses; the message says why.
        """
        if self._admission is None:
            self._admit(needs_of(self._campaign, shards, path))
        assert self._admission is not None
        return self._admission.resource

    def _admit(self, needs: WorkerNeeds) -> None:
        # A unique resource, because workers may still have that of an earlier command.
        admission = Admission(needs, self._work, f"assay-{uuid4().hex}")
        versions = self._client.run(metadata.version, "assay", on_error="return")
        refusals = {
            address: f"it has {_version(version)}: install {needs.assay_version}"
            for address, version in versions.items()
            if version != needs.assay_version
        }
        if len(refusals) == len(versions):
            raise ConfigurationError("; ".join(refusal_lines(refusals)) or _NO_WORKERS)
        self._admission = admission
        boundary = ErrorBoundary()
        with boundary:  # workers without a current Assay cannot unpickle it
            self._client.register_plugin(admission, name=admission.name)
        candidates = [address for address in versions if address not in refusals]
        check_results = self._client.run(
            admission_refusal, admission.name, workers=candidates, on_error="return"
        )
        refusals |= {
            address: str(reason) for address, reason in check_results.items() if reason is not None
        }
        if boundary.error is not None and not refusals:
            raise boundary.error
        if len(refusals) == len(versions):
            raise ConfigurationError("; ".join(refusal_lines(refusals)))
        for line in refusal_lines(refusals):
            print_warning(line)


_NO_WORKERS = "the scheduler has lost its workers: start one, and give the same command again"


def _version(version: object) -> str:
    return f"Assay {version}" if isinstance(version, str) else "no Assay"


class _LocalCall(Generic[HeadT]):
    """Part of a flow that is not sent to workers.

    Prefect pickles the flow with every task. A worker gets an empty copy of this, because it needs
    neither plan nor gateway.
    """

    def __init__(self, call: Callable[[], Summary[HeadT]] | None) -> None:
        self._call = call

    def __call__(self) -> Summary[HeadT]:
        assert self._call is not None, "a flow is carried out by the command that began it"
        return self._call()

    def __reduce__(self) -> tuple[type["_LocalCall[HeadT]"], tuple[None]]:
        return _LocalCall, (None,)


def carry_out_on_cluster(campaign: Campaign[PlanT, HeadT], plan: PlanT) -> Summary[HeadT]:
    """Execute a plan on the workers that its request names.

    A Prefect server must answer at the address in the environment.
    """
    warehouse, kind = campaign.warehouse, campaign.kind
    names = kind.names(plan.head)

    def fetch_receipts(path: Path) -> None:
        """Fetch the receipts of a shard, so that progress counts them."""
        for unit in plan.shards[path]:
            read_receipt(warehouse, kind, *names, unit)

    with ExitStack() as stack:
        address, external = campaign.request.scheduler_address, None
        if address is not None:
            work = kind.folder(warehouse, *names).relative_to(warehouse.landing).as_posix()
            external = stack.enter_context(ExternalWorkers(campaign, address, work))
        place = PrefectWorkers(fetch_receipts, external)
        local_call = _LocalCall(lambda: carry_out(campaign, plan, place))

        @flow(
            name=campaign.artifact_key,
            flow_run_name=f"{campaign.name} {campaign.run_id}",
            task_runner=dask_runner(campaign.request.worker_count, address),
            validate_parameters=False,
        )
        def carry_out_request(
            request: Request[Any, Any],  # noqa: ARG001 -- Prefect shows it
        ) -> Summary[HeadT]:
            return local_call()

        return carry_out_request(campaign.request)


# Loading a shard's models costs seconds, so a worker may die several times before its shard is
# given up; the shard skips the idea that kills it (tasks/evaluation/evaluate_shard.py).
ALLOWED_WORKER_DEATHS = 12
# On a busy machine a worker takes minutes to restart. Dask's default of 15 seconds would leave
# shards without a worker waiting forever.
LOST_WORKER_TIMEOUT = "10 minutes"
NO_WORKERS_TIMEOUT = "15 minutes"
LOOPBACK = "127.0.0.1"


def dask_runner(workers: int, scheduler_address: str | None) -> DaskTaskRunner:
    """Return a task runner on local processes, or on another scheduler.

    Local processes have one thread each. They and Dask's HTTP servers listen on loopback only,
    because Dask has no password.
    """
    if scheduler_address:
        return DaskTaskRunner(address=scheduler_address)
    dask.config.set(
        {
            "distributed.scheduler.allowed-failures": ALLOWED_WORKER_DEATHS,
            "distributed.scheduler.no-workers-timeout": NO_WORKERS_TIMEOUT,
            "distributed.deploy.lost-worker-timeout": LOST_WORKER_TIMEOUT,
        }
    )
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
    return DaskTaskRunner(
        cluster_kwargs={
            "n_workers": workers,
            "threads_per_worker": 1,
            "processes": True,
            "host": LOOPBACK,
            "dashboard_address": f"{LOOPBACK}:0",
            "security": True,
            "silence_logs": logging.CRITICAL,
            "preload": [worker_start.__name__],
        }
    )


_DOCUMENT_VARIABLES = ("GROBID_URL", "UNPAYWALL_EMAIL")


def needs_of(
    campaign: Campaign[Any, Any], shards: Sequence[Shard], shard_file: Path
) -> WorkerNeeds:
    """Return the requirements of these shards on their workers.

    Args:
        shard_file: the file of one of the shards.

    Raises:
        SharedStateError: the catalogue's database cannot be reached.
    """
    request, settings = campaign.request, campaign.warehouse.settings
    database, files = shared_database(), {path for shard in shards for path in shard.files}
    _, *judges = request.engines
    # A judge without a model compares embeddings.
    embeds = request.literature is not None or any(one.engine.is_baseline for one in judges)
    return WorkerNeeds(
        assay_version=metadata.version("assay"),
        python_version=python_version(),
        code=code_hash(),
        settings=shared_settings(settings),
        warehouse=Warehouse(shards[0].warehouse, settings).address,
        shard_file=shard_file.absolute(),
        machine=this_machine(),
        database=None if database is None else database.identity,
        shares_folder=bool(getattr(request.parameters, "batch", False)),
        files={path: digest for path in sorted(files) if (digest := fingerprint(path)) is not None},
        variables=_variables(request, settings, embeds=embeds),
        unset=tuple(name for name in _DOCUMENT_VARIABLES if not os.environ.get(name)),
        addresses=_addresses(request),
        gateway_url=getattr(shards[0], "gateway_url", None),
        literature=getattr(shards[0], "literature", None),
        embeds=embeds,
        in_sandbox=campaign.in_sandbox,
        container=settings.experiments.container if campaign.in_sandbox else None,
    )


def _variables(request: Request[Any, Any], settings: Settings, *, embeds: bool) -> tuple[str, ...]:
    """Return the variables, such as API keys, that are set here and that workers need."""
    models = [*(each.engine.model for each in request.engines), *request.profile.judging.models]
    if embeds:
        models.append(remote_model(settings.embeddings.model))
    names = set[str]().union(*(model_variables(model) for model in models if model is not None))
    if isinstance(request, RunRequest) and Module.COMMITTEE in request.parameters.modules:
        names |= SOURCE_VARIABLES
    if request.full_text:
        names.update(_DOCUMENT_VARIABLES)
    return tuple(sorted(name for name in names if os.environ.get(name)))


def _addresses(request: Request[Any, Any]) -> tuple[Address, ...]:
    bases = dict.fromkeys(each.api_base for each in request.engines if each.api_base is not None)
    addresses = [
        Address(
            what="the model's server",
            url=base,
            remedy="name one in --api-base that every machine reaches",
        )
        for base in bases
    ]
    if prefect := os.environ.get("PREFECT_API_URL"):
        addresses.append(
            Address(
                what="Prefect's server",
                url=f"{prefect.rstrip('/')}/health",
                remedy=(
                    "run `prefect server start --host 0.0.0.0` and export"
                    " PREFECT_API_URL=http://ITS_HOST:4200/api for the command"
                ),
            )
        )
    if request.full_text and (grobid := os.environ.get("GROBID_URL")):
        addresses.append(
            Address(what="GROBID", url=grobid, remedy="name one in GROBID_URL that all reach")
        )
    return tuple(addresses)
