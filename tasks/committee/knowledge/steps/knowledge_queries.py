"""`knowledge_queries`: searches that would bring up what is known about an idea's parts.

Baseline: key phrases of each part's claims in the idea's subject, then the same in other words.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.committee import IdeaPart
from schemas.knowledge import SourceKind
from schemas.reasons import Reason
from tasks.committee.knowledge.steps.query_words import WORD_LIMITS, abbreviations, reworded
from tasks.committee.knowledge.steps.shown import PartShown
from tasks.judging.reply_fields import SoundEntries, Text
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.phrases import meaningful_words, salience, stem_counts
from tasks.text.queries import filled, ranked_phrases


class QueriesInput(Noun):
    """Which searches would bring up what is known about these parts?"""

    idea: str = Field(min_length=1)
    parts: tuple[PartShown, ...] = Field(min_length=1)
    kinds: tuple[str, ...] = Field(min_length=1)
    maximum_queries: int = Field(ge=1, description="Per part and kind.")


class PartQueries(Reply):
    """Queries for one part in one kind of place."""

    part: IdeaPart
    kind: SourceKind
    queries: Annotated[list[Text], Field(min_length=1)] = Field(
        description="Established terms first, then synonyms."
    )


class QueriesReply(Reply):
    entries: Annotated[list[PartQueries], Field(min_length=1), SoundEntries]


SUBJECT_WORDS = 2


async def baseline_queries(inputs: QueriesInput, tools: BaselineTools) -> QueriesReply | NoAnswer:
    """Per part and kind: the two phrases the idea dwells on most, a rewording of them, then the
    next phrases.
    """
    del tools
    frequency = stem_counts(inputs.idea)
    subject = sorted(
        dict.fromkeys(meaningful_words(inputs.idea)), key=lambda word: -salience(word, frequency)
    )[:SUBJECT_WORDS]
    explained = abbreviations(inputs.idea)
    entries = []
    for part in inputs.parts:
        phrases = ranked_phrases("\n".join(part.claims), frequency)
        for kind in inputs.kinds:
            queries = _queries(
                phrases, subject, WORD_LIMITS[SourceKind(kind)], explained, inputs.maximum_queries
            )
            if queries:
                entries.append(
                    PartQueries(part=IdeaPart(part.part), kind=SourceKind(kind), queries=queries)
                )
    return (
        QueriesReply(entries=entries)
        if entries
        else NoAnswer(Reason.NOTHING_TO_JUDGE, "the claims name nothing to search for")
    )


def _queries(
    phrases: list[str],
    subject: list[str],
    word_limit: int,
    explained: tuple[tuple[str, str], ...],
    limit: int,
) -> list[str]:
    found: dict[str, None] = {}
    for start in range(len(phrases)):
        query = filled([*phrases[start : start + 2], *subject], word_limit) or " ".join(
            phrases[start].split()[:word_limit]
        )
        for candidate in (query, reworded(query, explained)):
            if candidate:
                found.setdefault(candidate)
    return list(found)[:limit]


KNOWLEDGE_QUERIES = Step(
    name="knowledge_queries",
    version=1,
    package="tasks.committee.knowledge",
    input_model=QueriesInput,
    output_model=QueriesReply,
    baseline=baseline_queries,
)
