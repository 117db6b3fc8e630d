"""What a committee will cost, before it is paid for."""

import math

from schemas.committee import IdeaPart
from schemas.knowledge import SourceKind
from schemas.profile import CommitteeParameters
from schemas.settings import Settings
from tasks.committee.knowledge.expected import expected_calls
from tasks.committee.knowledge.tools import LITERATURE
from tasks.committee.roster import load_roster
from tasks.sources.registry import SOURCES, configured

FINDING_TOKENS = 130.0
"""Of one finding shown to a reviewer, as measured for InnoEval's release."""
TELLING_SHARE = 0.4
"""Of what is grounded, the share that says something about its part."""
KNOWN_SHARE = 0.55
"""Of the evidence, what a shipped persona knows on average."""
CLAIM_TOKENS = 700.0
"""All claims of an idea."""
REVIEW_TOKENS = 180.0
"""One review along one dimension."""


def expected_committee(
    parameters: CommitteeParameters, settings: Settings, *, dated: bool
) -> tuple[dict[str, tuple[float, float, float]], float]:
    """For one idea: by step (calls, tokens of data, completion tokens), each over all its calls; and requests to the literature.

    Args:
        dated: whether the idea has a cutoff date, after which later knowledge is searched too.
    """
    kinds = _kinds(parameters, settings)
    searched = {name: (calls, calls * data, calls * answer) for name, (calls, data, answer) in _search(parameters, kinds, dated).items()}
    found = len(IdeaPart) * parameters.knowledge_per_kind * len(kinds) * TELLING_SHARE
    dimensions = len(load_roster(parameters.personas_file).dimensions)
    calls = parameters.persona_count * math.ceil(dimensions / parameters.dimensions_per_call)
    reviews = parameters.persona_count * dimensions
    later = 1.0 if dated and parameters.use_later_knowledge and kinds else 0.0
    own = {
        "structure_idea": (1.0, 0.0, CLAIM_TOKENS),
        "persona_review": (float(calls), calls * (CLAIM_TOKENS + found * KNOWN_SHARE * FINDING_TOKENS), reviews * REVIEW_TOKENS),
        "meta_review": (1.0, reviews * REVIEW_TOKENS, 600.0),
        "later_suggestions": (later, later * parameters.knowledge_per_kind * len(kinds) * TELLING_SHARE * FINDING_TOKENS, later * 450.0),
    }
    phases = 2 if dated and parameters.use_later_knowledge else 1
    asks_literature = LITERATURE in parameters.sources
    requests = asks_literature * len(IdeaPart) * parameters.queries_per_part * phases * parameters.search_rounds
    return own | searched, float(requests)


def _search(parameters: CommitteeParameters, kinds: frozenset[SourceKind], dated: bool) -> dict[str, tuple[float, float, float]]:
    return expected_calls(parameters, kinds, dated=dated) if kinds else {}


def _kinds(parameters: CommitteeParameters, settings: Settings) -> frozenset[SourceKind]:
    """Kinds for which the profile names a source that can be asked."""
    usable = set(configured(settings)) & set(parameters.sources)
    literature = {SourceKind.PAPERS} if LITERATURE in parameters.sources else set()
    return frozenset(literature | {source.kind for source in SOURCES if source.name in usable})
