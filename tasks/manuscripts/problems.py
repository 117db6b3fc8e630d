"""Problems of a review: leads of the checks that readings of sections are given, what they raise,
which of it says the same, and the second look, which weighs what the authors may have meant.
"""

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
from tasks.judging.step import Engine, Step
from tasks.manuscripts.find import location_found
from tasks.manuscripts.pool import Pool
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.sections import Section, passage_around, passages_about, place_of
from tasks.manuscripts.steps.find_problems import CHECKS
from tasks.manuscripts.steps.read_section import CandidateReply, LeadShown
from tasks.manuscripts.steps.reading import Reading, is_damaged
from tasks.manuscripts.steps.refute_problem import (
    REFUTE_PROBLEM,
    RefuteInput,
    RefuteReply,
    Verdict,
)
from tasks.text.quotations import normal, stands_in
from tasks.text.words import overlap_0_to_1, shorten_words

LEAST_CHARACTERS = 8
"""Of a quotation: whole sentences are short at times."""
LEAST_PERCENT = 50
"""How sure a candidate has to be: of 74 that capable readers raised with less, 4 pointed at an
error that had been put in; of the 45 others 17 did (docs/quality/manuscripts.md).
"""
_SAME_PROBLEM = 0.6
"""Overlap of two problems' words from which they are one."""
_PLACES_TOLD, _QUOTED_WORDS = 3, 40
_CONFIDENCE_OF_GRAVITY = {1: 90, 2: 70, 3: 50}
"""Percent, of what a check of the text reports."""
_RETRACTED_PERCENT = 80
"""Its title, the literature, OpenAlex or Crossref says it; why, and whether the manuscript says so too, is not
known.
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    place: str
    said: CandidateReply
    provenance: Provenance


def leads_at(reading: Reading, sections: Sequence[Section]) -> list[tuple[LeadShown, ...]]:
    """Return what the checks report, gravest first, at the section whose sentence they quote."""
    detected = sorted(
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
            for one in detected
            if stands_in(one.quote, section.text, least_characters=LEAST_CHARACTERS)
        )
        for section in sections
    ]


def retracted_candidates(works: Sequence[PooledWork], provenance: Provenance) -> list[Candidate]:
    """Works that the manuscript cites and that do not stand, as a title, the literature, OpenAlex
    or Crossref says.
    """
    return [
        Candidate(
            "the list of references",
            CandidateReply(
                problem=_what_is_cited(work),
                quote=work.cited_as,
                explanation=_who_says(work),
                consequence="What is said to follow from that work.",
                confidence_percent=_RETRACTED_PERCENT,
            ),
            provenance,
        )
        for work in works
        if work.cited_as and work.mark and work.state is not PaperState.NOTICE
    ]


def _what_is_cited(work: PooledWork) -> str:
    if work.state is PaperState.OF_CONCERN:
        return f"The manuscript cites a work {work.mark}."
    return f"The manuscript cites a work that has been {work.mark}."


def _who_says(work: PooledWork) -> str:
    told = f"“{work.title}” ({work.year or 'no year'})"
    if state_of_title(work.title) is not None:
        return f"The source lists it as {told}."
    return f"The literature, OpenAlex or Crossref lists {told} as {work.mark}."


def merged(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Each problem once, as it was raised with the most confidence, with the other sentences of
    which the same was said; the surest first.
    """
    groups: list[list[Candidate]] = []
    for one in sorted(candidates, key=lambda each: -each.said.confidence_percent):
        same = next((group for group in groups if _is_same(one.said, group[0].said)), None)
        if same is None:
            groups.append([one])
        else:
            same.append(one)
    return [_with_places(*group) for group in groups]


def _with_places(first: Candidate, *others: Candidate) -> Candidate:
    """A second work taken back, or a second statistic that does not fit, is not the first again."""
    places = dict.fromkeys(
        f"{one.place}: “{shorten_words(one.said.quote, _QUOTED_WORDS)[0]}”"
        for one in others
        if one.said.quote and not _quotes_same(one.said, first.said)
    )
    if not places:
        return first
    told = "; ".join(list(places)[:_PLACES_TOLD])
    more = f"; and {len(places) - _PLACES_TOLD} more" if len(places) > _PLACES_TOLD else ""
    explanation = f"{first.said.explanation} The same is said of {told}{more}."
    said = first.said.model_copy(update={"explanation": explanation})
    return replace(first, said=said)


def _is_same(one: CandidateReply, other: CandidateReply) -> bool:
    alike = overlap_0_to_1(one.problem, other.problem)
    return alike >= (_SAME_PROBLEM / 2 if _quotes_same(one, other) else _SAME_PROBLEM)


def _quotes_same(one: CandidateReply, other: CandidateReply) -> bool:
    quotes = normal(one.quote), normal(other.quote)
    return all(quotes) and (quotes[0] in quotes[1] or quotes[1] in quotes[0])


def unfounded(said: CandidateReply, reading: Reading) -> str | None:
    """Why a candidate falls without a second look; None: it does not."""
    if not said.quote:
        return "It points at no sentence."
    if not stands_in(said.quote, reading.whole, least_characters=LEAST_CHARACTERS):
        return "The manuscript does not have the sentence that it quotes."
    if is_damaged(said.quote):
        return "The sentence was damaged when the file was read: the authors wrote something else."
    return None


