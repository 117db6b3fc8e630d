"""Steps about finds: credibility, summaries of pages, and grounding in parts of the idea."""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judgement.committee import IdeaPart, Relation
from schemas.judging import LONG_ANSWER_TOKENS
from schemas.literature.knowledge import SourceKind
from schemas.reasons import Reason
from schemas.text.patterns import IGNORECASE, bounded
from tasks.judging.reply_fields import KeyedEntry, SoundEntries, Text
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.signs import read_sentence
from tasks.text.words import rank_sentences, sentences


class ItemFacts(Noun):
    key: str
    kind: str
    title: str
    site: str = Field(description="Venue, site or owner; empty where unknown.")
    published: str = Field(description="YYYY-MM-DD, or `undated`.")
    citation_count: int | None = Field(ge=0)
    stars: int | None = Field(ge=0)


class CredibilityInput(Noun):
    items: tuple[ItemFacts, ...] = Field(min_length=1)
    as_of_year: int = Field(
        description="The year against which age is reckoned: the cutoff's, or the current one."
    )


class CredibilityEntry(KeyedEntry):
    score: int = Field(ge=0, le=10)


class CredibilityReply(Reply):
    items: Annotated[list[CredibilityEntry], Field(min_length=1), SoundEntries]


TOP_CITATIONS_A_YEAR = 50
TOP_STARS_A_YEAR = 1000
CITATION_WEIGHT = 0.7
_PREPRINTS = bounded(r"arxiv|biorxiv|medrxiv|preprint|ssrn|openreview", IGNORECASE)
_INSTITUTION = bounded(
    r"\.(?:edu|gov|mil|int)(?:\.[a-z]{2})?$|\.ac\.[a-z]{2}$|(?:^|\.)(?:wikipedia|acm|ieee|nature"
    r"|nih|who|europa)\.\w{1,40}$"
)
_NON_PROFIT = bounded(r"\.org$|^docs?\.|readthedocs|(?:^|\.)github\.io$")


async def baseline_credibility(
    inputs: CredibilityInput, tools: BaselineTools
) -> CredibilityReply | NoAnswer:
    """Score each item separately by citations, stars or site, in whole points."""
    del tools
    entries = []
    for item in inputs.items:
        score_0_to_1 = _assess(item, inputs.as_of_year)
        if score_0_to_1 is not None:
            entries.append(CredibilityEntry(key=item.key, score=round(10 * score_0_to_1)))
    return (
        CredibilityReply(items=entries)
        if entries
        else NoAnswer(Reason.NO_EVIDENCE, "nothing is known that tells how credible the items are")
    )


def _assess(item: ItemFacts, as_of_year: int) -> float | None:
    years = max(as_of_year - int(item.published[:4]), 1) if item.published[:4].isdigit() else 1
    if item.kind == SourceKind.WEB.value:
        if not item.site:
            return None
        host = item.site.lower()
        return 0.8 if _INSTITUTION.search(host) else 0.5 if _NON_PROFIT.search(host) else 0.35
    if item.kind == SourceKind.CODE.value:
        return None if item.stars is None else _share(item.stars / years, TOP_STARS_A_YEAR)
    venue = None if not item.site else 0.3 if _PREPRINTS.search(item.site) else 0.7
    if item.citation_count is None:
        return venue
    citation_share = _share(item.citation_count / years, TOP_CITATIONS_A_YEAR)
    if venue is None:
        return citation_share
    return CITATION_WEIGHT * citation_share + (1 - CITATION_WEIGHT) * venue


def _share(amount: float, top: float) -> float:
    return min(math.log1p(amount) / math.log1p(top), 1.0)


JUDGE_CREDIBILITY = Step(
    name="judge_credibility",
    version=3,
    package="tasks.committee",
    input_model=CredibilityInput,
    output_model=CredibilityReply,
    baseline=baseline_credibility,
    answer_tokens=LONG_ANSWER_TOKENS,
)


class PageShown(Noun):
    key: str
    title: str
    text: str = Field(min_length=1)


class SummariesInput(Noun):
    idea: str = Field(min_length=1)
    pages: tuple[PageShown, ...] = Field(min_length=1)


class PageSummary(KeyedEntry):
    summary: Text = Field(description="Four to eight sentences; one of a page without bearing.")
    passages: list[str] = Field(
        description="Two to five, each of one or two whole sentences, copied word for word."
    )


class SummariesReply(Reply):
    pages: Annotated[list[PageSummary], Field(min_length=1), SoundEntries]


SUMMARY_SENTENCES = 6
PASSAGES = 3
PAGE_SENTENCES_READ = 200


async def baseline_summaries(
    inputs: SummariesInput, tools: BaselineTools
) -> SummariesReply | NoAnswer:
    """Summarize each page by its nearest sentences.

    Pages without sentences get no entry.
    """
    del tools
    pages = [summary for page in inputs.pages if (summary := _summary(page, inputs.idea))]
    return (
        SummariesReply(pages=pages)
        if pages
        else NoAnswer(Reason.NO_EVIDENCE, "the pages hold no whole sentences")
    )


