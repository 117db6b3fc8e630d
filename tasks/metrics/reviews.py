"""ScholarEval's metrics of reviews: coverage of expert rubrics, invalid links, preferences.

Sources: §3.2 and E.1 (coverage), E.2 (links), E.3 (preferences).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.metrics.differences import welch
from tasks.metrics.estimate import Estimate
from tasks.metrics.means import mean, paired_difference, share, share_of


@dataclass(frozen=True, slots=True)
class Rubric:
    """One statement of an expert's review; `rubric_id` is unique over all ideas."""

    rubric_id: str
    idea_id: str
    discipline: str
    statement: str
    type: str
    axis: str
    severity: str


Marks = Mapping[Rubric, float | None]
"""Coverage of each rubric by one system's reviews, 1 (not at all) to 5 (clearly); None: missing."""
PARTS = ("discipline", "type", "axis", "severity")


def coverage(marks: Marks, seed: int = 0) -> dict[str, Estimate]:
    """Estimate mean coverage, 1 to 5, over all rubrics and by part.

    Parts: `all`, `discipline=…`, `type=…`, `axis=…`, `severity=…`. The mean is over rubrics, as
    published. Interval: percentile bootstrap over whole ideas, because the rubrics of one idea are
    judged from one review.

    Bad input: rubrics without a judgement are unscored; a part without any judgement is undefined.
    """
    return {
        name: mean(list(part.values()), seed, [rubric.idea_id for rubric in part])
        for name, part in _parts(marks).items()
    }


def coverage_difference(ours: Marks, theirs: Marks, seed: int = 0) -> Estimate:
    """Estimate the mean of ours - theirs over common rubrics, in points.

    Percentile bootstrap over whole ideas. More powerful than Welch's test (`welch`), which
    ScholarEval uses and which ignores that the rubrics are paired.

    Bad input: a rubric that one of them lacks is unscored.
    """
    rubrics = sorted({*ours, *theirs}, key=lambda one: (one.idea_id, one.rubric_id))
    return paired_difference(
        [ours.get(one) for one in rubrics],
        [theirs.get(one) for one in rubrics],
        seed,
        [one.idea_id for one in rubrics],
    )


def coverage_tests(
    ours: Marks, theirs: Marks, seed: int = 0
) -> Iterator[tuple[str, str, Estimate]]:
    """Yield (metric, part, estimate) of ours against theirs.

    Parts are all rubrics, and each discipline.

    `coverage_difference`, `welch_p_value` (two-sided) and `welch_p_value_one_sided` (ours is
    greater): ScholarEval's Tables 9 to 13 are captioned two-sided and print one-sided p-values.
    P-values are not corrected for multiple comparisons.
    """
    other_parts = _parts(theirs)
    for part, marks in _parts(ours).items():
        if part == "all" or part.startswith("discipline="):
            other_marks = other_parts.get(part, {})
            first, second = list(marks.values()), list(other_marks.values())
            yield "coverage_difference", part, coverage_difference(marks, other_marks, seed)
            yield "welch_p_value", part, welch(first, second)
            yield "welch_p_value_one_sided", part, welch(first, second, "greater")


def _parts(marks: Marks) -> dict[str, dict[Rubric, float | None]]:
    parts = {"all": dict(marks)}
    for name in PARTS:
        for value in sorted({getattr(rubric, name) for rubric in marks}):
            parts[f"{name}={value}"] = {
                rubric: mark for rubric, mark in marks.items() if getattr(rubric, name) == value
            }
    return parts


def is_invalid(status: int) -> bool:
    """Return whether an HTTP status is 404, 410 or 5xx (invalid).

    403 (blocked robots) does not count, nor does 200 for a page that says "not found".
    """
    return status in (404, 410) or 500 <= status <= 599


def reference_invalidity(statuses: Sequence[int | None]) -> dict[str, Estimate]:
    """Estimate the shares of invalid links, with Wilson intervals (ScholarEval E.2).

    `lower_bound`: invalid / all links, the published metric. `of_answered`: invalid / links with a
    response; the others are unscored. `upper_bound`: (invalid + without a response) / all links.
    Every citation counts, including repeated links.

    Bad input: without links every share is undefined.

    Args:
        statuses: HTTP status of a HEAD request by link; None: no response.
    """
    invalid_count = sum(status is not None and is_invalid(status) for status in statuses)
    unanswered_count = statuses.count(None)
    return {
        "lower_bound": share(invalid_count, len(statuses)),
        "of_answered": share(invalid_count, len(statuses) - unanswered_count, unanswered_count),
        "upper_bound": share(invalid_count + unanswered_count, len(statuses)),
    }


Answer = Literal["A", "B", "tie"]
"""A is the first report in the prompt."""
CRITERIA: tuple[str, ...] = ("evidence", "actionability", "depth")


def win_rates(answers: Sequence[tuple[Answer | None, Answer | None]]) -> dict[str, Estimate]:
    """Estimate the win rates of one criterion, with Wilson intervals.

    `win`, `loss` and `tie` are shares of the pairs answered in both orders and add up to 1; a pair
    whose two orders disagree is a tie. `win_of_decided`: wins / (wins + losses). `consistency`:
    share of pairs whose two orders agree. `first_shown`: share of A among single answers that are
    not ties; 1/2 without position bias. ScholarEval asks in one order. Here both orders are asked
    because of position bias, and a win must hold in both.

    Bad input: pairs with fewer than two answers are unscored; without a pair, or a decided one,
    the rates are undefined.

    Args:
        answers: with our report as A, and with our report as B, by pair; None: missing.
    """
    names = ({"A": "win", "B": "loss", "tie": "tie"}, {"A": "loss", "B": "win", "tie": "tie"})
    outcomes: list[str | None] = []
    agreements: list[bool | None] = []
    for ours_first, theirs_first in answers:
        if ours_first is None or theirs_first is None:
            outcomes.append(None)
            agreements.append(None)
        else:
            first, second = names[0][ours_first], names[1][theirs_first]
            outcomes.append(first if first == second else "tie")
            agreements.append(first == second)
    wins, losses = outcomes.count("win"), outcomes.count("loss")
    singles = [answer for pair in answers for answer in pair if answer in ("A", "B")]
    return {
        **{
            name: share_of([None if one is None else one == name for one in outcomes])
            for name in ("win", "loss", "tie")
        },
        "win_of_decided": share(wins, wins + losses, outcomes.count(None)),
        "consistency": share_of(agreements),
        "first_shown": share(singles.count("A"), len(singles)),
    }
