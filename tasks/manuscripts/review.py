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
from tasks.manuscripts.problems import (
    LEAST_PERCENT,
    Candidate,
    Looks,
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

AspectOutcome = tuple[Aspect, Outcome[AspectReply]]


async def review_aspects(
    manuscript: Manuscript,
    notes: Sequence[tuple[str, str]],
    raised: Sequence[str],
    pool: Pool,
    engine: Engine,
) -> list[AspectOutcome]:
    """Return the outcome of each aspect; without works, novelty is not judged.

    Args:
        notes: (place, notes) of each section that was read.
    """
    title, reading = manuscript.title, manuscript.reading
    aspects = [each for each in Aspect if each is not Aspect.NOVELTY or pool.papers]
    abstract = shorten_words(reading.abstract, ABSTRACT_WORDS)[0]
    beginning = abstract or shorten_words(f"{title} {reading.text}", ABSTRACT_WORDS)[0]
    summary_and_claims = " ".join([beginning, *strong_claims(reading)])
    prompt_papers = pool.about(summary_and_claims, WORKS_OF_ASPECTS)
    all_notes = "\n\n".join(f"[{place}] {text}" for place, text in notes if text)
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
            raised=tuple(raised),
            least_percent=LEAST_PERCENT,
            maximum_candidates=CANDIDATES_PER_ASPECT,
        )
        for aspect in aspects
    ]
    outcomes = await asyncio.gather(*(engine.run(REVIEW_ASPECT, each) for each in questions))
    return [
        (aspect, _settle_keys(outcome, prompt_papers))
        for aspect, outcome in zip(aspects, outcomes, strict=True)
    ]


def _settle_keys(outcome: Outcome[AspectReply], prompt_papers: Shown) -> Outcome[AspectReply]:
    """Replace keys by references and remove keys that were not in the prompt."""
    if not isinstance(outcome, Scored) or not len(prompt_papers):
        return outcome
    reply = outcome.value
    return Scored(
        reply.model_copy(
            update={
                "assessment": settle(reply.assessment, prompt_papers).markdown,
                "candidates": [
                    one.model_copy(
                        update={"explanation": settle(one.explanation, prompt_papers).markdown}
                    )
                    for one in reply.candidates
                ],
            }
        ),
        outcome.provenance,
    )


def candidates_of_aspects(aspects: Sequence[AspectOutcome], reading: Reading) -> list[Candidate]:
    """Return the candidates of the aspects, placed at the sentence they quote."""
    return [
        Candidate(
            place_of(reply.quote, reading, "the manuscript as a whole"), reply, outcome.provenance
        )
        for _, outcome in aspects
        if isinstance(outcome, Scored)
        for reply in outcome.value.candidates[:CANDIDATES_PER_ASPECT]
    ]


async def write_review_text(
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
    number: int, outcome: Outcome[ReviewReply], notes: str, aspects: Sequence[AspectOutcome] = ()
) -> ManuscriptReview:
    """Return the review of attempt `number`, with the assessment of novelty.

    Args:
        notes: final notes from which the review was written.
    """
    novelty_outcome = dict(aspects).get(Aspect.NOVELTY)
    novelty = novelty_outcome.value if isinstance(novelty_outcome, Scored) else None
    common_fields: dict[str, Any] = {
        "attempt": number,
        "notes": notes,
        "novelty": novelty.assessment if novelty else "",
        "novelty_1_to_5": novelty.rating_1_to_5 if novelty else None,
        "provenance": outcome.provenance,
    }
    if isinstance(outcome, Unscored):
        return ManuscriptReview(
            summary=None,
            unscored_reason=outcome.reason,
            unscored_detail=outcome.detail,
            **common_fields,
        )
    reply = outcome.value
    return ManuscriptReview(
        summary=reply.summary,
        strengths=tuple(reply.strengths),
        questions=tuple(reply.questions),
        soundness_1_to_5=reply.soundness_1_to_5,
        clarity_1_to_5=reply.clarity_1_to_5,
        confidence_1_to_5=reply.confidence_1_to_5,
        **common_fields,
    )


