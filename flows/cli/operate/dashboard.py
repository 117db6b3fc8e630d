"""`assay dashboard`: the web application over the lake."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.terminal import note_or_empty, print_note
from flows.jobs.job_environment import without_keys
from flows.run.network import check_free
from schemas.errors import ConfigurationError
from schemas.options.commands import LakeOptions
from schemas.people.web_origins import is_loopback, names_of_server
from schemas.settings import DashboardSettings, Settings
from warehouse.app.accounts import has_accounts
from warehouse.app.database import ServiceDatabase, check_services, services_file
from warehouse.warehouse import Warehouse

DEFAULT_PORT = 8501
_PRICES = "model_prices_and_context_window_backup.json"


def dashboard(
    lake: LakeOptions,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=1, max=65_535, metavar="N", help="Where it listens.")
    ] = DEFAULT_PORT,
) -> int:
    """Show the warehouse in a browser: Today, Ideas, Work, Submit, Decide and Operate.

    Programs with a token of `assay tokens create` get the API under /v1 and MCP under /mcp; only
    `assay api` searches the literature for them. Ctrl-C stops it; its jobs continue when it
    starts again.
    """
    from flows.jobs.service_process import run_with_jobs

    settings = Settings()
    warehouse = Warehouse(lake.warehouse, settings)
    if warehouse.objects is None and not lake.warehouse.is_dir():
        raise ConfigurationError(
            f"there is no folder {lake.warehouse}: name a warehouse with --warehouse, or make the"
            " folder for a new one"
        )
    if settings.dashboard.provider is not None:
        check_services(warehouse)
    check_free(host, port)
    url_host = f"[{host}]" if ":" in host else host
    note = f"dashboard of {warehouse.address} on http://{url_host}:{port} – stop it with Ctrl-C"
    if not is_loopback(host):
        _print_warnings(host, settings.dashboard, warehouse)
    return run_with_jobs(
        ("flows.api.server", str(lake.warehouse), host, str(port), "", "all", note_or_empty(note)),
        environment(lake.warehouse, settings),
        warehouse,
    )


def _print_warnings(host: str, settings: DashboardSettings, warehouse: Warehouse) -> None:
    open_to_all = settings.password is None and settings.provider is None
    if open_to_all and services_file(warehouse).exists():
        with ServiceDatabase(warehouse) as database:
            open_to_all = not has_accounts(database)
    if open_to_all:
        print_note(
            "anyone who reaches this address can read the warehouse: `assay accounts add NAME` has"
            " its readers sign in, ASSAY_DASHBOARD__PASSWORD asks all for one password"
        )
    names = ", ".join(names_of_server(host, settings.allowed_hosts))
    print_note(
        f"it answers to these names only: {names}; ASSAY_DASHBOARD__ALLOWED_HOSTS, a JSON list,"
        " adds others"
    )


def environment(warehouse: Path, settings: Settings) -> dict[str, str]:
    """Return the environment of the web process: its settings, and no API keys.

    Jobs do the work that readers request, so that the web process needs no keys.
    """
    prices = settings.dashboard.prices or _prices_of_litellm()
    variables = {"ASSAY_DASHBOARD__WAREHOUSE": str(warehouse.resolve())}
    return (
        without_keys(os.environ)
        | variables
        | ({"ASSAY_DASHBOARD__PRICES": str(prices.resolve())} if prices else {})
    )


def _prices_of_litellm() -> Path | None:
    """Return LiteLLM's price list, without importing it, which takes seconds."""
    spec = find_spec("litellm")
    folders = spec.submodule_search_locations if spec else None
    paths = [Path(folder) / _PRICES for folder in folders or ()]
    return next((path for path in paths if path.exists()), None)
