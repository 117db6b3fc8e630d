"""Page “Ideas”: the ideas of a run by rank, under any weights."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import polars

from dashboards.app.board import (
    BY_SCORES,
    EVERY_GROUP,
    Board,
    basis_of,
    board,
    groups_of,
    label,
    parts_of,
    rank_changes,
    scored_parts,
    weights_of,
)
from dashboards.app.fields import (
    NO_RUN,
    Field,
    form,
    number_in_address,
    option_in_address,
    run_facts,
    run_field,
    run_in_address,
)
from dashboards.app.site import PageContent, Visit, idea_link, with_query
from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.charts.row_charts import interval_chart
from dashboards.views.idea.verdict import Verdict, decision_on
from schemas.choices import EXTRACTIVE
from schemas.literature.naming import unturned
from schemas.run import Run
from warehouse.kinds.rankings.queries import default_ranking, ideas_by_ranking, rankings_of

PAGE_ROWS, SHORTLISTED = 100, 3
Row: TypeAlias = dict[str, Any]
# Filters of the list; ranks count all ideas of a group.
ONLY: dict[str, Callable[[polars.DataFrame], polars.DataFrame]] = {
    f"The best {SHORTLISTED} of each group": lambda ideas: ideas.filter(
        polars.col("rank") <= SHORTLISTED
    ),
    "With a rank": lambda ideas: ideas.filter(polars.col("rank").is_not_null()),
    "Nothing unscored": lambda ideas: ideas.filter(
        (polars.col("unscored_count") == 0) & polars.col("score").is_not_null()
    ),
}


def show(visit: Visit) -> PageContent:
    """Show the ideas of a run, best first."""
    lake, run = visit.lake, run_in_address(visit)
    if run is None:
        return PageContent("Ideas", (NO_RUN,))
    heads = {basis_of(head): head for head in lake.ask(rankings_of, run.run_id)}
    default_basis = basis_of(lake.ask(default_ranking, run.run_id))
    basis = option_in_address(visit, "basis", [BY_SCORES, *heads], default_basis)
    ideas = lake.frame("leaderboard", run_id=run.run_id)
    weights = _weights(visit, ideas, run) if basis == BY_SCORES else weights_of(run)
    head = heads.get(basis)
    placed_ideas = ideas
    if head is not None:
        names = {"run_id": run.run_id, "ranking_id": head.ranking_id}
        placed_ideas = lake.frame("places_by_matches", **names)
    group_names = groups_of(placed_ideas)
    group = option_in_address(visit, "group", [EVERY_GROUP, *group_names], EVERY_GROUP)
    leaderboard = board(lake, run, head, weights, group)
    members = leaderboard.leaders
    if group != EVERY_GROUP:
        members = leaderboard.frame.filter(polars.col("group") == group)
    search_text = visit.query.get("search", "").strip()
    only = option_in_address(visit, "only", list(ONLY), "")
    visible_ideas = (
        _search(ONLY[only](members), search_text) if only else _search(members, search_text)
    )
    parts = scored_parts(ideas) if basis == BY_SCORES else ()
    groups = [(each, each) for each in (EVERY_GROUP, *group_names)]
    bases = [(each, each) for each in (BY_SCORES, *heads)]
    fields = (
        run_field(visit, run),
        Field("group", "Group", group, EVERY_GROUP, groups) if len(group_names) > 1 else None,
        Field("basis", "Ranks rest on", basis, default_basis, bases) if heads else None,
        Field("only", "Show", only, "", [("", "All"), *((each, each) for each in ONLY)]),
        Field(
            "search",
            "Search",
            unturned(search_text),
            attributes={"placeholder": "Title or identifier"},
        ),
        *(
            Field(
                f"weight_{part}",
                f"Weight of {label(part).lower()}",
                f"{weights[part]:g}",
                f"{weights_of(run)[part]:g}",
                kind="number",
                attributes={"min": 0, "max": 1, "step": 0.05},
            )
            for part in parts
            if len(parts) > 1
        ),
    )
    blocks = (
        *_head(run, leaderboard, members),
        *_chart(visit, leaderboard, group, members),
        *_table(visit, leaderboard, visible_ideas),
    )
    return PageContent("Ideas", blocks, form(*fields))


def gives_verdicts(run: Run) -> bool:
    """Return whether a model assessed the ideas of a run."""
    return run.engine != EXTRACTIVE.text and run.assessed


def verdict_on(row: Row) -> Verdict:
    """Return the verdict on an idea of an assessed run.

    Args:
        row: of `leaderboard.sql`.
    """
    overall, lowest = row["overall_0_to_10"], row["overall_lower"]
    if overall is None:
        return Verdict.NOT_JUDGED
    fatal = row["confirmed_fatal_count"] > 0
    return decision_on(overall / 10, None if lowest is None else lowest / 10, fatal=fatal).verdict


def _weights(visit: Visit, ideas: polars.DataFrame, run: Run) -> dict[str, float]:
    """Return the run's own weights, replaced by those named in the URL.

    Raises:
        ConfigurationError: a weight is no number from 0 to 1.
    """
    requested_weights = {part: number_in_address(visit, f"weight_{part}", 1, "a number from 0 to 1")
             for part in scored_parts(ideas)}  # fmt: skip
    return weights_of(run) | {
        part: value for part, value in requested_weights.items() if value is not None
    }


def _search(members: polars.DataFrame, search_text: str) -> polars.DataFrame:
    if not search_text:
        return members
    text = polars.concat_str("title", polars.lit("\n"), "idea_id").str.to_lowercase()
    return members.filter(text.str.contains(search_text.casefold(), literal=True))


def _head(run: Run, leaderboard: Board, members: polars.DataFrame) -> Iterator[pg.Block]:
    yield from run_facts(run)
    yield pg.facts(
        pg.report("Why one beats another", with_query("/why", run=run.run_id)),
        pg.report("How sure the order is", with_query("/sure", run=run.run_id)),
    )
    if leaderboard.head is not None and leaderboard.head.incomplete_reason is not None:
        reason = wording.reason(leaderboard.head.incomplete_reason)
        yield pg.note(f"The ranking ended early: {reason}. What is missing is unscored, not lost.")
    scores = members["score"].drop_nulls()
    mean = scores.mean()
    mean_text = figures.mean(float(mean)) if isinstance(mean, int | float) else "unscored"
    yield pg.text(
        f"{leaderboard.what_leads} Mean score {mean_text}, over {len(scores):,} of {len(members):,} ideas."
    )
    if dict(leaderboard.weights) != weights_of(run):
        yield pg.text("Weights differ from the run's own; “Change” holds each rank against those.")


def _table(visit: Visit, leaderboard: Board, ideas: polars.DataFrame) -> Iterator[pg.Block]:
    if ideas.is_empty():
        yield pg.text("No idea has these words in its title or identifier.")
        return
    first = max(1, int(number_in_address(visit, "from", 1e9, "the place of an idea") or 1))
    rows, columns = ideas[first - 1 :].head(PAGE_ROWS).to_dicts(), _columns(leaderboard)
    yield pg.table(list(columns), ([cell(row) for cell in columns.values()] for row in rows))
    if len(ideas) > PAGE_ROWS:
        starts = {
            "Earlier": max(1, first - PAGE_ROWS) if first > 1 else 0,
            "Next": first + PAGE_ROWS,
        }
        links = (
            pg.line(" ", pg.report(words, with_query("/ideas", **{**visit.query, "from": start})))
            for words, start in starts.items()
            if 0 < start <= len(ideas)
        )
        place_text = f"Places {first:,} to {first + len(rows) - 1:,} of {len(ideas):,}."
        yield pg.text(place_text, *links)


def _chart(
    visit: Visit, leaderboard: Board, group: str, members: polars.DataFrame
) -> Iterator[pg.Block]:
    if leaderboard.head is None or (group == EVERY_GROUP and len(leaderboard.groups) > 1):
        return
    names = set(members["idea_id"])
    ideas = [
        idea
        for idea in visit.lake.ask(ideas_by_ranking, leaderboard.head)
        if str(idea.idea_id) in names
    ]
    if (chart := interval_chart("intervals", ideas)) is not None:
        yield pg.Fold("Strengths with their intervals", (chart,))


def _columns(leaderboard: Board) -> dict[str, Callable[[Row], pg.Part]]:
    """Return the cell writers by column heading; rank, score and title come first."""
    run, by_matches = leaderboard.run, leaderboard.head is not None
    columns: dict[str, Callable[[Row], pg.Part]] = {
        "Rank:": lambda row: wording.rank_with_range(
            row["rank"], row["best_rank"], row["worst_rank"]
        )
    }
    if not by_matches and dict(leaderboard.weights) != weights_of(run):
        changes = dict(rank_changes(leaderboard).iter_rows())
        columns["Change:"] = lambda row: figures.rank_change(changes[row["idea_id"]])
    if gives_verdicts(run):
        columns["Verdict"] = lambda row: verdict_on(row).value.capitalize()
    columns["Score:"] = lambda row: figures.mean(row["score"])
    columns["Idea"] = lambda row: idea_link(run.run_id, row["idea_id"], row["title"])
    if by_matches:
        columns["Strength:"] = _decimals_of("strength")
        columns["Its range:"] = _between("strength_lower", "strength_upper")
    else:
        columns["Its range:"] = _between("lower", "upper")
    columns |= {f"{label(part)}:": _decimals_of(f"{part}_0_to_10") for part in parts_of(run)}
    columns["Coverage:"] = lambda row: (
        figures.NOTHING if (share := row["coverage_0_to_1"]) is None else figures.percent(share)
    )
    if len(leaderboard.groups) > 1:
        columns["Group"] = lambda row: row["group"]
    return columns | {"Missing": _missing, "Failures:": lambda row: int(row["failure_count"])}


def _missing(row: Row) -> str:
    reason = row["incomplete_reason"] or row["state_reason"]
    reason_text = wording.reason(reason) if reason else ""
    parts = wording.with_spaces(row["missing"] or "")
    return f"{parts} ({reason_text})" if parts and reason_text else parts or reason_text


def _decimals_of(column: str) -> Callable[[Row], str]:
    return lambda row: figures.decimals(row[column])


def _between(lower: str, upper: str) -> Callable[[Row], str]:
    return lambda row: figures.between(row[lower], row[upper])
