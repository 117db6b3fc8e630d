"""The state of an idea and of a run: one rule, held here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from schemas.reasons import Reason
from schemas.standing import IdeaState, ModuleStanding, standing_of_idea, standing_of_run

WHOLE = ModuleStanding(scored=True, whole=True)
WITHOUT_ONE = ModuleStanding(scored=True, whole=False, reasons=(Reason.REPLY_UNPARSABLE,))
NOTHING = ModuleStanding(scored=False, whole=False, reasons=(Reason.REPLY_UNPARSABLE,))
BEYOND = ModuleStanding(scored=False, whole=False, reasons=(Reason.OFFLINE_ENGINE,))


@dataclass(frozen=True)
class LandedIdea:
    state: IdeaState | None
    state_reason: Reason | None = None
    incomplete_reason: Reason | None = None
    cause: str = ""
    unanswered: Mapping[str, tuple[Reason, str]] = field(default_factory=dict)


SCORED = LandedIdea(IdeaState.SCORED)
UNREADABLE = LandedIdea(IdeaState.UNSCORED, Reason.REPLY_UNPARSABLE)


def standing(landed: Sequence[LandedIdea], rejected: int = 0, lost: int = 0, allowed: float = 0.1):
    return standing_of_run(
        landed,
        idea_count=len(landed) + lost,
        rejected_count=rejected,
        allowed_unscored_share=allowed,
    )


def test_an_idea_is_scored_only_when_nothing_is_missing() -> None:
    assert standing_of_idea([WHOLE, WHOLE]).state is IdeaState.SCORED
    partly = standing_of_idea([WHOLE, WITHOUT_ONE])
    assert (partly.state, partly.state_reason) == (
        IdeaState.PARTLY_SCORED,
        Reason.REPLY_UNPARSABLE,
    )
    assert standing_of_idea([WHOLE, NOTHING]).state is IdeaState.PARTLY_SCORED
    assert standing_of_idea([NOTHING, NOTHING]).state is IdeaState.UNSCORED
    assert standing_of_idea([], [Reason.WORKER_LOST]).state_reason is Reason.WORKER_LOST


def test_what_the_offline_engine_cannot_judge_takes_nothing_from_an_idea() -> None:
    assert standing_of_idea([WHOLE, BEYOND]).state is IdeaState.SCORED
    assert standing_of_idea([BEYOND]).state_reason is Reason.OFFLINE_ENGINE


def test_what_the_literature_does_not_cover_takes_nothing_from_an_idea() -> None:
    outside = ModuleStanding(scored=False, whole=False, reasons=(Reason.FIELD_NOT_COVERED,))
    assert standing_of_idea([WHOLE, outside]).state is IdeaState.SCORED
    assert standing_of_idea([outside, BEYOND]).state_reason is Reason.FIELD_NOT_COVERED
    assert standing_of_idea([outside, NOTHING]).state_reason is Reason.REPLY_UNPARSABLE


def test_a_run_whose_replies_were_all_unreadable_is_not_in_order_and_says_why_first() -> None:
    found = standing([UNREADABLE] * 12)
    assert (found.scored_count, found.unscored_count, found.in_order) == (0, 12, False)
    assert found.order_reasons[0] == (
        "12 of 12 ideas without any score: the engine's reply could not be read (12)"
    )


def test_the_cause_is_named_in_the_words_of_the_provider() -> None:
    quota = "Rate limit reached: quota exceeded"
    unreached = LandedIdea(IdeaState.UNSCORED, Reason.ENGINE_UNAVAILABLE, cause=quota)
    other = LandedIdea(IdeaState.UNSCORED, Reason.ENGINE_UNAVAILABLE, cause="connection refused")
    assert standing([unreached] * 11 + [other]).order_reasons == (
        f"12 of 12 ideas without any score: the engine did not answer (12, most often: {quota})",
    )


def test_a_cause_known_of_one_idea_is_not_called_the_most_frequent() -> None:
    lost = LandedIdea(IdeaState.UNSCORED, Reason.ENGINE_UNAVAILABLE, cause="connection refused")
    assert standing([lost]).order_reasons == (
        "1 of 1 idea without any score: the engine did not answer (1: connection refused)",
    )


def test_a_kind_of_judgement_missing_for_most_ideas_keeps_a_run_from_being_in_order() -> None:
    unread = LandedIdea(
        IdeaState.SCORED, unanswered={"plan_reviews": (Reason.REPLY_UNPARSABLE, "")}
    )
    found = standing([SCORED, *[unread] * 80])
    assert found.order_reasons == (
        "plan reviews missing for 80 of 81 ideas: the engine's reply could not be read (80)",
    )
    assert standing([*[SCORED] * 76, *[unread] * 5]).in_order


def test_the_share_that_may_be_unscored_is_a_setting() -> None:
    night = [SCORED] * 9 + [UNREADABLE]
    assert standing(night).in_order
    assert not standing(night, allowed=0.05).in_order
    assert standing([UNREADABLE] * 10, allowed=1.0).in_order


@pytest.mark.parametrize("reason", [Reason.OFFLINE_ENGINE, Reason.FIELD_NOT_COVERED])
def test_ideas_beyond_engine_and_literature_are_left_out_of_the_share(reason: Reason) -> None:
    beyond = LandedIdea(IdeaState.UNSCORED, reason)
    assert standing([beyond] * 12).in_order
    assert standing([beyond] * 12).unscored_count == 12
    assert not standing([*[beyond] * 12, SCORED, UNREADABLE]).in_order


def test_lost_early_and_rejected_ones_count_together() -> None:
    early = LandedIdea(IdeaState.PARTLY_SCORED, Reason.TIMED_OUT, Reason.TIMED_OUT)
    found = standing([*[SCORED] * 18, early], rejected=1, lost=1)
    assert found.order_reasons == (
        "1 of 20 ideas without any score: the worker that did it was lost (1)",
        "1 of 20 ideas ended early: it took too long (1)",
        "1 of 21 entries rejected",
    )


def test_a_budget_that_ends_a_run_comes_first() -> None:
    spent = LandedIdea(IdeaState.UNSCORED, Reason.BUDGET_EXHAUSTED, Reason.BUDGET_EXHAUSTED)
    found = standing([*[SCORED] * 99, spent])
    assert found.order_reasons == ("the budget was spent before 1 idea had ended",)
