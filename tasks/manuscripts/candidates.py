"""What readings of sections raise: leads of the checks that they are given, candidates that fall at
once, and which of the others say the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from schemas.literature.paper_state import PaperState, state_of_title
from schemas.outcome import Provenance
from schemas.works.manuscripts import PooledWork
from tasks.manuscripts.sections import Section
from tasks.manuscripts.steps.find_problems import CHECKS
from tasks.manuscripts.steps.read_section import CandidateReply, LeadShown
from tasks.manuscripts.steps.reading import Reading, is_damaged
from tasks.text.quotations import normal, stands_in
from tasks.text.words import overlap_0_to_1, shorten_words

LEAST_CHARACTERS = 8
"""Of a quotation: whole sentences are short at times."""
LEAST_PERCENT = 50
"""How sure a candidate has to be: of 74 that capable readers raised with less, 4 pointed at an
error that had been put in; of the 45 others 17 did (docs/manuscripts.md).
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
    """What one section's reading raised."""

    place: str
    said: CandidateReply
    provenance: Provenance


def leads_at(reading: Reading, sections: Sequence[Section]) -> list[tuple[LeadShown, ...]]:
    """What the checks report, gravest first, at the section whose sentence they quote."""
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
