"""What a search for knowledge will cost, before it is paid for."""

import math

from schemas.committee import IdeaPart
from schemas.knowledge import SourceKind
from schemas.profile import CommitteeParameters
from tasks.committee.knowledge.asking import GIST_WORDS
from tasks.committee.knowledge.outline import GROUNDED
from tasks.committee.knowledge.selection import SIMILARITY_SHARE
from tasks.committee.knowledge.summarising import PAGE_SHARE

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
"""What is shown of one find whose standing is to be judged, and what is said of it."""
QUERY_TOKENS, OUTCOME_TOKENS = 35.0, 45.0
"""A query with what names its part, and what is shown of one that was asked."""
GROUNDING_TOKENS = 200.0
"""What is said of one thing held against one part: evidence, analysis and passage."""


def expected_calls(
    parameters: CommitteeParameters, kinds: frozenset[SourceKind], *, dated: bool, full_text: bool
) -> dict[str, tuple[float, float, float]]:
    """For one idea with all parts, when every search finds enough: by step (calls, tokens of data, completion tokens), each over all calls.

    Args:
        kinds: kinds for which some source is configured.
        dated: whether the idea has a cutoff, after which later knowledge is searched too.
        full_text: whether papers are read whole where they can be had.
    """
    phases = 2 if dated and parameters.use_later_knowledge else 1
    return {
        "knowledge_queries": _queries(parameters, kinds),
        "judge_standing": _standing(parameters, len(kinds) * phases),
        "summarise_pages": _summaries(parameters, phases if SourceKind.WEB in kinds else 0),
        "refine_queries": _refinements(parameters, kinds),
        "ground_evidence": _grounding(parameters, kinds, later=phases == 2, full_text=full_text),
    }


def _queries(parameters: CommitteeParameters, kinds: frozenset[SourceKind]) -> tuple[float, float, float]:
    calls = math.ceil(len(IdeaPart) / parameters.parts_per_query_call)
    return float(calls), CLAIM_TOKENS, QUERY_TOKENS * _places(kinds) * parameters.queries_per_part


def _refinements(parameters: CommitteeParameters, kinds: frozenset[SourceKind]) -> tuple[float, float, float]:
    """Every round but the last: the claims again, each query so far with what came of it, and the gists of the best finds."""
    calls = math.ceil(len(IdeaPart) / parameters.parts_per_query_call)
    times = parameters.search_rounds - 1
    queries = _places(kinds) * parameters.queries_per_part
    gists = parameters.knowledge_per_kind * len(kinds) * (GIST_WORDS * TOKENS_PER_WORD + TITLE_TOKENS)
    asked = queries * sum(range(1, times + 1))
    return float(calls * times), times * (CLAIM_TOKENS + gists) + asked * OUTCOME_TOKENS, times * queries * QUERY_TOKENS


def _standing(parameters: CommitteeParameters, pools: int) -> tuple[float, float, float]:
    """Every round: the nearest of every kind and side of the time point that were not judged before."""
    if parameters.judge_weight == 0:
        return 0.0, 0.0, 0.0
    first = pools * SIMILARITY_SHARE * parameters.knowledge_per_kind
    later = first * NEW_SHARE_OF_LATER_ROUNDS
    times = parameters.search_rounds - 1
    judged = first + times * later
    calls = math.ceil(first / parameters.items_per_judge_call) + times * math.ceil(later / parameters.items_per_judge_call)
    return float(calls), judged * STANDING_TOKENS, judged * REASON_TOKENS


def _summaries(parameters: CommitteeParameters, phases: int) -> tuple[float, float, float]:
    pages = phases * parameters.knowledge_per_kind * (1 + NEW_SHARE_OF_LATER_ROUNDS * (parameters.search_rounds - 1))
    page = min(LONGEST_PAGE_TOKENS, PAGE_SHARE * parameters.reading_word_limit * TOKENS_PER_WORD) + TITLE_TOKENS
    return float(math.ceil(pages / parameters.pages_per_summary_call)), pages * page, pages * SUMMARY_TOKENS


def _grounding(
    parameters: CommitteeParameters, kinds: frozenset[SourceKind], *, later: bool, full_text: bool
) -> tuple[float, float, float]:
    """What was selected is held against every part its kind bears on; later knowledge against one."""
    m, size = parameters.knowledge_per_kind, parameters.items_per_grounding_call
    read = {kind: m * (_read_tokens(kind, parameters, full_text) + TITLE_TOKENS) for kind in kinds}
    held = [[kind for kind in kinds if part in GROUNDED[kind]] for part in IdeaPart] + ([list(kinds)] if later else [])
    calls = sum(math.ceil(m * len(some) / size) for some in held)
    claims = sum(math.ceil(m * len(some) / size) * CLAIM_TOKENS / len(IdeaPart) for some in held)
    items = m * sum(len(some) for some in held)
    return float(calls), claims + sum(read[kind] for some in held for kind in some), items * GROUNDING_TOKENS


def _read_tokens(kind: SourceKind, parameters: CommitteeParameters, full_text: bool) -> float:
    """Of one thing that was read, as it is shown."""
    whole = parameters.reading_word_limit * TOKENS_PER_WORD
    if kind is SourceKind.WEB:
        return min(SUMMARY_TOKENS, whole)
    if kind is SourceKind.PAPERS:
        return FULL_TEXT_SHARE * whole + (1 - FULL_TEXT_SHARE) * ABSTRACT_TOKENS if full_text else ABSTRACT_TOKENS
    return whole


def _places(kinds: frozenset[SourceKind]) -> int:
    """Pairs of a part and a kind that is searched for it."""
    return sum(part in GROUNDED[kind] for kind in kinds for part in IdeaPart)
