"""Review of one manuscript (TIMAR, section 3.6; OpenAIReview, arXiv 2606.19749).

Sections are read in order with running notes. Reviewers of one aspect each see the same notes and
evidence. Candidates are merged, get a second look and are ranked. Works looked up beforehand are
shown with each judgement. The cost is bounded by the text: one call per section, one per aspect,
one per candidate (at most twice the requested problems), and one for the review.

A revision applies a person's decisions. It uses the frozen works, reads only passages about
problems to look at again, and writes the review for the problems that stand then.
"""

import asyncio
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from schemas.base import Reply, replace
from schemas.failure import Failure
from schemas.outcome import Outcome, Provenance, Scored, Unscored
from schemas.works.check_run import Preference
from schemas.works.manuscripts import Attempt, Decision, ManuscriptCheck, ManuscriptReview, Problem
from tasks.citations.keys import Shown
from tasks.citations.settle import settle
from tasks.judging.findings_of_judges import first_of_each
from tasks.judging.step import Engine
from tasks.manuscripts.find import unscored_attempt
from tasks.manuscripts.problems import (
    LEAST_PERCENT,
    Candidate,
    failures_of,
    in_order,
    leads_at,
    merge_candidates,
    related_works,
    retracted_candidates,
    second_looks,
)
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.reference_pool import Pool, strong_claims
from tasks.manuscripts.sections import (
    SECTION_WORDS,
    Section,
    passages_about,
    passages_near,
    place_of,
    sections_of,
)
from tasks.manuscripts.steps.review import (
    NOTES_WORDS,
    READ_SECTION,
    REFUTE_PROBLEM,
    REVIEW_ASPECT,
    WEIGH_PROBLEM,
    WRITE_REVIEW,
    Aspect,
    AspectInput,
    AspectReply,
    CandidateReply,
    ReviewInput,
    ReviewReply,
    SectionInput,
    WeighInput,
)
from tasks.text.quotations import normal
from tasks.text.words import shorten_words

