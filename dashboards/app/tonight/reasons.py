"""Why an idea stands where it stands, in a sentence made of its scores."""

from collections.abc import Sequence
from statistics import fmean

from dashboards.reports.wording import missing_in_words
from warehouse.answers import IdeaScore


def why_it_leads(
    score: IdeaScore,
    scores: Sequence[IdeaScore],
    *,
    wins: float | None = None,
    losses: float | None = None,
    ties: int | None = None,
) -> str:
    """Return the parts of its score above the mean of the scored ideas, those below, and what is
    missing.

    Args:
        wins, losses, ties: overall verdicts where the rank rests on matches, which are told first; None
            where it rests on the score.
    """
    above: list[str] = []
    below: list[str] = []
    missing: list[str] = []
    for part, value in score.parts.items():
        mean = _mean([each for other in scores if (each := other.parts.get(part)) is not None])
        if mean is None:
            continue
        name = part.replace("_", " ")
        if value is None:
            missing.append(name)
        else:
            (above if value >= mean else below).append(f"{name} {value:.1f} (mean {mean:.1f})")
    lifted, won = "leads by", []
    if wins is not None and losses is not None:
        verdicts = wins + losses + (ties or 0)
        lifted, won = "above the mean in", [f"won {wins:g} of {verdicts:g} overall verdicts"]
    told = [
        *won,
        *([f"{lifted} {_listed(above)}"] if above else []),
        *([f"below the mean in {_listed(below)}"] if below else []),
        *([f"not scored by {_listed(missing)}"] if missing else []),
    ]
    if score.missing and score.score_lower is not None and score.score_upper is not None:
        told.append(
            f"no score, as it may be {score.score_lower:.1f} to {score.score_upper:.1f}:"
            f" {missing_in_words(score)}"
        )
    sentence = "; ".join(told)
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else "Nothing scored it."


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