def unpromising(said: CandidateReply) -> str | None:
    """Why nobody looks at a candidate a second time, unless a person asks; None: somebody does."""
    if said.confidence_percent < LEAST_PERCENT:
        return f"It was raised with {said.confidence_percent} % confidence only."
    if not said.consequence:
        return "Nothing that the text says would change if it held."
    return None


WORKS_SHOWN = 5
"""Of the pool, with each second look."""
CLOSE_PERCENT = 20
"""A refutation that is surer than the objection by more than this settles it."""
_EVEN_PERCENT = 50
LEAST_TOGETHER_PERCENT = 60
"""How sure both looks together have to be of a problem that stands."""


@dataclass(frozen=True, slots=True)
class Looks:
    """Results of the second looks: a problem each, in the order of the candidates."""

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
    """A second look at each, side by side.

    Args:
        before: what was said of each so far; empty: nothing was of any.
    """
    told = before or [()] * len(candidates)
    looks = await asyncio.gather(
        *(
            _second_look(one, said, manuscript, engine, pool)
            for one, said in zip(candidates, told, strict=True)
        )
    )
    asked = [(one.place, outcome) for one, (_, outcome) in zip(candidates, looks, strict=True)]
    return Looks(
        problems=tuple(problem for problem, _ in looks),
        outcomes=tuple(outcome for _, outcome in looks if outcome is not None),
        failures=tuple(unanswered(REFUTE_PROBLEM, manuscript, asked)),
    )


async def _second_look(
    candidate: Candidate,
    before: tuple[str, ...],
    manuscript: Manuscript,
    engine: Engine,
    pool: Pool,
) -> tuple[Problem, Outcome[RefuteReply] | None]:
    """The problem as it stands, and the answer about it; None: there was nothing to ask."""
    said, reading = candidate.said, manuscript.reading
    place = place_of(said.quote, reading, candidate.place)
    fallen = unfounded(said, reading)
    if fallen is None and not before:  # what a person asks to look at again is looked at
        fallen = unpromising(said)
    outcome: Outcome[RefuteReply] | None = None
    found: dict[str, Any]
    if fallen is not None:
        found = {"second_look": fallen, "refuted": True, "open_question": False}
    else:
        shown = works_beside(said.problem, said.quote, pool)
        outcome = await engine.run(
            REFUTE_PROBLEM,
            RefuteInput(
                problem=said.problem,
                location=place,
                quote=said.quote,
                explanation=said.explanation,
                passages=passages_about(said.problem, said.quote, reading),
                works=pool.worded(shown),
                before=before,
            ),
        )
        if isinstance(outcome, Scored):
            texts = (reading.whole, *pool.worded(shown))
            found = _found(said.confidence_percent, outcome.value, texts, shown)
        else:
            told = f"It was not looked at a second time: {outcome.detail}"
            found = {"second_look": told, "refuted": None, "open_question": None}
    problem = Problem(
        problem_id="a1p1",
        attempt=1,
        rank=1,
        problem=said.problem,
        location=place,
        explanation=said.explanation,
        location_found=location_found(place, manuscript),
        quote=said.quote,
        quote_found=stands_in(said.quote, reading.whole, least_characters=LEAST_CHARACTERS),
        passage=passage_around(said.quote, reading),
        provenance=candidate.provenance,
        **{"confidence_0_to_1": said.confidence_percent / 100, **found},
    )
    return problem, outcome


def works_beside(problem: str, quote: str, pool: Pool) -> Shown:
    return pool.about(f"{problem} {quote}", WORKS_SHOWN)


def _found(raised: int, look: RefuteReply, texts: Sequence[str], shown: Shown) -> dict[str, Any]:
    """Return what a second look makes of a problem that was raised with `raised` percent
    confidence.

    A verdict that rests on a sentence which none of `texts` has leaves the problem open, and so do
    two looks that are hardly sure.
    """
    sure = look.confidence_percent
    told = [look.reason]
    if look.innocent_explanation:
        told.insert(0, f"For the authors: {look.innocent_explanation}")
    founded = not look.quote or any(
        stands_in(look.quote, text, least_characters=1) for text in texts
    )
    of_it = {Verdict.WRONG: sure, Verdict.REFUTED: 100 - sure, Verdict.OPEN: _EVEN_PERCENT}
    together = round((raised + of_it[look.verdict]) / 2)
    unsure = look.verdict is Verdict.WRONG and together < LEAST_TOGETHER_PERCENT
    if not founded:
        told.append("The sentence that this rests on stands nowhere.")
    elif unsure:
        told.append(f"Both looks together are {together} % sure, which is too little.")
    reason = " ".join(each for each in told if each)
    return {
        "confidence_0_to_1": together / 100,
        "second_look": settle(reason, shown).markdown if len(shown) else reason,
        "dispute": dispute_of(raised, look, founded=founded),
        "refuted": look.verdict is Verdict.REFUTED and founded,
        "open_question": look.verdict is Verdict.OPEN or not founded or unsure,
    }


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


def unanswered(
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
