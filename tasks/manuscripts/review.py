"""A review of one manuscript: read section by section with running notes, reviewers of one aspect
each over the same notes and evidence, candidates merged, each looked at a second time, and ranked;
its revision by what a person said, and both readings of what is disputed (TIMAR, section 3.6;
OpenAIReview, arXiv 2606.19749).

Works that were looked up beforehand, if any, stand beside what is judged. What it may cost is
bounded by the text: one question a section, one for each aspect of the whole, one for each of at
most twice as many candidates as problems were asked for, and one over all.

A revision looks up nothing: the works come back as they were frozen. Nothing is read anew either
but the passages about what is looked at again; the review is written over what stands then.
"""

import asyncio
import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.base import replace
from schemas.failure import Failure
from schemas.outcome import Outcome, Provenance, Scored, Unscored
from schemas.works.check_run import Preference
from schemas.works.manuscripts import Attempt, Decision, ManuscriptCheck, ManuscriptReview, Problem
from tasks.citations.keys import Shown
from tasks.citations.settle import settle
from tasks.judging.step import Engine
from tasks.manuscripts.pool import Pool, strong_claims
from tasks.manuscripts.problems import (
    LEAST_PERCENT,
    Candidate,
    Looks,
    in_order,
    leads_at,
    merged,
    retracted_candidates,
    second_looks,
    unanswered,
    works_beside,
)
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.sections import (
    SECTION_WORDS,
    Section,
    passages_about,
    passages_near,
    place_of,
    sections_of,
)
from tasks.manuscripts.steps.read_section import (
    NOTES_WORDS,
    READ_SECTION,
    CandidateReply,
    SectionInput,
    SectionReply,
)
from tasks.manuscripts.steps.reading import Reading
from tasks.manuscripts.steps.refute_problem import REFUTE_PROBLEM
from tasks.manuscripts.steps.review_aspect import REVIEW_ASPECT, Aspect, AspectInput, AspectReply
from tasks.manuscripts.steps.weigh_problem import WEIGH_PROBLEM, WeighInput, WeighReply
from tasks.manuscripts.steps.write_review import WRITE_REVIEW, ReviewInput, ReviewReply
from tasks.text.quotations import normal
from tasks.text.words import shorten_words

CANDIDATES_PER_ASPECT = 2
ABSTRACT_WORDS = 500
ALL_NOTES_WORDS = 2_000
"""Of all sections together."""
PASSAGE_SENTENCES = 40
WORKS_OF_ASPECTS = 12
"""Of the pool, nearest to the abstract and the claims."""
_SPEAKS_OF = {
    Aspect.RIGOR: (
        "method experiment control baseline sample size test significance random seed replicate"
        " proof assumption lemma bound uncertainty interval error bias exclusion ablation"
    ),
    Aspect.CLARITY: (
        "define denote definition notation let where parameter setting data set available code"
        " procedure protocol implementation measured computed as follows"
    ),
}
"""The others look for what the abstract, or else the beginning, speaks of."""

Asked = tuple[Aspect, Outcome[AspectReply]]


async def review_aspects(
    manuscript: Manuscript,
    notes: Sequence[tuple[str, str]],
    raised: Sequence[str],
    pool: Pool,
    engine: Engine,
) -> list[Asked]:
    """The answer of each reviewer. Without works nobody judges whether the manuscript is new.

    Args:
        notes: of each section that was read, behind its place.
    """
    title, reading = manuscript.title, manuscript.reading
    aspects = [each for each in Aspect if each is not Aspect.NOVELTY or pool.papers]
    abstract = shorten_words(reading.abstract, ABSTRACT_WORDS)[0]
    beginning = abstract or shorten_words(f"{title} {reading.text}", ABSTRACT_WORDS)[0]
    claimed = " ".join([beginning, *strong_claims(reading)])
    shown = pool.about(claimed, WORKS_OF_ASPECTS)
    told = "\n\n".join(f"[{place}] {noted}" for place, noted in notes if noted)
    questions = [
        AspectInput(
            aspect=aspect,
            title=title,
            abstract=abstract,
            notes=shorten_words(told, ALL_NOTES_WORDS)[0],
            passages=passages_near(_SPEAKS_OF.get(aspect, claimed), reading, PASSAGE_SENTENCES),
            works=pool.worded(shown),
            raised=tuple(raised),
            least_percent=LEAST_PERCENT,
            maximum_candidates=CANDIDATES_PER_ASPECT,
        )
        for aspect in aspects
    ]
    outcomes = await asyncio.gather(*(engine.run(REVIEW_ASPECT, each) for each in questions))
    return [
        (aspect, _settled(outcome, shown))
        for aspect, outcome in zip(aspects, outcomes, strict=True)
    ]


