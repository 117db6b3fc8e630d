"""The nearest prior work decides novelty, and no single reading of it does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.base import replace
from schemas.judgement.contribution import (
    NEWNESS,
    Comparison,
    Overlap,
    closest_first,
    confidence_of,
    novelty_interval,
    novelty_of,
)
from tests.support.evaluations import make_provenance

NOTHING_NEW, LITTLE_NEW, ALL_NEW = (Overlap.SAME, -1), (Overlap.SUBSTANTIAL, 0), (Overlap.NONE, 1)
SILENT = (Overlap.NOT_ADDRESSED, 0)
Answer = tuple[Overlap | None, int]


def works(*answers: Answer) -> list[Comparison]:
    return [
        Comparison(
            paper_id=f"p{number}",
            dimension_id="d1",
            dimension="Tool",
            overlap=overlap,
            score=score,
            provenance=make_provenance("compare_paper"),
        )
        for number, (overlap, score) in enumerate(answers)
    ]


def test_an_idea_that_several_works_anticipate_is_not_new_however_many_do_not() -> None:
    assert novelty_of(works(*[ALL_NEW] * 22, *[NOTHING_NEW] * 3)) == 0.0
    assert novelty_of(works(*[ALL_NEW] * 25)) == 10.0


@pytest.mark.parametrize("count", [2, 5, 25, 50, 95])
def test_one_reading_that_differs_from_all_others_decides_nothing(count: int) -> None:
    assert novelty_of(works(*[LITTLE_NEW] * (count - 1), NOTHING_NEW)) == 3.0


def test_as_many_readings_may_be_wrong_as_one_in_twenty() -> None:
    assert novelty_of(works(*[ALL_NEW] * 90, *[NOTHING_NEW] * 5)) == 10.0
    assert novelty_of(works(*[ALL_NEW] * 89, *[NOTHING_NEW] * 6)) == 0.0


def test_a_work_counts_once_however_often_it_was_compared() -> None:
    once = works(*[ALL_NEW] * 4, NOTHING_NEW)
    often = [*once, *[once[-1]] * 3, replace(once[-1], overlap=Overlap.PARTIAL)]
    assert novelty_of(often) == novelty_of(once)
    assert novelty_interval(often) == novelty_interval(once)
    assert confidence_of(often) == confidence_of(once)


def test_silence_is_not_novelty() -> None:
    assert novelty_of(works(*[(Overlap.NONE, 0)] * 25)) == 5.0
    assert novelty_of(works(ALL_NEW)) is None, "nothing says that the only work was read well"
    assert novelty_of(works((None, 1))) is None
    assert novelty_interval(works(ALL_NEW)) is None


@pytest.mark.parametrize(
    "answers",
    [
        [(Overlap.SAME, 0)],
        [(Overlap.SAME, 0), SILENT],
        [(Overlap.PARTIAL, 0), SILENT, SILENT],
        [SILENT] * 25,
    ],
)
def test_a_dimension_that_too_few_works_address_has_no_score_and_no_confidence(
    answers: list[Answer],
) -> None:
    assert novelty_of(works(*answers)) is None
    assert novelty_interval(works(*answers)) is None
    assert confidence_of(works(*answers)) is None


def test_a_work_that_does_not_address_a_dimension_decides_nothing() -> None:
    told = works(*[LITTLE_NEW] * 3, *[SILENT] * 37)
    assert novelty_of(told) == 3.0
    assert novelty_interval(told) == (3.0, 3.0)


def test_the_closest_work_has_most_overlap_and_then_the_lowest_score() -> None:
    order = closest_first(works(SILENT, *reversed(NEWNESS), (None, 1)))
    assert [(each.overlap, each.score) for each in order] == [*NEWNESS, SILENT]


@given(st.lists(st.sampled_from(list(NEWNESS)), min_size=2, max_size=60))
def test_the_interval_is_that_of_a_bootstrap_over_works(answers: list[Answer]) -> None:
    """Works are drawn with replacement, and each resample is scored by the written rule."""
    closeness = {answer: place for place, answer in enumerate(list[Answer](NEWNESS))}
    newness = np.array(list(NEWNESS.values()))
    places = np.array([closeness[answer] for answer in answers])
    drawn = np.random.default_rng(1).choice(places, (4000, len(places)))
    decided = np.sort(drawn, axis=1)[:, int(np.ceil(len(places) / 20))]
    scores = np.sort(10 * newness[decided])
    compared = works(*answers)
    interval, novelty = novelty_interval(compared), novelty_of(compared)
    assert novelty is not None
    # A share of 4,000 draws is within one percentage point of its probability.
    for end, shares in zip(interval, ((0.015, 0.035), (0.965, 0.985)), strict=True):
        low, high = (scores[int(share * len(scores))] for share in shares)
        assert low - 1e-9 <= end <= high + 1e-9
    assert interval[0] <= novelty <= interval[1]