def join_provenance(
    first: Provenance,
    outcomes: Iterable[Outcome[Any]],
    left_out: str | None,
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
    reading = manuscript.reading
    sections = sections_of(reading)
    sections_read = sections[:MOST_SECTIONS]
    outcomes = await _read_in_order(manuscript, sections_read, engine)
    replies = [outcome for outcome in outcomes if isinstance(outcome, Scored)]
    places = [section.place for section in sections_read]
    failures = list(failures_of(READ_SECTION, manuscript, zip(places, outcomes, strict=True)))
    if not replies:
        return Review(_unscored(number, outcomes), None, (), tuple(failures))
    candidates = list(_candidates_of_sections(sections_read, outcomes))
    notes = [
        (section.place, outcome.value.notes)
        for section, outcome in zip(sections_read, outcomes, strict=True)
        if isinstance(outcome, Scored)
    ]
    problems_raised = [candidate.reply.problem for candidate in candidates]
    aspects = await review_aspects(manuscript, notes, problems_raised, pool, engine)
    failures += failures_of(REVIEW_ASPECT, manuscript, aspects)
    candidates += candidates_of_aspects(aspects, reading)
    candidates += retracted_candidates(pool.works, replies[0].provenance)
    candidates_to_check = merge_candidates(candidates)[: CANDIDATES_PER_PROBLEM * maximum_problems]
    looks = await second_looks(candidates_to_check, manuscript, engine, pool)
    failures += looks.failures
    problems = rank_problems(number, looks.problems)
    omissions = "; ".join([*_omissions(sections, sections_read, outcomes), *reading.oddities])
    to_end = replies[-1].value.notes
    review_outcome = await write_review_text(manuscript, to_end, problems, omissions, engine)
    failures += failures_of(WRITE_REVIEW, manuscript, [("as a whole", review_outcome)])
    aspect_outcomes = [outcome for _, outcome in aspects]
    all_outcomes = [*outcomes, *aspect_outcomes, review_outcome, *looks.outcomes]
    attempt = Attempt(
        attempt=number,
        problem_count=sum(problem.stands for problem in problems),
        provenance=join_provenance(replies[0].provenance, all_outcomes, omissions or None),
    )
    review = review_of(number, review_outcome, to_end, aspects)
    return Review(attempt, review, problems, tuple(failures))


def _candidates_of_sections(
    sections: Sequence[Section], outcomes: Sequence[Outcome[SectionReply]]
) -> Iterator[Candidate]:
    for section, outcome in zip(sections, outcomes, strict=True):
        if isinstance(outcome, Scored):
            for reply in outcome.value.candidates[:CANDIDATES_PER_SECTION]:
                yield Candidate(section.place, reply, outcome.provenance)


async def _read_in_order(
    manuscript: Manuscript, sections: Sequence[Section], engine: Engine
) -> list[Outcome[SectionReply]]:
    """Read the sections in order, each with the notes on the earlier ones."""
    leads = leads_at(manuscript.reading, sections)
    outcomes: list[Outcome[SectionReply]] = []
    notes = ""
    for section, section_leads in zip(sections, leads, strict=True):
        question = SectionInput(
            title=manuscript.title,
            form=manuscript.shown_form,
            place=section.place,
            section=section.text,
            notes=notes,
            leads=section_leads,
            least_percent=LEAST_PERCENT,
            maximum_candidates=CANDIDATES_PER_SECTION,
        )
        outcome = await engine.run(READ_SECTION, question)
        if isinstance(outcome, Scored):
            notes = shorten_words(outcome.value.notes, 2 * NOTES_WORDS)[0]
        outcomes.append(outcome)
    return outcomes


def rank_problems(attempt: int, problems: Sequence[Problem]) -> tuple[Problem, ...]:
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
        provenance=join_provenance(first.provenance, outcomes, None),
    )


def _omissions(
    sections: Sequence[Section],
    sections_read: Sequence[Section],
    outcomes: Sequence[Outcome[SectionReply]],
) -> list[str]:
    places = [
        section.place
        for section, outcome in zip(sections_read, outcomes, strict=True)
        if isinstance(outcome, Unscored)
    ]
    omissions = [f"no answer about {', '.join(places)}"] if places else []
    if len(sections) > len(sections_read):
        omissions.append(
            f"{len(sections) - len(sections_read)} of {len(sections)} stretches of {SECTION_WORDS:,} words,"
            f" from {sections[len(sections_read)].place} on, are beyond the limit of {MOST_SECTIONS}"
        )
    return omissions


