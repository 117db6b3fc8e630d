"""Comparison of two ideas: why one ranks above, and what would reverse it."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.prose import prose_line
from dashboards.render.wording import missing_in_words
from dashboards.views.idea.first_page import FirstPage
from dashboards.views.idea.idea_page import idea_page
from dashboards.views.idea.verdict import Verdict
from schemas.base import replace
from schemas.errors import ConfigurationError, UnknownNameError
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.assessment import AssessmentCriterion
from schemas.profile import ScoreWeights
from schemas.run import Run
from warehouse.kinds.rankings.queries import default_ranking, ratings_of
from warehouse.queries import Queries
from warehouse.row_models import IdeaScore, RankedIdea, ScoreBasis

OVERALL = AssessmentCriterion.OVERALL.value
_TITLE_CHARACTERS = 70
# Nobody would choose a larger weight.
_MOST_WEIGHT = 10.0


def why_view(queries: Queries, run_id: RunId, one: IdeaId, other: IdeaId) -> pg.Page:
    """Return two ideas side by side, the higher ranked one first.

    Raises:
        ConfigurationError: both are the same idea.
        UnknownNameError: there is no such run, or no such idea in it.
    """
    if one == other:
        raise ConfigurationError(f"an idea is not compared with itself: name another than {one}")
    run, places = queries.run(run_id), {idea.idea_id: idea for idea in queries.ranking(run_id)}
    for name in (one, other):
        if name not in places:
            raise UnknownNameError(f"run {run_id} has no idea “{name}”")
    head = default_ranking(queries, run_id)
    if head is not None:  # matches took place in the ranking's groups, which may be clusters
        groups = {each.idea_id: each.group for each in ratings_of(queries, head, head.method)}
        for name in groups.keys() & {one, other}:
            places[name] = replace(places[name], group=groups[name])
    better, worse = sorted((places[one], places[other]), key=lambda idea: idea.place)
    firsts = {
        idea.idea_id: idea_page(queries.idea_review(run_id, idea.idea_id)).first
        for idea in (better, worse)
    }
    matches = None if head is None else queries.page_frame(
        "matches_of_pair", run_id=head.run_id, ranking_id=head.ranking_id,
        one=better.idea_id, other=worse.idea_id,
    ).to_dicts()  # fmt: skip
    scores = {score.idea_id: score for score in queries.idea_scores(run_id)}
    blocks = (
        pg.text(_order(better, worse)),
        _figures(better, worse, firsts, scores),
        *_reasons(run, (better, worse), scores, firsts),
        *_meetings(better, worse, matches),
        *_closest((better, worse), firsts),
        pg.heading("What would turn it round"),
        *pg.bullets(_turns(run, better, worse, scores, firsts)),
    )
    title = f"{_title(better)} above {_title(worse)}"
    return pg.Page(pg.line(title), blocks, f"Why {title}")


def _order(better: RankedIdea, worse: RankedIdea) -> str:
    if better.group != worse.group:
        return (
            f"The two are of different groups ({better.group or 'none'} and"
            f" {worse.group or 'none'}): ranks compare within a group only."
        )
    if better.rank is None:
        return "Neither of the two has a rank."
    if worse.rank is None:
        return "The second has no rank, so nothing says which of the two is better."
    if better.rank == worse.rank:
        return f"Nothing tells the two apart: both have rank {better.rank}."
    ranges = (better.worst_rank, worse.best_rank)
    basis = "matches" if better.by_matches else "scores"
    sentence = f"Rank {better.rank} against rank {worse.rank}, by {basis}."
    if None not in ranges and ranges[0] >= ranges[1]:  # type: ignore[operator]
        return f"{sentence} Their ranges overlap, so the order may be the other way round."
    return sentence


def _figures(
    better: RankedIdea,
    worse: RankedIdea,
    firsts: Mapping[IdeaId, FirstPage],
    scores: Mapping[IdeaId, IdeaScore],
) -> pg.Table:
    idea_pair = (better, worse)
    rows: list[tuple[pg.Part, ...]] = [
        ("Rank", *(wording.rank_with_range(each.rank, each.best_rank, each.worst_rank)
                   for each in idea_pair)),
        ("Score, of 10", *(figures.mean(each.score) for each in idea_pair)),
        ("Range of the score", *(_range(each.score_lower, each.score_upper) for each in idea_pair)),
    ]  # fmt: skip
    if any(firsts[each.idea_id].verdict is not Verdict.NOT_JUDGED for each in idea_pair):
        verdicts = (firsts[each.idea_id].verdict.value.capitalize() for each in idea_pair)
        rows.insert(1, ("Verdict", *verdicts))
    if better.strength is not None or worse.strength is not None:
        rows += [
            ("Strength by matches", *(figures.decimals(each.strength) for each in idea_pair)),
            ("Overall verdicts won, lost, tied", *map(_tally, idea_pair)),
        ]
    parts = dict.fromkeys(
        name
        for each in idea_pair
        for name, value in scores[each.idea_id].parts.items()
        if value is not None
    )
    rows += [
        (wording.with_spaces(name).capitalize(),
         *(figures.decimals(scores[each.idea_id].parts.get(name)) for each in idea_pair))
        for name in parts
    ]  # fmt: skip
    rows += [
        ("Group", *(each.group or None for each in idea_pair)),
        ("Judgements unscored", *(each.unscored_count for each in idea_pair)),
    ]
    return pg.table(("", _title(better), _title(worse)), rows)


def _reasons(
    run: Run,
    idea_pair: tuple[RankedIdea, RankedIdea],
    scores: Mapping[IdeaId, IdeaScore],
    firsts: Mapping[IdeaId, FirstPage],
) -> Iterator[pg.Block]:
    yield pg.heading("What is said of each")
    everyone = tuple(scores.values())
    for idea in idea_pair:
        yield pg.heading(_title(idea), level=3)
        explanation = why_it_leads(
            scores[idea.idea_id], everyone, run.score_weights,
            wins=idea.wins, losses=idea.losses, ties=idea.ties,
        )  # fmt: skip
        yield pg.text(explanation)
        first = firsts[idea.idea_id]
        yield from pg.bullets(map(prose_line, first.reasons))
        if first.concerns:
            yield pg.text("Concern worth most: ", prose_line(first.concerns[0].point))


def _meetings(
    better: RankedIdea, worse: RankedIdea, matches: list[dict[str, Any]] | None
) -> Iterator[pg.Block]:
    yield pg.heading("What was said when the two met")
    if matches is None:
        yield pg.text("The ideas of this run have not met in pairs. Let them:")
        yield pg.Code(f"assay rank {better.run_id}")
    elif not matches:
        yield pg.text("These two did not meet.")
    for row in matches or ():
        first, second = better, worse
        if row["first_idea_id"] != better.idea_id:
            first, second = worse, better
        words = wording.with_spaces(row["dimension"]).capitalize()
        yield pg.text(pg.strong(words), f": {_verdict(row, first, second)}")
        rationale = row["rationale"] or row["unscored_detail"] or ""
        if rationale:
            yield pg.Quote((pg.Paragraph(prose_line(rationale)),))
        yield pg.text(
            pg.emphasis(f"A: {_title(first)}; B: {_title(second)}; judged by {row['judge']}")
        )


def _verdict(row: Mapping[str, Any], first: RankedIdea, second: RankedIdea) -> str:
    """Return the winner, and the judge's probability (none for a person's vote)."""
    if row["winner"] is None:
        return f"unscored, {wording.reason(row['unscored_reason'] or 'unknown')}"
    if row["winner"] == "tie":
        return "a tie"
    winner = f"{_title(first)} (A)" if row["winner"] == "first" else f"{_title(second)} (B)"
    of_first = row["first_better_0_to_1"]
    if of_first is None:
        return f"{winner} wins"
    return f"{winner} is better, {figures.percent(max(of_first, 1 - of_first))} sure"


def _closest(
    idea_pair: tuple[RankedIdea, RankedIdea], firsts: Mapping[IdeaId, FirstPage]
) -> Iterator[pg.Block]:
    yield pg.heading("The closest work of each")
    for idea in idea_pair:
        first = firsts[idea.idea_id]
        yield pg.heading(_title(idea), level=3)
        if first.closest is None:
            yield pg.text(first.none_closest)
            continue
        work = first.closest
        overlaps = f" {work.overlaps}." if work.overlaps else ""
        yield pg.text(prose_line(work.paper), f" {work.title}.{overlaps}")
        if work.remains:
            yield pg.text("What remains new: ", prose_line(work.remains))


def _turns(
    run: Run,
    better: RankedIdea,
    worse: RankedIdea,
    scores: Mapping[IdeaId, IdeaScore],
    firsts: Mapping[IdeaId, FirstPage],
) -> Iterator[pg.Part]:
    if better.by_matches:
        yield (
            "Matches decide the order, so verdicts would have to change: of those overall, the"
            f" first won, lost and tied {_tally(better)}, the second {_tally(worse)}."
        )
    else:
        ahead, behind = scores[better.idea_id], scores[worse.idea_id]
        yield from turning_weights(run, ahead, behind, _title(worse))
        lowest, highest = better.score_lower, worse.score_upper
        if lowest is not None and highest is not None and highest >= lowest:
            yield (
                f"The score of the first may be as low as {figures.decimals(lowest)}, that of the second as high"
                f" as {figures.decimals(highest)}: judging again may turn the order."
            )
    concerns = firsts[worse.idea_id].concerns
    if concerns and concerns[0].action:
        yield pg.line("What the second should do first: ", prose_line(concerns[0].action))


def turning_weights(run: Run, ahead: IdeaScore, behind: IdeaScore, name: str) -> Iterator[str]:
    """Yield the weight of each part at which `behind` passes `ahead`.

    A score is a weighted mean of parts, so with differences d the order turns where `sum(w * d)` is
    0. An overall score has no weights; then the criteria in which `behind` leads are named.
    """
    ahead_parts, behind_parts = (
        parts_of_score(each, run.score_weights) for each in (ahead, behind)
    )
    weights: dict[str, float] = run.score_weights.model_dump()
    if OVERALL in ahead_parts:
        ahead_parts, behind_parts, weights = ahead.parts, behind.parts, {}
    gaps = {
        part: value - against
        for part, value in ahead_parts.items()
        if value is not None and (against := behind_parts.get(part)) is not None
    }
    led_parts = [part for part, gap in gaps.items() if gap < 0]
    if len(gaps) < len(ahead_parts) or not led_parts:
        too_little_scored = "Too little is scored of both for a weight to turn the order."
        yield too_little_scored if len(gaps) < len(ahead_parts) else "No weight turns the order."
        return
    lead = sum(weights.get(part, 0.0) * gap for part, gap in gaps.items())
    for part in led_parts:
        words = wording.with_spaces(part)
        needed_weight = weights.get(part, 0.0) + lead / -gaps[part]
        if not weights:
            yield f"“{name}” leads in {words}, by {figures.decimals(-gaps[part])}: it leads if that alone counts."
        elif needed_weight <= _MOST_WEIGHT:
            yield (
                f"“{name}” leads once {words} weighs more than {figures.decimals(needed_weight)} (now"
                f" {weights[part]:g}), the other weights unchanged."
            )


def _title(idea: RankedIdea) -> str:
    return wording.title_or_name(idea.title, idea.idea_id, _TITLE_CHARACTERS)


def _tally(idea: RankedIdea) -> str:
    if idea.wins is None or idea.losses is None:
        return "–"
    return f"{idea.wins:g}, {idea.losses:g}, {idea.ties or 0}"


def _range(lower: float | None, upper: float | None) -> str:
    has_range = lower is not None and upper is not None and lower < upper
    return figures.between(lower, upper) if has_range else figures.NOTHING


def why_it_leads(
    score: IdeaScore,
    scores: Sequence[IdeaScore],
    weights: ScoreWeights,
    *,
    wins: float | None = None,
    losses: float | None = None,
    ties: int | None = None,
) -> str:
    """Return the parts above the mean, those below, and the missing ones.

    Args:
        wins, losses, ties: overall verdicts, if the rank rests on matches; None if on scores.
    """
    higher_parts: list[str] = []
    lower_parts: list[str] = []
    missing_parts: list[str] = []
    for part, value in parts_of_score(score, weights).items():
        others = [parts_of_score(other, weights).get(part) for other in scores]
        other_values = [each for each in others if each is not None]
        if not other_values:
            continue
        mean = fmean(other_values)
        name = part.replace("_", " ")
        if value is None:
            missing_parts.append(name)
        else:
            (higher_parts if value >= mean else lower_parts).append(
                f"{name} {figures.mean(value)} (mean {figures.mean(mean)})"
            )
    lead_verb, win_clause = "leads by", []
    if wins is not None and losses is not None:
        verdicts = wins + losses + (ties or 0)
        lead_verb, win_clause = (
            "above the mean in",
            [f"won {wins:g} of {verdicts:g} overall verdicts"],
        )
    clauses = [
        *win_clause,
        *([f"{lead_verb} {_join_names(higher_parts)}"] if higher_parts else []),
        *([f"below the mean in {_join_names(lower_parts)}"] if lower_parts else []),
        *(
            [f"{_join_names(missing_parts)} {'is' if len(missing_parts) == 1 else 'are'} unscored"]
            if missing_parts
            else []
        ),
    ]
    if score.missing and score.score_lower is not None and score.score_upper is not None:
        clauses.append(
            f"no score, as it may be {figures.between(score.score_lower, score.score_upper)}:"
            f" {missing_in_words(score)}"
        )
    sentence = "; ".join(clauses)
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else "Nothing scored it."


def parts_of_score(score: IdeaScore, weights: ScoreWeights) -> dict[str, float | None]:
    """Return the weighted parts of a score; `overall` if no criterion has a weight."""
    acting = weights.acting(assessed=True)
    if score.score_basis is ScoreBasis.MODULES:
        return score.parts
    if not any(acting.values()):
        overall = score.overall_0_to_1
        return {"overall": None if overall is None else 10 * overall}
    return {name: value for name, value in score.parts.items() if acting[name] > 0}


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