ReplyT = TypeVar("ReplyT", bound=Reply)
CANDIDATES_PER_ASPECT = 2
ABSTRACT_WORDS = 500
ALL_NOTES_WORDS = 2_000
"""Words of the notes on all sections together."""
PASSAGE_SENTENCES = 40
WORKS_OF_ASPECTS = 12
"""Works of the pool, nearest to the abstract and the claims."""
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
"""The other aspects search for the words of the abstract or the beginning."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """Replies to a reading of sections or by aspects.

    Attributes:
        outcomes: (place or aspect, outcome), in order.
        notes: (place, notes) of each section with a reply.
    """

    outcomes: Sequence[tuple[str, Outcome[Any]]]
    candidates: Sequence[Candidate]
    notes: Sequence[tuple[str, str]] = ()


async def _read_sections(
    manuscript: Manuscript, sections: Sequence[Section], engine: Engine
) -> _Reading:
    """Read the sections in order, each with the notes on the earlier ones."""
    outcomes: list[tuple[str, Outcome[Any]]] = []
    candidates: list[Candidate] = []
    notes: list[tuple[str, str]] = []
    leads = leads_at(manuscript.reading, sections)
    for section, section_leads in zip(sections, leads, strict=True):
        question = SectionInput(
            title=manuscript.title,
            form=manuscript.shown_form,
            place=section.place,
            section=section.text,
            notes=shorten_words(notes[-1][1], 2 * NOTES_WORDS)[0] if notes else "",
            leads=section_leads,
            least_percent=LEAST_PERCENT,
            maximum_candidates=CANDIDATES_PER_SECTION,
        )
        outcome = await engine.run(READ_SECTION, question)
        outcomes.append((section.place, outcome))
        if isinstance(outcome, Scored):
            notes.append((section.place, outcome.value.notes))
            candidates += [
                Candidate(section.place, reply, outcome.provenance)
                for reply in first_of_each(outcome.value.candidates, CANDIDATES_PER_SECTION)
            ]
    return _Reading(outcomes, candidates, notes)


async def _read_aspects(
    manuscript: Manuscript, sections: _Reading, pool: Pool, engine: Engine
) -> _Reading:
    """Ask about each aspect; without works, novelty is not judged."""
    title, reading = manuscript.title, manuscript.reading
    aspects = [each for each in Aspect if each is not Aspect.NOVELTY or pool.papers]
    abstract = shorten_words(reading.abstract, ABSTRACT_WORDS)[0]
    beginning = abstract or shorten_words(f"{title} {reading.text}", ABSTRACT_WORDS)[0]
    summary_and_claims = " ".join([beginning, *strong_claims(reading)])
    prompt_papers = pool.about(summary_and_claims, WORKS_OF_ASPECTS)
    all_notes = "\n\n".join(f"[{place}] {text}" for place, text in sections.notes if text)
    questions = [
        AspectInput(
            aspect=aspect,
            title=title,
            abstract=abstract,
            notes=shorten_words(all_notes, ALL_NOTES_WORDS)[0],
            passages=passages_near(
                _SPEAKS_OF.get(aspect, summary_and_claims), reading, PASSAGE_SENTENCES
            ),
            works=pool.describe(prompt_papers),
            raised=tuple(candidate.reply.problem for candidate in sections.candidates),
            least_percent=LEAST_PERCENT,
            maximum_candidates=CANDIDATES_PER_ASPECT,
        )
        for aspect in aspects
    ]
    replies = await asyncio.gather(*(engine.run(REVIEW_ASPECT, each) for each in questions))
    outcomes = [_settle_keys(outcome, prompt_papers) for outcome in replies]
    candidates = [
        Candidate(
            place_of(reply.quote, reading, "the manuscript as a whole"), reply, outcome.provenance
        )
        for outcome in outcomes
        if isinstance(outcome, Scored)
        for reply in first_of_each(outcome.value.candidates, CANDIDATES_PER_ASPECT)
    ]
    return _Reading(list(zip(aspects, outcomes, strict=True)), candidates)


def _settle_keys(outcome: Outcome[AspectReply], prompt_papers: Shown) -> Outcome[AspectReply]:
    """Replace keys by references and remove keys that were not in the prompt."""
    if not isinstance(outcome, Scored) or not len(prompt_papers):
        return outcome

    def settled(value: ReplyT, field: str) -> ReplyT:
        text = settle(getattr(value, field), prompt_papers).markdown
        return value.model_copy(update={field: text})

    reply = settled(outcome.value, "assessment")
    candidates = [settled(one, "explanation") for one in reply.candidates]
    return Scored(reply.model_copy(update={"candidates": candidates}), outcome.provenance)


async def _write(
    manuscript: Manuscript,
    number: int,
    notes: str,
    problems: Sequence[Problem],
    not_read: str,
    engine: Engine,
) -> tuple[ManuscriptReview, Outcome[ReviewReply], Iterator[Failure]]:
    """Write the review of attempt `number` from the final notes."""
    question = ReviewInput(
        title=manuscript.title,
        abstract=shorten_words(manuscript.reading.abstract, ABSTRACT_WORDS)[0],
        notes=notes,
        problems=tuple(
            f"{problem.problem} {problem.explanation}" for problem in problems if problem.stands
        ),
        open_questions=tuple(problem.problem for problem in problems if problem.is_open),
        not_read=not_read,
    )
    outcome = await engine.run(WRITE_REVIEW, question)
    if isinstance(outcome, Scored):
        reply = outcome.value
        lists = {"strengths": tuple(reply.strengths), "questions": tuple(reply.questions)}
        fields: dict[str, Any] = reply.model_dump() | lists
    else:
        reason, detail = outcome.reason, outcome.detail
        fields = {"summary": None, "unscored_reason": reason, "unscored_detail": detail}
    review = ManuscriptReview(attempt=number, notes=notes, provenance=outcome.provenance, **fields)
    return review, outcome, failures_of(WRITE_REVIEW, manuscript, [("as a whole", outcome)])


def _join_provenance(
    first: Provenance, outcomes: Iterable[Outcome[Any]], left_out: str = ""
) -> Provenance:
    """Merge the provenance of all replies and of the omissions."""
    calls = tuple(call for outcome in outcomes for call in outcome.provenance.call_ids)
    shortening = "; ".join(part for part in (first.shortening, left_out) if part) or None
    return first.model_copy(update={"call_ids": calls, "shortening": shortening})


REVIEW_STEPS = (READ_SECTION, REVIEW_ASPECT, REFUTE_PROBLEM, WEIGH_PROBLEM, WRITE_REVIEW)
MOST_SECTIONS = 40
"""Sections read per manuscript, about 60,000 words; the rest is reported as not read."""
CANDIDATES_PER_SECTION = 3
CANDIDATES_PER_PROBLEM = 2


@dataclass(frozen=True, slots=True)
class Review:
    """One attempt with its problems (refuted ones last) and failures.

    `written` is None if nothing was read.
    """

    attempt: Attempt
    written: ManuscriptReview | None
    problems: tuple[Problem, ...]
    failures: tuple[Failure, ...]


async def review_manuscript(
    manuscript: Manuscript, engine: Engine, number: int, maximum_problems: int, pool: Pool
) -> Review:
    """Review as attempt `number`: standing problems by rank, then others, refuted ones last.

    A section without a reply is a failure, and the attempt's provenance lists it as not reviewed;
    without any reply the attempt is unscored.
    """
    sections = sections_of(manuscript.reading)
    read = await _read_sections(manuscript, sections[:MOST_SECTIONS], engine)
    failures = list(failures_of(READ_SECTION, manuscript, read.outcomes))
    outcomes = [outcome for _, outcome in read.outcomes]
    first = next((outcome for outcome in outcomes if isinstance(outcome, Scored)), None)
    if first is None:
        unscored_call = next(outcome for outcome in outcomes if isinstance(outcome, Unscored))
        provenance = _join_provenance(unscored_call.provenance, outcomes)
        attempt = replace(unscored_attempt(number, unscored_call), provenance=provenance)
        return Review(attempt, None, (), tuple(failures))
    aspects = await _read_aspects(manuscript, read, pool, engine)
    failures += failures_of(REVIEW_ASPECT, manuscript, aspects.outcomes)
    retraction_problems = retracted_candidates(pool.works, first.provenance)
    candidates = merge_candidates([*read.candidates, *aspects.candidates, *retraction_problems])
    looks = await second_looks(
        candidates[: CANDIDATES_PER_PROBLEM * maximum_problems], manuscript, engine, pool
    )
    failures += looks.failures
    problems = [
        one.model_copy(update={"problem_id": f"a{number}p{one.rank}", "attempt": number})
        for one in in_order(looks.problems)
    ]
    unanswered_places = [place for place, outcome in read.outcomes if isinstance(outcome, Unscored)]
    omissions = [f"no answer about {', '.join(unanswered_places)}"] if unanswered_places else []
    if len(sections) > MOST_SECTIONS:
        omissions.append(
            f"{len(sections) - MOST_SECTIONS} of {len(sections)} stretches of {SECTION_WORDS:,} words,"
            f" from {sections[MOST_SECTIONS].place} on, are beyond the limit of {MOST_SECTIONS}"
        )
    not_read = "; ".join([*omissions, *manuscript.reading.oddities])
    review, write_outcome, write_failures = await _write(
        manuscript, number, read.notes[-1][1], problems, not_read, engine
    )
    aspect_outcomes = [outcome for _, outcome in aspects.outcomes]
    attempt = Attempt(
        attempt=number,
        problem_count=sum(problem.stands for problem in problems),
        answered_by=tuple(
            model
            for model in first.value.answered_by
            if all(model in one.value.answered_by for one in outcomes if isinstance(one, Scored))
        ),
        provenance=_join_provenance(
            first.provenance,
            [*outcomes, *aspect_outcomes, write_outcome, *looks.outcomes],
            not_read,
        ),
    )
    novelty = dict(aspects.outcomes).get(Aspect.NOVELTY)
    if isinstance(novelty, Scored):
        score = novelty.value.rating_1_to_5
        review = replace(review, novelty=novelty.value.assessment, novelty_1_to_5=score)
    return Review(attempt, review, tuple(problems), (*failures, *write_failures))


REVISION_STEPS = (REFUTE_PROBLEM, WEIGH_PROBLEM, WRITE_REVIEW)
_NEW_OF_A_LOOK = ("refuted", "open_question", "second_look", "confidence_0_to_1", "dispute")


async def revise_review(
    manuscript: Manuscript,
    earlier: ManuscriptCheck,
    decisions: Sequence[Preference],
    number: int,
    engine: Engine,
    pool: Pool,
) -> Review:
    """Revise the review of attempt `number`; problems keep their ids.

    An attempt without a written review stays unchanged.
    """
    preferences = {one.finding: one for one in decisions}
    attempt = next(one for one in earlier.attempts if one.attempt == number)
    problems = [one for one in earlier.problems if one.attempt == number]
    earlier_review = next((one for one in earlier.reviews if one.attempt == number), None)
    if attempt.problem_count is None or attempt.provenance is None or earlier_review is None:
        return Review(attempt, earlier_review, tuple(problems), ())
    problems_to_recheck = [
        (one, decision)
        for one in problems
        if (decision := preferences.get(one.problem_id))
        and decision.decision is Decision.LOOK_AGAIN
    ]
    looks = await second_looks(
        [_candidate(one, attempt) for one, _ in problems_to_recheck],
        manuscript,
        engine,
        pool,
        [_earlier_remarks(one, decision) for one, decision in problems_to_recheck],
    )
    look_of = dict(
        zip((one.problem_id for one, _ in problems_to_recheck), looks.problems, strict=True)
    )
    decided_problems = []
    for one in problems:
        decision, new = preferences.get(one.problem_id), look_of.get(one.problem_id)
        changes: dict[str, Any] = (
            {} if decision is None else {"decision": decision.decision, "remark": decision.remark}
        )
        if new is not None and new.refuted is not None:  # without a reply it stays unchanged
            changes |= {name: getattr(new, name) for name in _NEW_OF_A_LOOK}
        decided_problems.append(replace(one, **changes))
    decided_problems = in_order(decided_problems)
    not_read = attempt.provenance.shortening or ""
    review, write_outcome, write_failures = await _write(
        manuscript, number, earlier_review.notes, decided_problems, not_read, engine
    )
    return Review(
        attempt=Attempt(
            attempt=number,
            problem_count=sum(one.stands for one in decided_problems),
            answered_by=attempt.answered_by,
            provenance=_join_provenance(attempt.provenance, [*looks.outcomes, write_outcome]),
        ),
        written=replace(
            review, novelty=earlier_review.novelty, novelty_1_to_5=earlier_review.novelty_1_to_5
        ),
        problems=tuple(decided_problems),
        failures=(*looks.failures, *write_failures),
    )


def _candidate(problem: Problem, attempt: Attempt) -> Candidate:
    """Restore the candidate of a problem, with the confidence after both looks."""
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


def _earlier_remarks(problem: Problem, preference: Preference) -> tuple[str, ...]:
    remarks = (
        f"An earlier look: {problem.second_look}" if problem.second_look else "",
        f"For the authors: {problem.optimistic}" if problem.optimistic else "",
        f"Against them: {problem.sceptical}" if problem.sceptical else "",
        f"The person who asks to look again: {preference.remark or 'no remark'}",
    )
    return tuple(each for each in remarks if each)


MOST_DEBATES = 5
"""Debates per review; other disputed problems are only marked."""


async def with_debate(review: Review, manuscript: Manuscript, engine: Engine, pool: Pool) -> Review:
    """Add both readings to disputed problems that have none and no decision."""
    problems = {one.problem_id: _with_dispute(one, review.problems) for one in review.problems}
    undecided_problems = [
        one
        for one in problems.values()
        if one.dispute and not one.is_decided and not one.optimistic
    ]
    debated_problems = in_order(undecided_problems)[:MOST_DEBATES]
    works_per_problem = [related_works(one.problem, one.quote, pool) for one in debated_problems]
    questions = [
        WeighInput(
            problem=one.problem,
            location=one.location,
            quote=one.quote,
            explanation=one.explanation,
            second_look=one.second_look,
            dispute=one.dispute,
            passages=passages_about(one.problem, one.quote, manuscript.reading),
            works=pool.describe(works),
        )
        for one, works in zip(debated_problems, works_per_problem, strict=True)
    ]
    outcomes = await asyncio.gather(*(engine.run(WEIGH_PROBLEM, each) for each in questions))
    for one, works, outcome in zip(debated_problems, works_per_problem, outcomes, strict=True):
        if isinstance(outcome, Scored):
            readings: dict[str, str] = outcome.value.model_dump()
            if len(works):
                readings = {name: settle(text, works).markdown for name, text in readings.items()}
            problems[one.problem_id] = replace(one, **readings)
    attempt = review.attempt
    if attempt.provenance is not None:
        calls = (call for outcome in outcomes for call in outcome.provenance.call_ids)
        all_calls = (*attempt.provenance.call_ids, *calls)
        attempt = replace(attempt, provenance=replace(attempt.provenance, call_ids=all_calls))
    places = zip((one.location for one in debated_problems), outcomes, strict=True)
    return dataclasses.replace(
        review,
        attempt=attempt,
        problems=tuple(problems.values()),
        failures=(*review.failures, *failures_of(WEIGH_PROBLEM, manuscript, places)),
    )


def _with_dispute(problem: Problem, problems: Sequence[Problem]) -> Problem:
    """Mark the problem as disputed if an objection to the same sentence ended differently."""
    if problem.dispute or not normal(problem.quote) or problem.is_decided or problem.is_open:
        return problem
    for other in problems:
        is_same = normal(other.quote) == normal(problem.quote) and other.attempt == problem.attempt
        both_decided = None not in (other.refuted, problem.refuted) and not other.is_open
        if is_same and both_decided and other.stands != problem.stands:
            end = "was refuted" if problem.stands else "stands"
            dispute = f"Another objection to the same sentence {end}: {other.problem}"
            return replace(problem, dispute=dispute)
    return problem
