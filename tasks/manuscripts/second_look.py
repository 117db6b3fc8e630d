"""The second look at a problem, which tries to refute it, and what stands after it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.failure import Failure
from schemas.manuscripts import Decision, Problem
from schemas.outcome import Outcome, Scored
from tasks.citations.keys import Shown
from tasks.citations.settle import settle
from tasks.judging.step import Engine
from tasks.manuscripts.answers import unanswered
from tasks.manuscripts.candidates import LEAST_CHARACTERS, Candidate, unfounded
from tasks.manuscripts.find import location_found
from tasks.manuscripts.pool import Pool
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.sections import passage_around, passages_about, sentence_of
from tasks.manuscripts.steps.reading import Reading
from tasks.manuscripts.steps.refute_problem import REFUTE_PROBLEM, RefuteInput, RefuteReply
from tasks.text.quotations import stands_in

WORKS_SHOWN = 5
"""Of the pool, with each second look."""
CLOSE_PERCENT = 20
"""A refutation that is surer than the objection by more than this settles it."""


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
            _problem(one, look, manuscript, reading, pool)
            for one, look in zip(candidates, looks, strict=True)
        ),
        outcomes=tuple(look for look in looks if look is not None),
        failures=tuple(unanswered(REFUTE_PROBLEM, manuscript, zip(places, looks, strict=True))),
    )


async def _second_look(
    candidate: Candidate, before: tuple[str, ...], reading: Reading, engine: Engine, pool: Pool
) -> Outcome[RefuteReply] | None:
    """None where there is nothing to ask: its sentence is not there, or was damaged in reading."""
    if unfounded(candidate.said, reading) is not None:
        return None
    said = candidate.said
    return await engine.run(
        REFUTE_PROBLEM,
        RefuteInput(
            problem=said.problem,
            location=candidate.place,
            quote=said.quote,
            explanation=said.explanation,
            passages=passages_about(said.problem, said.quote, reading),
            works=pool.worded(works_beside(said.problem, said.quote, pool)),
            before=before,
        ),
    )


def works_beside(problem: str, quote: str, pool: Pool) -> Shown:
    """The works that a look at it is shown."""
    return pool.about(f"{problem} {quote}", WORKS_SHOWN)


def _problem(
    candidate: Candidate,
    look: Outcome[RefuteReply] | None,
    manuscript: Manuscript,
    reading: Reading,
    pool: Pool,
) -> Problem:
    said, refuted, reason, dispute = candidate.said, None, "", ""
    at = sentence_of(said.quote, reading) if said.quote else None
    place = candidate.place if at is None else reading.sentences[at].location
    confidence = said.confidence_percent
    if look is None:
        refuted, reason = True, unfounded(said, reading) or ""
    elif isinstance(look, Scored):
        shown = works_beside(said.problem, said.quote, pool)
        reason = settle(look.value.reason, shown).markdown if len(shown) else look.value.reason
        founded = _is_founded(look.value, reading)
        refuted = look.value.refuted and founded
        dispute = dispute_of(said.confidence_percent, look.value, founded=founded)
        sure = look.value.confidence_percent
        confidence = round((confidence + (100 - sure if look.value.refuted else sure)) / 2)
    else:
        reason = f"It was not looked at a second time: {look.detail}"
    return Problem(
        problem_id="a1p1",
        attempt=1,
        problem=said.problem,
        location=place,
        explanation=said.explanation,
        location_found=location_found(place, manuscript),
        quote=said.quote,
        quote_found=stands_in(said.quote, reading.whole, least_characters=LEAST_CHARACTERS),
        confidence_0_to_1=confidence / 100,
        passage=passage_around(said.quote, reading),
        refuted=refuted,
        second_look=reason,
        dispute=dispute,
        provenance=candidate.provenance,
    )


def _is_founded(reply: RefuteReply, reading: Reading) -> bool:
    """A refutation that quotes what the text does not say refutes nothing."""
    return not reply.quote or stands_in(reply.quote, reading.whole, least_characters=1)


def dispute_of(raised_percent: int, look: RefuteReply, *, founded: bool) -> str:
    """In what whoever raised a problem and whoever looked at it again disagree; empty: in nothing,
    or one is much surer.

    Args:
        founded: whether the text says what the second look quotes.
    """
    if not look.refuted:
        return ""
    if not founded:
        return "It was refuted by a sentence that the manuscript does not have, and so stands."
    if look.confidence_percent - raised_percent > CLOSE_PERCENT:
        return ""
    return (
        f"It was raised with {raised_percent} % confidence and refuted with"
        f" {look.confidence_percent} %."
    )


def in_order(problems: Sequence[Problem]) -> list[Problem]:
    """Those that stand first, of them those a person accepted, then by confidence, ones without a
    second look behind those with it.
    """
    return sorted(
        problems,
        key=lambda one: (
            not one.stands,
            one.decision is not Decision.ACCEPT,
            one.refuted is None,
            -(one.confidence_0_to_1 or 0.0),
        ),
    )
