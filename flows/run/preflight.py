"""Checks before a run spends anything: configuration, reachability, permissions."""

import asyncio
import os
import platform
import socket
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from schemas.base import Noun, replace
from schemas.calls import REFUSING_STATUSES
from schemas.choices import EngineChoice
from schemas.errors import AssayError, ConfigurationError
from schemas.profile import Profile
from schemas.reasons import Reason
from schemas.run import Budget
from schemas.settings import Settings
from schemas.work import Request
from tasks.web.client import proxy_of, web_address
from tasks.web.exchange import NoAnswerError, probe, proxy_place
from tasks.works import work_named
from warehouse.objects.object_storage import ObjectFolder
from warehouse.permissions import check_locks, keep_private
from warehouse.scrubbing import WHERE_KEYS_BELONG, check_address, one_line, without_secrets
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    from tasks.judging.model_preflight import ModelProbe
    from tasks.judging.step import Step
    from tasks.literature.gateway.live_requests import Outcome
    from tasks.work.declaration import Work

CONNECT_SECONDS = 5.0
_SEARCH = "/graph/v1/paper/search"
_SEARCH_PARAMETERS = (("query", "test"), ("limit", "1"))


class ComponentStatus(Noun):
    """State of one component: ok, default (the embedded one is used), missing or broken."""

    part: str
    state: str
    detail: str
    remedy: str = ""


def _status(part: str, state: str, detail: str, remedy: str = "") -> ComponentStatus:
    return ComponentStatus(part=part, state=state, detail=detail, remedy=remedy)


def check_before(
    work: "Work[Any, Any, Any]", request: Request[Any, Any], settings: Settings
) -> "tuple[ModelProbe, ...]":
    """Check what a request needs, and return the probes of its models.

    Raises:
        ConfigurationError: the model, its key or server, the scheduler, the warehouse folder or the
            sandbox cannot be used.
    """
    if work.sandbox:
        from tasks.experiments.sandbox import check_sandbox

        check_sandbox(settings.experiments.container)
    check_place(request.warehouse, settings)
    if request.literature is not None and request.literature.asks_upstream:
        _check_literature(settings, Warehouse(request.warehouse, settings).cache)
    if request.scheduler_address:
        _check_scheduler(request.scheduler_address, settings)
    steps = [*work.steps(request)]
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        for name, follow, _ in work.follows(request, settings, Path(folder)):
            steps += work_named(name).steps(follow)
    engine, *judges = request.engines
    profile = request.profile
    contacts: tuple[ModelProbe, ...] = ()
    for judge in dict.fromkeys((engine, *judges)):
        contacts += check_engine(
            judge.engine,
            judge.api_base,
            settings,
            request.warehouse,
            profile=profile,
            steps=steps,
            budget=request.budget,
        )
        profile = replace(profile, judging=request.profile.judging.without_models())
    return contacts


def _check_literature(settings: Settings, cache_folder: Path) -> None:
    """Send one search to the live literature API before any model is paid for.

    It keeps to the allowance of the key and is recorded, as requests of the gateway are. A timeout,
    a limit (429) or a failing server passes: the run waits for these.

    Raises:
        ConfigurationError: the key is refused, a web page comes instead of data, or no connection
            can be made.
    """
    from tasks.literature.gateway.messages import Request as LookUp
    from tasks.literature.gateway.upstreams import open_transport

    impatient = {"timeout_seconds": CONNECT_SECONDS}
    literature = settings.literature.model_copy(update=impatient)
    impatient_settings = settings.model_copy(update={"literature": literature})

    async def search() -> "Outcome":
        transport = open_transport(impatient_settings, cache_folder)
        try:
            return await transport.try_once(LookUp("GET", _SEARCH, _SEARCH_PARAMETERS))
        finally:
            await transport.close()

    outcome = asyncio.run(search())
    if outcome.status in REFUSING_STATUSES:
        problem = f"the key was refused ({outcome.status}): check SEMANTIC_SCHOLAR_API_KEY"
    elif outcome.is_lasting or outcome.reason is Reason.UNREACHABLE:
        problem = outcome.detail
    else:
        return
    raise ConfigurationError(f"Semantic Scholar: {problem}; nothing was paid for")


