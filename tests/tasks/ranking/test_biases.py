"""A liking for long texts is told apart from quality, and none is found where there is none."""

import math

import numpy as np
import pytest

from schemas.identifiers import IdeaId
from schemas.people.votes import Choice, HumanVote
from tasks.ranking.biases import biases
from tests.support.votes import make_vote

IDEAS, VOTES = 24, 3_000


def votes_with(per_doubling: float, for_standing_first: float, seed: int) -> list[HumanVote]:
    draw = np.random.default_rng(seed)
    taste = draw.normal(0, 1, IDEAS)
    words = draw.integers(100, 800, IDEAS)
    found = []
    for number in range(VOTES):
        one, other = (int(each) for each in draw.choice(IDEAS, 2, replace=False))
        gap = taste[one] - taste[other] + for_standing_first
        gap += per_doubling * math.log2(words[one] / words[other])
        wins = draw.random() < 1 / (1 + math.exp(-gap))
        found.append(
            make_vote(
                f"vote-{number}",
                first_id=IdeaId(f"idea-{one}"),
                second_id=IdeaId(f"idea-{other}"),
                choice=Choice.FIRST if wins else Choice.SECOND,
                first_words=int(words[one]),
                second_words=int(words[other]),
            )
        )
    return found


@pytest.mark.parametrize(("per_doubling", "first"), [(0.0, 0.0), (1.5, 0.4)])
def test_the_interval_holds_what_sways_the_voters(per_doubling: float, first: float) -> None:
    length, citations, shown_first = biases(votes_with(per_doubling, first, seed=3))
    assert length.lower is not None
    assert length.upper is not None
    assert length.lower <= per_doubling <= length.upper
    assert shown_first.lower is not None
    assert shown_first.upper is not None
    assert shown_first.lower <= first <= shown_first.upper
    assert (shown_first.lower > 0) is (first > 0)
    assert (citations.log_odds, citations.lower) == (None, None)


def test_no_votes_show_no_bias() -> None:
    assert [one.log_odds for one in biases([])] == [None, None, None]
