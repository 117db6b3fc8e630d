"""Pages on why one idea ranks above another, and how certain the order is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars

from dashboards.app.board import Board, basis_of, board
from dashboards.app.data import Lake
from dashboards.app.fields import (
    NO_RUN,
    Field,
    form,
    option_in_address,
    run_field,
    run_in_address,
    run_title,
)
from dashboards.app.site import PageContent, Visit, idea_link, idea_path, with_query
from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.views.sensitivity import Sensitivity, sensitivity_blocks, sensitivity_of
from dashboards.views.why_above import why_view
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.ranking import RankingHead
from schemas.run import Run
from warehouse.kinds.rankings.queries import default_ranking, rankings_of
from warehouse.queries import Queries

IDEAS_OFFERED, RUNS_OFFERED, MOVES_SHOWN, TITLE_CHARACTERS = 200, 20, 100, 80


def show(visit: Visit) -> PageContent:
    """Show two ideas of a run side by side; by default the two best.

    Raises:
        UnknownNameError: the URL names no idea of the run.
    """
    lake, run = visit.lake, run_in_address(visit)
    if run is None:
        return PageContent("Why one beats another", (NO_RUN,))
    ideas = _order_shown(lake, run).leaders.select("idea_id", "title", "rank", "group").rows()
    if len(ideas) < 2:
        lonely = pg.text("This run has fewer than two ideas: there is nothing to compare.")
        return PageContent("Why one beats another", (lonely,), form(run_field(visit, run)))
    one = visit.query.get("one", ideas[0][0])
    group = next((row[3] for row in ideas if row[0] == one), None)
    # Ranks compare within a group only, so its ideas come first.
    rest = sorted((row for row in ideas if row[0] != one), key=lambda row: row[3] != group)
    other = visit.query.get("other", rest[0][0])
    page = lake.ask(why_view, run.run_id, IdeaId(one), IdeaId(other))
    fields = (
        run_field(visit, run),
        _idea_field("one", "One idea", one, ideas[0][0], ideas),
        _idea_field("other", "Another", other, "", ideas),
    )
    back = pg.facts(
        pg.report("All ideas", with_query("/ideas", run=run.run_id)),
        pg.report("One", idea_path(run.run_id, one)),
        pg.report("Another", idea_path(run.run_id, other)),
    )
    heading = pg.line("Why one beats another")
    return PageContent(page.document_name, (back, *page.blocks), form(*fields), heading=heading)


def _idea_field(
    name: str, label: str, value: str, default: str, ideas: Sequence[tuple[str, str, int, str]]
) -> Field:
    options = []
    for number, (idea_id, title, rank, _) in enumerate(ideas):
        if number < IDEAS_OFFERED or idea_id == value:
            short_title = wording.title_or_name(title, idea_id, TITLE_CHARACTERS)
            options.append((idea_id, f"{rank or '–'}. {short_title}"))
    return Field(name, label, value, default, options)


def show_certainty(visit: Visit) -> PageContent:
    """Show the sensitivity to weights, and the agreement with another order."""
    lake, run = visit.lake, run_in_address(visit)
    if run is None:
        return PageContent("How sure the order is", (NO_RUN,))
    first, others = _order_shown(lake, run), _other_orders(lake, run)
    names = list(others)
    chosen_order = option_in_address(visit, "with", names, "")
    in_common = (
        name
        for name, order in others.items()
        if not side_by_side(first.frame, board(lake, *order).frame).is_empty()
    )
    default = chosen_order or next(in_common, "")
    blocks = (
        pg.facts(pg.report("All ideas", with_query("/ideas", run=run.run_id))),
        *sensitivity_blocks(lake.ask(_sensitivity, run.run_id)),
        pg.heading("Compared with another order of the same ideas"),
        *(_comparison(first, board(lake, *others[default])) if default else _nothing_in_common()),
    )
    order_field = Field("with", "Beside", default, "", [(each, each) for each in names])
    return PageContent(
        "How sure the order is", blocks, form(run_field(visit, run), order_field if names else None)
    )


def _sensitivity(queries: Queries, run_id: RunId) -> Sensitivity | None:
    return sensitivity_of(queries.idea_scores(run_id))


def _order_shown(lake: Lake, run: Run) -> Board:
    return board(lake, run, lake.ask(default_ranking, run.run_id))


def _other_orders(lake: Lake, run: Run) -> dict[str, tuple[Run, RankingHead | None]]:
    """Return other orders of this run, then those of other runs, newest first."""
    current_head = lake.ask(default_ranking, run.run_id)
    heads = (None, *lake.ask(rankings_of, run.run_id))
    orders = {
        f"this run by {basis_of(head)}": (run, head) for head in heads if head != current_head
    }
    for each in [each for each in lake.runs() if each.run_id != run.run_id][:RUNS_OFFERED]:
        orders[run_title(each)] = (each, lake.ask(default_ranking, each.run_id))
    return orders


def _nothing_in_common() -> Iterator[pg.Block]:
    yield pg.text(
        "No other run, and no other ranking of this one, has ranked ideas in common with it: ideas"
        " are recognized by their identifier."
    )


def _comparison(first: Board, second: Board) -> Iterator[pg.Block]:
    comparison = agreement(first.frame, second.frame)
    if not comparison.shared:
        yield from _nothing_in_common()
        return
    spearman = figures.decimals(comparison.spearman)
    yield pg.table(
        ("", "Count:"),
        [
            ("Ideas ranked by both", comparison.shared),
            ("Ranked here alone", comparison.only_first),
            ("Ranked there alone", comparison.only_second),
            ("Rank correlation (Spearman; mean over groups, weighted by their ideas)", spearman),
            (
                f"Of the best {TOP} of each group, also there",
                f"{comparison.top:,} of {comparison.top_size:,}",
            ),
        ],
    )
    moves = side_by_side(first.frame, second.frame).filter(polars.col("change") != 0)
    if moves.is_empty():
        yield pg.text("All of them have the same rank in both.")
        return
    run_id = first.run.run_id
    yield pg.text("Ranks among the ideas that both ranked, the largest moves first.")
    yield pg.table(
        ("Idea", "Group", "Rank here:", "Rank there:", "Change:"),
        [
            (
                idea_link(run_id, row["idea_id"], row["title"]),
                row["group"],
                int(row["first_rank"]),
                int(row["second_rank"]),
                figures.rank_change(row["change"]),
            )
            for row in moves.head(MOVES_SHOWN).iter_rows(named=True)
        ],
    )
    if len(moves) > MOVES_SHOWN:
        yield pg.text(f"The {MOVES_SHOWN} largest moves of {len(moves):,}.")


Frame = polars.DataFrame
TOP = 10


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two leaderboards.

    Attributes:
        shared: ideas ranked by both.
        only_first, only_second: ideas ranked by one of them only.
        spearman: rank correlation, averaged over groups and weighted by their size; None if no
            group
            has three ideas with different ranks.
        top: ideas among the best `TOP` of their group in both, summed over groups, out of
            `top_size`.
    """

    shared: int
    only_first: int
    only_second: int
    spearman: float | None
    top: int
    top_size: int


