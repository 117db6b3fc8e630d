"""States of ideas and runs: scored, partly scored or unscored, and whether a run is in order.

Command line, exit code, run record, reports, dashboard and nightly summary use these.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from pydantic import Field

from schemas.base import Noun
from schemas.failure import commonest_cause
from schemas.reasons import BEYOND_THE_RUN, Reason


class IdeaState(StrEnum):
    """State of an entry of an idea file.

    Only the judgements of requested modules that enter a score count. An assessed idea needs no
    literature-based scores if there is no evidence.
    """

    SCORED = "scored"
    PARTLY_SCORED = "partly_scored"
    UNSCORED = "unscored"
    REJECTED = "rejected"

    @property
    def words(self) -> str:
        return self.value.replace("_", " ")


class ModuleStanding(Noun):
    """Result of one module for one idea."""

    scored: bool = Field(description="Whether the module gave the idea a score.")
    whole: bool = Field(description="Whether no judgement of the score is missing.")
    reasons: tuple[Reason, ...] = Field(default=(), description="Why judgements are missing.")

    @property
    def beyond_the_run(self) -> bool:
        """Return whether engine or literature cannot give a score, which is no failure."""
        return not self.scored and bool(self.reasons) and BEYOND_THE_RUN.issuperset(self.reasons)


class IdeaStanding(Noun):
    """State of one idea, with the reason of missing judgements."""

    state: IdeaState = Field(
        description=(
            "scored: no judgement of the score is missing; partly_scored: some are missing;"
            " unscored: all are."
        )
    )
    state_reason: Reason | None = Field(
        default=None,
        description="Main reason of missing judgements; None without missing ones.",
    )


def standing_of_idea(
    modules: Collection[ModuleStanding], more_reasons: Iterable[Reason] = ()
) -> IdeaStanding:
    """Return the standing of an accepted idea.

    Modules that engine or literature cannot score are ignored, unless there are no others.

    Args:
        modules: one for each requested module.
        more_reasons: why the whole evaluation is incomplete.
    """
    judged_modules = [each for each in modules if not each.beyond_the_run]
    is_scored = any(each.scored for each in judged_modules)
    is_whole = is_scored and all(each.whole for each in judged_modules)
    if is_whole:
        return IdeaStanding(state=IdeaState.SCORED)
    reasons = {
        *more_reasons,
        *(reason for each in judged_modules or modules for reason in each.reasons),
    }
    return IdeaStanding(
        state=IdeaState.PARTLY_SCORED if is_scored else IdeaState.UNSCORED,
        state_reason=next((reason for reason in Reason if reason in reasons), None),
    )


class RunStanding(Noun):
    """Numbers of ideas by state, without rejected entries, and whether the run is in order."""

    scored_count: int = Field(ge=0, description="Ideas without missing judgements.")
    partly_scored_count: int = Field(ge=0, description="Ideas with some missing judgements.")
    unscored_count: int = Field(ge=0, description="Ideas without any score.")
    in_order: bool = Field(description="Whether there are no `order_reasons`.")
    order_reasons: tuple[str, ...] = Field(
        description="Why the run is not in order, most important first; empty when it is."
    )


class LandedIdea(Protocol):
    """Receipt of a landed idea."""

    @property
    def state(self) -> IdeaState: ...
    @property
    def state_reason(self) -> Reason | None: ...
    @property
    def incomplete_reason(self) -> Reason | None: ...
    @property
    def cause(self) -> str: ...
    @property
    def unanswered(self) -> Mapping[str, tuple[Reason, str]]: ...


def standing_of_run(
    receipts: Sequence[LandedIdea],
    *,
    idea_count: int,
    rejected_count: int,
    allowed_unscored_share: float,
) -> RunStanding:
    """Return the standing of a run.

    A run is not in order if the budget ended it, if more than the allowed share of its entries has
    no score, ended early or was rejected, or if the engine failed in one kind of judgement for more
    than that share. Ideas that the offline engine cannot judge, or whose field the literature does
    not cover, do not count as entries.

    Args:
        receipts: those of landed ideas; the other ideas lost their worker and are unscored.
        idea_count: number of accepted ideas.
    """
    losses = [(Reason.WORKER_LOST, "")] * max(0, idea_count - len(receipts))
    states = Counter(each.state for each in receipts)
    unscored_receipts = [each for each in receipts if each.state is IdeaState.UNSCORED]
    without_score = [*((each.state_reason, each.cause) for each in unscored_receipts), *losses]
    receipts_beyond = [each for each in unscored_receipts if each.state_reason in BEYOND_THE_RUN]
    other_receipts = [each for each in receipts if each.state is not IdeaState.UNSCORED]
    early_ends = [
        (each.incomplete_reason, each.cause) for each in other_receipts if each.incomplete_reason
    ]
    out_of_budget_count = sum(
        each.incomplete_reason is Reason.BUDGET_EXHAUSTED for each in receipts
    )
    shortfalls: dict[str, Sequence[_Why]] = {
        "without any score": [why for why in without_score if why[0] not in BEYOND_THE_RUN],
        "ended early": early_ends,
    }
    of_all = f"of {_counted(len(receipts) + len(losses), 'idea', 'ideas')}"
    reasons = []
    if out_of_budget_count:
        reasons.append(
            f"the budget was spent before {_counted(out_of_budget_count, 'idea', 'ideas')} had ended"
        )
    entry_count = len(receipts) + len(losses) - len(receipts_beyond) + rejected_count
    if (
        sum(len(why) for why in shortfalls.values()) + rejected_count
        > allowed_unscored_share * entry_count
    ):
        reasons += [
            f"{len(why):,} {of_all} {shortfall}: {_in_words(why)}"
            for shortfall, why in shortfalls.items()
            if why
        ]
        if rejected_count:
            entries = _counted(entry_count, "entry", "entries")
            reasons.append(f"{rejected_count:,} of {entries} rejected")
    reasons += [
        f"{kind_missing(kind)}{len(why):,} {of_all}: {_in_words(why)}"
        for kind, why in _unanswered(other_receipts).items()
        if len(why) > allowed_unscored_share * entry_count
    ]
    return RunStanding(
        scored_count=states[IdeaState.SCORED],
        partly_scored_count=states[IdeaState.PARTLY_SCORED],
        unscored_count=len(without_score),
        in_order=not reasons,
        order_reasons=tuple(reasons),
    )


def kind_missing(kind: str) -> str:
    """Return the beginning of an order reason that names a kind of judgement."""
    return f"{kind.replace('_', ' ')} missing for "


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


_Why = tuple[Reason | None, str]
"""Reason, and the most frequent error of failed calls."""


def _unanswered(receipts: Iterable[LandedIdea]) -> dict[str, list[_Why]]:
    """Return why completed ideas lack a kind of judgement, by kind."""
    reasons_by_kind: dict[str, list[_Why]] = {}
    for each in receipts:
        for kind, reason in each.unanswered.items() if each.incomplete_reason is None else ():
            reasons_by_kind.setdefault(kind, []).append(reason)
    return reasons_by_kind


def _in_words(reasons: Iterable[_Why]) -> str:
    """Join reasons, most frequent first, each with its most frequent cause."""
    causes: dict[Reason | None, list[str]] = {}
    for reason, cause in reasons:
        causes.setdefault(reason, []).append(cause)
    phrases = []
    for reason, details in sorted(causes.items(), key=lambda each: -len(each[1])):
        sentence = "the reason is not known" if reason is None else reason.sentence
        cause = commonest_cause(details)
        remark = f"{': ' if len(details) == 1 else ', most often: '}{cause}" if cause else ""
        phrases.append(f"{sentence} ({len(details):,}{remark})")
    return "; ".join(phrases)