def _settled(outcome: Outcome[AspectReply], shown: Shown) -> Outcome[AspectReply]:
    """With references in place of keys, and without those that nobody was shown."""
    if not isinstance(outcome, Scored) or not len(shown):
        return outcome
    reply = outcome.value
    return Scored(
        reply.model_copy(
            update={
                "assessment": settle(reply.assessment, shown).markdown,
                "candidates": [
                    one.model_copy(update={"explanation": settle(one.explanation, shown).markdown})
                    for one in reply.candidates
                ],
            }
        ),
        outcome.provenance,
    )


def raised_by(asked: Sequence[Asked], reading: Reading) -> list[Candidate]:
    """Return what the reviewers object to, placed where the sentence stands that they quote."""
    return [
        Candidate(
            place_of(said.quote, reading, "the manuscript as a whole"), said, outcome.provenance
        )
        for _, outcome in asked
        if isinstance(outcome, Scored)
        for said in outcome.value.candidates[:CANDIDATES_PER_ASPECT]
    ]


async def written_over(
    manuscript: Manuscript,
    notes: str,
    problems: Sequence[Problem],
    not_read: str,
    engine: Engine,
) -> Outcome[ReviewReply]:
    return await engine.run(
        WRITE_REVIEW,
        ReviewInput(
            title=manuscript.title,
            abstract=shorten_words(manuscript.reading.abstract, ABSTRACT_WORDS)[0],
            notes=notes,
            problems=tuple(
                f"{problem.problem} {problem.explanation}" for problem in problems if problem.stands
            ),
            open_questions=tuple(problem.problem for problem in problems if problem.is_open),
            not_read=not_read,
        ),
    )


def review_of(
    number: int, written: Outcome[ReviewReply], notes: str, aspects: Sequence[Asked] = ()
) -> ManuscriptReview:
    """The `number`th attempt's review, with what the reviewer of novelty says.

    Args:
        notes: taken of the text to its end, which it was written from.
    """
    judged = dict(aspects).get(Aspect.NOVELTY)
    novelty = judged.value if isinstance(judged, Scored) else None
    known: dict[str, Any] = {
        "attempt": number,
        "notes": notes,
        "novelty": novelty.assessment if novelty else "",
        "novelty_1_to_5": novelty.rating_1_to_5 if novelty else None,
        "provenance": written.provenance,
    }
    if isinstance(written, Unscored):
        return ManuscriptReview(
            summary=None,
            unscored_reason=written.reason,
            unscored_detail=written.detail,
            **known,
        )
    said = written.value
    return ManuscriptReview(
        summary=said.summary,
        strengths=tuple(said.strengths),
        questions=tuple(said.questions),
        soundness_1_to_5=said.soundness_1_to_5,
        clarity_1_to_5=said.clarity_1_to_5,
        confidence_1_to_5=said.confidence_1_to_5,
        **known,
    )


