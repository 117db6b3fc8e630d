"""Baseline of `knowledge_queries`: key phrases of each part's claims in the idea's subject, then the same in other words."""

from collections import Counter

from schemas.committee import IdeaPart
from schemas.knowledge import SourceKind
from schemas.reasons import Reason
from tasks.committee.knowledge.answers import PartQueries, QueriesAnswer
from tasks.committee.knowledge.baselines.synonyms import abbreviations, reworded
from tasks.committee.knowledge.questions import QueriesQuestion
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.text.phrases import meaningful_words, salience, specific_phrases, specific_stems, stem_counts

WORD_LIMITS = {SourceKind.PAPERS: 7, SourceKind.WEB: 8, SourceKind.CODE: 4}
SUBJECT_WORDS = 2


async def baseline_queries(question: QueriesQuestion, tools: BaselineTools) -> QueriesAnswer | NoAnswer:
    """Per part and kind: the two phrases the idea dwells on most, a rewording of them, then the next phrases."""
    del tools
    frequency = stem_counts(question.idea)
    subject = sorted(dict.fromkeys(meaningful_words(question.idea)), key=lambda word: -salience(word, frequency))[:SUBJECT_WORDS]
    explained = abbreviations(question.idea)
    entries = []
    for part in question.parts:
        phrases = ranked_phrases("\n".join(part.claims), frequency)
        for kind in question.kinds:
            queries = _queries(phrases, subject, WORD_LIMITS[SourceKind(kind)], explained, question.maximum_queries)
            if queries:
                entries.append(PartQueries(part=IdeaPart(part.part), kind=SourceKind(kind), queries=queries))
    return QueriesAnswer(entries=entries) if entries else NoAnswer(Reason.NOTHING_TO_JUDGE, "the claims name nothing to search for")


def ranked_phrases(text: str, frequency: Counter[str]) -> list[str]:
    """Phrases of `text` that name something, those the idea dwells on first."""
    phrases = specific_phrases(text, 8) or meaningful_words(text)[:4]
    return sorted(phrases, key=lambda phrase: -sum(salience(word, frequency) for word in phrase.split()))


def filled(phrases: list[str], word_limit: int) -> str:
    """Phrases joined until the next would not fit, each stem once."""
    chosen: list[str] = []
    have: set[str] = set()
    for phrase in phrases:
        fresh = [word for word in phrase.split() if not specific_stems(word) or not specific_stems(word) <= have]
        if len(chosen) + len(fresh) <= word_limit:
            chosen.extend(fresh)
            have |= specific_stems(" ".join(fresh))
    return " ".join(chosen)


def _queries(phrases: list[str], subject: list[str], word_limit: int, explained: tuple[tuple[str, str], ...], limit: int) -> list[str]:
    found: dict[str, None] = {}
    for start in range(len(phrases)):
        query = filled([*phrases[start : start + 2], *subject], word_limit) or " ".join(phrases[start].split()[:word_limit])
        for candidate in (query, reworded(query, explained)):
            if candidate:
                found.setdefault(candidate)
    return list(found)[:limit]
