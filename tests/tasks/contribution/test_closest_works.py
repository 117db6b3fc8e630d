"""The nearest prior work decides novelty."""

import pytest

from schemas.contribution import NEWNESS, Comparison, Overlap, closest_first, novelty_of
from tests.support.evaluations import make_provenance

NOTHING_NEW, ALL_NEW = (Overlap.SAME, -1), (Overlap.NONE, 1)


def works(*answers: tuple[Overlap | None, int]) -> list[Comparison]:
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


def test_an_idea_that_one_paper_anticipates_and_24_do_not_is_not_new() -> None:
    novelty = novelty_of(works(*[ALL_NEW] * 24, NOTHING_NEW))
    assert novelty == 3.0
    assert novelty_of(works(*[ALL_NEW] * 25)) == 10.0


def test_silence_is_not_novelty() -> None:
    assert novelty_of(works(*[(Overlap.NONE, 0)] * 25)) == 5.0
    assert novelty_of(works(ALL_NEW)) == pytest.approx(8.5)
    assert novelty_of(works((None, 1))) is None


def test_the_closest_work_has_most_overlap_and_then_the_lowest_score() -> None:
    order = closest_first(works(*reversed(NEWNESS), (None, 1)))
    assert [(each.overlap, each.score) for each in order] == list(NEWNESS)
