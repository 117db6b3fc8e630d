"""The leaderboard a reader chose: run, basis of the ranks, and weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars
from scipy.special import stdtrit

from dashboards.app.data import Lake
from dashboards.render import wording
from schemas.judgement.assessment import AssessmentCriterion
from schemas.judgement.ranking import RankingHead
from schemas.run import Run
from warehouse.row_models import CRITERION_PARTS, MODULE_PARTS, ScoreBasis

Frame = polars.DataFrame

BY_SCORES = "scores"
UNGROUPED = "(no group)"
EVERY_GROUP = "(every group)"
OVERALL = AssessmentCriterion.OVERALL.value
_DIGITS = 9
_UPPER_TAIL = 0.975
_MANY = 1e6


def has_assessment(ideas: Frame) -> bool:
    """Return whether an assessment scored the ideas, so that its criteria are weighted."""
    return bool((ideas["score_basis"] == ScoreBasis.ASSESSMENT.value).any())


def scored_parts(ideas: Frame) -> tuple[str, ...]:
    """Return the parts that weights act on.

    These are the criteria of an assessed run, else the modules that scored any idea.
    """
    if has_assessment(ideas):
        return CRITERION_PARTS
    return tuple(
        module for module in MODULE_PARTS if ideas[f"{module}_0_to_10"].is_not_null().any()
    )


def reweight(ideas: Frame, weights: Mapping[str, float], group: str = EVERY_GROUP) -> Frame:
    """Compute the leaderboard of a run under other weights.

    As in `idea_scores`, an idea has a score only if every weighted part scored it. Otherwise it has
    an interval only, from the score with 0 in place of the missing parts to the score with 10.

    The interval of a contribution is a bootstrap over papers; that of soundness, committee and
    novelty is Student's t from the standard error. These are treated as independent. The interval
    of a criterion spans its lowest and highest repetition. If the interval of a part is unknown,
    the idea has no interval.

    Args:
        ideas: rows of `leaderboard.sql`.
        weights: by module and criterion, none negative.
        group: the only one to rank.

    Returns:
        `ideas` with `score`, `lower`, `upper` (0 to 10), `rank`, `best_rank`, `worst_rank` within
            the group, and `published_score`.
    """
    parts = tuple(part for part in scored_parts(ideas) if weights.get(part, 0.0) > 0)
    if has_assessment(ideas) and not parts:
        parts, weights = (OVERALL,), {OVERALL: 1.0}
    score, lower, upper = _scores_and_intervals(ideas, parts, weights)
    columns = {"score": score, "lower": lower, "upper": upper}
    frame = ideas.rename({"score": "published_score"}).with_columns(
        polars.Series(name, values, dtype=polars.Float64, nan_to_null=True)
        for name, values in columns.items()
    )
    if group != EVERY_GROUP:
        frame = frame.filter(polars.col("group").fill_null(UNGROUPED) == group)
    order = ["group", "rank", "best_rank", "idea_id"]
    groups = map(_rank_group, frame.partition_by("group", maintain_order=True))
    ranked_ideas = polars.concat(groups) if len(frame) else _rank_group(frame)
    return ranked_ideas.sort(order, nulls_last=True)


def _scores_and_intervals(
    ideas: Frame, parts: Sequence[str], weights: Mapping[str, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if not parts:
        nothing = np.full(len(ideas), np.nan)
        return nothing, nothing, nothing
    values = np.column_stack([_numbers(ideas, f"{part}_0_to_10") for part in parts])
    is_scored = ~np.isnan(values)
    weight = np.array([weights[part] for part in parts])
    share = np.broadcast_to(weight / weight.sum(), values.shape)

    def with_missing_as(value: float) -> np.ndarray:
        total: np.ndarray = (share * np.where(is_scored, values, value)).sum(axis=1)
        return total

    widths = [_half_widths(ideas, part) for part in parts]
    # All criteria come from the same repetitions; modules are judged independently.
    power = 1 if has_assessment(ideas) else 2
    sides = (
        np.where(is_scored, share * np.column_stack(side), 0.0)
        for side in zip(*widths, strict=True)
    )
    combined_widths = ((side**power).sum(axis=1) ** (1 / power) for side in sides)
    # Missing parts already span 0 to 10, so unknown widths of the others count as 0.
    lower_widths, upper_widths = (
        np.where(is_scored.all(axis=1), side, np.nan_to_num(side)) for side in combined_widths
    )
    lower, upper = with_missing_as(0.0) - lower_widths, with_missing_as(10.0) + upper_widths
    return with_missing_as(np.nan), np.clip(lower, 0, 10), np.clip(upper, 0, 10)


def _half_widths(ideas: Frame, part: str) -> tuple[np.ndarray, np.ndarray]:
    """Return how far a part's interval extends below and above it; NaN if unknown."""
    if f"{part}_lower" in ideas.columns:
        value = _numbers(ideas, f"{part}_0_to_10")
        lower, upper = _numbers(ideas, f"{part}_lower"), _numbers(ideas, f"{part}_upper")
        return value - lower, upper - value
    count = _numbers(ideas, f"{part}_sample_count")
    freedom = np.where(np.isnan(count), _MANY, np.maximum(count - 1, 1))
    half = stdtrit(freedom, _UPPER_TAIL) * _numbers(ideas, f"{part}_standard_error")
    return half, half


