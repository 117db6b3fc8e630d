"""One list says why something was not had, and whether it may pass."""

import pytest

from schemas.reasons import Passes, Reason, first_that_may_pass, may_pass, reason_named


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_sentence_for_people(reason: Reason) -> None:
    assert len(reason.sentence.split()) > 2
    assert not reason.sentence.endswith(".")
    assert reason_named(reason.value) is reason


@pytest.mark.parametrize("reason", Reason)
def test_what_is_sent_again_at_once_also_passes_by_itself(reason: Reason) -> None:
    assert reason.passes is Passes.BY_ITSELF or not reason.again_at_once


def test_an_answer_that_could_not_be_read_may_pass_like_a_source_that_failed() -> None:
    assert may_pass(Reason.MALFORMED_ANSWER)
    assert may_pass(Reason.SERVER_ERROR)
    assert not may_pass(Reason.AFTER_CUTOFF)
    assert not may_pass(None)


def test_of_several_reasons_the_budget_is_named_first() -> None:
    reasons = (Reason.RATE_LIMITED, None, Reason.REFUSED, Reason.BUDGET_EXHAUSTED)
    assert first_that_may_pass(reasons) is Reason.BUDGET_EXHAUSTED


def test_a_source_that_did_not_answer_is_asked_again_for_the_reason_of_its_look_up_only() -> None:
    assert first_that_may_pass([Reason.SOURCE_UNAVAILABLE]) is None
    reasons = (Reason.SOURCE_UNAVAILABLE, Reason.UNREACHABLE)
    assert first_that_may_pass(reasons) is Reason.UNREACHABLE
