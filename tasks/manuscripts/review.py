"""A review of one manuscript: read section by section with running notes, candidates merged, each
looked at a second time, and ranked (TIMAR, section 3.6; OpenAIReview, arXiv 2606.19749).

Works that were looked up beforehand, if any, stand beside what is judged.

What it may cost is bounded by the text: one question a section, one for each aspect of the whole,
one for each of at most twice as many candidates as problems were asked for, and one over all.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.failure import Failure
from schemas.manuscripts import Attempt, ManuscriptReview, Problem
from schemas.outcome import Outcome, Provenance, Scored, Unscored
from tasks.citations.keys import Shown
from tasks.citations.settle import settle
from tasks.judging.step import Engine, Step
from tasks.manuscripts.aspects import raised_by, review_aspects
from tasks.manuscripts.candidates import (
    LEAST_CHARACTERS,
    Candidate,
    leads_at,
    merged,
    retracted_candidates,
    unfounded,
)
from tasks.manuscripts.find import location_found, shown_form
from tasks.manuscripts.pool import Pool
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.sections import (
    SECTION_WORDS,
    Section,
    passage_around,
    passages_about,
    sections_of,
    sentence_of,
)
from tasks.manuscripts.steps.read_section import (
    NOTES_WORDS,
    READ_SECTION,
    SectionInput,
    SectionReply,
)
from tasks.manuscripts.steps.reading import Reading
from tasks.manuscripts.steps.refute_problem import REFUTE_PROBLEM, RefuteInput, RefuteReply
from tasks.manuscripts.steps.review_aspect import REVIEW_ASPECT
from tasks.manuscripts.steps.write_review import WRITE_REVIEW
from tasks.manuscripts.writing import review_of, written_over
from tasks.text.quotations import stands_in
from tasks.text.words import shorten_words

REVIEW_STEPS = (READ_SECTION, REVIEW_ASPECT, REFUTE_PROBLEM, WRITE_REVIEW)
MOST_SECTIONS = 40
"""Read of one manuscript, some 60,000 words: what stands behind is not read, and that is said."""
CANDIDATES_PER_SECTION = 4
CANDIDATES_PER_PROBLEM = 2
WORKS_SHOWN = 5
"""Of the pool, with each second look."""


@dataclass(frozen=True, slots=True)
class Review:
    """One attempt, its problems with those that were refuted behind, and what went wrong.

    `written` is None where nothing was read.
    """

    attempt: Attempt
    written: ManuscriptReview | None
    problems: tuple[Problem, ...]
    failures: tuple[Failure, ...]


async def review_manuscript(
    manuscript: Manuscript, engine: Engine, number: int, maximum_problems: int, pool: Pool
) -> Review:
    """One review, the `number`th attempt: problems that stand in order of rank, those beyond
    `maximum_problems` behind the first, refuted ones last.

    A section without an answer is a failure and what it holds is not reviewed, which the attempt's
    provenance says; without any answer the attempt is unscored.
    """
    reading = Reading(shown_form(manuscript), manuscript.text)
    sections = sections_of(reading)
    read = sections[:MOST_SECTIONS]
    outcomes = await _read_in_order(manuscript, reading, read, engine)
    answered = [outcome for outcome in outcomes if isinstance(outcome, Scored)]
    places = [section.place for section in read]
    failures = list(_unanswered(READ_SECTION, manuscript, zip(places, outcomes, strict=True)))
    if not answered:
        return Review(_unscored(number, outcomes), None, (), tuple(failures))
    candidates = list(_raised_in(read, outcomes))
    notes = [
        (section.place, outcome.value.notes)
        for section, outcome in zip(read, outcomes, strict=True)
        if isinstance(outcome, Scored)
    ]
    raised = [candidate.said.problem for candidate in candidates]
    aspects = await review_aspects(manuscript.title, reading, notes, raised, pool, engine)
    failures += _unanswered(REVIEW_ASPECT, manuscript, aspects)
    candidates += raised_by(aspects, reading)
    candidates += retracted_candidates(pool.works, answered[0].provenance)
    chosen = merged(candidates)[: CANDIDATES_PER_PROBLEM * maximum_problems]
    looks = await asyncio.gather(*(_second_look(one, reading, engine, pool) for one in chosen))
    places = [one.place for one in chosen]
    failures += _unanswered(REFUTE_PROBLEM, manuscript, zip(places, looks, strict=True))
    problems = ranked(
        number,
        [
            _problem(one, look, manuscript, reading, pool)
            for one, look in zip(chosen, looks, strict=True)
        ],
    )
    told = "; ".join([*_left_out(sections, read, outcomes), *reading.oddities])
    written = await written_over(
        manuscript, reading, answered[-1].value.notes, problems, told, engine
    )
    failures += _unanswered(WRITE_REVIEW, manuscript, [("as a whole", written)])
    judged = [outcome for _, outcome in aspects]
    asked = [*outcomes, *judged, written, *(look for look in looks if look is not None)]
    attempt = Attempt(
        attempt=number,
        problem_count=sum(problem.stands for problem in problems),
        provenance=_joined(answered[0].provenance, asked, told or None),
    )
    return Review(attempt, review_of(number, written, aspects), problems, tuple(failures))


def _raised_in(
    sections: Sequence[Section], outcomes: Sequence[Outcome[SectionReply]]
) -> Iterator[Candidate]:
    """The candidates of each section that was answered about."""
    for section, outcome in zip(sections, outcomes, strict=True):
        if isinstance(outcome, Scored):
            for said in outcome.value.candidates[:CANDIDATES_PER_SECTION]:
                yield Candidate(section.place, said, outcome.provenance)


def _unanswered(
    step: Step[Any, Any],
    manuscript: Manuscript,
    asked: Iterable[tuple[str, Outcome[Any] | None]],
) -> Iterator[Failure]:
    """A failure for each place about which no answer could be had: running again asks anew."""
    for place, outcome in asked:
        if isinstance(outcome, Unscored):
            yield Failure(
                stage=step.name,
                subject=f"{manuscript.manuscript_id} {place}",
                reason=outcome.reason,
                detail=outcome.detail,
            )


async def _read_in_order(
    manuscript: Manuscript, reading: Reading, sections: Sequence[Section], engine: Engine
) -> list[Outcome[SectionReply]]:
    """One section after the other: each gets the notes on those before it."""
    leads = leads_at(reading, sections)
    outcomes: list[Outcome[SectionReply]] = []
    notes = ""
    for section, found in zip(sections, leads, strict=True):
        question = SectionInput(
            title=manuscript.title,
            form=shown_form(manuscript),
            place=section.place,
            section=section.text,
            notes=notes,
            leads=found,
            maximum_candidates=CANDIDATES_PER_SECTION,
        )
        outcome = await engine.run(READ_SECTION, question)
        if isinstance(outcome, Scored):
            notes = shorten_words(outcome.value.notes, 2 * NOTES_WORDS)[0]
        outcomes.append(outcome)
    return outcomes


async def _second_look(
    candidate: Candidate, reading: Reading, engine: Engine, pool: Pool
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
            works=pool.worded(_beside(candidate, pool)),
        ),
    )


def _beside(candidate: Candidate, pool: Pool) -> Shown:
    """The works that a second look at it is shown."""
    return pool.about(f"{candidate.said.problem} {candidate.said.quote}", WORKS_SHOWN)


def _problem(
    candidate: Candidate,
    look: Outcome[RefuteReply] | None,
    manuscript: Manuscript,
    reading: Reading,
    pool: Pool,
) -> Problem:
    said, refuted, reason = candidate.said, None, ""
    at = sentence_of(said.quote, reading) if said.quote else None
    place = candidate.place if at is None else reading.sentences[at].location
    confidence = said.confidence_percent
    if look is None:
        refuted, reason = True, unfounded(said, reading) or ""
    elif isinstance(look, Scored):
        shown = _beside(candidate, pool)
        reason = settle(look.value.reason, shown).markdown if len(shown) else look.value.reason
        refuted = look.value.refuted and _is_founded(look.value, reading)
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
        provenance=candidate.provenance,
    )


def _is_founded(reply: RefuteReply, reading: Reading) -> bool:
    """A refutation that quotes what the text does not say refutes nothing."""
    return not reply.quote or stands_in(reply.quote, reading.whole, least_characters=1)


def ranked(attempt: int, problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Those that stand by confidence, ones without a second look behind those with it, refuted ones
    last; each with its identifier.
    """
    ordered = sorted(
        problems,
        key=lambda one: (
            one.refuted is True,
            one.refuted is None,
            -(one.confidence_0_to_1 or 0.0),
        ),
    )
    return tuple(
        one.model_copy(
            update={
                "problem_id": f"a{attempt}p{place}",
                "attempt": attempt,
            }
        )
        for place, one in enumerate(ordered, start=1)
    )


