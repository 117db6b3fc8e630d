"""`assay recommend`: data sets, baselines and metrics for an idea."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from dashboards.render import page as pg
from flows.cli.answer import answer_of, write_answer
from flows.cli.options import Json, Output
from flows.cli.output import print_table, write_lookup
from flows.cli.terminal import print_note, print_warning
from schemas.literature.recommendation import Recommendation, ResourceKind
from schemas.options.commands import RecommendOptions
from schemas.settings import Settings

if TYPE_CHECKING:
    from tasks.recommendation.recommend import Recommended

_TITLES = {
    ResourceKind.DATA_SET: "data set",
    ResourceKind.BASELINE: "baseline",
    ResourceKind.METRIC: "metric",
}
_QUOTE_CHARACTERS = 160


def recommend(
    given: Annotated[
        str,
        typer.Argument(
            metavar="IDEA",
            help="The idea in quotes, a file that holds it, or - for standard input.",
        ),
    ],
    options: RecommendOptions,
    output: Output = None,
    json: Json = False,
) -> int:
    """Recommend data sets, baselines and metrics that related papers used, with the sentence that
    says so. No model is asked.
    """
    from flows.works.literature.recommendation import recommend_for

    result = recommend_for(given, options, Settings())
    warnings = list(recommendation_warnings(result))
    answer = answer_of(
        "incomplete" if result.failures else "complete",
        result.recommendations,
        warnings=warnings,
        failures=result.failures,
        near_works=result.near_works,
        citations=result.citations,
        citations_with_contexts=result.known_contexts,
        known_uses=result.known_resources,
    )
    if output is not None:
        write_lookup(output, answer, _page(result.recommendations, warnings))
    if json:
        write_answer(answer)
    elif output is None:
        for title, rows in _tables(result.recommendations, "\n"):
            print_table(["", title, "score", "why", "where"], rows)
    if not json:
        print_note(
            f"{result.near_works} works near the idea, {result.citations:,} citations,"
            f" {result.known_contexts:,} of them with their passages;"
            f" {result.known_resources:,} uses known from earlier evaluations"
        )
    for line in warnings:
        print_warning(line)
    return 1 if result.failures else 0


def _page(recommendations: Sequence[Recommendation], warnings: Sequence[str]) -> pg.Page:
    blocks: list[pg.Block] = [pg.note(each) for each in warnings]
    for title, rows in _tables(recommendations, "; "):
        blocks += [
            pg.heading(f"{title.capitalize()}s"),
            pg.table(("Rank:", "Name", "Score:", "Why", "Where"), rows),
        ]
    return pg.Page(pg.line("Data sets, baselines and metrics"), tuple(blocks))


def _tables(
    recommendations: Sequence[Recommendation], between_uses: str
) -> Iterator[tuple[str, Sequence[tuple[str, ...]]]]:
    """Yield the title and the rows of each kind that has recommendations."""
    for kind, title in _TITLES.items():
        rows = [
            (
                str(each.rank),
                each.name,
                f"{each.score_0_to_1:.2f}",
                each.reason,
                between_uses.join(_use_lines(each)),
            )
            for each in recommendations
            if each.kind is kind
        ]
        if rows:
            yield title, rows


def _use_lines(recommendation: Recommendation) -> Iterator[str]:
    for use in recommendation.uses:
        quote = use.quote or "its paper is cited; no passage is known"
        short_quote = (
            quote if len(quote) <= _QUOTE_CHARACTERS else f"{quote[: _QUOTE_CHARACTERS - 1]}…"
        )
        yield f"{use.title} ({use.year or 'no year'}): {short_quote}"


def recommendation_warnings(result: "Recommended") -> Iterator[str]:
    """Yield a line for each gap in the recommendations, with its reason."""
    for failure in result.failures:
        yield (
            f"could not look: {failure.source} {failure.endpoint}: {failure.reason}:"
            f" {failure.detail}"
        )
    if not result.near_works:
        yield "no work near the idea was found: nothing is recommended"
    elif not result.citations:
        yield "this source has no reference lists, so data sets and baselines could not be found"
    elif not result.known_contexts:
        yield (
            "the literature does not tell how works cite each other: baselines are unknown, and"
            " data"
            " sets are known by the titles of cited papers alone"
        )
