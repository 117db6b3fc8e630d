"""Which of two reports a judge prefers, asked in both orders (ScholarEval E.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.metrics.estimate import Estimate
from tasks.metrics.means import share, share_of

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
        """Who won in both orders; `tie` when the two orders disagree; None unless both were
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