def side_by_side(first: Frame, second: Frame) -> Frame:
    """Join the ideas ranked by both, with their ranks among these.

    Columns: idea_id, title, group, first_rank, second_rank, change (positive: better in the
    second).
    """
    columns = ["idea_id", "rank"]
    first_ranks = first.filter(polars.col("rank").is_not_null()).select(
        *columns, "title", polars.col("group").fill_null("")
    )
    second_ranks = second.filter(polars.col("rank").is_not_null()).select(columns)
    pairs = first_ranks.join(second_ranks, on="idea_id", suffix="_in_second")
    rank_columns = {"first_rank": "rank", "second_rank": "rank_in_second"}
    return (
        pairs.with_columns(
            polars.col(column).rank("min").over("group").cast(polars.Int64).alias(name)
            for name, column in rank_columns.items()
        )
        .with_columns((polars.col("first_rank") - polars.col("second_rank")).alias("change"))
        .select("idea_id", "title", "group", "first_rank", "second_rank", "change")
        .sort(polars.col("change").abs(), "idea_id", descending=[True, False])
    )


def agreement(first: Frame, second: Frame) -> Agreement:
    pairs = side_by_side(first, second)
    ranked_counts = [int(frame["rank"].is_not_null().sum()) for frame in (first, second)]
    by_group = pairs.group_by("group").agg(
        polars.len().alias("size"),
        polars.corr("first_rank", "second_rank", method="spearman").alias("spearman"),
        ((polars.col("first_rank") <= TOP) & (polars.col("second_rank") <= TOP)).sum().alias("top"),
        (polars.col("first_rank") <= TOP).sum().alias("top_size"),
    )
    usable = by_group.filter((polars.col("size") >= 3) & polars.col("spearman").is_not_nan())
    weight = float(usable["size"].sum())
    return Agreement(
        shared=len(pairs),
        only_first=ranked_counts[0] - len(pairs),
        only_second=ranked_counts[1] - len(pairs),
        spearman=float((usable["size"] * usable["spearman"]).sum()) / weight if weight else None,
        top=int(by_group["top"].sum()),
        top_size=int(by_group["top_size"].sum()),
    )
