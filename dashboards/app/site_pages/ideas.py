"""Ideas: all ideas of a run by rank, under any weights."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import polars

from dashboards.app.choosing import (
    NO_RUN,
    Field,
    chosen,
    chosen_number,
    chosen_run,
    form,
    run_facts,
    run_field,
)
from dashboards.app.ranking.board import (
    BY_SCORES,
    EVERY_GROUP,
    Board,
    basis_of,
    board,
    label,
    of_group,
    parts_of,
    rank_changes,
    weights_of,
)
from dashboards.app.ranking.weighing import scored_parts
from dashboards.app.site import Shown, Visit, idea_link, with_query
from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.charts.interval_chart import interval_chart
from dashboards.views.idea.verdict import Verdict, decision_on
from schemas.choices import EXTRACTIVE
from schemas.literature.naming import unturned
from schemas.run import Run
from warehouse.kinds.rankings.queries import default_ranking, ideas_by_ranking, rankings_of

MOST_SHOWN, SHORTLISTED = 500, 3
Row: TypeAlias = dict[str, Any]
ONLY: dict[str, Callable[[polars.DataFrame], polars.DataFrame]] = {
    f"The best {SHORTLISTED} of each group": lambda ideas: ideas.filter(
        polars.col("rank") <= SHORTLISTED
    ),
    "With a rank": lambda ideas: ideas.filter(polars.col("rank").is_not_null()),
    "Nothing unscored": lambda ideas: ideas.filter(
        (polars.col("unscored_count") == 0) & polars.col("score").is_not_null()
    ),
}
"""Ideas that a reader may leave out of the list; ranks count all of a group."""


def show(visit: Visit) -> Shown:
    """The ideas of a run, best first."""
    lake, run = visit.lake, chosen_run(visit)
    if run is None:
        return Shown("Ideas", (NO_RUN,))
    heads = {basis_of(head): head for head in lake.ask(rankings_of, run.run_id)}
    shown = basis_of(lake.ask(default_ranking, run.run_id))
    basis = chosen(visit, "basis", [BY_SCORES, *heads], shown)
    ideas = lake.frame("leaderboard", run_id=run.run_id)
    weights = _weights(visit, ideas, run) if basis == BY_SCORES else weights_of(run)
    found = board(lake, run, heads.get(basis), weights)
    group = chosen(visit, "group", [EVERY_GROUP, *found.groups], EVERY_GROUP)
    members = found.leaders if group == EVERY_GROUP else of_group(found, group)
    wanted = visit.query.get("search", "").strip()
    only = chosen(visit, "only", list(ONLY), "")
    kept = _named(ONLY[only](members), wanted) if only else _named(members, wanted)
    parts = scored_parts(ideas) if basis == BY_SCORES else ()
    groups = [(each, each) for each in (EVERY_GROUP, *found.groups)]
    bases = [(each, each) for each in (BY_SCORES, *heads)]
    fields = (
        run_field(visit, run),
        Field("group", "Group", group, EVERY_GROUP, groups) if len(found.groups) > 1 else None,
        Field("basis", "Ranks rest on", basis, shown, bases) if heads else None,
        Field("only", "Show", only, "", [("", "All"), *((each, each) for each in ONLY)]),
        Field(
            "search", "Search", unturned(wanted), attributes={"placeholder": "Title or identifier"}
        ),
        *(_weight_field(part, weights, run) for part in parts if len(parts) > 1),
    )
    blocks = (
        *_head(run, found, members),
        *_chart(visit, found, group, members),
        *_table(found, kept),
    )
    return Shown("Ideas", blocks, form(*fields))


def gives_verdicts(run: Run) -> bool:
    """Whether a model assessed the ideas of a run."""
    return run.engine != EXTRACTIVE.text and run.assessed


def verdict_on(row: Row) -> Verdict:
    """The verdict on an idea of a run that gives some.

    Args:
        row: of `leaderboard.sql`.
    """
    overall, lowest = row["overall_0_to_10"], row["overall_lower"]
    if overall is None:
        return Verdict.NOT_JUDGED
    fatal = row["confirmed_fatal_count"] > 0
    return decision_on(overall / 10, None if lowest is None else lowest / 10, fatal=fatal).verdict


def _weights(visit: Visit, ideas: polars.DataFrame, run: Run) -> dict[str, float]:
    """The run's own weights and those that the address names.

    Raises:
        ConfigurationError: one of them is no number from 0 to 1.
    """
    given = {part: chosen_number(visit, f"weight_{part}", 1, "a number from 0 to 1")
             for part in scored_parts(ideas)}  # fmt: skip
    return weights_of(run) | {part: value for part, value in given.items() if value is not None}


def _weight_field(part: str, weights: Mapping[str, float], run: Run) -> Field:
    own = f"{weights_of(run)[part]:g}"
    name = f"Weight of {label(part).lower()}"
    return Field(f"weight_{part}", name, f"{weights[part]:g}", own, kind="number",
                 attributes={"min": 0, "max": 1, "step": 0.05})  # fmt: skip


def _named(members: polars.DataFrame, wanted: str) -> polars.DataFrame:
    if not wanted:
        return members
    text = polars.concat_str("title", polars.lit("\n"), "idea_id").str.to_lowercase()
    return members.filter(text.str.contains(wanted.casefold(), literal=True))


def _head(run: Run, found: Board, members: polars.DataFrame) -> Iterator[pg.Block]:
    yield from run_facts(run)
    yield pg.facts(
        pg.report("Why one beats another", with_query("/why", run=run.run_id)),
        pg.report("How sure the order is", with_query("/sure", run=run.run_id)),
    )
    if found.head is not None and found.head.incomplete_reason is not None:
        why = wording.reason(found.head.incomplete_reason)
        yield pg.note(f"The ranking ended early: {why}. What is missing is unscored, not lost.")
    scored = members["score"].drop_nulls()
    mean = scored.mean()
    told = figures.mean(float(mean)) if isinstance(mean, int | float) else "unscored"
    yield pg.text(
        f"{found.what_leads} Mean score {told}, over {len(scored):,} of {len(members):,} ideas."
    )
    if dict(found.weights) != weights_of(run):
        yield pg.text("Weights differ from the run's own; “Change” holds each rank against those.")


def _table(found: Board, kept: polars.DataFrame) -> Iterator[pg.Block]:
    if kept.is_empty():
        yield pg.text("No idea has these words in its title or identifier.")
        return
    rows, columns = kept.head(MOST_SHOWN).to_dicts(), _columns(found)
    yield pg.table(list(columns), ([cell(row) for cell in columns.values()] for row in rows))
    if len(kept) > MOST_SHOWN:
        yield pg.text(f"The first {MOST_SHOWN} of {len(kept):,}: search, or choose a group.")


def _chart(visit: Visit, found: Board, group: str, members: polars.DataFrame) -> Iterator[pg.Block]:
    """The strengths of one group with their intervals, where matches rank it."""
    if found.head is None or (group == EVERY_GROUP and len(found.groups) > 1):
        return
    names = set(members["idea_id"])
    ranked = [
        idea for idea in visit.lake.ask(ideas_by_ranking, found.head) if str(idea.idea_id) in names
    ]
    if (chart := interval_chart("intervals", ranked)) is not None:
        yield pg.Fold("Strengths with their intervals", (chart,))


def _columns(found: Board) -> dict[str, Callable[[Row], pg.Part]]:
    """What each column says of an idea, by its heading; rank, score and title first."""
    run, by_matches = found.run, found.head is not None
    columns: dict[str, Callable[[Row], pg.Part]] = {
        "Rank:": lambda row: wording.rank_with_range(
            row["rank"], row["best_rank"], row["worst_rank"]
        )
    }
    if not by_matches and dict(found.weights) != weights_of(run):
        changes = dict(rank_changes(found).iter_rows())
        columns["Change:"] = lambda row: figures.moved(changes[row["idea_id"]])
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
    if len(found.groups) > 1:
        columns["Group"] = lambda row: row["group"]
    return columns | {"Missing": _missing, "Failures:": lambda row: int(row["failure_count"])}


def _missing(row: Row) -> str:
    reason = row["incomplete_reason"] or row["state_reason"]
    why = wording.reason(reason) if reason else ""
    parts = wording.spaced(row["missing"] or "")
    return f"{parts} ({why})" if parts and why else parts or why


def _decimals_of(column: str) -> Callable[[Row], str]:
    return lambda row: figures.decimals(row[column])


def _between(lower: str, upper: str) -> Callable[[Row], str]:
    return lambda row: figures.between(row[lower], row[upper])
