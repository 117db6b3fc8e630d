"""`assay ideate`: ideas that are evaluated, revised and evaluated again."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import Json, output_option
from flows.run.session import Session
from flows.works.evaluate.given_ideas import given_ideas
from schemas.options.commands import IdeateOptions
from schemas.reasons import Reason
from schemas.settings import Settings

Seeds = Annotated[
    Path,
    typer.Argument(
        metavar="SEEDS",
        help="Topics, questions or ideas to improve, in any file that ideas stand in.",
    ),
]


def ideate(
    seeds: Seeds,
    options: IdeateOptions,
    output: Annotated[
        Path | None,
        output_option("Write the best version of each idea here, as JSON Lines."),
    ] = None,
    json: Json = False,
) -> int:
    """Make ideas from the concepts of a snapshot, evaluate them, and revise them by the findings.

    Each version goes through the evaluation of `assay evaluate`; the next one names the finding
    that it answers, and is checked for having done so. Near-duplicates are dropped with their
    reason.
    Offline, missing links between concepts are proposed as leads. The same command goes on where it
    stopped; nothing is paid twice.
    """
    from flows.cli.make.ideate_output import print_expected_ideation, print_ideation
    from flows.works.ideate.ideate_request import resolve_ideation

    settings = Settings()
    with given_ideas(seeds) as path:
        request = resolve_ideation(path, options, settings)
        if options.dry_run:
            from flows.works.ideate.ideate_estimate import estimate_ideation

            return print_expected_ideation(estimate_ideation(request, settings), as_json=json)
        with Session() as session:
            summary = session.ideate(request)
        plans: tuple[Path, ...] = ()
        waits = summary.head.incomplete_reason is Reason.UNDECIDED
        if options.plans and summary.published and not waits:
            from flows.works.experiment.experiment_plans import plan_experiments

            plans = plan_experiments(request, summary.head, options.plans, settings)
    return print_ideation(request, summary, output, plans, as_json=json)
