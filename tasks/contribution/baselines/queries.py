"""Baseline of `contribution_queries`: key phrases of the statement, set in the idea's subject."""

from collections import Counter

from schemas.reasons import Reason
from tasks.contribution.answers import QueriesAnswer, StatementQueries
from tasks.contribution.baselines.phrases import meaningful_words, salience, specific_phrases, specific_stems, stem_counts
from tasks.contribution.questions import QueriesQuestion
from tasks.judging.step import BaselineTools, NoAnswer

QUERY_WORD_LIMIT = 7
"""ScholarEval B.2: seven words per query."""
SUBJECT_WORDS = 2


async def baseline_queries(question: QueriesQuestion, tools: BaselineTools) -> QueriesAnswer | NoAnswer:
    """For each statement queries of at most seven words that begin at different key phrases of it.

    Room that a phrase leaves is filled with what the idea speaks of most, so that no query leaves the subject.
    """
    del tools
    frequency = stem_counts(question.idea)
    subject = sorted(dict.fromkeys(meaningful_words(question.idea)), key=lambda word: -salience(word, frequency))[:SUBJECT_WORDS]
    seen: set[frozenset[str]] = set()
    answers = [
        StatementQueries(statement=number, queries=queries)
        for number, statement in enumerate((text for dimension in question.dimensions for text in dimension.statements), start=1)
        if (queries := _queries(statement, subject, frequency, question.maximum_queries, seen))
    ]
    if not answers:
        return NoAnswer(Reason.NOTHING_TO_JUDGE, "the statements name nothing specific to search for")
    return QueriesAnswer(statements=answers)


def _queries(statement: str, subject: list[str], frequency: Counter[str], limit: int, seen: set[frozenset[str]]) -> list[str]:
    phrases = specific_phrases(statement, 8) or meaningful_words(statement)[:4]
    ranked = sorted(phrases, key=lambda phrase: -sum(salience(word, frequency) for word in phrase.split()))
    queries: list[str] = []
    for start in range(len(ranked)):
        query = _filled([*ranked[start : start + 2], *subject])
        if len(queries) < limit and query and (stems := specific_stems(query)) not in seen:
            seen.add(stems)
            queries.append(query)
    return queries or [query for query in (_filled([*ranked, *subject]),) if query]


def _filled(phrases: list[str]) -> str:
    """Phrases joined until the next would not fit, each stem once."""
    chosen: list[str] = []
    have: set[str] = set()
    for phrase in phrases:
        fresh = [word for word in phrase.split() if not specific_stems(word) or not specific_stems(word) <= have]
        if len(chosen) + len(fresh) <= QUERY_WORD_LIMIT:
            chosen.extend(fresh)
            have |= specific_stems(" ".join(fresh))
    return " ".join(chosen)