REVISION_STEPS = (REFUTE_PROBLEM, WEIGH_PROBLEM, WRITE_REVIEW)
_NEW_OF_A_LOOK = ("refuted", "open_question", "second_look", "confidence_0_to_1", "dispute")
Preferences = Mapping[str, Preference]
"""Decisions by problem_id, of one manuscript."""


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
    before = next((one for one in earlier.reviews if one.attempt == number), None)
    if attempt.problem_count is None or attempt.provenance is None or before is None:
        return Review(attempt, before, tuple(problems), ())
    again = [
        one
        for one in problems
        if (decision := preferences.get(one.problem_id))
        and decision.decision is Decision.LOOK_AGAIN
    ]
    looks = await second_looks(
        [_candidate(one, attempt) for one in again],
        manuscript,
        engine,
        pool,
        [_earlier_remarks(one, preferences[one.problem_id]) for one in again],
    )
    decided_problems = _apply_decisions(problems, again, looks, preferences)
    not_read = attempt.provenance.shortening or ""
    review_outcome = await write_review_text(
        manuscript, before.notes, decided_problems, not_read, engine
    )
    return Review(
        attempt=Attempt(
            attempt=number,
            problem_count=sum(one.stands for one in decided_problems),
            provenance=join_provenance(attempt.provenance, [*looks.outcomes, review_outcome], None),
        ),
        written=replace(
            review_of(number, review_outcome, before.notes),
            novelty=before.novelty,
            novelty_1_to_5=before.novelty_1_to_5,
        ),
        problems=tuple(decided_problems),
        failures=(
            *looks.failures,
            *failures_of(WRITE_REVIEW, manuscript, [("as a whole", review_outcome)]),
        ),
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


def _apply_decisions(
    problems: Sequence[Problem], again: Sequence[Problem], looks: Looks, preferences: Preferences
) -> list[Problem]:
    """Return the problems after the decisions, ranked; without a reply one stays unchanged."""
    look_of = dict(zip((one.problem_id for one in again), looks.problems, strict=True))
    updated_problems = []
    for one in problems:
        decision, new = preferences.get(one.problem_id), look_of.get(one.problem_id)
        changes = (
            {} if decision is None else {"decision": decision.decision, "remark": decision.remark}
        )
        if new is not None and new.refuted is not None:
            changes |= {name: getattr(new, name) for name in _NEW_OF_A_LOOK}
        updated_problems.append(replace(one, **changes))
    return in_order(updated_problems)


MOST_DEBATES = 5
"""Debates per review; other disputed problems are only marked."""


async def with_debate(review: Review, manuscript: Manuscript, engine: Engine, pool: Pool) -> Review:
    """Add both readings to disputed problems that have none and no decision."""
    problems = [_with_dispute(one, review.problems) for one in review.problems]
    open_ = [one for one in problems if one.dispute and not one.is_decided and not one.optimistic]
    debated_problems = in_order(open_)[:MOST_DEBATES]
    outcomes = await asyncio.gather(
        *(_weigh(one, manuscript.reading, engine, pool) for one in debated_problems)
    )
    places = [one.location for one in debated_problems]
    debated_by_id = {
        one.problem_id: _with_readings(one, outcome, pool)
        for one, outcome in zip(debated_problems, outcomes, strict=True)
    }
    failures = failures_of(WEIGH_PROBLEM, manuscript, zip(places, outcomes, strict=True))
    return dataclasses.replace(
        review,
        attempt=_with_calls(review.attempt, outcomes),
        problems=tuple(debated_by_id.get(one.problem_id, one) for one in problems),
        failures=(*review.failures, *failures),
    )


def _with_calls(attempt: Attempt, outcomes: Sequence[Outcome[WeighReply]]) -> Attempt:
    if attempt.provenance is None:
        return attempt
    calls = (call for outcome in outcomes for call in outcome.provenance.call_ids)
    all_calls = (*attempt.provenance.call_ids, *calls)
    return replace(attempt, provenance=replace(attempt.provenance, call_ids=all_calls))


def _with_dispute(problem: Problem, problems: Sequence[Problem]) -> Problem:
    """Mark the problem as disputed if an objection to the same sentence ended differently."""
    if problem.dispute or not normal(problem.quote) or problem.is_decided or problem.is_open:
        return problem
    for other in problems:
        same = normal(other.quote) == normal(problem.quote) and other.attempt == problem.attempt
        both_decided = None not in (other.refuted, problem.refuted) and not other.is_open
        if same and both_decided and other.stands != problem.stands:
            end = "was refuted" if problem.stands else "stands"
            dispute = f"Another objection to the same sentence {end}: {other.problem}"
            return replace(problem, dispute=dispute)
    return problem


async def _weigh(
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
            works=pool.describe(related_works(problem.problem, problem.quote, pool)),
        ),
    )


def _with_readings(problem: Problem, outcome: Outcome[WeighReply], pool: Pool) -> Problem:
    if not isinstance(outcome, Scored):
        return problem
    prompt_papers = related_works(problem.problem, problem.quote, pool)
    readings: dict[str, Any] = outcome.value.model_dump()
    if len(prompt_papers):
        readings = {name: settle(text, prompt_papers).markdown for name, text in readings.items()}
    return replace(problem, **readings)
