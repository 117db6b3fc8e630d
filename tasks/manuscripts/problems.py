"""Problems of a review: leads of text checks, candidates, merging and second looks."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from schemas.failure import Failure
from schemas.literature.paper_state import PaperState, state_of_title
from schemas.outcome import Outcome, Provenance, Scored, Unscored
from schemas.works.manuscripts import Decision, PooledWork, Problem
from tasks.citations.keys import Shown
from tasks.citations.settle import settle
from tasks.judging.findings_of_judges import are_same
from tasks.judging.step import Engine, Step
from tasks.manuscripts.find import location_found
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.reference_pool import Pool
from tasks.manuscripts.sections import Section, passage_around, passages_about, place_of
from tasks.manuscripts.steps.find_problems import CHECKS
from tasks.manuscripts.steps.reading import Reading, is_damaged
from tasks.manuscripts.steps.review import (
    REFUTE_PROBLEM,
    CandidateReply,
    LeadShown,
    RefuteInput,
    RefuteReply,
    Verdict,
)
from tasks.text.quotations import normal, stands_in
from tasks.text.words import shorten_words

LEAST_CHARACTERS = 8
"""Least length of a quotation, in characters: sentences can be short."""
LEAST_PERCENT = 50
"""Least confidence of a candidate, in percent.

Of 74 candidates that capable readers raised with less, 4 pointed at a planted error; of the 45
others 17 did (docs/quality/manuscripts.md).
"""
_PLACES_SHOWN, _QUOTED_WORDS = 3, 40
_CONFIDENCE_OF_GRAVITY = {1: 90, 2: 70, 3: 50}
"""Percent, for problems reported by a check of the text."""
_RETRACTED_PERCENT = 80
"""Confidence that a marked work is a problem: the reason for the mark, and whether the manuscript
mentions it, are unknown.
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    place: str
    reply: CandidateReply
    provenance: Provenance


def leads_at(reading: Reading, sections: Sequence[Section]) -> list[tuple[LeadShown, ...]]:
    """Return the checks' problems by section of their quote, gravest first."""
    leads = sorted(
        (problem for check in CHECKS for problem in check(reading) if problem.quote),
        key=lambda problem: problem.gravity,
    )
    return [
        tuple(
            LeadShown(
                problem=one.problem,
                quote=one.quote,
                explanation=one.explanation,
                confidence_percent=_CONFIDENCE_OF_GRAVITY[one.gravity],
            )
            for one in leads
            if stands_in(one.quote, section.text, least_characters=LEAST_CHARACTERS)
        )
        for section in sections
    ]


def retracted_candidates(works: Sequence[PooledWork], provenance: Provenance) -> list[Candidate]:
    """Return cited works that a title, the literature, OpenAlex or Crossref marks as retracted."""
    candidates = []
    for work in works:
        if not work.cited_as or not work.mark or work.state is PaperState.NOTICE:
            continue
        been = "" if work.state is PaperState.OF_CONCERN else "that has been "
        title = f"“{work.title}” ({work.year or 'no year'})"
        reply = CandidateReply(
            problem=f"The manuscript cites a work {been}{work.mark}.",
            quote=work.cited_as,
            explanation=(
                f"The literature, OpenAlex or Crossref lists {title} as {work.mark}."
                if state_of_title(work.title) is None
                else f"The source lists it as {title}."
            ),
            consequence="What is said to follow from that work.",
            confidence_percent=_RETRACTED_PERCENT,
        )
        candidates.append(Candidate("the list of references", reply, provenance))
    return candidates