def joined(
    first: Provenance,
    outcomes: Iterable[Outcome[Any]],
    left_out: str | None,
) -> Provenance:
    """One provenance of all the answers, and of what was left out."""
    calls = tuple(call for outcome in outcomes for call in outcome.provenance.call_ids)
    shortening = "; ".join(told for told in (first.shortening, left_out) if told) or None
    return first.model_copy(update={"call_ids": calls, "shortening": shortening})


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
    outcomes = await _read_in_order(manuscript, read, engine)
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
    aspects = await review_aspects(manuscript, notes, raised, pool, engine)
    failures += unanswered(REVIEW_ASPECT, manuscript, aspects)
    candidates += raised_by(aspects, reading)
    candidates += retracted_candidates(pool.works, answered[0].provenance)
    chosen = merged(candidates)[: CANDIDATES_PER_PROBLEM * maximum_problems]
    looks = await second_looks(chosen, manuscript, engine, pool)
    failures += looks.failures
    problems = ranked(number, looks.problems)
    told = "; ".join([*_left_out(sections, read, outcomes), *reading.oddities])
    to_end = answered[-1].value.notes
    written = await written_over(manuscript, to_end, problems, told, engine)
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
    for section, outcome in zip(sections, outcomes, strict=True):
        if isinstance(outcome, Scored):
            for said in outcome.value.candidates[:CANDIDATES_PER_SECTION]:
                yield Candidate(section.place, said, outcome.provenance)


async def _read_in_order(
    manuscript: Manuscript, sections: Sequence[Section], engine: Engine
) -> list[Outcome[SectionReply]]:
    """One section after the other: each gets the notes on those before it."""
    leads = leads_at(manuscript.reading, sections)
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


REVISION_STEPS = (REFUTE_PROBLEM, WEIGH_PROBLEM, WRITE_REVIEW)
_NEW_OF_A_LOOK = ("refuted", "open_question", "second_look", "confidence_0_to_1", "dispute")
Preferences = Mapping[str, Preference]
"""By problem_id, of one manuscript."""


async def revise_review(
    manuscript: Manuscript,
    earlier: ManuscriptCheck,
    said: Sequence[Preference],
    number: int,
    engine: Engine,
    pool: Pool,
) -> Review:
    """The `number`th attempt's review after what a person said of it; problems keep their identifiers. One
    that had nothing to say stays as it was.
    """
    preferences = {one.finding: one for one in said}
    attempt = next(one for one in earlier.attempts if one.attempt == number)
    own = [one for one in earlier.problems if one.attempt == number]
    before = next((one for one in earlier.reviews if one.attempt == number), None)
    if attempt.problem_count is None or attempt.provenance is None or before is None:
        return Review(attempt, before, tuple(own), ())
    again = [
        one
        for one in own
        if (asked := preferences.get(one.problem_id)) and asked.decision is Decision.LOOK_AGAIN
    ]
    looks = await second_looks(
        [_candidate(one, attempt) for one in again],
        manuscript,
        engine,
        pool,
        [_said_before(one, preferences[one.problem_id]) for one in again],
    )
    decided = _decided(own, again, looks, preferences)
    told = attempt.provenance.shortening or ""
    written = await written_over(manuscript, before.notes, decided, told, engine)
    return Review(
        attempt=Attempt(
            attempt=number,
            problem_count=sum(one.stands for one in decided),
            provenance=joined(attempt.provenance, [*looks.outcomes, written], None),
        ),
        written=replace(
            review_of(number, written, before.notes),
            novelty=before.novelty,
            novelty_1_to_5=before.novelty_1_to_5,
        ),
        problems=tuple(decided),
        failures=(
            *looks.failures,
            *unanswered(WRITE_REVIEW, manuscript, [("as a whole", written)]),
        ),
    )


def _candidate(problem: Problem, attempt: Attempt) -> Candidate:
    """As it was raised, with the confidence that both looks left."""
    provenance = problem.provenance or attempt.provenance
    assert provenance is not None, "a review asks"
    return Candidate(
        problem.location,
        CandidateReply(
            problem=problem.problem,
            quote=problem.quote,
            explanation=problem.explanation,
            consequence=problem.explanation or problem.problem,
            confidence_percent=round(100 * (problem.confidence_0_to_1 or 0.5)),
        ),
        provenance,
    )


