"""`assay prior`: a prior from ideas with known outcomes."""

from typing import Annotated

import typer

from flows.cli.answer import print_answer
from flows.cli.options import Json
from flows.cli.output import print_table
from flows.cli.terminal import print_note
from schemas.options.commands import PriorOptions


def prior(
    options: PriorOptions,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN|IDEAS",
            help=(
                "A run (learns from texts and evidence) or an idea file (texts only). Default: the"
                " newest run."
            ),
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Fit a prior on ideas with known outcomes, and measure how well it orders unseen ones.

    A profile uses it with `[ranking] prior = "prior.json"`. No model is asked.
    """
    from flows.works.rank.prior import fit_prior_on

    fitted_prior = fit_prior_on(source, options)
    if json:
        rows = [{"figure": name, "value": value} for name, value in fitted_prior.figures.items()]
        print_answer("fitted", rows, **fitted_prior.model_dump(mode="json", exclude={"figures"}))
        return 0
    print_table(
        ["figure", "value"],
        [[name, f"{value:.3f}"] for name, value in fitted_prior.figures.items()],
    )
    print_note(
        f"prior {fitted_prior.prior_sha256[:12]}, fitted on {fitted_prior.idea_count} ideas,"
        f" {fitted_prior.unlabelled_count} without an outcome left out: {fitted_prior.path}"
    )
    return 0
