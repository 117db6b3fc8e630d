"""Check of each worker before it gets work, including workers that join later.

Workers share a folder or a bucket with the command, so the check compares settings, code, files,
keys and addresses.
"""

import asyncio
import hashlib
import logging
import os
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import orjson
from distributed import Worker, WorkerPlugin
from pydantic import Field

from flows.run.network import bypass_proxies
from flows.run.worker_start import stop_profiling
from schemas.base import Noun
from schemas.boundary import ErrorBoundary, error_line
from schemas.errors import AssayError, ConfigurationError
from schemas.identifiers import content_hash
from schemas.place import in_object_storage
from schemas.settings import Settings
from schemas.works.experiment import Container
from tasks.judging.identity import prompts_of
from tasks.literature.gateway.process import literature_identity
from tasks.telemetry.figures import REFUSALS
from tasks.web.exchange import NoAnswerError, probe
from warehouse.scrubbing import one_line
from warehouse.shared_database import shared_database
from warehouse.stores.budget_file import this_machine
from warehouse.warehouse import Warehouse

# A child of Dask's logger, so that it appears in the worker's log.
logger = logging.getLogger("distributed.assay")
_SECTIONS = ("literature", "language_model", "documents", "embeddings", "sources", "experiments")
_COMMAND_SETTINGS = {
    "literature": frozenset({"upstream_url", "requests_per_second", "allowed_hosts"}),
    "sources": frozenset({"base_urls"}),
}
"""Settings that only the gateway reads, and addresses that may differ by machine."""
_RESOURCE_AMOUNT = 1_000_000.0
_SECONDS = 30.0
_MOST_HASHED_BYTES = 16_000_000
_LOOK_AGAIN_SECONDS = 0.05


class Address(Noun):
    what: str
    url: str
    remedy: str


class WorkerNeeds(Noun):
    """Requirements of one run on its workers.

    Attributes:
        code: hash of tables, steps, their versions and prompts.
        settings: JSON values by variable, those of the command.
        variables, unset: environment variables that must be set, and that must not, because they
            change what is read; values are not compared.
        literature: identity of the literature at `gateway_url`; None: any.
        warehouse: its address.
        shard_file: in the command's folder; a worker that sees it shares the folder.
        shares_folder: whether a bucket is not enough, as for batches.
        machine, database: location of budgets and rates: files of that machine, or the database of
            that identity.
        files: fingerprint of each file or folder that the shards name.
    """

    assay_version: str
    python_version: str
    code: str
    settings: dict[str, str]
    warehouse: str
    shard_file: Path
    machine: str
    database: str | None = None
    shares_folder: bool = False
    files: dict[Path, str] = Field(default_factory=dict)
    variables: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    addresses: tuple[Address, ...] = ()
    gateway_url: str | None = None
    literature: str | None = None
    embeds: bool = True
    in_sandbox: bool = False
    container: Container | None = None


def python_version() -> str:
    """Return the part of Python's version that must be the same everywhere."""
    return ".".join(platform.python_version_tuple()[:2])


def code_hash() -> str:
    """Return a hash of tables, steps and prompts."""
    from schemas.tables import TABLES
    from tasks.steps import STEPS

    tables = [f"{table.name} {','.join(table.column_names)}" for table in TABLES]
    return content_hash(*sorted(prompts_of(STEPS)), *sorted(tables), length=16)


def fingerprint(path: Path) -> str | None:
    """Return a hash of a file or folder; None if there is none.

    It covers names, sizes and, of files up to 16 MB, contents.
    """
    if not path.exists():
        return None
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            size = file.stat().st_size
            digest.update(f"{file.relative_to(path.parent)} {size}\n".encode())
            digest.update(file.read_bytes() if size <= _MOST_HASHED_BYTES else b"")
    return digest.hexdigest()


def shared_settings(settings: Settings) -> dict[str, str]:
    """Return the settings that every worker must share, as JSON by variable."""
    variables = {}
    for section in _SECTIONS:
        values: Mapping[str, Any] = getattr(settings, section).model_dump(mode="json")
        for name, value in values.items():
            if name not in _COMMAND_SETTINGS.get(section, ()):
                variable = f"ASSAY_{section}__{name}".upper()
                variables[variable] = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    return variables


def refusal_of(needs: WorkerNeeds, settings: Settings) -> str | None:
    """Return why this process cannot do the work, and the remedy; None if it can."""
    version = metadata.version("assay")
    if version != needs.assay_version:
        return f"it has Assay {version}: install {needs.assay_version}, as the command has it"
    if python_version() != needs.python_version:
        return f"it runs on Python {python_version()}: the command's is {needs.python_version}"
    if code_hash() != needs.code:
        return "its tables, steps or prompts are others: install the very same Assay"
    local = shared_settings(settings)
    for variable, value in needs.settings.items():
        if local.get(variable) != value:
            local_value = local.get(variable, "unknown")
            return f"{variable} is {local_value} on the worker and {value} at the command: set it alike"
    missing_variables = [name for name in needs.variables if not os.environ.get(name)]
    if missing_variables:
        return f"it has no {', '.join(missing_variables)}: export it where the worker starts"
    surplus_variables = [name for name in needs.unset if os.environ.get(name)]
    if surplus_variables:
        return f"it has {', '.join(surplus_variables)}, which the command has not: set it alike"
    return _sharing_problem(needs) or _address_problem(needs) or _library_problem(needs, settings)


