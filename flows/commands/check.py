"""`assay check`: critical problems in manuscripts, and whether judges find the authors' own reason among them."""

from pathlib import Path
from typing import Annotated

import typer

from flows.commands import options
from flows.commands.session import Session
from flows.request import DEFAULT_WAREHOUSE
from schemas.choices import EXTRACTIVE, EngineChoice
from schemas.errors import ConfigurationError
from schemas.judging import Effort
from schemas.run import Budget
from schemas.settings import Settings

FORMS = ("auto", "pdf", "text", "latex")
MOST_PROBLEMS, MOST_REPETITIONS = 20, 25
MAXIMUM_FAILED_SHARE = 0.1

Papers = Annotated[
    list[Path],
    typer.Argument(
        metavar="PAPER...", help="A PDF, a text file, a LaTeX source, or a folder of them."
    ),
]
Form = Annotated[
    str,
    typer.Option(
        "--form",
        metavar="auto|pdf|text|latex",
        help="How the engine gets it; `pdf` attaches the file.",
    ),
]
Judges = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="ENGINE[@URL]",
        help="Judges hits against --reasons; repeatable. Default: the engine itself.",
    ),
]
Reasons = Annotated[
    Path | None,
    typer.Option(
        "--reasons",
        metavar="FILE",
        help="Why authors withdrew: JSON Lines or CSV with manuscript, reason.",
    ),
]


def check(
    papers: Papers,
    warehouse: options.Warehouse = DEFAULT_WAREHOUSE,
    engine: options.Engine = EXTRACTIVE.text,
    api_base: options.ApiBase = None,
    form: Form = "auto",
    problems: Annotated[
        int,
        typer.Option(
            "--problems",
            min=1,
            max=MOST_PROBLEMS,
            metavar="K",
            help="Most problems an attempt reports.",
        ),
    ] = 5,
    attempts: Annotated[
        int,
        typer.Option(
            "--attempts",
            min=1,
            max=MOST_REPETITIONS,
            metavar="N",
            help="Independent attempts at each manuscript.",
        ),
    ] = 1,
    judge: Judges = None,
    repetitions: Annotated[
        int,
        typer.Option(
            "--repetitions",
            min=1,
            max=MOST_REPETITIONS,
            metavar="M",
            help="Answers of each judge; the most frequent counts.",
        ),
    ] = 1,
    reasons: Reasons = None,
    seed: Annotated[
        int,
        typer.Option(
            "--seed", min=0, metavar="N", help="Seed of the first attempt; the next ones follow."
        ),
    ] = 42,
    effort: Annotated[
        Effort, typer.Option("--effort", help="How much models that can think are asked to think.")
    ] = Effort.MEDIUM,
    workers: options.Workers = 2,
    scheduler: options.Scheduler = None,
    max_cost_usd: options.MaxCost = None,
    max_cost_usd_per_paper: Annotated[
        float | None,
        typer.Option(
            "--max-cost-usd-per-paper",
            min=0,
            metavar="X",
            help="Leave a manuscript when it has spent this much.",
        ),
    ] = None,
    max_tokens: options.MaxTokens = None,
    json: options.Json = False,
) -> int:
    """Look for critical problems in manuscripts, and print each with its place and explanation.

    With --reasons, judges vote whether a reported problem is the one the authors withdrew for, and hit rates are printed.
    The same command goes on where it stopped; nothing is paid twice.
    """
    from flows.check_request import resolve_check
    from flows.commands.check_output import print_check

    if form not in FORMS:
        raise ConfigurationError(f"--form {form!r}: choose from {', '.join(FORMS)}")
    chosen = EngineChoice.parse(engine)
    request = resolve_check(
        papers, Settings(), warehouse=warehouse, engine=chosen, api_base=api_base, judges=judge or (), form=form, problems=problems,
        attempts=attempts, repetitions=repetitions, reasons=reasons, seed=seed, effort=effort, workers=workers, scheduler=scheduler,
        budget=Budget(maximum_cost_usd=max_cost_usd, maximum_cost_usd_per_idea=max_cost_usd_per_paper, maximum_tokens=max_tokens),
    )  # fmt: skip
    with Session() as session:
        summary = session.check(request)
    return print_check(request, summary, as_json=json)
