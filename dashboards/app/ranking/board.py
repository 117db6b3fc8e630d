"""The leaderboard a reader chose: run, basis of the ranks, and weights."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars

from dashboards.app.data import Lake
from dashboards.app.ranking.reweighting import OVERALL, reweight
from dashboards.render import wording
from schemas.judgement.ranking import RankingHead
from schemas.run import Run
from warehouse.row_models import CRITERION_PARTS, MODULE_PARTS

BY_SCORES = "scores"
UNGROUPED = "(no group)"
EVERY_GROUP = "(every group)"


@dataclass(frozen=True, slots=True)
class Board:
    """Ideas of a run with their places.

    Attributes:
        head: None: the ranks rest on scores.
        frame: columns of `leaderboard.sql` with rank, best_rank, worst_rank; score, lower and upper
            (0 to 10) under `weights`. For matches also strength, strength_lower, strength_upper,
                wins, losses, ties, unscored_match_count, unranked_reason and rests_on (`matches` or
                `scores`).
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
        """The sentence on what the order rests on."""
        if self.head is None:
            return wording.what_leads(by_matches=False, undecided=False)
        bases = self.frame.filter(polars.col("strength").is_not_null())["rests_on"].unique()
        return wording.what_leads(by_matches="matches" in bases, undecided="scores" in bases)

    @property
    def leaders(self) -> polars.DataFrame:
        """The ideas in the order of `RankedIdea.place`, across groups."""
        return self.frame.sort(
            ["rank", "score", "idea_id"], descending=[False, True, False], nulls_last=True
        )

    @property
    def groups(self) -> list[str]:
        """The groups by name; ideas without a group come last."""
        return sorted(
            self.frame["group"].unique().to_list(), key=lambda name: (name == UNGROUPED, name)
        )


def basis_of(head: RankingHead | None) -> str:
    """Return the name of the ranks' basis, as chosen in the URL."""
    return BY_SCORES if head is None else f"matches by {head.engine} · {head.ranking_id}"


def parts_of(run: Run) -> tuple[str, ...]:
    """Return the parts of a score: criteria of the assessment, then requested modules.

    A module that scored nothing is included, so that its absence is visible.
    """
    modules = run.modules.split(",")
    assessment = (OVERALL, *CRITERION_PARTS) if run.assessed else ()
    return (*assessment, *(module for module in MODULE_PARTS if module in modules))


def label(part: str) -> str:
    """Return `Worth asking` for `worth_asking`."""
    return wording.with_spaces(part).capitalize()


def weights_of(run: Run) -> dict[str, float]:
    """Return the run's own weights by module and criterion."""
    return {str(name): float(value) for name, value in run.score_weights.model_dump().items()}


def board(
    lake: Lake, run: Run, head: RankingHead | None, weights: Mapping[str, float] | None = None
) -> Board:
    """Build the leaderboard of a run.

    Args:
        weights: None: the run's own.
    """
    applied_weights = weights if weights is not None else weights_of(run)
    ideas = reweight(lake.frame("leaderboard", run_id=run.run_id), applied_weights)
    if head is not None:
        places = lake.frame("places_by_matches", run_id=run.run_id, ranking_id=head.ranking_id)
        ideas = ideas.drop("group", "rank", "best_rank", "worst_rank").join(places, on="idea_id")
    grouped_ideas = ideas.with_columns(polars.col("group").fill_null(UNGROUPED))
    order = (
        ["group", "rank", "strength", "idea_id"]
        if head is not None
        else ["group", "rank", "best_rank", "idea_id"]
    )
    frame = grouped_ideas.sort(
        order, descending=[name == "strength" for name in order], nulls_last=True
    )
    return Board(run, head, frame, applied_weights)


def rank_changes(board: Board) -> polars.DataFrame:
    """Return `idea_id` and `rank_change` against the run's own weights (positive: better)."""
    run_rank = polars.col("published_score").round(9).rank("min", descending=True).over("group")
    change = (run_rank - polars.col("rank")).cast(polars.Int64)
    return board.frame.select("idea_id", change.alias("rank_change"))


def ideas_of_group(board: Board, group: str | None) -> polars.DataFrame:
    return board.frame if group is None else board.frame.filter(polars.col("group") == group)
