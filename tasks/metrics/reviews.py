"""ScholarEval's metrics of reviews: coverage of expert rubrics, invalid links, preferences.

Sources: §3.2 and E.1 (coverage), E.2 (links), E.3 (preferences).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.metrics.differences import welch
from tasks.metrics.estimate import Estimate
from tasks.metrics.means import mean, paired_difference, share, share_of


@dataclass(frozen=True, slots=True)
class RubricScore:
    """Coverage of one expert rubric by one review.

    The score is from 1 (not at all) to 5 (clearly), or None if missing.
    """

    idea_id: str
    rubric: str
    discipline: str
    type: str
    axis: str
    severity: str
    score_1_to_5: float | None

    def __post_init__(self) -> None:
        if self.score_1_to_5 is not None and not 1 <= self.score_1_to_5 <= 5:
            raise ValueError(
                f"coverage goes from 1 to 5, not {self.score_1_to_5}; None where there is none"
            )


PARTS: dict[str, Callable[[RubricScore], str]] = {
    "discipline": lambda score: score.discipline,
    "type": lambda score: score.type,
    "axis": lambda score: score.axis,
    "severity": lambda score: score.severity,
}


def coverage(scores: Sequence[RubricScore], seed: int = 0) -> dict[str, Estimate]:
    """Estimate mean coverage, 1 to 5, over all rubrics and by part.

    Parts: `all`, `discipline=…`, `type=…`, `axis=…`, `severity=…`. The mean is over rubrics, as
    published. Interval: percentile bootstrap over whole ideas, because the rubrics of one idea are
    judged from one review.

    Bad input: rubrics without a judgement are unscored; a part without any judgement is undefined.
    """
    return {name: _mean(part_scores, seed) for name, part_scores in _parts(scores).items()}


def coverage_difference(
    ours: Sequence[RubricScore], theirs: Sequence[RubricScore], seed: int = 0
) -> Estimate:
    """Estimate the mean of ours - theirs over common rubrics, in points.

    Percentile bootstrap over whole ideas. More powerful than Welch's test (`welch`), which
    ScholarEval uses and which ignores that the rubrics are paired.

    Bad input: a rubric that one of them lacks is unscored. Rubrics of an idea must be unique.
    """
    first = {(score.idea_id, score.rubric): score.score_1_to_5 for score in ours}
    second = {(score.idea_id, score.rubric): score.score_1_to_5 for score in theirs}
    assert len(first) == len(ours), "one judgement per rubric"
    assert len(second) == len(theirs), "one judgement per rubric"
    names = sorted({*first, *second})
    return paired_difference(
        [first.get(name) for name in names],
        [second.get(name) for name in names],
        seed,
        [name[0] for name in names],
    )


def coverage_tests(
    ours: Sequence[RubricScore], theirs: Sequence[RubricScore], seed: int = 0
) -> Iterator[tuple[str, str, Estimate]]:
    """Yield (metric, part, estimate) of ours against theirs.

    Parts are all rubrics, and each discipline.

    `coverage_difference`, `welch_p_value` (two-sided) and `welch_p_value_one_sided` (ours is
    greater): ScholarEval's Tables 9 to 13 are captioned two-sided and print one-sided p-values.
    P-values are not corrected for multiple comparisons.
    """
    other = _parts(theirs)
    for part, scores in _parts(ours).items():
        if part == "all" or part.startswith("discipline="):
            other_scores = other.get(part, [])
            first = [one.score_1_to_5 for one in scores]
            second = [one.score_1_to_5 for one in other_scores]
            yield "coverage_difference", part, coverage_difference(scores, other_scores, seed)
            yield "welch_p_value", part, welch(first, second)
            yield "welch_p_value_one_sided", part, welch(first, second, "greater")


def _parts(scores: Sequence[RubricScore]) -> dict[str, list[RubricScore]]:
    parts = {"all": list(scores)}
    for name, part_of in PARTS.items():
        for value in sorted({part_of(score) for score in scores}):
            parts[f"{name}={value}"] = [score for score in scores if part_of(score) == value]
    return parts


def _mean(scores: Sequence[RubricScore], seed: int) -> Estimate:
    return mean([score.score_1_to_5 for score in scores], seed, [score.idea_id for score in scores])


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """Response to a HEAD request for one cited link.

    `status` is the HTTP status; None with a `reason` for a timeout, a refused connection or an
    unknown host.
    """

    url: str
    status: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReferenceInvalidity:
    """Shares of links, from 0 to 1, with Wilson intervals.

    Attributes:
        lower_bound: invalid / all links, the published metric.
        of_answered: invalid / links with a response; the others are unscored.
        upper_bound: (invalid + without a response) / all links.
    """

    lower_bound: Estimate
    of_answered: Estimate
    upper_bound: Estimate


def is_invalid(status: int) -> bool:
    """Return whether an HTTP status is 404, 410 or 5xx (invalid).

    403 (blocked robots) does not count, nor does 200 for a page that says "not found".
    """
    return status in (404, 410) or 500 <= status <= 599


def reference_invalidity(links: Sequence[LinkAnswer]) -> ReferenceInvalidity:
    """Estimate the shares of invalid links (ScholarEval E.2).

    Every citation counts, including repeated links.

    Bad input: without links every share is undefined.
    """
    invalid_count = sum(link.status is not None and is_invalid(link.status) for link in links)
    unanswered_count = sum(link.status is None for link in links)
    return ReferenceInvalidity(
        share(invalid_count, len(links)),
        share(invalid_count, len(links) - unanswered_count, unanswered_count),
        share(invalid_count + unanswered_count, len(links)),
    )


Answer = Literal["A", "B", "tie"]
"""A is the first report in the prompt."""
Winner = Literal["ours", "theirs", "tie"]
CRITERIA: tuple[str, ...] = ("evidence", "actionability", "depth")


@dataclass(frozen=True, slots=True)
class Preference:
    """A judge's preference in one pair of reports by one criterion.

    It is None without an answer.

    Attributes:
        ours_first: the answer with our report as A.
        theirs_first: the answer with our report as B.
    """

    pair_id: str
    criterion: str
    ours_first: Answer | None
    theirs_first: Answer | None

    @property
    def winner(self) -> Winner | None:
        """Return the winner in both orders.

        The result is `tie` if they disagree, and None if an answer is missing.
        """
        if self.ours_first is None or self.theirs_first is None:
            return None
        first, second = _ours(self.ours_first, "A"), _ours(self.theirs_first, "B")
        return first if first == second else "tie"


@dataclass(frozen=True, slots=True)
class WinRates:
    """Shares of the pairs answered in both orders, with Wilson intervals.

    Attributes:
        win, loss, tie: add up to 1; a pair whose two orders disagree is a tie.
        win_of_decided: wins / (wins + losses).
        consistency: share of pairs whose two orders agree.
        first_shown: share of A among single answers that are not ties; 1/2 without position bias.
    """

    win: Estimate
    loss: Estimate
    tie: Estimate
    win_of_decided: Estimate
    consistency: Estimate
    first_shown: Estimate


def win_rates(preferences: Sequence[Preference]) -> WinRates:
    """Estimate the win rates of one criterion.

    ScholarEval asks in one order. Here both orders are asked because of position bias, and a win
    must hold in both.

    Bad input: pairs with fewer than two answers are unscored; without a pair, or a decided one,
    the rates are undefined.
    """
    winners = [preference.winner for preference in preferences]
    decided_winners = [winner for winner in winners if winner in ("ours", "theirs")]
    singles = [
        answer
        for one in preferences
        for answer in (one.ours_first, one.theirs_first)
        if answer in ("A", "B")
    ]
    return WinRates(
        _rate(winners, "ours"),
        _rate(winners, "theirs"),
        _rate(winners, "tie"),
        share(decided_winners.count("ours"), len(decided_winners), winners.count(None)),
        share_of([_consistent(one) for one in preferences]),
        share(singles.count("A"), len(singles)),
    )


def _rate(winners: Sequence[Winner | None], outcome: Winner) -> Estimate:
    return share_of([None if winner is None else winner == outcome for winner in winners])


def _consistent(one: Preference) -> bool | None:
    if one.ours_first is None or one.theirs_first is None:
        return None
    return _ours(one.ours_first, "A") == _ours(one.theirs_first, "B")


def _ours(answer: Answer, place: Literal["A", "B"]) -> Winner:
    if answer == "tie":
        return "tie"
    return "ours" if answer == place else "theirs"