def _said_before(problem: Problem, preference: Preference) -> tuple[str, ...]:
    said = (
        f"An earlier look: {problem.second_look}" if problem.second_look else "",
        f"For the authors: {problem.optimistic}" if problem.optimistic else "",
        f"Against them: {problem.sceptical}" if problem.sceptical else "",
        f"The person who asks to look again: {preference.remark or 'no remark'}",
    )
    return tuple(each for each in said if each)


def _decided(
    own: Sequence[Problem], again: Sequence[Problem], looks: Looks, preferences: Preferences
) -> list[Problem]:
    """Each problem as it stands now, in order; one whose look had no answer is as it was."""
    looked = dict(zip((one.problem_id for one in again), looks.problems, strict=True))
    found = []
    for one in own:
        said, new = preferences.get(one.problem_id), looked.get(one.problem_id)
        changes = {} if said is None else {"decision": said.decision, "remark": said.remark}
        if new is not None and new.refuted is not None:
            changes |= {name: getattr(new, name) for name in _NEW_OF_A_LOOK}
        found.append(replace(one, **changes))
    return in_order(found)


MOST_DEBATES = 5
"""Of one review; the others are marked as disputed all the same."""


async def with_debate(review: Review, manuscript: Manuscript, engine: Engine, pool: Pool) -> Review:
    """The review with both readings of the disputed problems that have none yet and that nobody
    decided.
    """
    told = [_beside_others(one, review.problems) for one in review.problems]
    open_ = [one for one in told if one.dispute and not one.is_decided and not one.optimistic]
    asked = in_order(open_)[:MOST_DEBATES]
    weighed = await asyncio.gather(
        *(_weighed(one, manuscript.reading, engine, pool) for one in asked)
    )
    places = [one.location for one in asked]
    read = {
        one.problem_id: _with_readings(one, outcome, pool)
        for one, outcome in zip(asked, weighed, strict=True)
    }
    failures = unanswered(WEIGH_PROBLEM, manuscript, zip(places, weighed, strict=True))
    return dataclasses.replace(
        review,
        attempt=_paid(review.attempt, weighed),
        problems=tuple(read.get(one.problem_id, one) for one in told),
        failures=(*review.failures, *failures),
    )


def _paid(attempt: Attempt, weighed: Sequence[Outcome[WeighReply]]) -> Attempt:
    if attempt.provenance is None:
        return attempt
    calls = (call for outcome in weighed for call in outcome.provenance.call_ids)
    all_calls = (*attempt.provenance.call_ids, *calls)
    return replace(attempt, provenance=replace(attempt.provenance, call_ids=all_calls))


def _beside_others(problem: Problem, problems: Sequence[Problem]) -> Problem:
    """Disputed too where another objection to the same sentence met the opposite end."""
    if problem.dispute or not normal(problem.quote) or problem.is_decided or problem.is_open:
        return problem
    for other in problems:
        same = normal(other.quote) == normal(problem.quote) and other.attempt == problem.attempt
        looked_at = None not in (other.refuted, problem.refuted) and not other.is_open
        if same and looked_at and other.stands != problem.stands:
            end = "was refuted" if problem.stands else "stands"
            told = f"Another objection to the same sentence {end}: {other.problem}"
            return replace(problem, dispute=told)
    return problem


async def _weighed(
    problem: Problem, reading: Reading, engine: Engine, pool: Pool
) -> Outcome[WeighReply]:
    return await engine.run(
        WEIGH_PROBLEM,
        WeighInput(
            problem=problem.problem,
            location=problem.location,
            quote=problem.quote,
            explanation=problem.explanation,
            second_look=problem.second_look,
            dispute=problem.dispute,
            passages=passages_about(problem.problem, problem.quote, reading),
            works=pool.worded(works_beside(problem.problem, problem.quote, pool)),
        ),
    )


def _with_readings(problem: Problem, outcome: Outcome[WeighReply], pool: Pool) -> Problem:
    if not isinstance(outcome, Scored):
        return problem
    shown = works_beside(problem.problem, problem.quote, pool)
    said: dict[str, Any] = outcome.value.model_dump()
    if len(shown):
        said = {name: settle(text, shown).markdown for name, text in said.items()}
    return replace(problem, **said)
