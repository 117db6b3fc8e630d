"""What a worker on another machine must have before it is given any work: one check, which every
worker makes when the work begins, or when it joins later.
"""

import asyncio
import logging
import os
import platform
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import orjson
from distributed import Worker, WorkerPlugin

from flows.run.worker_start import stop_profiling
from schemas.base import Noun
from schemas.errors import AssayError, ConfigurationError
from schemas.identifiers import content_hash
from schemas.settings import Settings
from schemas.works.experiment import Container
from tasks.literature.gateway.process import literature_identity
from tasks.on_worker import own_folder, tls_of
from tasks.telemetry.figures import REFUSALS
from tasks.web.exchange import NoAnswerError, probe
from tasks.web.owner import Reach, RemoteOwner
from warehouse.scrubbing import one_line
from warehouse.units.landing import hand_over

# Below Dask's own, so that it is told where the worker tells everything else.
logger = logging.getLogger("distributed.assay")
_SECTIONS = ("literature", "language_model", "documents", "embeddings", "sources", "experiments")
_OF_THE_COMMAND = {
    "literature": frozenset({"upstream_url", "requests_per_second", "allowed_hosts"}),
    "sources": frozenset({"base_urls"}),
}
"""Settings that the gateway alone reads, and addresses, which may differ by where one stands."""
_PLENTY = 1_000_000.0
_SECONDS = 30.0
_LOOK_AGAIN_SECONDS = 0.05


class Address(Noun):
    """What has to answer a worker."""

    what: str
    url: str
    mend: str


class WorkerNeeds(Noun):
    """What one piece of work needs of its workers.

    Attributes:
        code: hash over tables, steps, their versions and prompts.
        settings: by variable, those of the command; None: not set.
        variables, unset: of the environment, which must be set, and which must not, since they
            change what is read; nobody compares values.
        literature: identity of what the gateway at `gateway_url` stands for; None: any.
        sees_folder: whether the work can only be done beside the command's files.
    """

    assay_version: str
    python_version: str
    code: str
    settings: dict[str, str]
    variables: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
    addresses: tuple[Address, ...] = ()
    gateway_url: str | None = None
    literature: str | None = None
    embeds: bool = True
    in_sandbox: bool = False
    container: Container | None = None
    sees_folder: bool = False


def python_version() -> str:
    """As far as it has to be the same everywhere."""
    return ".".join(platform.python_version_tuple()[:2])


def code_hash() -> str:
    """Over what rows, prompts and keys are made by."""
    from schemas.tables import TABLES
    from tasks.steps import STEPS

    steps = [f"{step.name} {step.version} {step.prompt_sha256}" for step in STEPS]
    tables = [f"{table.name} {','.join(table.column_names)}" for table in TABLES]
    return content_hash(*sorted(steps), *sorted(tables), length=16)


def compared(settings: Settings) -> dict[str, str]:
    """The settings that every worker must have alike, by variable, as JSON."""
    found = {}
    for section in _SECTIONS:
        values: Mapping[str, Any] = getattr(settings, section).model_dump(mode="json")
        for name, value in values.items():
            if name not in _OF_THE_COMMAND.get(section, ()):
                variable = f"ASSAY_{section}__{name}".upper()
                found[variable] = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    return found


def refusal_of(needs: WorkerNeeds, settings: Settings) -> str | None:
    """Why this process cannot do the work, and how to mend it; None: it can."""
    version = metadata.version("assay")
    if version != needs.assay_version:
        return f"it has Assay {version}: install {needs.assay_version}, as the command has it"
    if python_version() != needs.python_version:
        return f"it runs on Python {python_version()}: the command's is {needs.python_version}"
    if code_hash() != needs.code:
        return "its tables, steps or prompts are others: install the very same Assay"
    here = compared(settings)
    for variable, value in needs.settings.items():
        if here.get(variable) != value:
            there = here.get(variable, "unknown")
            return f"{variable} is {there} there and {value} here: set it alike"
    missing = [name for name in needs.variables if not os.environ.get(name)]
    if missing:
        return f"it has no {', '.join(missing)}: export it where the worker starts"
    surplus = [name for name in needs.unset if os.environ.get(name)]
    if surplus:
        return f"it has {', '.join(surplus)}, which the command has not: set it alike"
    return _unreachable(needs) or _unusable(needs, settings)


