"""Step shared by topics: check of citations."""

from enum import StrEnum
from typing import Annotated

import numpy as np
from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind, Wording
from schemas.text.patterns import bounded
from tasks.judging.reply_fields import Prose, SoundEntries, word_of
from tasks.judging.step import BaselineTools, Step, steps_in
from tasks.text.words import content_words, sentences


class ClaimShown(Noun):
    """One sentence of a review, with the keys of what it cites."""

    number: int = Field(ge=1)
    sentence: str


class SourceShown(Noun):
    """Stored text of a paper, or its sentences nearest to claims."""

    key: str
    title: str
    text: str
    words_left_out: int = Field(default=0, ge=0)


class VerifyInput(Noun):
    """Input of `verify_citations`."""

    claims: tuple[ClaimShown, ...] = Field(min_length=1)
    sources: tuple[SourceShown, ...] = Field(min_length=1)
    wording: Wording = Wording.OWN


class Verdict(StrEnum):
    """Whether the texts cited carry a sentence; in the published wording, all that it needs."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    NOT = "not"
    NOT_SHOWN = "not_shown"
    CANNOT_TELL = "cannot_tell"


UNDECIDED = (Verdict.NOT_SHOWN, Verdict.CANNOT_TELL)
"""Verdicts that keep the sentence and count it as undecided."""


class ClaimVerdict(Reply):
    """The verdict on one claim; None: a word outside the list."""

    claim: int = Field(description="The number of the claim.")
    verdict: Annotated[Verdict | None, word_of(Verdict)]
    correction: Prose = Field(default="", description="The sentence with what it lacks mended.")


class VerifyReply(Reply):
    """Reply to `verify_citations`: a broken entry leaves its claim unchecked, not the others."""

    claims: Annotated[list[ClaimVerdict], Field(min_length=1), SoundEntries]


SUPPORTED_FROM = 0.22
"""Threshold chosen on half of 469 sentences with hand-marked cited spans.

See docs/quality/reviews.md.
"""
MEANING_WEIGHT = 0.5
_KEY = bounded(r"\[?\bP(\d{1,6})\b\]?")


async def baseline_verify(inputs: VerifyInput, tools: BaselineTools) -> VerifyReply:
    """Judge a claim supported where `support_of` reaches `SUPPORTED_FROM`; correct nothing."""
    by_key = {source.key: f"{source.title}. {source.text}" for source in inputs.sources}
    verdicts = []
    for claim in inputs.claims:
        keys = [f"P{match.group(1)}" for match in _KEY.finditer(claim.sentence)]
        cited_text = " ".join(by_key[key] for key in dict.fromkeys(keys) if key in by_key)
        support = await support_of(_KEY.sub("", claim.sentence), cited_text, tools)
        verdict = Verdict.SUPPORTED if support >= SUPPORTED_FROM else Verdict.NOT
        verdicts.append(ClaimVerdict(claim=claim.number, verdict=verdict))
    return VerifyReply(claims=verdicts)


async def support_of(sentence: str, text: str, tools: BaselineTools) -> float:
    """Return how well `text` supports `sentence`, 0 to 1.

    Half is the cosine with the nearest sentence, half the share of the sentence's words in `text`.
    """
    parts = sentences(text)
    if not parts:
        return 0.0
    vectors = await tools.embedder.embed([sentence, *parts])
    meaning = float(np.clip((vectors[1:] @ vectors[0]).max(), 0.0, 1.0))
    sentence_words, text_words = set(content_words(sentence)), set(content_words(text))
    word_share = len(sentence_words & text_words) / len(sentence_words) if sentence_words else 0.0
    return MEANING_WEIGHT * meaning + (1 - MEANING_WEIGHT) * word_share


VERIFY_CITATIONS = Step(
    name="verify_citations",
    version=3,
    package="tasks.judging",
    input_model=VerifyInput,
    output_model=VerifyReply,
    baseline=baseline_verify,
    kind=StepKind.READING,
)


STEPS = steps_in(__name__)