def check_engine(
    engine: EngineChoice,
    api_base: str | None,
    settings: Settings,
    warehouse: Path,
    *,
    profile: Profile,
    steps: "Iterable[Step[Any, Any]]",
    budget: Budget,
) -> "tuple[ModelProbe, ...]":
    """Probe each model of `steps` with one small call.

    Raises:
        ConfigurationError: a model does not answer, or lacks the price that a budget needs.
    """
    model = engine.model
    if model is None:
        return ()
    if api_base is not None:
        check_address("--api-base", api_base, WHERE_KEYS_BELONG)
    from tasks.judging.model_preflight import model_uses, probe_models
    from tasks.judging.models import shared_api_base

    judging, seed = profile.judging, profile.seed
    bases = {each: shared_api_base(each, model, api_base) for each in (model, *judging.models)}
    uses = model_uses(model, bases, judging, steps, seed=seed, temperature=profile.temperature)
    bounds = (budget.maximum_cost_usd, budget.maximum_cost_usd_per_idea)
    needs_price = any(bound is not None for bound in bounds)
    return asyncio.run(
        probe_models(uses, settings.language_model, warehouse, needs_price=needs_price)
    )


def examine(
    warehouse: Path, engine: str, api_base: str | None, profile: Profile, settings: Settings
) -> list[ComponentStatus]:
    """Return the findings of `assay doctor`, most basic first."""

    def embed() -> None:
        from tasks.embeddings.sentence_embedder import SentenceEmbedder

        asyncio.run(SentenceEmbedder(settings.embeddings, None).embed(["a sentence"]))

    remedy = "install with `-c infra/constraints.txt`"
    opened_warehouse = Warehouse(warehouse, settings)
    catalogue = _catalogue(opened_warehouse)
    return [
        ComponentStatus(part="Python", state="ok", detail=platform.python_version()),
        _try_component(
            "warehouse",
            str(warehouse),
            lambda: _check_place(warehouse),
            "name a folder you may write to with --warehouse",
        ),
        _try_component("lake", "DuckLake's extensions are installed", _check_extensions, remedy),
        catalogue,
        *_object_storage(opened_warehouse, lake_is_found=catalogue.state != "broken"),
        *_proxy(settings),
        _prefect(settings),
        _try_component("embeddings", settings.embeddings.model, embed, remedy),
        _literature(settings),
        *_models(engine, api_base, profile, settings),
        _grobid(settings),
        _unpaywall(settings),
        _sandbox(settings),
    ]


def _try_component(
    part: str, detail: str, attempt: Callable[[], object], remedy: str
) -> ComponentStatus:
    try:
        attempt()
    except (AssayError, OSError, ImportError, ValueError) as error:
        return _status(part, "broken", str(error).splitlines()[0], remedy)
    return _status(part, "ok", detail)


def check_place(folder: Path, settings: Settings) -> None:
    """Check that results can be published to the warehouse.

    Raises:
        ConfigurationError: the folder, the catalogue in PostgreSQL or the object storage of the
            lake's files is not writable.
        UpstreamError: PostgreSQL or the object storage cannot be reached.
    """
    check_writable(folder)
    from warehouse.lake import refuse_after_a_move

    warehouse = Warehouse(folder, settings)
    warehouse.check_may_publish()
    places = _objects_of(warehouse)
    refuse_after_a_move(warehouse, warehouse.postgres, places.get(_LAKE_FILES))
    for objects in places.values():
        objects.check()


def check_writable(folder: Path) -> None:
    """Create the folder if it is missing. Raises ConfigurationError if not writable."""
    try:
        keep_private(folder)
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".write-{os.getpid()}"
        probe.touch()
        probe.unlink()
        check_locks(folder)
    except OSError as error:
        raise ConfigurationError(
            f"cannot write to the warehouse {folder}: {error.strerror}; name another folder with"
            " --warehouse"
        ) from error


