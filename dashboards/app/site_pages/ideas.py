"""Ideas: all ideas of a run by rank, under any weights."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars

from dashboards.app.choosing import Field, chosen, chosen_run, form, run_field
from dashboards.app.ranking.board import (
    BY_SCORES,
    EVERY_GROUP,
    Board,
    basis_of,
    board,
    label,
    of_group,
    parts_of,
    weights_of,
)
from dashboards.app.ranking.weighing import scored_parts
from dashboards.app.site import Shown, Visit, idea_path, run_path
from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.views.idea.verdict import Verdict, decision_on
from schemas.choices import EXTRACTIVE
from schemas.errors import ConfigurationError
from schemas.literature.naming import unturned
from schemas.run import Run
from warehouse.kinds.rankings.queries import ranking_shown, rankings_of

MOST_SHOWN = 500


def show(visit: Visit) -> Shown:
    """The ideas of a run, best first."""
    lake, runs = visit.lake, visit.lake.runs()
    if not runs:
        return Shown("Ideas", (pg.text("No run has been published here yet."),))
    run = chosen_run(visit, runs)
    heads = {basis_of(head): head for head in lake.ask(rankings_of, run.run_id)}
    shown = basis_of(lake.ask(ranking_shown, run.run_id))
    basis = chosen(visit, "basis", [BY_SCORES, *heads], shown)
    ideas = lake.frame("leaderboard", run_id=run.run_id)
    weights = _weights(visit, ideas, run) if basis == BY_SCORES else weights_of(run)
    found = board(lake, run, heads.get(basis), weights)
    group = chosen(visit, "group", [EVERY_GROUP, *found.groups], EVERY_GROUP)
    members = of_group(found, None if group == EVERY_GROUP else group)
    wanted = visit.query.get("search", "").strip()
    kept = _named(members, wanted)
    parts = scored_parts(ideas) if basis == BY_SCORES else ()
    fields = (
        run_field(runs, run),
        Field(
            "group",
            "Group",
            group,
            EVERY_GROUP,
            [(each, each) for each in (EVERY_GROUP, *found.groups)],
        )
        if len(found.groups) > 1
        else None,
        Field(
            "basis", "Ranks rest on", basis, shown, [(each, each) for each in (BY_SCORES, *heads)]
        )
        if heads
        else None,
        Field("search", "Search", unturned(wanted)),
        *(_weight_field(part, weights, run) for part in parts if len(parts) > 1),
    )
    blocks = (*_head(run, found, members), *_table(found, kept, group))
    return Shown("Ideas", blocks, form(*fields))


def verdict_of(run: Run, row: Mapping[str, Any]) -> Verdict | None:
    """The verdict on an idea; None where the run's engine gives none.

    Args:
        row: of `leaderboard.sql`.
    """
    if run.engine == EXTRACTIVE.text or not run.assessed:
        return None
    overall, lowest = row["overall_0_to_10"], row["overall_lower"]
    if overall is None:
        return Verdict.NOT_JUDGED
    fatal = row["confirmed_fatal_count"] > 0
    return decision_on(overall / 10, None if lowest is None else lowest / 10, fatal=fatal).verdict


def rank_with_range(rank: int | None, best: int | None, worst: int | None) -> str:
    """`3`, or `3 (1–28)` where intervals allow other ranks; `–` without a rank."""
    if rank is None:
        return "–" if best is None or worst is None else f"– ({best}–{worst})"
    if best is None or worst is None or best == worst == rank:
        return str(rank)
    return f"{rank} ({best}–{worst})"


def _weights(visit: Visit, ideas: polars.DataFrame, run: Run) -> dict[str, float]:
    """The run's own weights and those that the address names.

    Raises:
        ConfigurationError: one of them is no number from 0 to 1.
    """
    used = weights_of(run)
    for part in scored_parts(ideas):
        text = visit.query.get(f"weight_{part}")
        if text is None:
            continue
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1:
            raise ConfigurationError(
                f"weight_{part}: write a number from 0 to 1, not “{text[:40]}”"
            )
        used[part] = value
    return used


def _weight_field(part: str, weights: Mapping[str, float], run: Run) -> Field:
    own = f"{weights_of(run)[part]:g}"
    name = f"Weight of {label(part).lower()}"
    return Field(f"weight_{part}", name, f"{weights[part]:g}", own, number=True)


def _named(members: polars.DataFrame, wanted: str) -> polars.DataFrame:
    if not wanted:
        return members
    text = polars.concat_str("title", polars.lit("\n"), "idea_id").str.to_lowercase()
    return members.filter(text.str.contains(wanted.casefold(), literal=True))


def _head(run: Run, found: Board, members: polars.DataFrame) -> Iterator[pg.Block]:
    if not run.in_order:
        yield pg.note(run.order_in_words)
    yield pg.facts(
        pg.report(f"Run {run.run_id}", run_path(run.run_id)),
        f"{figures.counted(run.idea_count, 'idea')}: {run.states_in_words}",
        f"engine {run.engine}",
        f"profile {run.profile}",
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


def _table(found: Board, kept: polars.DataFrame, group: str) -> Iterator[pg.Block]:
    if kept.is_empty():
        yield pg.text("No idea has these words in its title or identifier.")
        return
    order = found.leaders["idea_id"].to_list() if group == EVERY_GROUP else None
    rows = kept.to_dicts()
    if order is not None:
        place = {idea_id: number for number, idea_id in enumerate(order)}
        rows.sort(key=lambda row: place[row["idea_id"]])
    changed = found.head is None and dict(found.weights) != weights_of(found.run)
    published = _published_ranks(found) if changed else {}
    groups, parts = len(found.groups) > 1, parts_of(found.run)
    verdicts = verdict_of(found.run, rows[0]) is not None
    columns = (
        "Rank:",
        *(["Change:"] if changed else []),
        *(["Verdict"] if verdicts else []),
        "Score:",
        "Idea",
        *(["Strength:"] if found.head is not None else []),
        "Strength from:" if found.head is not None else "Score from:",
        "to:",
        *(f"{label(part)}:" for part in parts),
        "Coverage:",
        *(["Group"] if groups else []),
        "Missing",
        "Failures:",
    )

    def cells(row: dict[str, Any]) -> Iterator[pg.Part]:
        yield rank_with_range(row["rank"], row["best_rank"], row["worst_rank"])
        if changed:
            before = published.get(row["idea_id"])
            known = before is not None and row["rank"] is not None
            yield f"{before - row['rank']:+d}" if known and before is not None else "–"
        if verdicts:
            verdict = verdict_of(found.run, row)
            yield "" if verdict is None else verdict.value.capitalize()
        yield figures.mean(row["score"])
        title = " ".join(str(row["title"]).split()) or row["idea_id"]
        yield pg.report(title, idea_path(found.run.run_id, row["idea_id"]))
        low, high = row["lower"], row["upper"]
        if found.head is not None:
            yield _decimals(row["strength"])
            low, high = row["strength_lower"], row["strength_upper"]
        yield _decimals(low)
        yield _decimals(high)
        for part in parts:
            yield _decimals(row[f"{part}_0_to_10"])
        yield figures.percent(row["coverage_0_to_1"]) if row["coverage_0_to_1"] is not None else "–"
        if groups:
            yield row["group"]
        reason = row["incomplete_reason"] or row["state_reason"]
        yield (row["missing"] or "").replace("_", " ") + (
            f" ({wording.reason(reason)})" if reason else ""
        )
        yield int(row["failure_count"])

    yield pg.table(columns, (tuple(cells(row)) for row in rows[:MOST_SHOWN]))
    if len(rows) > MOST_SHOWN:
        yield pg.text(f"The first {MOST_SHOWN} of {len(rows):,}: search, or choose a group.")


def _published_ranks(found: Board) -> dict[str, int]:
    ranked = found.frame.select(
        "idea_id",
        polars.col("published_score").round(9).rank("min", descending=True).over("group"),
    )
    return {idea: int(rank) for idea, rank in ranked.iter_rows() if rank is not None}


def _decimals(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
