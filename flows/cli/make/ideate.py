"""`assay ideate`: ideas made, evaluated and revised."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import Json, output_option
from flows.works.evaluate.idea_input import idea_file
from schemas.settings import Settings
from schemas.work import Summary
from schemas.works.ideation_run import IdeateOptions, IdeationHead, IdeationRequest

Seeds = Annotated[
    Path,
    typer.Argument(
        metavar="SEEDS",
        help="Topics, questions or ideas to improve, in any file format of ideas.",
    ),
]


def ideate(
    seeds: Seeds,
    options: IdeateOptions,
    output: Annotated[
        Path | None,
        output_option(
            "Write here instead of to stdout, by the ending: jsonl, the best version of each idea;"
            " html, pdf, docx or json; else Markdown."
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Generate ideas from the concepts of a snapshot, evaluate them, and revise them.

    Each version goes through the evaluation of `assay evaluate`; the next one names the finding
    that it answers, and is checked for having done so. Near-duplicates are dropped with their
    reason.
    Offline, missing links between concepts are proposed as leads. The same command resumes; nothing is paid twice.
    """
    from flows.cli.works import run

    def plans(request: "IdeationRequest", summary: "Summary[IdeationHead]") -> tuple[Path, ...]:
        from flows.works.experiment.experiment_plans import plan_experiments

        return plan_experiments(request, summary.head, options.plans, Settings())

    more = plans if options.plans else None
    with idea_file(seeds) as path:
        return run("ideate", (path,), options, output, as_json=json, more=more)