def _numbers(ideas: Frame, column: str) -> np.ndarray:
    """Return the column as floats; NaN for null and for a missing column."""
    if column not in ideas.columns:
        return np.full(len(ideas), np.nan)
    return np.asarray(ideas[column].cast(polars.Float64).fill_null(np.nan).to_numpy())


def _rank_group(part: Frame) -> Frame:
    """Rank the scored ideas of a group, with the best and worst rank intervals allow.

    The places of an unscored idea count all ideas of the group, those of a scored idea only scored
    ones, as its rank does. A score without an interval counts as a point.
    """
    score = part["score"].round(_DIGITS)
    has_score = score.is_not_null()
    among_scored, among_all = _places(part, part.filter(has_score)), _places(part, part)
    no_interval = part["lower"].is_null()
    return part.with_columns(
        score.rank("min", descending=True).cast(polars.Int64).alias("rank"),
        *(
            polars.when(~no_interval)
            .then(polars.Series(np.where(has_score, scored_place, every), dtype=polars.Int64))
            .alias(name)
            for name, scored_place, every in zip(
                ("best_rank", "worst_rank"), among_scored, among_all, strict=True
            )
        ),
    )


def _places(part: Frame, others: Frame) -> tuple[np.ndarray, np.ndarray]:
    """Return the best and the worst place of each idea among `others`."""
    # Rounded like scores in ranks, else an idea's rank could lie outside its range.
    columns = polars.col("score", "lower", "upper").round(_DIGITS)
    part, others = part.with_columns(columns), others.with_columns(columns)
    lower, upper = (
        others[name].fill_null(others["score"]).drop_nulls().sort().to_numpy()
        for name in ("lower", "upper")
    )
    best = 1 + len(lower) - np.searchsorted(lower, _numbers(part, "upper"), side="right")
    worst = len(upper) - np.searchsorted(upper, _numbers(part, "lower"), side="left")
    return best, np.maximum(worst, 1)


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
        """Sentence on the basis of the order."""
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
        return groups_of(self.frame)


def groups_of(ideas: Frame) -> list[str]:
    """Return the groups by name; ideas without a group come last."""
    names = ideas["group"].fill_null(UNGROUPED).unique().to_list()
    return sorted(names, key=lambda name: (name == UNGROUPED, name))


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
    lake: Lake,
    run: Run,
    head: RankingHead | None,
    weights: Mapping[str, float] | None = None,
    group: str = EVERY_GROUP,
) -> Board:
    """Build the leaderboard of a run.

    Args:
        weights: None: the run's own.
        group: the only one to rank, which takes less time; ranks by matches come with all groups.
    """
    applied_weights = weights if weights is not None else weights_of(run)
    ideas = lake.frame("leaderboard", run_id=run.run_id)
    ideas = reweight(ideas, applied_weights, group if head is None else EVERY_GROUP)
    if head is not None:
        places = lake.frame("places_by_matches", run_id=run.run_id, ranking_id=head.ranking_id)
        ideas = ideas.drop("group", "rank", "best_rank", "worst_rank").join(places, on="idea_id")
    grouped_ideas = ideas.with_columns(polars.col("group").fill_null(UNGROUPED))
    order = ["group", "rank", "best_rank" if head is None else "strength", "idea_id"]
    frame = grouped_ideas.sort(
        order, descending=[name == "strength" for name in order], nulls_last=True
    )
    return Board(run, head, frame, applied_weights)


def rank_changes(board: Board) -> polars.DataFrame:
    """Return `idea_id` and `rank_change` against the run's own weights (positive: better)."""
    run_rank = polars.col("published_score").round(9).rank("min", descending=True).over("group")
    change = (run_rank - polars.col("rank")).cast(polars.Int64)
    return board.frame.select("idea_id", change.alias("rank_change"))