def _check_place(folder: Path) -> None:
    """Check as `check_writable`, but remove the folders that it created."""
    existing_parent = folder
    while not existing_parent.exists():
        existing_parent = existing_parent.parent
    try:
        check_writable(folder)
    finally:
        while folder != existing_parent and folder.is_dir():
            folder.rmdir()
            folder = folder.parent


def _check_scheduler(address: str, settings: Settings) -> None:
    """Check the scheduler; `flows/run/worker_check.py` checks its workers later."""
    from flows.run.cluster_access import (
        LOOPBACK_HOSTS,
        own_address,
        scheduler_place,
        use_certificates,
    )

    host, port = scheduler_place(address)
    own_address(address, host, port)  # Dask would retry a closed port for long
    use_certificates(settings)
    from flows.run.dask_scheduler import greet_scheduler

    greet_scheduler(address, CONNECT_SECONDS)
    if host not in LOOPBACK_HOSTS and settings.prefect_api_url is None:
        raise ConfigurationError(
            f"workers of {host} cannot reach a Prefect server started here: run `prefect server"
            " start --host 0.0.0.0` and export PREFECT_API_URL=http://THIS_HOST:4200/api"
        )


def _check_extensions() -> None:
    from warehouse.catalogue.connection import extension_path

    for name in ("ducklake", "sqlite_scanner", "postgres_scanner"):
        extension_path(name)


def _catalogue(warehouse: "Warehouse") -> ComponentStatus:
    """Return the state of the catalogue; a read-only one counts as ok."""
    from warehouse.catalogue.postgres import VARIABLE, catalogue_state

    remedy = f"check the server and {VARIABLE}"
    try:
        catalogue = warehouse.postgres
        state = None if catalogue is None else catalogue_state(catalogue)
    except AssayError as error:
        return _status("catalogue", "broken", str(error), remedy)
    if catalogue is None or state is None:
        if warehouse.objects is not None or warehouse.moved_catalogue.exists():
            remedy = f"export {VARIABLE}, the address of the database that holds it"
            return _try_component("catalogue", "", warehouse.lake_folder, remedy)
        remedy = f"export {VARIABLE} when several machines publish"
        return _status("catalogue", "default", "an SQLite file in the warehouse", remedy)
    detail = f"PostgreSQL {state.version} at {catalogue.title}: {state.rights}"
    remedy = f"grant {state.user} the rights to publish, where it is to"
    usable = "ok" if state.is_usable else "broken"
    return _status("catalogue", usable, detail, "" if state.may_write else remedy)


_LAKE_FILES = "files of the lake"


def _objects_of(warehouse: "Warehouse", *, lake_is_found: bool = True) -> "dict[str, ObjectFolder]":
    """Return the object folders, by their use: warehouse and lake.

    Args:
        lake_is_found: False if the catalogue, which names the lake's folder, is broken.
    """
    places = {}
    if warehouse.objects is not None:
        places["warehouse"] = warehouse.objects
    lake = warehouse.lake_folder() if lake_is_found else None
    if lake is not None and warehouse.objects is None:
        places[_LAKE_FILES] = lake
    return places


def _object_storage(warehouse: "Warehouse", *, lake_is_found: bool) -> list[ComponentStatus]:
    remedy = "check AWS_ENDPOINT_URL_S3, the credentials and their rights in the bucket"
    part = "object storage"
    try:
        places = _objects_of(warehouse, lake_is_found=lake_is_found)
        for place in places.values():
            place.check()
    except AssayError as error:
        return [_status(part, "broken", str(error), remedy)]
    detail = "; ".join(f"{use}: {place.address}" for use, place in places.items())
    summary = f"{detail}: written, read and removed from"
    return [_status(part, "ok", summary)] if places else []


