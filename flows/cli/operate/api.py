"""`assay api`: HTTP and MCP services for programs."""

import os
from datetime import UTC, datetime
from typing import Annotated

import typer

from flows.cli.options import Searched
from flows.cli.terminal import note_or_empty, print_note
from flows.jobs.job_environment import without_keys
from flows.run.network import check_free
from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.options.commands import LakeOptions
from schemas.people.web_origins import is_loopback
from schemas.settings import Settings
from warehouse.app.accounts import tokens
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse

DEFAULT_PORT = 8700


def api(
    lake: LakeOptions,
    literature: Searched = None,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=1, max=65_535, metavar="N", help="Where it listens.")
    ] = DEFAULT_PORT,
) -> int:
    """Serve programs over HTTP: submit ideas, watch jobs, read results, search the literature.

    It serves the API under /v1 and MCP under /mcp; `assay dashboard` serves pages. Every request
    needs a token of `assay tokens create`. Ctrl-C stops it; its jobs continue when it
    starts again.
    """
    from flows.jobs.service_process import run_with_jobs
    from flows.run.gateway import open_gateway
    from flows.works.evaluate.request import check_warehouse, resolve_literature

    settings = Settings()
    check_warehouse(lake.warehouse)
    warehouse = Warehouse(lake.warehouse.resolve(), settings)
    _check_tokens(warehouse, host)
    check_free(host, port)
    choice = None if literature is None else LiteratureChoice.parse(literature)
    with open_gateway(resolve_literature(choice, settings), warehouse) as gateway:
        url_host = f"[{host}]" if ":" in host else host
        note = note_or_empty(
            f"API of {lake.warehouse} on http://{url_host}:{port}/ – stop it with Ctrl-C"
        )
        place = (str(warehouse.root), host, str(port), gateway.url, "programs", note)
        return run_with_jobs(
            ("flows.api.server", *place),
            without_keys(os.environ),
            warehouse,
        )


def _check_tokens(warehouse: Warehouse, host: str) -> None:
    """Raise ConfigurationError for a network address if no token exists."""
    with ServiceDatabase(warehouse) as database:
        now = datetime.now(UTC)
        has_token = any(token.valid_at(now) for token in tokens(database))
    if has_token:
        return
    remedy = "`assay tokens create NAME` makes one"
    if not is_loopback(host):
        raise ConfigurationError(f"--host {host} without a token: {remedy}")
    print_note(f"there is no token yet, so nothing is answered: {remedy}")
