"""ScholarEval's metrics of reviews: coverage of what experts said (§3.2, E.1), cited links that
lead nowhere (E.2), and which of two reviews a judge prefers (E.3).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.metrics.comparing import welch
from tasks.metrics.estimate import Estimate
from tasks.metrics.means import mean, paired_difference, share, share_of


@dataclass(frozen=True, slots=True)
class RubricScore:
    """Coverage of one expert rubric by one review: 1 (not at all) to 5 (clearly); None when no
    judgement could be had.
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
    """Mean coverage, 1 to 5, over all rubrics (`all`) and over those of each `discipline=…`,
    `type=…`, `axis=…`, `severity=…`.

    The mean is over rubrics, as published, not over ideas. Interval: percentile bootstrap over
    whole ideas, because the rubrics of one idea are judged from one review.

    Bad input: rubrics without a judgement are unscored; a part without any judgement is undefined;
    no rubric at all gives `all`, undefined.
    """
    return {name: _mean(listed, seed) for name, listed in _parts(scores).items()}


def coverage_difference(
    ours: Sequence[RubricScore], theirs: Sequence[RubricScore], seed: int = 0
) -> Estimate:
    """Mean of ours - theirs over the rubrics both were judged on, in points; percentile bootstrap
    over whole ideas.

    Sharper than Welch's test (`welch`), which ScholarEval uses and which forgets that both saw the
    same rubrics.
    Bad input: a rubric that either lacks is unscored; the same rubric of an idea twice is a
    programming error.
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
    """(metric, part, estimate) of ours against theirs, over all rubrics and by discipline.

    `coverage_difference`, and of Welch's test both `welch_p_value`, two-sided, and
    `welch_p_value_one_sided`, that ours is greater: ScholarEval's Tables 9 to 13 say two-sided and
    print one-sided ones. No p-value is corrected for the others.
    """
    other = _parts(theirs)
    for part, scores in _parts(ours).items():
        if part == "all" or part.startswith("discipline="):
            held = other.get(part, [])
            first = [one.score_1_to_5 for one in scores]
            second = [one.score_1_to_5 for one in held]
            yield "coverage_difference", part, coverage_difference(scores, held, seed)
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
    """Answer to a HEAD request for one cited link.

    `status` None: no answer (timeout, refused, no such host), with the reason.
    """

    url: str
    status: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ReferenceInvalidity:
    """Shares of links, from 0 to 1, with Wilson intervals.

    Attributes:
        lower_bound: invalid / all links, the published metric: a link without an answer is not
            known to be invalid.
        of_answered: invalid / links that answered; those that did not are unscored.
        upper_bound: (invalid + without an answer) / all links.
    """

    lower_bound: Estimate
    of_answered: Estimate
    upper_bound: Estimate


def is_invalid(status: int) -> bool:
    """404, 410 and every 5xx count. 403 (robots turned away) and 200 (even of a page that says "not
    found") do not.
    """
    return status in (404, 410) or 500 <= status <= 599


def reference_invalidity(links: Sequence[LinkAnswer]) -> ReferenceInvalidity:
    """Source: ScholarEval E.2.

    Each citation counts, also when two cite one link; look each address up once.

    Bad input: without a link every share is undefined: a review that cites nothing has no rate of
    invalid references.
    """
    invalid = sum(link.status is not None and is_invalid(link.status) for link in links)
    silent = sum(link.status is None for link in links)
    return ReferenceInvalidity(
        share(invalid, len(links)),
        share(invalid, len(links) - silent, silent),
        share(invalid + silent, len(links)),
    )


Answer = Literal["A", "B", "tie"]
"""A is the report shown first."""
Winner = Literal["ours", "theirs", "tie"]
CRITERIA: tuple[str, ...] = ("evidence", "actionability", "depth")


@dataclass(frozen=True, slots=True)
class Preference:
    """One criterion of one pair of reports; None where the judge's answer could not be had.

    Attributes:
        ours_first: the answer when our report was shown as A.
        theirs_first: the answer when it was shown as B.
    """

    pair_id: str
    criterion: str
    ours_first: Answer | None
    theirs_first: Answer | None

    @property
    def winner(self) -> Winner | None:
        """Return who won in both orders; `tie` when the two orders disagree; None unless both were
        answered.
        """
        if self.ours_first is None or self.theirs_first is None:
            return None
        first, second = _ours(self.ours_first, "A"), _ours(self.theirs_first, "B")
        return first if first == second else "tie"


@dataclass(frozen=True, slots=True)
class WinRates:
    """Shares of the pairs answered in both orders, from 0 to 1, Wilson intervals.

    Attributes:
        win, loss, tie: add up to 1; a pair whose two orders disagree is a tie.
        win_of_decided: wins / (wins + losses).
        consistency: pairs whose two orders agree.
        first_shown: share of A among single answers that are not ties; 1/2 is a judge without a
            leaning for a place.
    """

    win: Estimate
    loss: Estimate
    tie: Estimate
    win_of_decided: Estimate
    consistency: Estimate
    first_shown: Estimate


def win_rates(preferences: Sequence[Preference]) -> WinRates:
    """Rates of one criterion.

    ScholarEval asks in one order; both are asked here, since judges lean to one place, and a win
    must survive the swap.

    Bad input: pairs with fewer than two answers are unscored; none left, or no decided pair, is
    undefined.
    """
    winners = [preference.winner for preference in preferences]
    decided = [winner for winner in winners if winner in ("ours", "theirs")]
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
        share(decided.count("ours"), len(decided), winners.count(None)),
        share_of([_consistent(one) for one in preferences]),
        share(singles.count("A"), len(singles)),
    )


def _rate(winners: Sequence[Winner | None], wanted: Winner) -> Estimate:
    return share_of([None if winner is None else winner == wanted for winner in winners])


def _consistent(one: Preference) -> bool | None:
    if one.ours_first is None or one.theirs_first is None:
        return None
    return _ours(one.ours_first, "A") == _ours(one.theirs_first, "B")


def _ours(answer: Answer, place: Literal["A", "B"]) -> Winner:
    if answer == "tie":
        return "tie"
    return "ours" if answer == place else "theirs"
