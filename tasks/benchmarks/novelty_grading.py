"""One justification of a novelty judgement graded against an expert's: everything RINoBench's seven
metrics of justifications are computed from (§4.2.2).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from schemas.base import Noun
from schemas.outcome import Outcome, Scored, Unscored
from schemas.reasons import Reason, may_pass
from tasks.benchmarks.steps.check_aspect import (
    CHECK_ASPECT,
    CheckInput,
    CheckReply,
    SourceShown,
)
from tasks.benchmarks.steps.extract_aspects import (
    EXTRACT_ASPECTS,
    AspectsInput,
    AspectsReply,
)
from tasks.benchmarks.steps.judge_alignment import JUDGE_ALIGNMENT, AlignmentInput
from tasks.judging.step import Engine
from tasks.metrics.novelty import Aspects, Justification

GRADING = (CHECK_ASPECT, EXTRACT_ASPECTS, JUDGE_ALIGNMENT)
"""G-Eval's step for the alignment, and FActScore's extract and verify for the arguments."""


@dataclass(frozen=True, slots=True)
class Justified:
    """What is graded: a justification beside the expert's, with what both speak of.

    `works`: (title, abstract).
    """

    idea: str
    works: tuple[tuple[str, str], ...]
    expected: str
    actual: str


class AspectCounts(Noun):
    """Arguments of one kind; see `tasks.metrics.novelty.Aspects`."""

    gold: int = Field(ge=0)
    generated: int = Field(ge=0)
    supported: int = Field(ge=0)
    additional: int = Field(ge=0)
    hallucinated: int = Field(ge=0)


class Grade(Noun):
    """What the judges said; None where their answer could not be had; `reasons` then says why."""

    alignment_0_to_1: float | None
    known: AspectCounts | None
    novel: AspectCounts | None
    reasons: tuple[Reason, ...] = ()

    @property
    def may_go_better(self) -> bool:
        """Whether asking again may bring what is missing."""
        return any(may_pass(reason) for reason in self.reasons)

    @property
    def justification(self) -> Justification:
        """The grade as the metrics take it."""
        return Justification(self.alignment_0_to_1, _aspects(self.known), _aspects(self.novel))


def _aspects(counts: AspectCounts | None) -> Aspects | None:
    return Aspects(**counts.model_dump()) if counts is not None else None


async def grade(justified: Justified, engine: Engine) -> Grade:
    """Alignment, and of both kinds of arguments how many are the expert's, grounded, or made up.

    An argument that the expert's justification does not bear out is additional where the related
    works (known) or the idea (novel) bear it out, and hallucinated where they do not. At most seven
    calls; never raises for what the engine does.
    """
    async with asyncio.TaskGroup() as group:
        aligned = group.create_task(
            engine.run(
                JUDGE_ALIGNMENT,
                AlignmentInput(expected=justified.expected, actual=justified.actual),
            )
        )
        gold = group.create_task(
            engine.run(EXTRACT_ASPECTS, AspectsInput(justification=justified.expected))
        )
        said = group.create_task(
            engine.run(EXTRACT_ASPECTS, AspectsInput(justification=justified.actual))
        )
    works = tuple(
        SourceShown(name=f"Related work {number}", text=f"{title}\n\n{text}")
        for number, (title, text) in _numbered(justified)
    )
    idea = (SourceShown(name="Idea", text=justified.idea),)
    async with asyncio.TaskGroup() as group:
        known = group.create_task(
            _counted(
                "known", gold.result(), said.result(), justified.expected, works or idea, engine
            )
        )
        novel = group.create_task(
            _counted("novel", gold.result(), said.result(), justified.expected, idea, engine)
        )
    outcome = aligned.result()
    return Grade(
        alignment_0_to_1=outcome.value.score / 10 if isinstance(outcome, Scored) else None,
        known=known.result().counts,
        novel=novel.result().counts,
        reasons=tuple(
            dict.fromkeys(
                reason
                for reason in (
                    _reason(outcome),
                    _reason(gold.result()),
                    _reason(said.result()),
                    known.result().reason,
                    novel.result().reason,
                )
                if reason is not None
            )
        ),
    )


def _numbered(justified: Justified) -> list[tuple[int, tuple[str, str]]]:
    return list(enumerate(justified.works, start=1))


@dataclass(frozen=True, slots=True)
class _Counted:
    counts: AspectCounts | None
    reason: Reason | None = None


async def _counted(
    kind: str,
    gold: Outcome[AspectsReply],
    said: Outcome[AspectsReply],
    expected: str,
    grounds: Sequence[SourceShown],
    engine: Engine,
) -> _Counted:
    if isinstance(gold, Unscored) or isinstance(said, Unscored):
        return _Counted(None)
    wanted, generated = (
        list(dict.fromkeys(getattr(gold.value, kind))),
        list(dict.fromkeys(getattr(said.value, kind))),
    )
    supported = await _supported(
        generated, [SourceShown(name="Expert's justification", text=expected)], engine
    )
    if isinstance(supported, Reason):
        return _Counted(None, supported)
    rest = [
        argument for argument, borne_out in zip(generated, supported, strict=True) if not borne_out
    ]
    grounded = await _supported(rest, grounds, engine)
    if isinstance(grounded, Reason):
        return _Counted(None, grounded)
    counts = AspectCounts(
        gold=len(wanted),
        generated=len(generated),
        supported=sum(supported),
        additional=sum(grounded),
        hallucinated=len(grounded) - sum(grounded),
    )
    return _Counted(counts)


async def _supported(
    arguments: Sequence[str], sources: Sequence[SourceShown], engine: Engine
) -> list[bool] | Reason:
    """Of each argument whether the sources bear it out; the reason where one of them could not be
    checked.
    """
    if not arguments:
        return []
    outcome: Outcome[CheckReply] = await engine.run(
        CHECK_ASPECT, CheckInput(sources=tuple(sources), arguments=tuple(arguments))
    )
    if isinstance(outcome, Unscored):
        return outcome.reason
    checked = {one.number: one.supported for one in outcome.value.arguments}
    numbers = range(1, len(arguments) + 1)
    return (
        [checked[number] for number in numbers]
        if all(number in checked for number in numbers)
        else Reason.REPLY_UNPARSABLE
    )


def _reason(outcome: Outcome[Any]) -> Reason | None:
    return outcome.reason if isinstance(outcome, Unscored) else None
