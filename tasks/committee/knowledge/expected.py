"""What a search for knowledge will cost, before it is paid for."""

import math

from schemas.committee import IdeaPart
from schemas.knowledge import SourceKind
from schemas.profile import CommitteeParameters
from tasks.committee.knowledge.outline import GROUNDED
from tasks.committee.knowledge.selection import SIMILARITY_SHARE
from tasks.committee.knowledge.summarising import PAGE_SHARE

NEW_SHARE_OF_LATER_ROUNDS = 0.5
"""Of what comes through a later round, the share not met before."""
TOKENS_PER_WORD = 1.35
LONGEST_PAGE_TOKENS = 2_500
ITEM_STANDING_TOKENS = 60


def expected_calls(parameters: CommitteeParameters, kinds: frozenset[SourceKind], *, dated: bool) -> dict[str, tuple[float, float, float]]:
    """(calls, data tokens, completion tokens) per call, by step, for one idea with all parts, when every search finds enough.

    Args:
        kinds: kinds for which some source is configured.
        dated: whether the idea has a cutoff, after which later knowledge is searched too.
    """
    parts, rounds, m = len(IdeaPart), parameters.search_rounds, parameters.knowledge_per_kind
    phases = 2 if dated and parameters.use_later_knowledge else 1
    new = 1 + NEW_SHARE_OF_LATER_ROUNDS * (rounds - 1)
    judged = 0.0 if parameters.judge_weight == 0 else phases * len(kinds) * SIMILARITY_SHARE * m * new
    pages = phases * m * new if SourceKind.WEB in kinds else 0.0
    batches = math.ceil(parts / parameters.parts_per_query_call)
    size = parameters.items_per_grounding_call
    grounded = sum(math.ceil(m * sum(part in GROUNDED[kind] for kind in kinds) / size) for part in IdeaPart)
    later = math.ceil(m * len(kinds) / size) if phases == 2 else 0
    shown = min(size, m * len(kinds))
    queries = parameters.parts_per_query_call * len(kinds) * parameters.queries_per_part
    return {
        "knowledge_queries": (batches, 120.0 * parameters.parts_per_query_call, 30.0 * queries),
        "judge_standing": (
            _calls(judged, parameters.items_per_judge_call),
            float(ITEM_STANDING_TOKENS * parameters.items_per_judge_call),
            40.0 * parameters.items_per_judge_call,
        ),
        "summarise_pages": (
            _calls(pages, parameters.pages_per_summary_call),
            min(LONGEST_PAGE_TOKENS, PAGE_SHARE * parameters.reading_word_limit * TOKENS_PER_WORD) * parameters.pages_per_summary_call,
            350.0 * parameters.pages_per_summary_call,
        ),
        "refine_queries": (batches * (rounds - 1), 350.0 * queries, 30.0 * queries),
        "ground_evidence": (grounded + later, shown * parameters.reading_word_limit * TOKENS_PER_WORD, 180.0 * shown),
    }


def _calls(items: float, per_call: int) -> float:
    return float(math.ceil(items / per_call)) if items else 0.0
