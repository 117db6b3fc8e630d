"""`ground_evidence`: what each item says for or against the part it is held against.

Baseline: the sentence of each item nearest to the claims, and what its wording says of an outcome.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judgement.committee import IdeaPart, Relation
from schemas.judging import LONG_ANSWER_TOKENS
from schemas.reasons import Reason
from tasks.judging.reply_fields import KeyedEntry, SoundEntries
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.signs import read_sentence
from tasks.text.words import rank_sentences, sentences


class ItemShown(Noun):
    """One piece of knowledge as far as it was read."""

    key: str
    kind: str
    title: str
    text: str = Field(min_length=1)


class PartHeld(Noun):
    """One part, its claims, and the items to hold against it."""

    part: str
    claims: tuple[str, ...] = Field(min_length=1)
    keys: tuple[str, ...] = Field(
        min_length=1, description="Each item stands under exactly one part."
    )


class GroundingInput(Noun):
    """What does each of these items say for or against the part it is held against?"""

    idea: str = Field(
        min_length=1, description="Title and gist, which is enough to read the claims by."
    )
    items: tuple[ItemShown, ...] = Field(min_length=1)
    parts: tuple[PartHeld, ...] = Field(min_length=1)


class GroundingEntry(KeyedEntry):
    relation: Relation
    evidence: str = Field(description="What the item says, in one to three sentences.")
    analysis: str = Field(description="How it bears on the claims.")
    relevance: int = Field(ge=0, le=10)
    passage: str = Field(description="Copied from the item word for word; empty for no evidence.")


class GroundingReply(Reply):
    items: Annotated[list[GroundingEntry], Field(min_length=1), SoundEntries]


SENTENCES_READ = 150
SENTENCES_EMBEDDED = 3
SHORTEST_WORDS, LONGEST_WORDS = 6, 80
LEAST_RELEVANCE = 4
"""Of 10: under it a sentence shares the subject at most, whatever outcome it speaks of."""
FULL_COSINE = 0.75
"""Cosine of a sentence to a claim that counts as the same statement; sentences of one field meet at
about 0.3.
"""
OUTCOME_BONUS = 0.08
"""Cosine by which a sentence that words an outcome may be further from the claim than one that
words none.
"""
NEEDS = frozenset({IdeaPart.MOTIVATIONS.value, IdeaPart.RESEARCH_QUESTIONS.value})
"""Parts that claim something is wanting."""


@dataclass(frozen=True, slots=True)
class _Candidates:
    item: ItemShown
    part: str
    claims: tuple[str, ...]
    sentences: tuple[str, ...]


async def baseline_grounding(
    inputs: GroundingInput, tools: BaselineTools
) -> GroundingReply | NoAnswer:
    """An item's answer depends on no other item: candidates by shared words, the best by embedding,
    the outcome by its wording.
    """
    parts = {key: part for part in inputs.parts for key in part.keys}
    held = [item for item in inputs.items if item.key in parts]
    if not held:
        return NoAnswer(Reason.NOTHING_TO_JUDGE, "no item shown is to be held against a part")
    candidates = [_candidates(item, parts[item.key]) for item in held]
    texts = list(
        dict.fromkeys(text for each in candidates for text in (*each.claims, *each.sentences))
    )
    vectors = dict(zip(texts, await tools.embedder.embed(texts), strict=True))
    return GroundingReply(items=[_entry(each, vectors) for each in candidates])


def _candidates(item: ItemShown, part: PartHeld) -> _Candidates:
    return _Candidates(
        item, part.part, part.claims, _nearest_by_words(item, "\n".join(part.claims))
    )


def _nearest_by_words(item: ItemShown, claims: str) -> tuple[str, ...]:
    found = [
        sentence
        for sentence in dict.fromkeys(sentences(item.text))
        if SHORTEST_WORDS <= len(sentence.split()) <= LONGEST_WORDS
    ] or sentences(item.text)[:1]
    return tuple(
        sentence
        for _, sentence in rank_sentences(claims, found[:SENTENCES_READ], SENTENCES_EMBEDDED)
    )


def _entry(candidates: _Candidates, vectors: dict[str, NDArray[np.float32]]) -> GroundingEntry:
    item = candidates.item
    if not candidates.sentences:
        return GroundingEntry(
            key=item.key,
            relation=Relation.NEITHER,
            evidence="",
            analysis="Whole sentences: 0",
            relevance=0,
            passage="",
        )
    cosine, sentence, claim = max(
        (
            (float(vectors[sentence] @ vectors[claim]), sentence, claim)
            for sentence in candidates.sentences
            for claim in candidates.claims
        ),
        key=lambda found: found[0] + OUTCOME_BONUS * (read_sentence(found[1]).sign != "neutral"),
    )
    relevance = round(10 * min(max(cosine, 0.0) / FULL_COSINE, 1.0))
    relation = _relation(sentence, relevance, candidates.part)
    return GroundingEntry(
        key=item.key,
        relation=relation,
        evidence="" if relation is Relation.NEITHER else sentence,
        analysis=f"Claim: “{claim}”; cosine {cosine:.2f}",
        relevance=relevance,
        passage="" if relation is Relation.NEITHER else sentence,
    )


def _relation(sentence: str, relevance: int, part: str) -> Relation:
    """By the outcome the sentence words, if it is near enough to a claim for that to mean anything.

    What it says of earlier work or of the setting is no outcome of its own. Where the part claims
    that something is wanting, any shortcoming attests it, and a success elsewhere says nothing.
    """
    read = read_sentence(sentence)
    if relevance < LEAST_RELEVANCE or read.sign == "neutral":
        return Relation.NEITHER
    if part in NEEDS:
        return Relation.SUPPORTS if read.sign == "negative" else Relation.NEITHER
    if read.of_others:
        return Relation.NEITHER
    return Relation.SUPPORTS if read.sign == "positive" else Relation.REFUTES


GROUND_EVIDENCE = Step(
    name="ground_evidence",
    version=2,
    package="tasks.committee",
    input_model=GroundingInput,
    output_model=GroundingReply,
    baseline=baseline_grounding,
    answer_tokens=LONG_ANSWER_TOKENS,
)
