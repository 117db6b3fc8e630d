"""What the report on one run shows, put together from the warehouse's answers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboards.render import figures
from dashboards.render.safe_text import Markdown, plain
from dashboards.render.wording import (
    dropped,
    ideas_not_covered,
    reason,
    unscored,
    weights_in_words,
    what_leads_among,
    why_unranked,
)
from dashboards.views.alarms import USUAL
from dashboards.views.changes import Changes, changes_of
from dashboards.views.nightly_page import NightFigures, night_figures
from dashboards.views.sensitivity import Sensitivity, sensitivity_of
from schemas.base import Severity
from schemas.identifiers import IdeaId, RunId
from schemas.run import Run, ValidationRow
from schemas.settings import AlarmSettings
from warehouse.answers import (
    CRITERION_PARTS,
    AnsweringModel,
    FailureGroup,
    FailureRow,
    IdeaScore,
    JudgeAgreement,
    LeftOutGroup,
    ModuleCost,
    RankedIdea,
    RunCost,
    StepCost,
)
from warehouse.queries import Queries

NO_GROUP = "Ideas without a group"


@dataclass(frozen=True, slots=True)
class RankedLine:
    """One idea of a ranking; figures are printed as they stand."""

    rank: str
    title: str
    file_name: str | None
    notes: Markdown
    score: str
    range: str
    coverage: str
    soundness: str
    contribution: str
    unscored: str
    failures: str
    beyond: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupPart:
    """The ranking of one group."""

    name: str
    lines: tuple[RankedLine, ...]
    scores: tuple[tuple[str, float], ...]
    unscored_count: int


@dataclass(frozen=True, slots=True)
class StepLine:
    """Cost and latency of one step with one model."""

    cost: StepCost
    latency: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelsPart:
    """Who answered and who judged; `answering` is empty when one model answered everything."""

    answering: tuple[AnsweringModel, ...]
    dropped: tuple[str, ...]
    agreement: tuple[JudgeAgreement, ...]


@dataclass(frozen=True, slots=True)
class RunPage:
    """Everything `run.md.jinja` prints."""

    run: Run
    night: NightFigures
    cost: RunCost
    groups: tuple[GroupPart, ...]
    models: ModelsPart
    modules: tuple[ModuleCost, ...]
    steps: tuple[StepLine, ...]
    sources: tuple[Mapping[str, Any], ...]
    validation_count: int
    great_expectations_count: int
    broken: tuple[ValidationRow, ...]
    rejections: tuple[FailureRow, ...]
    failure_groups: tuple[FailureGroup, ...]
    left_out: tuple[LeftOutGroup, ...]
    not_covered: str
    sensitivity: Sensitivity | None
    has_matches: bool
    what_leads: str
    weights: str
    beyond: tuple[str, ...]
    changes: Changes | None

    @property
    def critical_broken_count(self) -> int:
        return sum(row.severity is Severity.CRITICAL for row in self.broken)


def run_page(
    queries: Queries,
    run_id: RunId,
    file_names: Mapping[IdeaId, str],
    thresholds: AlarmSettings = USUAL,
) -> RunPage:
    """Ask the warehouse everything about a run.

    Args:
        file_names: names, without suffix, of the ideas' own reports in the folder `ideas`; other
            ideas are named without a link.

    Raises:
        ConfigurationError: no such published run.
    """
    (night,) = night_figures(queries, [run_id], thresholds=thresholds)
    run = night.run
    validations = queries.validations(run_id)
    latencies = {
        (row["step"], row["model_requested"]): row for row in queries.latency_by_step(run_id)
    }
    ranking, scores = queries.ranking(run_id), queries.idea_scores(run_id)
    left_out = queries.left_out_groups(run_id)
    groups = _groups(run, ranking, scores, file_names)
    return RunPage(
        run=run,
        night=night,
        cost=night.cost,
        groups=groups,
        models=models_part(queries, run_id),
        modules=queries.module_costs(run_id),
        steps=tuple(
            StepLine(cost, latencies.get((cost.step, cost.model_requested), {}))
            for cost in queries.step_costs(run_id)
        ),
        sources=queries.source_health(run_id),
        validation_count=len(validations),
        great_expectations_count=sum(row.great_expectations is not None for row in validations),
        broken=tuple(row for row in validations if not row.success),
        rejections=queries.rejections(run_id),
        failure_groups=queries.failure_groups(run_id),
        left_out=left_out,
        not_covered=ideas_not_covered(left_out, run.idea_count),
        sensitivity=sensitivity_of(scores),
        has_matches=any(ranked.strength is not None for ranked in ranking),
        what_leads=what_leads_among(ranking),
        weights=weights_in_words(run),
        beyond=_beyond(scores),
        changes=changes_of(queries, run),
    )


def models_part(queries: Queries, run_id: RunId) -> ModelsPart:
    """Who answered which step of a run, what they do not take, and how far judges agree.

    Raises:
        ConfigurationError: no such published run.
    """
    answering = queries.answering_models(run_id)
    return ModelsPart(
        answering=answering if len({row.model_requested for row in answering}) > 1 else (),
        dropped=tuple(dropped(row) for row in queries.dropped_parameters(run_id)),
        agreement=queries.judge_agreement(run_id),
    )


def _groups(
    run: Run,
    ranking: tuple[RankedIdea, ...],
    idea_scores: tuple[IdeaScore, ...],
    file_names: Mapping[IdeaId, str],
) -> tuple[GroupPart, ...]:
    scores = {score.idea_id: score for score in idea_scores}
    beyond = _beyond(idea_scores)
    members: dict[str | None, list[RankedIdea]] = {}
    for ranked in ranking:
        members.setdefault(ranked.group, []).append(ranked)
    only_group_is_none = list(members) == [None]
    return tuple(
        GroupPart(
            name=("All ideas" if only_group_is_none else NO_GROUP) if name is None else name,
            lines=tuple(
                _line(run, ranked, scores[ranked.idea_id], file_names.get(ranked.idea_id), beyond)
                for ranked in ideas
            ),
            scores=tuple(
                (ranked.title, ranked.score) for ranked in ideas if ranked.score is not None
            ),
            unscored_count=sum(ranked.score is None for ranked in ideas),
        )
        for name, ideas in members.items()
    )


def _criterion(name: str) -> tuple[Callable[[IdeaScore], bool], Callable[[IdeaScore], str]]:
    return (
        lambda score: score.assessment_requested,
        lambda score: figures.mean(score.parts.get(name)),
    )


_BEYOND: dict[str, tuple[Callable[[IdeaScore], bool], Callable[[IdeaScore], str]]] = {
    "Committee": (
        lambda score: score.committee_requested,
        lambda score: figures.mean(score.committee_0_to_10),
    ),
    "Novelty": (
        lambda score: score.novelty_requested,
        lambda score: figures.mean(score.novelty_0_to_10),
    ),
    **{name.replace("_", " ").capitalize(): _criterion(name) for name in CRITERION_PARTS},
}
"""Columns of modules that not every run asks for: whether an idea was judged so, and what stands
there.
"""


def _beyond(scores: Sequence[IdeaScore]) -> tuple[str, ...]:
    """The columns of `_BEYOND` that this run needs."""
    return tuple(
        name
        for name, (requested, _) in _BEYOND.items()
        if any(requested(score) for score in scores)
    )


def _line(
    run: Run, ranked: RankedIdea, score: IdeaScore, file_name: str | None, beyond: Sequence[str]
) -> RankedLine:
    return RankedLine(
        rank="–" if ranked.rank is None else str(ranked.rank),
        title=ranked.title.strip() or ranked.idea_id,
        file_name=file_name,
        notes=_notes(ranked, score),
        score=figures.mean(score.score),
        range=_range(run, score),
        coverage="–" if score.coverage_0_to_1 is None else f"{score.coverage_0_to_1:.0%}",
        soundness=(
            figures.mean(score.soundness_0_to_10) if score.soundness_requested else "not asked for"
        ),
        contribution=(
            figures.mean(score.contribution_0_to_10)
            if score.contribution_requested
            else "not asked for"
        ),
        unscored=_unscored(score),
        failures=figures.count(ranked.failure_count),
        beyond=tuple(
            _BEYOND[name][1](score) if _BEYOND[name][0](score) else "–" for name in beyond
        ),
    )


def _range(run: Run, score: IdeaScore) -> str:
    """The score with 0, and with 10, in place of what is missing; else the repetitions of
    `overall` where the score is its median.
    """
    if score.missing:
        return f"{figures.mean(score.score_lower)} to {figures.mean(score.score_upper)}"
    lowest, highest = score.overall_lowest_0_to_1, score.overall_highest_0_to_1
    weighted = any(run.score_weights.acting(assessed=True).values())
    if lowest is None or highest is None or weighted:
        return "–"
    return f"{figures.mean(10 * lowest)} to {figures.mean(10 * highest)}"


def _unscored(score: IdeaScore) -> str:
    """What the means beside it are not made of, by module."""
    comparisons = score.scored_comparison_count + score.unscored_comparison_count
    found = [
        f"{missing:,} of {figures.counted(whole, what)}"
        for missing, whole, what in (
            (score.unscored_method_count, score.method_count, "method"),
            (score.unscored_comparison_count, comparisons, "comparison"),
            (score.unscored_persona_review_count, score.persona_review_count, "persona review"),
        )
        if missing
    ]
    if score.novelty_requested and score.novelty_0_to_10 is None:
        found.append("the novelty judgement")
    if score.assessment_requested:
        found += [name for name, value in _assessed(score).items() if value is None]
    if not found and not score.coverage_0_to_1:
        return "everything"
    return ", ".join(found) or (score.missing or "nothing").replace("_", " ")


def _assessed(score: IdeaScore) -> dict[str, float | None]:
    """What the assessment says, by criterion in words."""
    named = {"overall": score.overall_0_to_1, **score.parts}
    return {name.replace("_", " "): value for name, value in named.items()}


def _notes(ranked: RankedIdea, score: IdeaScore) -> Markdown:
    found = []
    if why := why_unranked(ranked):
        found.append(why)
    if score.incomplete_reason is not None:
        found.append(f"ended early: {plain(reason(score.incomplete_reason))}")
    if score.score is None and score.state_reason not in (None, score.incomplete_reason):
        found.append(plain(unscored(str(score.state_reason))))
    if score.unscored_dimension_count:
        found.append(
            f"{figures.counted(score.unscored_dimension_count, 'dimension')} without a review"
        )
    if score.duplicate_of is not None:
        found.append(f"nearly the same as {plain(score.duplicate_of)}")
    return Markdown("; ".join(found))