def merge_candidates(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Merge candidates about one problem, the most confident first.

    The explanation lists the other sentences with the same problem.
    """
    groups: list[list[Candidate]] = []
    for one in sorted(candidates, key=lambda each: -each.reply.confidence_percent):
        for group in groups:
            if are_same(one.reply, group[0].reply):
                group.append(one)
                break
        else:
            groups.append([one])
    return [_with_places(*group) for group in groups]


def _with_places(first: Candidate, *others: Candidate) -> Candidate:
    """Add places and models of `others`; a further quote shows that it is another occurrence."""
    models = dict.fromkeys(model for one in (first, *others) for model in one.reply.found_by)
    first = replace(first, reply=first.reply.raised_by(tuple(models), first.reply.rank))
    places = dict.fromkeys(
        f"{one.place}: “{shorten_words(one.reply.quote, _QUOTED_WORDS)[0]}”"
        for one in others
        if one.reply.quote and not _quotes_same(one.reply, first.reply)
    )
    if not places:
        return first
    quoted_places = "; ".join(list(places)[:_PLACES_SHOWN])
    more = f"; and {len(places) - _PLACES_SHOWN} more" if len(places) > _PLACES_SHOWN else ""
    explanation = f"{first.reply.explanation} The same is said of {quoted_places}{more}."
    reply = first.reply.model_copy(update={"explanation": explanation})
    return replace(first, reply=reply)


def _quotes_same(one: CandidateReply, other: CandidateReply) -> bool:
    quotes = normal(one.quote), normal(other.quote)
    return all(quotes) and (quotes[0] in quotes[1] or quotes[1] in quotes[0])


WORKS_SHOWN = 5
"""Works of the pool shown in each second look."""
CLOSE_PERCENT = 20
"""A refutation more confident than the objection by more than this settles it, in percent."""
_EVEN_PERCENT = 50
LEAST_TOGETHER_PERCENT = 60
"""Least mean confidence of both looks in a standing problem, in percent."""


@dataclass(frozen=True, slots=True)
class Looks:
    """Results of second looks, in the order of the candidates."""

    problems: tuple[Problem, ...]
    outcomes: tuple[Outcome[RefuteReply], ...]
    failures: tuple[Failure, ...]


async def second_looks(
    candidates: Sequence[Candidate],
    manuscript: Manuscript,
    engine: Engine,
    pool: Pool,
    before: Sequence[tuple[str, ...]] = (),
) -> Looks:
    """Take a second look at each candidate, concurrently.

    Args:
        before: earlier remarks on each candidate; empty if there are none.
    """
    looks = await asyncio.gather(
        *(
            _second_look(one, remarks, manuscript, engine, pool)
            for one, remarks in zip(candidates, before or [()] * len(candidates), strict=True)
        )
    )
    outcomes = [outcome for _, outcome in looks]
    places = zip((one.place for one in candidates), outcomes, strict=True)
    return Looks(
        problems=tuple(problem for problem, _ in looks),
        outcomes=tuple(outcome for outcome in outcomes if outcome is not None),
        failures=tuple(failures_of(REFUTE_PROBLEM, manuscript, places)),
    )


async def _second_look(
    candidate: Candidate,
    earlier_texts: tuple[str, ...],
    manuscript: Manuscript,
    engine: Engine,
    pool: Pool,
) -> tuple[Problem, Outcome[RefuteReply] | None]:
    """Return the problem after the second look, and the outcome (None without a call)."""
    reply, reading = candidate.reply, manuscript.reading
    place = place_of(reply.quote, reading, candidate.place)
    is_there = stands_in(reply.quote, reading.whole, least_characters=LEAST_CHARACTERS)
    rejection = ""
    if not reply.quote:
        rejection = "It points at no sentence."
    elif not is_there:
        rejection = "The manuscript does not have the sentence that it quotes."
    elif is_damaged(reply.quote):
        rejection = (
            "The sentence was damaged when the file was read: the authors wrote something else."
        )
    elif earlier_texts:
        pass  # a person's request always gets a second look
    elif reply.confidence_percent < LEAST_PERCENT:
        rejection = f"It was raised with {reply.confidence_percent} % confidence only."
    elif not reply.consequence:
        rejection = "Nothing that the text says would change if it held."
    outcome: Outcome[RefuteReply] | None = None
    findings: dict[str, Any] = {"second_look": rejection, "refuted": True, "open_question": False}
    if not rejection:
        prompt_papers = related_works(reply.problem, reply.quote, pool)
        works = pool.describe(prompt_papers)
        outcome = await engine.run(
            REFUTE_PROBLEM,
            RefuteInput(
                problem=reply.problem,
                location=place,
                quote=reply.quote,
                explanation=reply.explanation,
                passages=passages_about(reply.problem, reply.quote, reading),
                works=works,
                before=earlier_texts,
            ),
        )
        if isinstance(outcome, Scored):
            texts = (reading.whole, *works)
            findings = _findings(reply.confidence_percent, outcome.value, texts, prompt_papers)
        else:
            detail = f"It was not looked at a second time: {outcome.detail}"
            findings = {"second_look": detail, "refuted": None, "open_question": None}
    problem = Problem(
        problem_id="a1p1",
        attempt=1,
        rank=1,
        problem=reply.problem,
        location=place,
        explanation=reply.explanation,
        location_found=location_found(place, manuscript),
        quote=reply.quote,
        quote_found=is_there,
        passage=passage_around(reply.quote, reading),
        found_by=reply.found_by,
        provenance=candidate.provenance,
        **{"confidence_0_to_1": reply.confidence_percent / 100, **findings},
    )
    return problem, outcome


def related_works(problem: str, quote: str, pool: Pool) -> Shown:
    return pool.about(f"{problem} {quote}", WORKS_SHOWN)


def _findings(
    raised_percent: int, look: RefuteReply, texts: Sequence[str], prompt_papers: Shown
) -> dict[str, Any]:
    """Combine a problem raised with `raised_percent` percent confidence and its second look.

    A verdict whose quote is in none of `texts` leaves the problem open, and so do two looks with
    little confidence. A verdict that is hardly more confident than the objection is disputed.
    """
    second_percent, verdict = look.confidence_percent, look.verdict
    reasons = [look.reason]
    if look.innocent_explanation:
        reasons.insert(0, f"For the authors: {look.innocent_explanation}")
    is_founded = not look.quote or any(
        stands_in(look.quote, text, least_characters=1) for text in texts
    )
    percent_by_verdict = {
        Verdict.WRONG: second_percent,
        Verdict.REFUTED: 100 - second_percent,
        Verdict.OPEN: _EVEN_PERCENT,
    }
    combined_percent = round((raised_percent + percent_by_verdict[verdict]) / 2)
    is_unsure = verdict is Verdict.WRONG and combined_percent < LEAST_TOGETHER_PERCENT
    dispute, raised_with = "", f"It was raised with {raised_percent} % confidence"
    if not is_founded:
        reasons.append("The sentence that this rests on stands nowhere.")
        dispute = "The second look rests on a sentence that stands nowhere."
    elif is_unsure:
        reasons.append(f"Both looks together are {combined_percent} % sure, which is too little.")
    elif verdict is Verdict.REFUTED and second_percent - raised_percent <= CLOSE_PERCENT:
        dispute = f"{raised_with} and refuted with {second_percent} %."
    elif verdict is Verdict.OPEN and raised_percent > second_percent:
        dispute = f"{raised_with}, and the second look, {second_percent} % sure, leaves it open."
    reason = " ".join(each for each in reasons if each)
    return {
        "confidence_0_to_1": combined_percent / 100,
        "second_look": settle(reason, prompt_papers).markdown if len(prompt_papers) else reason,
        "dispute": dispute,
        "refuted": verdict is Verdict.REFUTED and is_founded,
        "open_question": verdict is Verdict.OPEN or not is_founded or is_unsure,
    }


def in_order(problems: Sequence[Problem]) -> list[Problem]:
    """Rank the problems of an attempt.

    Standing problems come first, those accepted by a person before others, then by confidence;
    problems without a second look come last.
    """
    ordered_problems = sorted(
        problems,
        key=lambda one: (
            not one.stands,
            one.decision is not Decision.ACCEPT,
            one.refuted is None,
            -(one.confidence_0_to_1 or 0.0),
        ),
    )
    return [
        one.model_copy(update={"rank": rank}) for rank, one in enumerate(ordered_problems, start=1)
    ]


def failures_of(
    step: Step[Any, Any],
    manuscript: Manuscript,
    place_outcomes: Iterable[tuple[str, Outcome[Any] | None]],
) -> Iterator[Failure]:
    """Yield a failure for each place without a reply; another run retries it."""
    for place, outcome in place_outcomes:
        if isinstance(outcome, Unscored):
            yield Failure(
                stage=step.name,
                subject=f"{manuscript.manuscript_id} {place}",
                reason=outcome.reason,
                detail=outcome.detail,
            )