def _proxy(settings: Settings) -> list[ComponentStatus]:
    """Return whether full texts come through the proxy, if there is one."""
    upstream = web_address(settings.literature.upstream_url)
    proxy = proxy_of(upstream)
    if proxy is None:
        return []
    place = proxy_place(proxy)
    if settings.documents.resolve_names_at_proxy:
        return [_status("proxy", "ok", f"{place}, which resolves names of PDFs")]
    try:
        socket.getaddrinfo(upstream.host, 443)
    except OSError as error:
        detail = (
            f"{place}; full texts cannot be fetched: {upstream.host} is not resolved here ({error})"
        )
        remedy = "export ASSAY_DOCUMENTS__RESOLVE_NAMES_AT_PROXY=true"
        return [_status("proxy", "missing", detail, remedy)]
    return [_status("proxy", "ok", f"{place}; names of PDFs are resolved on this machine")]


def _prefect(settings: Settings) -> ComponentStatus:
    if settings.prefect_api_url is None:
        remedy = "export PREFECT_API_URL to use your own"
        return _status("Prefect", "default", "a server is started for each command", remedy)
    return _check_url(
        "Prefect",
        f"{settings.prefect_api_url}/health",
        "start it with `prefect server start`, or unset PREFECT_API_URL",
    )


def _literature(settings: Settings) -> ComponentStatus:
    if settings.semantic_scholar_api_key is None:
        remedy = "export SEMANTIC_SCHOLAR_API_KEY, or --literature snapshot:PATH"
        part, detail = "Semantic Scholar", "no key: the bundled sample is used"
        return _status(part, "default", detail, remedy)
    base = settings.literature.upstream_url.rstrip("/")
    address = f"{base}{_SEARCH}?{urlencode(_SEARCH_PARAMETERS)}"
    key = {"x-api-key": settings.semantic_scholar_api_key.get_secret_value()}
    return _check_url("Semantic Scholar", address, "check the key and the network", headers=key)


def _models(
    engine: str, api_base: str | None, profile: Profile, settings: Settings
) -> list[ComponentStatus]:
    from tasks.steps import STEPS

    try:
        choice = EngineChoice.parse(engine)
        if choice.is_baseline:
            remedy = "--engine litellm:MODEL and the provider's key"
            return [_status("model", "default", "extractive baseline, no model", remedy)]
        # A temporary folder, so that nothing is cached.
        with tempfile.TemporaryDirectory() as folder:
            contacts = check_engine(
                choice,
                api_base,
                settings,
                Path(folder),
                profile=profile,
                steps=STEPS,
                budget=Budget(),
            )
    except AssayError as error:
        remedy = "check the model's name, its key and --api-base"
        return [_status("model", "broken", str(error), remedy)]
    return [_status(f"model {each.model}", "ok", each.line) for each in contacts]


def _grobid(settings: Settings) -> ComponentStatus:
    if settings.grobid_url is None:
        remedy = "start GROBID and export GROBID_URL"
        return _status("GROBID", "default", "PDFs are read by the built-in parser", remedy)
    return _check_url(
        "GROBID",
        f"{settings.grobid_url.rstrip('/')}/api/isalive",
        "docker compose -f infra/compose.yaml up grobid",
    )


def _unpaywall(settings: Settings) -> ComponentStatus:
    if settings.unpaywall_email is None:
        detail = "open-access copies are not looked up"
        return _status("Unpaywall", "missing", detail, "export UNPAYWALL_EMAIL")
    return _status("Unpaywall", "ok", "an e-mail address is set")


def _sandbox(settings: Settings) -> ComponentStatus:
    from tasks.experiments.sandbox import check_sandbox, memory_bound

    container = settings.experiments.container
    runtime = "bubblewrap" if container is None else container.runtime
    try:
        check_sandbox(container)
    except ConfigurationError as error:
        remedy = f"install {runtime}, for experiments alone"
        return _status("sandbox", "missing", one_line(error), remedy)
    return _status("sandbox", "ok", f"{runtime} makes one; {memory_bound(container)}")


def _check_url(
    part: str, url: str, remedy: str, headers: dict[str, str] | None = None
) -> ComponentStatus:
    address = without_secrets(url)
    try:
        status = probe(url, CONNECT_SECONDS, headers).status
    except NoAnswerError as error:
        return _status(part, "broken", f"{address}: {error}", remedy)
    detail, answers = f"{address} answers {status}", status < 400 or status == 429
    return _status(part, "ok", detail) if answers else _status(part, "broken", detail, remedy)
