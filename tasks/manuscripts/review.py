"""A review of one manuscript: read section by section with running notes, candidates merged, each
looked at a second time, and ranked (TIMAR, section 3.6; OpenAIReview, arXiv 2606.19749).

Works that were looked up beforehand, if any, stand beside what is judged.

What it may cost is bounded by the text: one question a section, one for each aspect of the whole,
one for each of at most twice as many candidates as problems were asked for, and one over all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas.failure import Failure
from schemas.outcome import Outcome, Scored, Unscored
from schemas.works.manuscripts import Attempt, ManuscriptReview, Problem
from tasks.judging.step import Engine
from tasks.manuscripts.aspects import raised_by, review_aspects
from tasks.manuscripts.candidates import (
    LEAST_PERCENT,
    Candidate,
    leads_at,
    merged,
    retracted_candidates,
)
from tasks.manuscripts.pool import Pool
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.second_look import in_order, second_looks
from tasks.manuscripts.sections import (
    SECTION_WORDS,
    Section,
    sections_of,
)
from tasks.manuscripts.steps.read_section import (
    NOTES_WORDS,
    READ_SECTION,
    SectionInput,
    SectionReply,
)
from tasks.manuscripts.steps.reading import Reading
from tasks.manuscripts.steps.refute_problem import REFUTE_PROBLEM
from tasks.manuscripts.steps.review_aspect import REVIEW_ASPECT
from tasks.manuscripts.steps.weigh_problem import WEIGH_PROBLEM
from tasks.manuscripts.steps.write_review import WRITE_REVIEW
from tasks.manuscripts.writing import joined, review_of, unanswered, written_over
from tasks.text.words import shorten_words

REVIEW_STEPS = (READ_SECTION, REVIEW_ASPECT, REFUTE_PROBLEM, WEIGH_PROBLEM, WRITE_REVIEW)
MOST_SECTIONS = 40
"""Read of one manuscript, some 60,000 words: what stands behind is not read, and that is said."""
CANDIDATES_PER_SECTION = 3
CANDIDATES_PER_PROBLEM = 2


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
    reading = manuscript.reading
    sections = sections_of(reading)
    read = sections[:MOST_SECTIONS]
    outcomes = await _read_in_order(manuscript, reading, read, engine)
    answered = [outcome for outcome in outcomes if isinstance(outcome, Scored)]
    places = [section.place for section in read]
    failures = list(unanswered(READ_SECTION, manuscript, zip(places, outcomes, strict=True)))
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
    failures += unanswered(REVIEW_ASPECT, manuscript, aspects)
    candidates += raised_by(aspects, reading)
    candidates += retracted_candidates(pool.works, answered[0].provenance)
    chosen = merged(candidates)[: CANDIDATES_PER_PROBLEM * maximum_problems]
    looks = await second_looks(chosen, manuscript, reading, engine, pool)
    failures += looks.failures
    problems = ranked(number, looks.problems)
    told = "; ".join([*_left_out(sections, read, outcomes), *reading.oddities])
    to_end = answered[-1].value.notes
    written = await written_over(manuscript, reading, to_end, problems, told, engine)
    failures += unanswered(WRITE_REVIEW, manuscript, [("as a whole", written)])
    judged = [outcome for _, outcome in aspects]
    asked = [*outcomes, *judged, written, *looks.outcomes]
    attempt = Attempt(
        attempt=number,
        problem_count=sum(problem.stands for problem in problems),
        provenance=joined(answered[0].provenance, asked, told or None),
    )
    review = review_of(number, written, to_end, aspects)
    return Review(attempt, review, problems, tuple(failures))


def _raised_in(
    sections: Sequence[Section], outcomes: Sequence[Outcome[SectionReply]]
) -> Iterator[Candidate]:
    """The candidates of each section that was answered about."""
    for section, outcome in zip(sections, outcomes, strict=True):
        if isinstance(outcome, Scored):
            for said in outcome.value.candidates[:CANDIDATES_PER_SECTION]:
                yield Candidate(section.place, said, outcome.provenance)


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
            form=manuscript.shown_form,
            place=section.place,
            section=section.text,
            notes=notes,
            leads=found,
            least_percent=LEAST_PERCENT,
            maximum_candidates=CANDIDATES_PER_SECTION,
        )
        outcome = await engine.run(READ_SECTION, question)
        if isinstance(outcome, Scored):
            notes = shorten_words(outcome.value.notes, 2 * NOTES_WORDS)[0]
        outcomes.append(outcome)
    return outcomes


def ranked(attempt: int, problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """The problems of an attempt in order, each with its identifier."""
    return tuple(
        one.model_copy(update={"problem_id": f"a{attempt}p{one.rank}", "attempt": attempt})
        for one in in_order(problems)
    )


def _unscored(number: int, outcomes: Sequence[Outcome[SectionReply]]) -> Attempt:
    first = next(outcome for outcome in outcomes if isinstance(outcome, Unscored))
    return Attempt(
        attempt=number,
        problem_count=None,
        unscored_reason=first.reason,
        unscored_detail=first.detail,
        provenance=joined(first.provenance, outcomes, None),
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
