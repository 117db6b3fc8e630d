"""Field coverage: whether a snapshot covers the field of an idea.

One search with the key phrases of the idea gives two signals: the embedding similarity of the best
works, and the share of the words of its key phrases that occur in them. A logistic rule combines
them. No model is called. The live APIs cover every field and are not checked.
"""

import math
from collections.abc import Awaitable, Callable
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
# A refused idea gets no evidence. 0.43 refused 5 % of the fitted half, 0.37 refuses 2 %; both
# refuse
# 4 of 55 held-out pairs.
_LEAST_PROBABILITY = 0.37

_SEARCHED_PAPERS = 25
_EMBEDDED_PAPERS = 10  # by rank; further ones no longer change the five nearest
_NEAREST_PAPERS = 5
_SEARCH_PHRASES, _QUERY_WORDS = 15, 40
_TITLES_NAMED, _TITLE_WORDS = 2, 8
_NO_WORDS = "its text gives no words to search this literature with"

Search = Callable[[str, int, date | None], Awaitable[Answer[Paper]]]
"""The search of papers, such as `LiteratureClient.search_papers`."""


def is_checked(literature: str) -> bool:
    """Return whether coverage is checked: only for a literature that is a snapshot alone."""
    return stored_snapshot(literature) is not None and "+" not in literature


def coverage_condition(literature: str) -> str:
    """Return the parameters of the rule for run ids.

    They are empty where the rule is not applied.
    """
    if not is_checked(literature):
        return ""
    return f"coverage {_INTERCEPT} {_SIMILARITY_WEIGHT} {_SHARED_WEIGHT} {_LEAST_PROBABILITY}"


async def check_field(idea: Idea, search: Search, embedder: Embedder) -> Answer[FieldCoverage]:
    """Return the coverage of the field of `idea`, without its own publication.

    The answer is empty if the search failed or found no work. An idea without key phrases cannot be
    searched for: its field counts as not covered.

    Args:
        embedder: with the bundled model, on whose similarities the rule was fitted.
    """
    query = search_query(idea)
    if not query:
        # The literature would refuse a query without words as malformed.
        verdict = FieldCoverage(
            field_covered=False, field_coverage_0_to_1=0, field_coverage_detail=_NO_WORDS
        )
        return Answer((verdict,))
    answer = await search(query, _SEARCHED_PAPERS, idea.cutoff_date)
    if not answer.complete:
        return Answer((), answer.failures)
    own_ids = {paper.paper_id for paper in own_publications(idea, answer.items)}
    papers = [paper for paper in answer.items if paper.paper_id not in own_ids]
    if not papers:
        return Answer(())
    candidates = papers[:_EMBEDDED_PAPERS]
    similarity_of_paper = await similarity_of(candidates, Nearness(idea.text, embedder))
    candidates.sort(key=lambda paper: -similarity_of_paper[paper.paper_id])
    nearest = candidates[:_NEAREST_PAPERS]
    similarity = fmean(similarity_of_paper[paper.paper_id] for paper in nearest)
    idea_words = set(content_words(" ".join(key_phrases(idea.text, _SEARCH_PHRASES))))
    paper_words = {
        word for paper in papers for word in content_words(f"{paper.title} {paper.abstract or ''}")
    }
    word_share = len(idea_words & paper_words) / len(idea_words) if idea_words else 0.0
    value = _INTERCEPT + _SIMILARITY_WEIGHT * similarity + _SHARED_WEIGHT * word_share
    probability = 1 / (1 + math.exp(-value))
    titles = (
        f"“{shorten_words(' '.join(paper.title.split()), _TITLE_WORDS)[0]}”"
        for paper in nearest[:_TITLES_NAMED]
    )
    coverage = FieldCoverage(
        field_covered=probability >= _LEAST_PROBABILITY,
        field_coverage_0_to_1=round(probability, 4),
        field_coverage_detail=(
            f"nearest works are about {', '.join(titles)} (similarity"
            f" {similarity:.2f}, {word_share:.0%} of its key words)"
        ),
    )
    return Answer((coverage,))


def search_query(idea: Idea) -> str:
    """Return the distinct words of the best key phrases of the text, without its title."""
    phrases = key_phrases(idea.text, _SEARCH_PHRASES)
    return " ".join(list(dict.fromkeys(" ".join(phrases).split()))[:_QUERY_WORDS])
