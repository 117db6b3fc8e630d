"""Search queries made of the key phrases of statements."""

from collections import Counter
from collections.abc import Sequence

from tasks.text.phrases import (
    meaningful_words,
    salience,
    specific_phrases,
    specific_stems,
    stem_counts,
)

QUERY_WORD_LIMIT = 7
"""ScholarEval B.2: seven words per query."""
SUBJECT_WORDS = 2


def phrase_queries(text: str, statements: Sequence[str], limit: int) -> list[list[str]]:
    """For each statement about `text` at most `limit` queries of at most seven words.

    Queries of one statement begin at different key phrases of it. Room that a phrase leaves is
    filled with what the text speaks of most, so that no query leaves the subject. A statement that
    names nothing specific has none; no two statements share a query.
    """
    frequency = stem_counts(text)
    by_salience = sorted(
        dict.fromkeys(meaningful_words(text)), key=lambda word: -salience(word, frequency)
    )
    seen: set[frozenset[str]] = set()
    return [
        _queries(statement, by_salience[:SUBJECT_WORDS], frequency, limit, seen)
        for statement in statements
    ]


def _queries(
    statement: str,
    subject: list[str],
    frequency: Counter[str],
    limit: int,
    seen: set[frozenset[str]],
) -> list[str]:
    ranked = ranked_phrases(statement, frequency)
    queries: list[str] = []
    for start in range(len(ranked)):
        query = filled([*ranked[start : start + 2], *subject], QUERY_WORD_LIMIT)
        if len(queries) < limit and query and (stems := specific_stems(query)) not in seen:
            seen.add(stems)
            queries.append(query)
    return queries or [query for query in (filled([*ranked, *subject], QUERY_WORD_LIMIT),) if query]


def ranked_phrases(text: str, frequency: Counter[str]) -> list[str]:
    """Phrases of `text` that name something, those the idea dwells on first."""
    phrases = specific_phrases(text, 8) or meaningful_words(text)[:4]
    return sorted(
        phrases, key=lambda phrase: -sum(salience(word, frequency) for word in phrase.split())
    )


def filled(phrases: list[str], word_limit: int) -> str:
    """Phrases joined until the next would not fit, each stem once."""
    chosen: list[str] = []
    have: set[str] = set()
    for phrase in phrases:
        fresh = [
            word
            for word in phrase.split()
            if not specific_stems(word) or not specific_stems(word) <= have
        ]
        if len(chosen) + len(fresh) <= word_limit:
            chosen.extend(fresh)
            have |= specific_stems(" ".join(fresh))
    return " ".join(chosen)
