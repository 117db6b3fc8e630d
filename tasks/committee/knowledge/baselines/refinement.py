"""Baseline of `refine_queries`: relevance feedback. The vocabulary of the best finds widens a query, the claims' own narrows it."""

from schemas.committee import IdeaPart
from schemas.knowledge import SourceKind
from schemas.reasons import Reason
from tasks.committee.knowledge.answers import QueryTrouble, RefinedQueries, RefinementAnswer
from tasks.committee.knowledge.baselines.queries import WORD_LIMITS, filled, ranked_phrases
from tasks.committee.knowledge.questions import PartShown, QueryOutcome, RefinementQuestion
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.text.phrases import mentions, specific_phrases, specific_stems, stem_counts

FEW_FINDS = 3
LOW_SIMILARITY = 0.3
GENERAL_SIMILARITY = 0.45
"""Mean cosine to the idea under which finds are about something else, and under which they are at most of the field."""


async def baseline_refinement(question: RefinementQuestion, tools: BaselineTools) -> RefinementAnswer | NoAnswer:
    """One verdict per part and kind that was searched, by how many things were found and how near they stand."""
    del tools
    frequency = stem_counts(question.idea)
    asked = {" ".join(outcome.query.lower().split()) for outcome in question.outcomes}
    entries = []
    for part in question.parts:
        for kind in question.kinds:
            outcomes = [outcome for outcome in question.outcomes if (outcome.part, outcome.kind) == (part.part, kind)]
            if outcomes:
                trouble = _trouble(outcomes)
                words = _words(trouble, part, outcomes, ranked_phrases("\n".join(part.claims), frequency))
                query = filled(words, WORD_LIMITS[SourceKind(kind)])
                fresh = [query] if query and query not in asked else []
                asked.update(fresh)
                entries.append(RefinedQueries(part=IdeaPart(part.part), kind=SourceKind(kind), trouble=trouble, queries=fresh))
    return RefinementAnswer(entries=entries) if entries else NoAnswer(Reason.NOTHING_TO_JUDGE, "no part shown was searched")


def _trouble(outcomes: list[QueryOutcome]) -> QueryTrouble:
    if sum(outcome.found_count for outcome in outcomes) < FEW_FINDS:
        return QueryTrouble.TOO_SPECIFIC
    found = [outcome for outcome in outcomes if outcome.found_count]
    mean = sum(outcome.mean_similarity for outcome in found) / len(found)
    if mean < LOW_SIMILARITY:
        return QueryTrouble.LOW_RELEVANCE
    return QueryTrouble.TOO_GENERAL if mean < GENERAL_SIMILARITY else QueryTrouble.NONE


def _words(trouble: QueryTrouble, part: PartShown, outcomes: list[QueryOutcome], phrases: list[str]) -> list[str]:
    """Phrases for the next query, best first. What was read counts where the claims speak of it too, or where nothing ails the queries."""
    used = frozenset(stem for outcome in outcomes for stem in specific_stems(outcome.query))
    fresh = [phrase for phrase in phrases if not specific_stems(phrase) <= used]
    read = specific_phrases("\n".join(gist for outcome in outcomes for gist in outcome.gists), 8)
    claims = specific_stems("\n".join(part.claims))
    shared = [phrase for phrase in read if mentions(claims, phrase) and not specific_stems(phrase) <= used]
    if trouble is QueryTrouble.TOO_SPECIFIC:
        return phrases[:1]
    if trouble is QueryTrouble.LOW_RELEVANCE:
        return [*fresh[:2], *phrases[:1]]
    if trouble is QueryTrouble.TOO_GENERAL:
        return [*shared[:1], *fresh[:2]]
    unseen = [phrase for phrase in read if not specific_stems(phrase) <= used]
    return [*unseen[:1], *phrases[:1]] if unseen else []