def _summary(page: PageShown, idea: str) -> PageSummary | None:
    page_sentences = [
        sentence
        for sentence in dict.fromkeys(sentences(page.text))
        if len(sentence.split()) >= SHORTEST_WORDS
    ][:PAGE_SENTENCES_READ]
    if not page_sentences:
        return None
    best = [sentence for _, sentence in rank_sentences(idea, page_sentences, SUMMARY_SENTENCES)]
    return PageSummary(
        key=page.key,
        summary=" ".join(sentence for sentence in page_sentences if sentence in best),
        passages=best[:PASSAGES],
    )


SUMMARISE_PAGES = Step(
    name="summarise_pages",
    version=2,
    package="tasks.committee",
    input_model=SummariesInput,
    output_model=SummariesReply,
    baseline=baseline_summaries,
    answer_tokens=LONG_ANSWER_TOKENS,
)


class ItemShown(Noun):
    key: str
    kind: str
    title: str
    text: str = Field(min_length=1)


class PartHeld(Noun):
    part: str
    claims: tuple[str, ...] = Field(min_length=1)
    keys: tuple[str, ...] = Field(
        min_length=1, description="Each item stands under exactly one part."
    )


class GroundingInput(Noun):
    idea: str = Field(
        min_length=1, description="Title and gist, which is enough to read the claims by."
    )
    items: tuple[ItemShown, ...] = Field(min_length=1)
    parts: tuple[PartHeld, ...] = Field(min_length=1)


class GroundingEntry(KeyedEntry):
    relation: Relation
    evidence: str = Field(description="What the item says, in one to three sentences.")
    analysis: str = Field(description="How it bears on the claims, in one to three sentences.")
    relevance: int = Field(ge=0, le=10)
    passage: str = Field(
        description="One or two sentences of the item, word for word; empty for no evidence."
    )


class GroundingReply(Reply):
    items: Annotated[list[GroundingEntry], Field(min_length=1), SoundEntries]


SENTENCES_READ = 150
SENTENCES_EMBEDDED = 3
SHORTEST_WORDS, LONGEST_WORDS = 6, 80
LEAST_RELEVANCE = 4
"""Relevance, of 10, from which a sentence counts.

Less relevant sentences share the subject at most.
"""
FULL_COSINE = 0.75
"""Cosine that counts as the same statement; sentences of one field have about 0.3."""
OUTCOME_BONUS = 0.08
"""Bonus in cosine for a sentence that states an outcome."""
NEEDS = frozenset({IdeaPart.MOTIVATIONS.value, IdeaPart.RESEARCH_QUESTIONS.value})
"""Parts that claim that something is missing."""


@dataclass(frozen=True, slots=True)
class _Candidates:
    item: ItemShown
    part: str
    claims: tuple[str, ...]
    sentences: tuple[str, ...]


async def baseline_grounding(
    inputs: GroundingInput, tools: BaselineTools
) -> GroundingReply | NoAnswer:
    """Ground each item separately: preselect by shared words, choose by embedding, read the outcome."""
    parts = {key: part for part in inputs.parts for key in part.keys}
    items = [item for item in inputs.items if item.key in parts]
    if not items:
        return NoAnswer(Reason.NOTHING_TO_JUDGE, "no item shown is to be held against a part")
    candidates = [
        _Candidates(
            item,
            parts[item.key].part,
            parts[item.key].claims,
            _nearest_by_words(item, "\n".join(parts[item.key].claims)),
        )
        for item in items
    ]
    texts = list(
        dict.fromkeys(text for each in candidates for text in (*each.claims, *each.sentences))
    )
    vectors = dict(zip(texts, await tools.embedder.embed(texts), strict=True))
    return GroundingReply(items=[_entry(each, vectors) for each in candidates])


def _nearest_by_words(item: ItemShown, claims: str) -> tuple[str, ...]:
    candidates = [
        sentence
        for sentence in dict.fromkeys(sentences(item.text))
        if SHORTEST_WORDS <= len(sentence.split()) <= LONGEST_WORDS
    ] or sentences(item.text)[:1]
    return tuple(
        sentence
        for _, sentence in rank_sentences(claims, candidates[:SENTENCES_READ], SENTENCES_EMBEDDED)
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
        key=lambda pair: pair[0] + OUTCOME_BONUS * (read_sentence(pair[1]).sign != "neutral"),
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
    """Return the relation by the outcome in a sentence near a claim.

    Statements on earlier work or the setting are no outcome. A part that claims a need is supported
    by any shortcoming, and a success elsewhere is neutral.
    """
    reading = read_sentence(sentence)
    if relevance < LEAST_RELEVANCE or reading.sign == "neutral":
        return Relation.NEITHER
    if part in NEEDS:
        return Relation.SUPPORTS if reading.sign == "negative" else Relation.NEITHER
    if reading.of_others:
        return Relation.NEITHER
    return Relation.SUPPORTS if reading.sign == "positive" else Relation.REFUTES


GROUND_EVIDENCE = Step(
    name="ground_evidence",
    version=3,
    package="tasks.committee",
    input_model=GroundingInput,
    output_model=GroundingReply,
    baseline=baseline_grounding,
    answer_tokens=LONG_ANSWER_TOKENS,
)
