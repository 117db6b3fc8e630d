"""The second look at a problem, which weighs what the authors may have meant, and what stands after
it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from schemas.failure import Failure
from schemas.outcome import Outcome, Scored
from schemas.works.manuscripts import Decision, Problem
from tasks.citations.keys import Shown
from tasks.citations.settle import settle
from tasks.judging.step import Engine
from tasks.manuscripts.candidates import LEAST_CHARACTERS, Candidate, unfounded, unpromising
from tasks.manuscripts.find import location_found
from tasks.manuscripts.pool import Pool
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.sections import passage_around, passages_about, place_of
from tasks.manuscripts.steps.reading import Reading
from tasks.manuscripts.steps.refute_problem import (
    REFUTE_PROBLEM,
    RefuteInput,
    RefuteReply,
    Verdict,
)
from tasks.manuscripts.writing import unanswered
from tasks.text.quotations import stands_in

WORKS_SHOWN = 5
"""Of the pool, with each second look."""
CLOSE_PERCENT = 20
"""A refutation that is surer than the objection by more than this settles it."""
_EVEN_PERCENT = 50
LEAST_TOGETHER_PERCENT = 60
"""How sure both looks together have to be of a problem that stands."""


@dataclass(frozen=True, slots=True)
class Looks:
    """What the second looks gave: a problem each, in the order of the candidates."""

    problems: tuple[Problem, ...]
    outcomes: tuple[Outcome[RefuteReply], ...]
    failures: tuple[Failure, ...]


async def second_looks(
    candidates: Sequence[Candidate],
    manuscript: Manuscript,
    reading: Reading,
    engine: Engine,
    pool: Pool,
    before: Sequence[tuple[str, ...]] = (),
) -> Looks:
    """A second look at each, side by side.

    Args:
        before: what was said of each so far; empty: nothing was of any.
    """
    told = before or [()] * len(candidates)
    looks = await asyncio.gather(
        *(
            _second_look(one, said, reading, engine, pool)
            for one, said in zip(candidates, told, strict=True)
        )
    )
    places = [one.place for one in candidates]
    return Looks(
        problems=tuple(
            _problem(one, look, bool(said), manuscript, reading, pool)
            for one, look, said in zip(candidates, looks, told, strict=True)
        ),
        outcomes=tuple(look for look in looks if look is not None),
        failures=tuple(unanswered(REFUTE_PROBLEM, manuscript, zip(places, looks, strict=True))),
    )


async def _second_look(
    candidate: Candidate, before: tuple[str, ...], reading: Reading, engine: Engine, pool: Pool
) -> Outcome[RefuteReply] | None:
    """None where there is nothing to ask."""
    if _fallen(candidate, reading, asked_again=bool(before)) is not None:
        return None
    said = candidate.said
    return await engine.run(
        REFUTE_PROBLEM,
        RefuteInput(
            problem=said.problem,
            location=place_of(said.quote, reading, candidate.place),
            quote=said.quote,
            explanation=said.explanation,
            passages=passages_about(said.problem, said.quote, reading),
            works=pool.worded(works_beside(said.problem, said.quote, pool)),
            before=before,
        ),
    )


def _fallen(candidate: Candidate, reading: Reading, *, asked_again: bool) -> str | None:
    """Why a candidate falls without a question; None: it does not. What a person asks to look at
    again is looked at where its sentence can be.
    """
    why = unfounded(candidate.said, reading)
    return unpromising(candidate.said) if why is None and not asked_again else why


def works_beside(problem: str, quote: str, pool: Pool) -> Shown:
    """The works that a look at it is shown."""
    return pool.about(f"{problem} {quote}", WORKS_SHOWN)


def _problem(
    candidate: Candidate,
    look: Outcome[RefuteReply] | None,
    asked_again: bool,
    manuscript: Manuscript,
    reading: Reading,
    pool: Pool,
) -> Problem:
    said = candidate.said
    place = place_of(said.quote, reading, candidate.place)
    if look is None:
        fallen = _fallen(candidate, reading, asked_again=asked_again) or ""
        found = _Found(said.confidence_percent, fallen, refuted=True, open_question=False)
    elif isinstance(look, Scored):
        found = _found(candidate, look.value, reading, pool)
    else:
        told = f"It was not looked at a second time: {look.detail}"
        found = _Found(said.confidence_percent, told, refuted=None, open_question=None)
    return Problem(
        problem_id="a1p1",
        attempt=1,
        rank=1,
        problem=said.problem,
        location=place,
        explanation=said.explanation,
        location_found=location_found(place, manuscript),
        quote=said.quote,
        quote_found=stands_in(said.quote, reading.whole, least_characters=LEAST_CHARACTERS),
        confidence_0_to_1=found.confidence_percent / 100,
        passage=passage_around(said.quote, reading),
        refuted=found.refuted,
        open_question=found.open_question,
        second_look=found.second_look,
        dispute=found.dispute,
        provenance=candidate.provenance,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """What a second look makes of a problem."""

    confidence_percent: int
    second_look: str
    dispute: str = ""
    refuted: bool | None = field(kw_only=True)
    open_question: bool | None = field(kw_only=True)


def _found(candidate: Candidate, look: RefuteReply, reading: Reading, pool: Pool) -> _Found:
    """A verdict that rests on a sentence which neither text nor works have leaves the problem open,
    and so do two looks that are hardly sure.
    """
    raised, sure = candidate.said.confidence_percent, look.confidence_percent
    told = [look.reason]
    if look.innocent_explanation:
        told.insert(0, f"For the authors: {look.innocent_explanation}")
    shown = works_beside(candidate.said.problem, candidate.said.quote, pool)
    founded = not look.quote or any(
        stands_in(look.quote, text, least_characters=1)
        for text in (reading.whole, *pool.worded(shown))
    )
    of_it = {Verdict.WRONG: sure, Verdict.REFUTED: 100 - sure, Verdict.OPEN: _EVEN_PERCENT}
    together = round((raised + of_it[look.verdict]) / 2)
    unsure = look.verdict is Verdict.WRONG and together < LEAST_TOGETHER_PERCENT
    if not founded:
        told.append("The sentence that this rests on stands nowhere.")
    elif unsure:
        told.append(f"Both looks together are {together} % sure, which is too little.")
    reason = " ".join(each for each in told if each)
    return _Found(
        together,
        settle(reason, shown).markdown if len(shown) else reason,
        dispute_of(raised, look, founded=founded),
        refuted=look.verdict is Verdict.REFUTED and founded,
        open_question=look.verdict is Verdict.OPEN or not founded or unsure,
    )


def dispute_of(raised_percent: int, look: RefuteReply, *, founded: bool) -> str:
    """In what whoever raised a problem and whoever looked at it again disagree; empty: in nothing,
    or one is much surer.

    Args:
        founded: whether the text, or a work that was shown, says what the second look quotes.
    """
    if not founded:
        return "The second look rests on a sentence that stands nowhere."
    sure = look.confidence_percent
    if look.verdict is Verdict.REFUTED and sure - raised_percent <= CLOSE_PERCENT:
        return f"It was raised with {raised_percent} % confidence and refuted with {sure} %."
    if look.verdict is Verdict.OPEN and raised_percent > sure:
        return (
            f"It was raised with {raised_percent} % confidence, and the second look, {sure} % sure,"
            " leaves it open."
        )
    return ""


def in_order(problems: Sequence[Problem]) -> list[Problem]:
    """The problems of an attempt, ranked: those that stand first, of them those a person accepted,
    then by confidence, ones without a second look behind those with it.
    """
    ordered = sorted(
        problems,
        key=lambda one: (
            not one.stands,
            one.decision is not Decision.ACCEPT,
            one.refuted is None,
            -(one.confidence_0_to_1 or 0.0),
        ),
    )
    return [one.model_copy(update={"rank": rank}) for rank, one in enumerate(ordered, start=1)]