def _unscored(number: int, outcomes: Sequence[Outcome[SectionReply]]) -> Attempt:
    first = next(outcome for outcome in outcomes if isinstance(outcome, Unscored))
    return Attempt(
        attempt=number,
        problem_count=None,
        unscored_reason=first.reason,
        unscored_detail=first.detail,
        provenance=_joined(first.provenance, outcomes, None),
    )


def _left_out(
    sections: Sequence[Section],
    read: Sequence[Section],
    outcomes: Sequence[Outcome[SectionReply]],
) -> list[str]:
    """Which stretches of the text were not reviewed."""
    missed = [
        section.place
        for section, outcome in zip(read, outcomes, strict=True)
        if isinstance(outcome, Unscored)
    ]
    told = [f"no answer about {', '.join(missed)}"] if missed else []
    if len(sections) > len(read):
        told.append(
            f"{len(sections) - len(read)} of {len(sections)} stretches of {SECTION_WORDS:,} words,"
            f" from {sections[len(read)].place} on, are beyond the limit of {MOST_SECTIONS}"
        )
    return told


def _joined(
    first: Provenance,
    outcomes: Sequence[Outcome[Any]],
    left_out: str | None,
) -> Provenance:
    calls = tuple(call for outcome in outcomes for call in outcome.provenance.call_ids)
    shortening = "; ".join(told for told in (first.shortening, left_out) if told) or None
    return first.model_copy(update={"call_ids": calls, "shortening": shortening})
