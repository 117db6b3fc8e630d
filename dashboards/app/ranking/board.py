"""The leaderboard a reader chose: which run, what the ranks rest on, under which weights."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars
import streamlit as st

from dashboards.app import state
from dashboards.app.data import Lake
from dashboards.app.ranking.weighing import OVERALL, scored_parts, weighed
from dashboards.render import wording
from schemas.judgement.ranking import RankingHead
from schemas.run import Run
from warehouse.answers import CRITERION_PARTS, MODULE_PARTS
from warehouse.kinds.rankings.queries import ranking_shown, rankings_of

BY_SCORES = "scores"
UNGROUPED = "(no group)"
EVERY_GROUP = "(every group)"
MOST_WEIGHT, WEIGHT_STEP = 1.0, 0.05
NAME_CHARACTERS = 76


@dataclass(frozen=True, slots=True)
class Board:
    """Ideas of a run with their places. `head` is None where the ranks rest on scores.

    `frame`: columns of `leaderboard.sql` with rank, best_rank, worst_rank; score, lower and upper
        (0 to 10) under `weights`; for matches
    also strength, strength_lower, strength_upper, wins, losses, ties, unscored_match_count,
    unranked_reason and rests_on (`matches` or `scores`).
    """

    run: Run
    head: RankingHead | None
    frame: polars.DataFrame
    weights: Mapping[str, float]

    @property
    def basis(self) -> str:
        return basis_of(self.head)

    @property
    def what_leads(self) -> str:
        """What the order of its ideas rests on."""
        if self.head is None:
            return wording.what_leads(by_matches=False, undecided=False)
        met = self.frame.filter(polars.col("strength").is_not_null())["rests_on"].unique()
        return wording.what_leads(by_matches="matches" in met, undecided="scores" in met)

    @property
    def leaders(self) -> polars.DataFrame:
        """The ideas in the order of `RankedIdea.place`, whatever their groups."""
        return self.frame.sort(
            ["rank", "score", "idea_id"], descending=[False, True, False], nulls_last=True
        )

    @property
    def groups(self) -> list[str]:
        """By name, the ideas without a group last."""
        return sorted(
            self.frame["group"].unique().to_list(), key=lambda name: (name == UNGROUPED, name)
        )


def basis_of(head: RankingHead | None) -> str:
    """What a reader chooses and the address holds."""
    return BY_SCORES if head is None else f"matches by {head.engine} · {head.ranking_id}"


def choose_basis(
    lake: Lake, run: Run, *, key: str, label: str = "Ranks rest on"
) -> RankingHead | None:
    """A ranking of the run by matches, else None for scores;
    at first what `group_rankings` shows.
    """
    heads = {basis_of(head): head for head in lake.ask(rankings_of, run.run_id)}
    shown = lake.ask(ranking_shown, run.run_id)
    help = (
        "Scores: those of the assessment, or the mean of the modules' scores. Matches: what judges"
        " said when ideas of a group met in pairs (`assay rank`)."
    )
    chosen = state.choose(label, [BY_SCORES, *heads], key=key, default=basis_of(shown), help=help)
    return heads.get(chosen)


def parts_of(run: Run) -> tuple[str, ...]:
    """What an assessment says, then the modules asked for: one that scored nothing stays
    visible.
    """
    asked = run.modules.split(",")
    assessment = (OVERALL, *CRITERION_PARTS) if run.assessed else ()
    return (*assessment, *(module for module in MODULE_PARTS if module in asked))


def label(part: str) -> str:
    """`worth_asking` → `Worth asking`."""
    return part.replace("_", " ").capitalize()


def weights_of(run: Run) -> dict[str, float]:
    """The run's own weights by module and criterion."""
    return {str(name): float(value) for name, value in run.score_weights.model_dump().items()}


def choose_weights(ideas: polars.DataFrame, run: Run) -> dict[str, float]:
    """A slider for all that weights act on, at first the run's own weights."""
    parts, own = scored_parts(ideas), weights_of(run)
    if len(parts) < 2:
        return own
    most = max(MOST_WEIGHT, *own.values())
    chosen = dict(own)
    for part in parts:
        chosen[part] = state.number(
            f"Weight of {label(part).lower()}",
            key=f"weight_{part}",
            minimum=0.0,
            maximum=most,
            default=own[part],
            step=WEIGHT_STEP,
        )
    if run.assessed:
        st.caption("With every weight at 0 the score is the overall judgement.")
    return chosen


def board(
    lake: Lake, run: Run, head: RankingHead | None, weights: Mapping[str, float] | None = None
) -> Board:
    """The leaderboard of a run; `weights` None: the run's own."""
    used = weights if weights is not None else weights_of(run)
    ideas = weighed(lake.frame("leaderboard", run_id=run.run_id), used)
    if head is not None:
        places = lake.frame("places_by_matches", run_id=run.run_id, ranking_id=head.ranking_id)
        ideas = ideas.drop("group", "rank", "best_rank", "worst_rank").join(places, on="idea_id")
    named = ideas.with_columns(polars.col("group").fill_null(UNGROUPED))
    order = (
        ["group", "rank", "strength", "idea_id"]
        if head is not None
        else ["group", "rank", "best_rank", "idea_id"]
    )
    frame = named.sort(order, descending=[name == "strength" for name in order], nulls_last=True)
    return Board(run, head, frame, used)


def rank_changes(board: Board) -> polars.DataFrame:
    """`idea_id` and `rank_change`: places won (+) or lost (-) against the run's own weights."""
    published = polars.col("published_score").round(9).rank("min", descending=True).over("group")
    change = (published - polars.col("rank")).cast(polars.Int64)
    return board.frame.select("idea_id", change.alias("rank_change"))


def choose_group(board: Board, *, with_every: bool) -> str | None:
    """One group of the board; None: every one."""
    groups = board.groups
    if len(groups) == 1:
        return groups[0]
    chosen = state.choose("Group", [*groups, *([EVERY_GROUP] if with_every else [])], key="group")
    return None if chosen == EVERY_GROUP else chosen


def of_group(board: Board, group: str | None) -> polars.DataFrame:
    return board.frame if group is None else board.frame.filter(polars.col("group") == group)


def named() -> polars.Expr:
    """`3.

    Title`, of a frame with rank, title and idea_id; the identifier follows where two rows would
    bear one name.
    """
    title = polars.col("title").str.replace_all(r"\s+", " ").str.strip_chars()
    short = (
        polars.when(title.str.len_chars() > NAME_CHARACTERS)
        .then(title.str.slice(0, NAME_CHARACTERS - 1) + "…")
        .otherwise(title)
    )
    known = polars.when(title == "").then(polars.col("idea_id")).otherwise(short)
    name = polars.concat_str(
        polars.col("rank").cast(polars.String).fill_null("–"), polars.lit(". "), known
    )
    return (
        polars.when(name.is_duplicated())
        .then(polars.concat_str(name, polars.lit(" · "), "idea_id"))
        .otherwise(name)
    )
