"""Why an idea leads, in a sentence made of its scores."""

from collections.abc import Sequence
from statistics import fmean

from dashboards.render import figures
from dashboards.render.wording import missing_in_words
from schemas.profile import ScoreWeights
from warehouse.row_models import IdeaScore, ScoreBasis


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
    above: list[str] = []
    below: list[str] = []
    missing: list[str] = []
    for part, value in parts_of_score(score, weights).items():
        others = [parts_of_score(other, weights).get(part) for other in scores]
        mean = _mean([each for each in others if each is not None])
        if mean is None:
            continue
        name = part.replace("_", " ")
        if value is None:
            missing.append(name)
        else:
            (above if value >= mean else below).append(
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
        *([f"{lead_verb} {_join_names(above)}"] if above else []),
        *([f"below the mean in {_join_names(below)}"] if below else []),
        *(
            [f"{_join_names(missing)} {'is' if len(missing) == 1 else 'are'} unscored"]
            if missing
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


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