def _unreachable(needs: WorkerNeeds) -> str | None:
    for address in needs.addresses:
        try:
            probe(address.url, _SECONDS, use_proxies=False)
        except NoAnswerError as error:
            return f"it cannot reach {address.what} at {address.url} ({error}): {address.mend}"
    if needs.gateway_url is None:
        return None
    try:
        identity = literature_identity(needs.gateway_url)
    except ConfigurationError as error:
        return f"of the literature gateway: {one_line(error)}"
    if needs.literature is not None and identity != needs.literature:
        return f"another gateway answers it at {needs.gateway_url}: name one that all reach"
    return None


def _unusable(needs: WorkerNeeds, settings: Settings) -> str | None:
    """What has to be tried."""
    try:
        if needs.embeds:
            from tasks.embeddings.sentence_embedder import SentenceEmbedder

            asyncio.run(SentenceEmbedder(settings.embeddings, None).embed(["a sentence"]))
        if needs.in_sandbox:
            from tasks.experiments.sandbox.sandbox import check_sandbox

            check_sandbox(needs.container)
    except (AssayError, OSError, ImportError, ValueError) as error:
        return one_line(error)
    return None


class Admission(WorkerPlugin):  # type: ignore[misc]
    """Makes the check on a worker, and lets it take the work where nothing is missing.

    Work asks for a resource that only admitted workers have, so whoever is not gets none; it stays
    free for the work of others.
    """

    def __init__(self, needs: WorkerNeeds, reach: Reach) -> None:
        self.needs, self.reach = needs, reach
        # One for each work: that of a command which was killed gives way to that of the next.
        self.name = f"assay-{reach.folder}"
        self.resource = resource_of(reach)
        self.refusal: str | None = None
        self.has_looked = False

    async def setup(self, worker: Worker) -> None:
        stop_profiling(worker)  # who started it may have used `dask worker`
        self.refusal = await asyncio.to_thread(self._looked, worker)
        if self.refusal is None:
            await worker.set_resources(**{self.resource: _PLENTY})
        self.has_looked = True
        if self.refusal is None:
            logger.info("this worker takes work of %s", self.reach.folder)
        else:
            REFUSALS.inc()
            logger.error("this worker takes no work of %s: %s", self.reach.folder, self.refusal)

    def _looked(self, worker: Worker) -> str | None:
        settings = Settings()
        refusal = refusal_of(self.needs, settings)
        if refusal is not None:
            return refusal
        try:
            with RemoteOwner(self.reach, tls_of(worker), _SECONDS) as owner:
                owner.greet()
                if owner.has_landing and self.needs.sees_folder:
                    return (
                        f"it does not see {self.reach.warehouse}, where questions wait for batches:"
                        " mount that folder there, or leave out --batch"
                    )
                if owner.has_landing:
                    layout = own_folder(settings)
                    hand_over(layout, owner, layout.landing / self.reach.folder)
        except (AssayError, OSError) as error:
            return (
                f"{one_line(error)}; set ASSAY_CLUSTER__HOST to an address of the command's machine"
                " that it reaches, and open its ports"
            )
        return None


def resource_of(reach: Reach) -> str:
    """The resource that workers have who may do this work."""
    return f"assay-{content_hash(reach.url, reach.mark, length=12)}"


async def told_refusal(name: str, dask_worker: Worker) -> str | None:
    """What `Admission`, registered as `name`, found on a worker."""
    plugin = dask_worker.plugins.get(name)
    if not isinstance(plugin, Admission):
        return "it could not make the check: install the very same Assay"
    while not plugin.has_looked:  # noqa: ASYNC110 -- an event would not survive the journey
        await asyncio.sleep(_LOOK_AGAIN_SECONDS)
    return plugin.refusal


def in_lines(refusals: Mapping[str, str]) -> list[str]:
    """A line for each worker, by its address."""
    return [f"the worker {address} takes no part: {why}" for address, why in refusals.items()]
