"""What a search for knowledge will cost, before it is paid for."""

import math

from schemas.committee import IdeaPart
from schemas.knowledge import SourceKind
from schemas.profile import CommitteeParameters
from tasks.committee.knowledge.asking import GIST_WORDS
from tasks.committee.knowledge.outline import GROUNDED
from tasks.committee.knowledge.selection import SIMILARITY_SHARE
from tasks.committee.knowledge.summarising import PAGE_SHARE
from tasks.judging.expected import Asked

NEW_SHARE_OF_LATER_ROUNDS = 0.5
"""Of what comes through in a later round, the share not met before."""
TOKENS_PER_WORD = 1.7
"""Characters / 4 of the words of real ideas and abstracts."""
CLAIM_TOKENS = 700.0
"""All claims of an idea."""
TITLE_TOKENS = 35.0
"""Title, key and tags of anything shown."""
ABSTRACT_TOKENS = 290.0
FULL_TEXT_SHARE = 0.8
"""Of papers, those whose full text can be had where it is asked for."""
LONGEST_PAGE_TOKENS = 2_500
SUMMARY_TOKENS = 350.0
"""A page's summary, with its passages."""
STANDING_TOKENS, REASON_TOKENS = 50.0, 32.0
"""What is shown of one find whose credibility is to be judged, and what is said of it."""
QUERY_TOKENS, OUTCOME_TOKENS = 35.0, 45.0
"""A query with what names its part, and what is shown of one that was asked."""
GROUNDING_TOKENS = 200.0
"""What is said of one thing held against one part: evidence, analysis and passage."""


def expected_calls(
    parameters: CommitteeParameters, kinds: frozenset[SourceKind], *, dated: bool, full_text: bool
) -> dict[str, Asked]:
    """By step, for one idea with all parts, when every search finds enough.

    Args:
        kinds: kinds for which some source is configured.
        dated: whether the idea has a cutoff, after which later knowledge is searched too.
        full_text: whether papers are read whole where they can be had.
    """
    phases = 2 if dated and parameters.use_later_knowledge else 1
    return {
        "knowledge_queries": _queries(parameters, kinds),
        "judge_credibility": _credibility(parameters, len(kinds) * phases),
        "summarise_pages": _summaries(parameters, phases if SourceKind.WEB in kinds else 0),
        "refine_queries": _refinements(parameters, kinds),
        "ground_evidence": _grounding(parameters, kinds, later=phases == 2, full_text=full_text),
    }


def _queries(parameters: CommitteeParameters, kinds: frozenset[SourceKind]) -> Asked:
    calls = math.ceil(len(IdeaPart) / parameters.parts_per_query_call)
    return Asked(calls, CLAIM_TOKENS, QUERY_TOKENS * _places(kinds) * parameters.queries_per_part)


def _refinements(parameters: CommitteeParameters, kinds: frozenset[SourceKind]) -> Asked:
    """Every round but the last: the claims again, each query so far with what came of it, and the
    gists of the best finds.
    """
    calls = math.ceil(len(IdeaPart) / parameters.parts_per_query_call)
    times = parameters.search_rounds - 1
    queries = _places(kinds) * parameters.queries_per_part
    gists = (
        parameters.knowledge_per_kind * len(kinds) * (GIST_WORDS * TOKENS_PER_WORD + TITLE_TOKENS)
    )
    asked = queries * sum(range(1, times + 1))
    data = times * (CLAIM_TOKENS + gists) + asked * OUTCOME_TOKENS
    return Asked(calls * times, data, times * queries * QUERY_TOKENS)


def _credibility(parameters: CommitteeParameters, pools: int) -> Asked:
    """Every round: the nearest of every kind and side of the time point that were not judged
    before.
    """
    if parameters.judge_weight == 0:
        return Asked(0.0, 0.0, 0.0)
    first = pools * SIMILARITY_SHARE * parameters.knowledge_per_kind
    later = first * NEW_SHARE_OF_LATER_ROUNDS
    times = parameters.search_rounds - 1
    judged = first + times * later
    calls = math.ceil(first / parameters.items_per_judge_call) + times * math.ceil(
        later / parameters.items_per_judge_call
    )
    return Asked(calls, judged * STANDING_TOKENS, judged * REASON_TOKENS)


def _summaries(parameters: CommitteeParameters, phases: int) -> Asked:
    pages = (
        phases
        * parameters.knowledge_per_kind
        * (1 + NEW_SHARE_OF_LATER_ROUNDS * (parameters.search_rounds - 1))
    )
    page = (
        min(LONGEST_PAGE_TOKENS, PAGE_SHARE * parameters.reading_word_limit * TOKENS_PER_WORD)
        + TITLE_TOKENS
    )
    return Asked(
        math.ceil(pages / parameters.pages_per_summary_call), pages * page, pages * SUMMARY_TOKENS
    )


def _grounding(
    parameters: CommitteeParameters, kinds: frozenset[SourceKind], *, later: bool, full_text: bool
) -> Asked:
    """What was selected is held against every part its kind bears on; later knowledge against one.

    Calls that show the same items begin alike: those for parts on which the same kinds bear.
    """
    m, size = parameters.knowledge_per_kind, parameters.items_per_grounding_call
    read = {kind: m * (_read_tokens(kind, parameters, full_text) + TITLE_TOKENS) for kind in kinds}
    before = [tuple(sorted(kind for kind in kinds if part in GROUNDED[kind])) for part in IdeaPart]
    after = [tuple(sorted(kinds))] if later else []
    held = [*before, *after]
    calls, first_calls = (
        sum(math.ceil(m * len(some) / size) for some in each)
        for each in (held, [*set(before), *after])
    )
    claims = calls * CLAIM_TOKENS / len(IdeaPart)
    shown = sum(read[kind] for some in held for kind in some)
    items = m * sum(len(some) for some in held)
    return Asked(
        calls,
        claims + shown,
        items * GROUNDING_TOKENS,
        shared_tokens=shown / calls if calls else 0.0,
        first_calls=first_calls,
    )


def _read_tokens(kind: SourceKind, parameters: CommitteeParameters, full_text: bool) -> float:
    """Of one thing that was read, as it is shown."""
    whole = parameters.reading_word_limit * TOKENS_PER_WORD
    if kind is SourceKind.WEB:
        return min(SUMMARY_TOKENS, whole)
    if kind is SourceKind.PAPERS:
        return (
            FULL_TEXT_SHARE * whole + (1 - FULL_TEXT_SHARE) * ABSTRACT_TOKENS
            if full_text
            else ABSTRACT_TOKENS
        )
    return whole


def _places(kinds: frozenset[SourceKind]) -> int:
    """Pairs of a part and a kind that is searched for it."""
    return sum(part in GROUNDED[kind] for kind in kinds for part in IdeaPart)
