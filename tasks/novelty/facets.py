"""Related works by facet: what an idea is for, how it works, how it is tested, where it is used.

A work may anticipate the mechanism of an idea and nothing else of it; beside the idea as a whole it
then looks far away.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from schemas.identifiers import PaperId
from schemas.paper import Paper
from schemas.patterns import IGNORECASE, Pattern, bounded
from tasks.embeddings import Embedder
from tasks.embeddings.similarity import Nearness, fused, similarity_of
from tasks.text.words import sections_of_markdown, sentences


class Facet(StrEnum):
    PURPOSE = "purpose"
    MECHANISM = "mechanism"
    EVALUATION = "evaluation"
    APPLICATION = "application"


_HEADINGS: Mapping[Facet, Pattern] = {
    Facet.EVALUATION: bounded(r"\b(?:experiment|evaluation|validation|test|metric)", IGNORECASE),
    Facet.MECHANISM: bounded(r"\b(?:method|approach|solution|model|technical|design)", IGNORECASE),
    Facet.APPLICATION: bounded(r"\b(?:application|impact|use case|deployment)", IGNORECASE),
    Facet.PURPOSE: bounded(r"\b(?:problem|objective|goal|aim|motivation|question)", IGNORECASE),
}
_SENTENCES: Mapping[Facet, Pattern] = {
    Facet.EVALUATION: bounded(
        r"\b(?:evaluat|baseline|metric|ablation|benchmark|measure|compare[ds]?\b|experiment)",
        IGNORECASE,
    ),
    Facet.APPLICATION: bounded(
        r"\b(?:appl(?:y|ied|ication)|used? (?:for|in|by)\b|deploy|practitioner|clinic|real-world)",
        IGNORECASE,
    ),
    Facet.PURPOSE: bounded(
        r"\b(?:aims?\b|goal|objective|in order to|problem|challenge|whether|to (?:improve|reduce"
        r"|understand|enable|predict))",
        IGNORECASE,
    ),
    Facet.MECHANISM: bounded(
        r"\b(?:we (?:propose|introduce|train|learn|build|use|combine)|using|architecture|algorithm"
        r"|module|loss)",
        IGNORECASE,
    ),
}
"""The first that fits counts. What fits none belongs to the mechanism: most of an idea does."""


def facet_texts(idea: str) -> dict[Facet, str]:
    """The sentences of an idea by facet, by heading or else by wording; facets without a sentence
    are left out.
    """
    found: dict[Facet, list[str]] = {}
    for heading, body in sections_of_markdown(idea):
        by_heading = _first(_HEADINGS, heading)
        for sentence in sentences(body):
            facet = by_heading or _first(_SENTENCES, sentence) or Facet.MECHANISM
            found.setdefault(facet, []).append(sentence)
    return {facet: " ".join(found[facet]) for facet in Facet if facet in found}


def _first(patterns: Mapping[Facet, Pattern], text: str) -> Facet | None:
    return next((facet for facet, pattern in patterns.items() if pattern.search(text)), None)


async def facet_ranking(
    idea: str, papers: Sequence[Paper], embedder: Embedder
) -> dict[PaperId, float]:
    """A value by paper, higher is nearer: the rankings by the whole idea and by each of its facets,
    fused.
    """
    texts = [idea, *facet_texts(idea).values()]
    return fused([await similarity_of(papers, Nearness(text, embedder)) for text in texts])
