"""How sure a score is."""

from hypothesis import given
from hypothesis import strategies as st

from schemas.outcome import confidence_by_evidence, confidence_of_all

COUNTS = st.integers(0, 40)


@given(COUNTS, COUNTS)
def test_more_evidence_never_makes_a_score_less_sure(strong: int, fair: int) -> None:
    confidence = confidence_by_evidence(strong=strong, fair=fair)
    assert 0 <= confidence <= 3
    assert confidence <= confidence_by_evidence(strong=strong + 1, fair=fair)
    assert confidence <= confidence_by_evidence(strong=strong, fair=fair + 1)
    if fair:
        assert confidence <= confidence_by_evidence(strong=strong + 1, fair=fair - 1)


def test_too_little_evidence_is_no_confidence_and_weak_evidence_alone_never_the_highest() -> None:
    assert confidence_by_evidence(strong=0, fair=1) == 0
    assert confidence_by_evidence(strong=1, fair=0) == 1
    assert confidence_by_evidence(strong=0, fair=40) == 2
    assert confidence_by_evidence(strong=2, fair=2) == 3


def test_what_could_not_be_judged_makes_the_whole_less_sure() -> None:
    assert confidence_of_all([3, 3, 3]) == 3
    assert confidence_of_all([3, None]) == 0
    assert confidence_of_all([3, 2, None]) == 2
    assert confidence_of_all([]) == 0
