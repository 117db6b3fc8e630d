"""Options that several commands share, declared once."""

from pathlib import Path
from typing import Annotated

import typer

from warehouse.rights import keep_private

MOST_WORKERS = 256
DEFAULT_MODULES = "soundness,contribution"


def _kept_private(warehouse: Path) -> Path:
    keep_private(warehouse)
    return warehouse


Warehouse = Annotated[
    Path,
    typer.Option(
        "--warehouse",
        metavar="DIR",
        help="Folder of the warehouse: landing, lake, caches, reports.",
        callback=_kept_private,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", metavar="", help="Machine-readable output on stdout.")
]
Profile = Annotated[
    str,
    typer.Option(
        "--profile",
        metavar="NAME|FILE",
        help="`economy`, `faithful`, or the path of a profile file.",
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine", metavar="NAME", help="`extractive` (offline baseline) or `litellm:<model>`."
    ),
]
ApiBase = Annotated[
    str | None,
    typer.Option("--api-base", metavar="URL", help="An OpenAI-compatible server for the model."),
]
Literature = Annotated[
    str | None,
    typer.Option(
        "--literature",
        metavar="snapshot:PATH|live|URL",
        help="Where papers come from. Default: live when a key is set, else the bundled sample.",
    ),
]
Modules = Annotated[
    str,
    typer.Option(
        "--modules", metavar="LIST", help="Comma-separated: soundness, contribution, committee."
    ),
]
Cutoff = Annotated[
    str | None,
    typer.Option(
        "--cutoff",
        metavar="DATE",
        help="For ideas without a date of their own: cite nothing published after it.",
    ),
]
Workers = Annotated[
    int,
    typer.Option(
        "--workers",
        min=1,
        max=MOST_WORKERS,
        metavar="N",
        help="Worker processes of the local cluster.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="An existing Dask scheduler, such as tcp://host:8786.",
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost-usd", min=0, metavar="X", help="End the run early when it has spent this much."
    ),
]
MaxCostPerIdea = Annotated[
    float | None,
    typer.Option(
        "--max-cost-usd-per-idea",
        min=0,
        metavar="X",
        help="Leave an idea when it has spent this much.",
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens", min=0, metavar="N", help="End the run early after this many model tokens."
    ),
]
MaxRequests = Annotated[
    int | None,
    typer.Option(
        "--max-requests",
        min=0,
        metavar="N",
        help="End the run early after this many literature requests.",
    ),
]
FullText = Annotated[
    bool | None,
    typer.Option(
        "--full-text/--no-full-text",
        metavar="",
        help="Download and parse papers. Default: yes, except for snapshots.",
    ),
]
Label = Annotated[
    str,
    typer.Option(
        "--label", metavar="TEXT", help="Part of the evaluation key: a new label evaluates anew."
    ),
]
Rank = Annotated[
    bool,
    typer.Option(
        "--rank",
        metavar="",
        help="Then let the ideas of each group meet in pairs, as `assay rank` does.",
    ),
]