def _sharing_problem(needs: WorkerNeeds) -> str | None:
    sees_folder = needs.shard_file.is_file()
    if not sees_folder and not in_object_storage(needs.warehouse):
        return (
            f"it does not see {needs.warehouse}: mount that folder there at the same path, or keep"
            " the warehouse in a bucket (--warehouse s3://bucket/prefix)"
        )
    if not sees_folder and needs.shares_folder:
        return (
            f"it does not see {needs.shard_file.parent}, where questions wait for batches: mount"
            " that folder there, or leave out --batch"
        )
    try:
        if (objects := Warehouse.of(needs.warehouse).objects) is not None:
            objects.check()
        database = shared_database()
        identity = None if database is None else database.identity
        changed_files = [
            path for path, digest in needs.files.items() if fingerprint(path) != digest
        ]
    except (AssayError, OSError) as error:
        return one_line(error)
    if identity != needs.database:
        return (
            "its ASSAY_CATALOGUE_URL does not lead to the command's database, which keeps budgets"
            " and rates: set it alike"
        )
    if identity is None and this_machine() != needs.machine:
        return (
            "it is another machine than the command's, and what several may spend together is kept"
            " in PostgreSQL alone: export ASSAY_CATALOGUE_URL on both"
        )
    for path in changed_files:
        digest = "differs from the command's" if path.exists() else "is missing"
        return f"{path} {digest}: copy it there from the command's machine, to the same path"
    return None


def _address_problem(needs: WorkerNeeds) -> str | None:
    bypass_proxies(needs.gateway_url, *(address.url for address in needs.addresses))
    for address in needs.addresses:
        try:
            probe(address.url, _SECONDS)
        except NoAnswerError as error:
            return f"it cannot reach {address.what} at {address.url} ({error}): {address.remedy}"
    if needs.gateway_url is None:
        return None
    try:
        identity = literature_identity(needs.gateway_url)
    except ConfigurationError as error:
        return f"of the literature gateway: {one_line(error)}"
    if needs.literature is not None and identity != needs.literature:
        return f"another gateway answers it at {needs.gateway_url}: name one that all reach"
    return None


def _library_problem(needs: WorkerNeeds, settings: Settings) -> str | None:
    try:
        if needs.embeds:
            from tasks.embeddings.sentence_embedder import SentenceEmbedder

            asyncio.run(SentenceEmbedder(settings.embeddings, None).embed(["a sentence"]))
        if needs.in_sandbox:
            from tasks.experiments.sandbox import check_sandbox

            check_sandbox(needs.container)
    except (AssayError, OSError, ImportError, ValueError) as error:
        return one_line(error)
    return None


class Admission(WorkerPlugin):  # type: ignore[misc]
    """Dask plugin that checks a worker and admits it to the work.

    Work asks for a resource that only admitted workers have. Other workers stay free for other
    work.
    """

    def __init__(self, needs: WorkerNeeds, work: str, resource: str) -> None:
        self.needs, self.work, self.resource = needs, work, resource
        # One name per work, so that a new command replaces the plugin of a killed one.
        self.name = f"assay-{work}"
        self.refusal: str | None = "its check did not end: its log says why"
        self.is_checked = False

    async def setup(self, worker: Worker) -> None:
        stop_profiling(worker)  # it may have been started by `dask worker`
        boundary = ErrorBoundary()
        try:
            with boundary:  # model libraries raise any type of error
                self.refusal = await asyncio.to_thread(refusal_of, self.needs, Settings())
                if self.refusal is None:
                    await worker.set_resources(**{self.resource: _RESOURCE_AMOUNT})
            if boundary.error is not None:
                self.refusal = f"its check failed: {one_line(error_line(boundary.error))}"
        finally:
            self.is_checked = True  # the command waits for this
        if self.refusal is None:
            logger.info("this worker takes work of %s", self.work)
        else:
            REFUSALS.inc()
            logger.error("this worker takes no work of %s: %s", self.work, self.refusal)


async def admission_refusal(name: str, dask_worker: Worker) -> str | None:
    """Return the refusal of `Admission`, registered as `name`, on a worker."""
    plugin = dask_worker.plugins.get(name)
    if not isinstance(plugin, Admission):
        return "it could not make the check: install the very same Assay"
    while not plugin.is_checked:  # noqa: ASYNC110 -- an event would not survive the journey
        await asyncio.sleep(_LOOK_AGAIN_SECONDS)
    return plugin.refusal


def refusal_lines(refusals: Mapping[str, str]) -> list[str]:
    return [f"the worker {address} takes no part: {reason}" for address, reason in refusals.items()]
