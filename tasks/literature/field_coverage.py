"""Field coverage: whether a snapshot is about what an idea is about, before evidence is bought.

Two signals of one search with the key phrases of the idea, and a logistic rule over them:
how near the best works are to the idea by sentence embedding, and how many words of its key phrases
occur in them at all. No model is called. The live APIs cover every field: they are not looked at.
"""

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date
from statistics import fmean

from schemas.choices import stored_snapshot
from schemas.failure import Answer
from schemas.idea import Idea
from schemas.literature.coverage import FieldCoverage
from schemas.literature.paper import Paper
from tasks.embeddings import Embedder
from tasks.embeddings.similarity import Nearness, similarity_of
from tasks.literature.client import own_publications
from tasks.text.words import content_words, key_phrases, shorten_words

# Fitted in November 2026 (docs/quality/literature.md has the table and names the script) on one
# half of the labelled pairs of an idea and a snapshot, with the vectors of all-MiniLM-L6-v2.
_INTERCEPT = -15.75
_SIMILARITY_WEIGHT = 14.56
_SHARED_WEIGHT = 12.91
# An idea that is refused loses its evidence. 0.43 refused 5 % of the fitted half; 0.37 refuses 2 %.
# Both refuse 4 of 55 held-out pairs.
_LEAST_PROBABILITY = 0.37

_SEARCHED_PAPERS = 25
_EMBEDDED_PAPERS = 10  # by rank; the five nearest of them are settled by then
_NEAREST_PAPERS = 5
_SEARCH_PHRASES, _QUERY_WORDS = 15, 40
_TITLES_NAMED, _TITLE_WORDS = 2, 8
_NO_WORDS = "its text gives no words to search this literature with"

Search = Callable[[str, int, date | None], Awaitable[Answer[Paper]]]
"""`LiteratureClient.search_papers`."""


@dataclass(frozen=True, slots=True)
class FieldSignals:
    """Signs that the best works of a search give of an idea.

    Attributes:
        similarity_0_to_1: mean cosine of the idea with the nearest of them.
        shared_0_to_1: share of the words of its key phrases that occur in one of them.
        nearest: the works, nearest first.
    """

    similarity_0_to_1: float
    shared_0_to_1: float
    nearest: tuple[Paper, ...] = ()


def is_looked_at(literature: str) -> bool:
    """Return whether the field is looked at: in a literature that is a snapshot alone."""
    return stored_snapshot(literature) is not None and "+" not in literature


def coverage_condition(literature: str) -> str:
    """The part of the rule that can change an evaluation; empty where it is not applied."""
    if not is_looked_at(literature):
        return ""
    return f"coverage {_INTERCEPT} {_SIMILARITY_WEIGHT} {_SHARED_WEIGHT} {_LEAST_PROBABILITY}"


async def look_at_field(idea: Idea, search: Search, embedder: Embedder) -> Answer[FieldCoverage]:
    """Return the one coverage of the field of `idea`; none where the search failed or no work tells
    of the field. That nothing was found does not say that the field is not covered.

    Without a key phrase there is nothing to search with, and the field is not covered.

    Args:
        embedder: of the bundled model, whose similarities the rule was fitted on.
    """
    query = search_query(idea)
    if not query:
        # No search is made: the literature would refuse a query without words as malformed.
        return Answer(
            (
                FieldCoverage(
                    field_covered=False, field_coverage_0_to_1=0, field_coverage_detail=_NO_WORDS
                ),
            )
        )
    answer = await search(query, _SEARCHED_PAPERS, idea.cutoff_date)
    if not answer.complete:
        return Answer((), answer.failures)
    signals = await signals_of(idea, answer.items, embedder)
    return Answer((judged(signals),) if signals.nearest else ())


def search_query(idea: Idea) -> str:
    """The words of the best key phrases, each once; the title is no part of the key."""
    phrases = key_phrases(idea.text, _SEARCH_PHRASES)
    return " ".join(list(dict.fromkeys(" ".join(phrases).split()))[:_QUERY_WORDS])


async def signals_of(idea: Idea, found: Sequence[Paper], embedder: Embedder) -> FieldSignals:
    """Measure the works found; the publication of the idea itself is no sign of its field."""
    own = {paper.paper_id for paper in own_publications(idea, found)}
    papers = [paper for paper in found if paper.paper_id not in own]
    if not papers:
        return FieldSignals(0.0, 0.0)
    embedded = papers[:_EMBEDDED_PAPERS]
    similarity = await similarity_of(embedded, Nearness(idea.text, embedder))
    embedded.sort(key=lambda paper: -similarity[paper.paper_id])
    best = embedded[:_NEAREST_PAPERS]
    return FieldSignals(
        similarity_0_to_1=fmean(similarity[paper.paper_id] for paper in best),
        shared_0_to_1=_shared(idea, papers),
        nearest=tuple(best),
    )


def _shared(idea: Idea, papers: Sequence[Paper]) -> float:
    own = set(content_words(" ".join(key_phrases(idea.text, _SEARCH_PHRASES))))
    theirs = {
        word for paper in papers for word in content_words(f"{paper.title} {paper.abstract or ''}")
    }
    return len(own & theirs) / len(own) if own else 0.0


def judged(signals: FieldSignals) -> FieldCoverage:
    value = (
        _INTERCEPT
        + _SIMILARITY_WEIGHT * signals.similarity_0_to_1
        + _SHARED_WEIGHT * signals.shared_0_to_1
    )
    probability = 1 / (1 + math.exp(-value))
    return FieldCoverage(
        field_covered=probability >= _LEAST_PROBABILITY,
        field_coverage_0_to_1=round(probability, 4),
        field_coverage_detail=_detail(signals),
    )


def _detail(signals: FieldSignals) -> str:
    titles = (
        f"“{shorten_words(' '.join(paper.title.split()), _TITLE_WORDS)[0]}”"
        for paper in signals.nearest[:_TITLES_NAMED]
    )
    return (
        f"nearest works are about {', '.join(titles)} (similarity"
        f" {signals.similarity_0_to_1:.2f}, {signals.shared_0_to_1:.0%} of its key words)"
    )
