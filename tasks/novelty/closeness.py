"""Closeness of an idea's statements to related works, for the baseline and for calibration."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from schemas.text.patterns import IGNORECASE, bounded
from tasks.embeddings import Embedder
from tasks.text.phrases import specific_stems
from tasks.text.signs import BACKGROUND, CLAIM, GAP, NOVELTY
from tasks.text.words import sections_of_markdown, sentences, shorten_words, words

MAXIMUM_STATEMENTS = 8
MINIMUM_WORDS = 6
STATEMENT_WORDS = 80
PASSAGE_WORDS = 60
"""Length that a small sentence encoder reads completely; the title is a separate passage."""
SIMILARITY_WEIGHT = 0.6
"""Weight of the cosine; the rest is the share of the statement's specific words in the work."""
COVERED = 0.55
"""Closeness from which a statement counts as covered by a work: near the median (0.56) over 35 real
ideas with ten works each.
"""
_PROTOCOL = bounded(
    r"\b(?:experiment|evaluation|baseline|metric|ablation|timeline|budget)", IGNORECASE
)
_PROTOCOL_SENTENCE = bounded(
    r"(?:the )?(?:experiments?|baselines?|metrics?|ablations?|we"
    r" (?:measure|report|evaluate|compare))\b",
    IGNORECASE,
)
"""Statements on experiments, which are seldom the novelty of an idea."""
_EMPHASIS = bounded(r"[*_`#]{1,3}")


@dataclass(frozen=True, slots=True)
class Closeness:
    """Closeness of each statement of an idea to its closest related work.

    Attributes:
        statements: key statements, in the idea's order; never empty.
        values: from 0 to 1, of each statement.
        places: index of the closest work.
    """

    statements: tuple[str, ...]
    values: tuple[float, ...]
    places: tuple[int, ...]

    @property
    def mean(self) -> float:
        return sum(self.values) / len(self.values)

    @property
    def covered_share(self) -> float:
        return sum(value >= COVERED for value in self.values) / len(self.values)


def key_statements(idea: str) -> tuple[str, ...]:
    """Return the idea's strongest claims in their order, at most `MAXIMUM_STATEMENTS`."""
    strengths: dict[str, float] = {}
    for heading, body in sections_of_markdown(idea):
        for sentence in sentences(body):
            text, _ = shorten_words(_EMPHASIS.sub("", sentence).strip(), STATEMENT_WORDS)
            if len(words(text)) >= MINIMUM_WORDS and specific_stems(text):
                strengths.setdefault(text, _claim(text, heading))
    best = set(sorted(strengths, key=lambda text: -strengths[text])[:MAXIMUM_STATEMENTS])
    return tuple(text for text in strengths if text in best)


def _claim(text: str, heading: str) -> float:
    claim = (
        1.0 * bool(CLAIM.search(text))
        + min(len(NOVELTY.findall(text)), 2)
        + 0.05 * min(len(specific_stems(text)), 16)
    )
    background_sign_count = bool(BACKGROUND.search(heading)) + bool(
        _PROTOCOL.search(heading) or _PROTOCOL_SENTENCE.match(text)
    )
    return claim - 1.0 * background_sign_count - 0.8 * bool(GAP.search(text))


async def measure(
    idea: str, works: Sequence[tuple[str, str]], embedder: Embedder
) -> Closeness | None:
    """Measure the closeness of `idea` to works, given as (title, abstract).

    None without a work, or without a sentence of six words or more.
    """
    statements = key_statements(idea)
    return await closeness_of(statements, works, embedder) if statements and works else None


async def closeness_of(
    statements: Sequence[str], works: Sequence[tuple[str, str]], embedder: Embedder
) -> Closeness:
    """Return the closeness of statements to works.

    It is 0.6 × cosine with the nearest passage + 0.4 × share of specific words in the work.

    Statements and works must not be empty. A statement without a specific word has a share of 0.
    """
    passages = [_passages(title, abstract) for title, abstract in works]
    vectors = await embedder.embed(
        [*statements, *(passage for each in passages for passage in each)]
    )
    # Cosine with each work's nearest passage, shape (statements, works).
    starts = np.cumsum([0, *(len(each) for each in passages[:-1])])
    cosines = vectors[: len(statements)] @ vectors[len(statements) :].T
    similarity = np.maximum.reduceat(cosines, starts, axis=1)
    work_stems = [specific_stems(f"{title} {abstract}") for title, abstract in works]
    shared_words = np.array(
        [
            [len(stems & of_work) / (len(stems) or 1) for of_work in work_stems]
            for stems in map(specific_stems, statements)
        ]
    )
    close = (
        SIMILARITY_WEIGHT * np.clip(similarity, 0.0, 1.0) + (1 - SIMILARITY_WEIGHT) * shared_words
    )
    places = close.argmax(axis=1)
    values = tuple(round(float(close[row, place]), 4) for row, place in enumerate(places))
    return Closeness(tuple(statements), values, tuple(int(place) for place in places))


def _passages(title: str, abstract: str) -> list[str]:
    passages, remaining_text = [title] if title.strip() else [], abstract.strip()
    while remaining_text:
        passage, left_out = shorten_words(remaining_text, PASSAGE_WORDS)
        passages.append(passage)
        remaining_text = remaining_text[len(passage) :].strip() if left_out else ""
    return passages or ["untitled"]
