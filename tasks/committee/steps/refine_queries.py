"""`refine_queries`: what ails the queries so far, and which would do better.

Baseline: relevance feedback. The vocabulary of the best finds widens a query, the claims' own
narrows it.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judgement.committee import IdeaPart
from schemas.literature.knowledge import SourceKind
from schemas.reasons import Reason
from tasks.committee.steps.knowledge_queries import WORD_LIMITS
from tasks.committee.steps.shown import PartShown
from tasks.judging.reply_fields import SoundEntries, Text
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.phrases import (
    filled,
    mentions,
    ranked_phrases,
    specific_phrases,
    specific_stems,
    stem_counts,
)


class QueryOutcome(Noun):
    """What came of one query."""

    part: str
    kind: str
    query: str
    found_count: int = Field(ge=0)
    kept_count: int = Field(ge=0, description="Of its finds, those among the best of their kind.")
    mean_similarity: float = Field(
        ge=0, le=1, description="Of its finds to the idea; 0 without any."
    )
    gists: tuple[str, ...] = Field(
        default=(), description="Titles and beginnings of its best finds."
    )


class RefinementInput(Noun):
    """What ails the queries so far, and which would do better?"""

    idea: str = Field(min_length=1)
    parts: tuple[PartShown, ...] = Field(min_length=1)
    kinds: tuple[str, ...] = Field(min_length=1)
    outcomes: tuple[QueryOutcome, ...] = Field(min_length=1)
    maximum_queries: int = Field(ge=1, description="Per part and kind.")


class QueryTrouble(StrEnum):
    """What can ail a query (InnoEval, "Iterative Refinement")."""

    LOW_RELEVANCE = "low_relevance"
    TOO_GENERAL = "too_general"
    TOO_SPECIFIC = "too_specific"
    NONE = "none"


class RefinedQueries(Reply):
    """The verdict on one part's queries in one kind of place, and new ones, if any."""

    part: IdeaPart
    kind: SourceKind
    trouble: QueryTrouble
    queries: list[Text] = Field(description="May be empty.")


class RefinementReply(Reply):
    entries: Annotated[list[RefinedQueries], Field(min_length=1), SoundEntries]


FEW_FINDS = 3
LOW_SIMILARITY = 0.3
GENERAL_SIMILARITY = 0.45
"""Mean cosine to the idea under which finds are about something else, and under which they are at
most of the field.
"""


async def baseline_refinement(
    inputs: RefinementInput, tools: BaselineTools
) -> RefinementReply | NoAnswer:
    """One verdict per part and kind that was searched, by how many things were found and how near
    they stand.
    """
    del tools
    frequency = stem_counts(inputs.idea)
    asked = {" ".join(outcome.query.lower().split()) for outcome in inputs.outcomes}
    entries = []
    for part in inputs.parts:
        for kind in inputs.kinds:
            outcomes = [
                outcome
                for outcome in inputs.outcomes
                if (outcome.part, outcome.kind) == (part.part, kind)
            ]
            if outcomes:
                trouble = _trouble(outcomes)
                words = _words(
                    trouble, part, outcomes, ranked_phrases("\n".join(part.claims), frequency)
                )
                query = filled(words, WORD_LIMITS[SourceKind(kind)])
                fresh = [query] if query and query not in asked else []
                asked.update(fresh)
                entries.append(
                    RefinedQueries(
                        part=IdeaPart(part.part),
                        kind=SourceKind(kind),
                        trouble=trouble,
                        queries=fresh,
                    )
                )
    return (
        RefinementReply(entries=entries)
        if entries
        else NoAnswer(Reason.NOTHING_TO_JUDGE, "no part shown was searched")
    )


def _trouble(outcomes: list[QueryOutcome]) -> QueryTrouble:
    if sum(outcome.found_count for outcome in outcomes) < FEW_FINDS:
        return QueryTrouble.TOO_SPECIFIC
    found = [outcome for outcome in outcomes if outcome.found_count]
    mean = sum(outcome.mean_similarity for outcome in found) / len(found)
    if mean < LOW_SIMILARITY:
        return QueryTrouble.LOW_RELEVANCE
    return QueryTrouble.TOO_GENERAL if mean < GENERAL_SIMILARITY else QueryTrouble.NONE


def _words(
    trouble: QueryTrouble, part: PartShown, outcomes: list[QueryOutcome], phrases: list[str]
) -> list[str]:
    """Phrases for the next query, best first.

    What was read counts where the claims speak of it too, or where nothing ails the queries.
    """
    used = frozenset(stem for outcome in outcomes for stem in specific_stems(outcome.query))
    fresh = [phrase for phrase in phrases if not specific_stems(phrase) <= used]
    read = specific_phrases("\n".join(gist for outcome in outcomes for gist in outcome.gists), 8)
    claims = specific_stems("\n".join(part.claims))
    shared = [
        phrase for phrase in read if mentions(claims, phrase) and not specific_stems(phrase) <= used
    ]
    if trouble is QueryTrouble.TOO_SPECIFIC:
        return phrases[:1]
    if trouble is QueryTrouble.LOW_RELEVANCE:
        return [*fresh[:2], *phrases[:1]]
    if trouble is QueryTrouble.TOO_GENERAL:
        return [*shared[:1], *fresh[:2]]
    unseen = [phrase for phrase in read if not specific_stems(phrase) <= used]
    return [*unseen[:1], *phrases[:1]] if unseen else []


REFINE_QUERIES = Step(
    name="refine_queries",
    version=1,
    package="tasks.committee",
    input_model=RefinementInput,
    output_model=RefinementReply,
    baseline=baseline_refinement,
)
