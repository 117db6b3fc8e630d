"""Findings of several judges, joined: what any of them raised, and who."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, ClassVar, Protocol, Self, TypeVar

from pydantic import PrivateAttr

from schemas.base import Reply
from tasks.text.quotations import normal
from tasks.text.words import overlap_0_to_1

SAME_FINDING = 0.6
"""Word overlap from which two findings count as one; half of it, if they quote the same."""


class Finding(Reply):
    """A finding in a reply; its text and its quote say whether another judge has it too."""

    TEXT: ClassVar[str]
    QUOTE: ClassVar[str] = "quote"

    _found_by: tuple[str, ...] = PrivateAttr(default=())
    _rank: int | None = PrivateAttr(default=None)

    @property
    def found_by(self) -> tuple[str, ...]:
        """Models that raised it; empty: one model was asked."""
        return self._found_by

    @property
    def rank(self) -> int | None:
        """Its best place in a reply of these models; None: one model was asked."""
        return self._rank

    def raised_by(self, models: tuple[str, ...], rank: int | None) -> Self:
        """Return the finding as raised by `models`."""
        finding = self.model_copy()
        finding._found_by, finding._rank = models, rank
        return finding


class FindingsReply(Reply):
    """A reply with a list of findings, in which those of several judges are joined."""

    LIST: ClassVar[str]

    _answered_by: tuple[str, ...] = PrivateAttr(default=())

    @property
    def answered_by(self) -> tuple[str, ...]:
        """Models whose findings are joined; empty: one model was asked."""
        return self._answered_by


FindingT = TypeVar("FindingT", bound=Finding)
FindingsT = TypeVar("FindingsT", bound=FindingsReply)


class Ranked(Protocol):
    """A finding, or what was made of one."""

    @property
    def rank(self) -> int | None:
        """Place among those of its model; None: one model was asked."""


RankedT = TypeVar("RankedT", bound=Ranked)


def are_same(one: FindingT, other: FindingT) -> bool:
    """Return whether two findings are one, by shared words and quotes."""
    texts = [getattr(each, each.TEXT) for each in (one, other)]
    quotes = [normal(getattr(each, each.QUOTE)) for each in (one, other)]
    quotes_same = all(quotes) and (quotes[0] in quotes[1] or quotes[1] in quotes[0])
    return overlap_0_to_1(*texts) >= SAME_FINDING / (2 if quotes_same else 1)


def join_findings(replies: Sequence[tuple[str, FindingsT]]) -> FindingsT:
    """Join the findings of (model, reply), the first of each model first.

    A finding that several raised has the words of the first. The rest of the reply is the first
    model's.
    """
    first_reply = replies[0][1]
    lists = [getattr(reply, reply.LIST) for _, reply in replies]
    joined: list[Finding] = []
    for rank, findings in enumerate(zip_longest(*lists), start=1):
        for (model, _), finding in zip(replies, findings, strict=True):
            if finding is None:
                continue
            places = (
                place
                for place, each in enumerate(joined)
                if model not in each.found_by and are_same(each, finding)
            )
            if (place := next(places, None)) is None:
                joined.append(finding.raised_by((model,), rank))
            else:
                same = joined[place]
                joined[place] = same.raised_by((*same.found_by, model), same.rank)
    values: dict[str, Any] = {first_reply.LIST: type(lists[0])(joined)}
    reply = first_reply.model_copy(update=values)
    reply._answered_by = tuple(model for model, _ in replies)
    return reply


def first_of_each(findings: Sequence[RankedT], limit: int) -> list[RankedT]:
    """Return the findings that are among the first `limit` of any model, in order."""
    return [
        finding
        for place, finding in enumerate(findings, start=1)
        if (finding.rank or place) <= limit
    ]
