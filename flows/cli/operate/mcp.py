"""`assay mcp`: an MCP server on standard input and output."""

import os
from typing import Annotated

import typer

from flows.cli.options import Searched
from flows.jobs.job_environment import without_keys
from schemas.choices import LiteratureChoice
from schemas.options.commands import LakeOptions
from schemas.settings import Settings
from warehouse.app.database import check_services
from warehouse.warehouse import Warehouse


def mcp(
    lake: LakeOptions,
    literature: Searched = None,
    max_cost_usd: Annotated[
        float,
        typer.Option(
            "--max-cost-usd",
            metavar="X",
            min=0,
            help="What jobs asked for in this way may spend on models in all.",
        ),
    ] = 0.0,
) -> int:
    """Serve an MCP client on standard input and output: evaluate ideas, read reviews, search.

    A client starts it by itself. It includes a job runner; jobs that run when the client ends
    continue with the next runner. Over HTTP the same tools are at /mcp of `assay api`.
    """
    from flows.jobs.service_process import run_with_jobs
    from flows.run.gateway import open_gateway
    from flows.works.evaluate.request import check_warehouse, resolve_literature

    settings = Settings()
    check_warehouse(lake.warehouse)
    warehouse = Warehouse(lake.warehouse.resolve(), settings)
    check_services(warehouse)
    choice = None if literature is None else LiteratureChoice.parse(literature)
    with open_gateway(resolve_literature(choice, settings), warehouse) as gateway:
        return run_with_jobs(
            ("flows.api.mcp_server", str(warehouse.root), gateway.url, str(max_cost_usd)),
            without_keys(os.environ),
            warehouse,
            answers_on_stdout=True,
        )
