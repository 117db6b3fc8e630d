"""What a committee will cost, before it is paid for."""

import math

from schemas.committee import IdeaPart
from schemas.knowledge import SourceKind
from schemas.profile import CommitteeParameters
from schemas.settings import Settings
from tasks.committee.knowledge.expected import CLAIM_TOKENS, TITLE_TOKENS, expected_calls
from tasks.committee.knowledge.outline import GROUNDED
from tasks.committee.knowledge.tools import LITERATURE
from tasks.judging.expected import Asked
from tasks.personas.roster import load_roster
from tasks.sources.registry import SOURCES, configured

FINDING_TOKENS = 145.0
"""Of one finding shown to a reviewer, beside the title of what it comes from."""
TELLING_SHARE = 0.4
"""Of what is grounded, the share that says something about its part."""
KNOWN_SHARE = 0.55
"""Of the evidence, what a shipped persona knows on average."""
REVIEW_TOKENS = 180.0
"""One review along one dimension."""
DIMENSION_TOKENS, PERSONA_TOKENS = 115.0, 110.0
"""One dimension with its scale, and one reviewer, as a prompt shows them."""
META_TOKENS, SUGGESTIONS_TOKENS = 600.0, 450.0
GIST_TOKENS, IDEA_TITLE_TOKENS = CLAIM_TOKENS / 6, 12.0
IDEA_TOKENS_SHOWN = {
    "summarise_pages": GIST_TOKENS,
    "refine_queries": GIST_TOKENS,
    "ground_evidence": GIST_TOKENS,
    "judge_credibility": IDEA_TITLE_TOKENS,
}
"""What these steps see of the idea; the others see all of it."""


def expected_committee(
    parameters: CommitteeParameters, settings: Settings, *, dated: bool, full_text: bool
) -> tuple[dict[str, Asked], float]:
    """For one idea: what each step asks; and requests to the literature.

    Args:
        dated: whether the idea has a cutoff date, after which later knowledge is searched too.
        full_text: whether papers are read whole where they can be had.
    """
    kinds = _kinds(parameters, settings)
    later = dated and parameters.use_later_knowledge
    searched = expected_calls(parameters, kinds, dated=dated, full_text=full_text) if kinds else {}
    requests = (
        len(IdeaPart) * parameters.queries_per_part * (2 if later else 1) * parameters.search_rounds
    )
    own = _own(parameters, kinds, later=later)
    in_order_of_work = {"structure_idea": own["structure_idea"]} | searched | own
    return in_order_of_work, float(requests if LITERATURE in parameters.sources else 0)


def _own(
    parameters: CommitteeParameters, kinds: frozenset[SourceKind], *, later: bool
) -> dict[str, Asked]:
    dimensions = len(load_roster(parameters.personas_file).dimensions)
    calls = parameters.persona_count * math.ceil(dimensions / parameters.dimensions_per_call)
    reviews = parameters.persona_count * dimensions
    findings = (
        TELLING_SHARE * parameters.knowledge_per_kind * sum(len(GROUNDED[kind]) for kind in kinds)
    )
    evidence = KNOWN_SHARE * (
        findings * FINDING_TOKENS + parameters.knowledge_per_kind * len(kinds) * TITLE_TOKENS
    )
    of_persona = CLAIM_TOKENS + evidence + PERSONA_TOKENS
    suggesting = TELLING_SHARE * parameters.knowledge_per_kind * len(kinds) if later else 0.0
    asked = float(bool(suggesting))
    return {
        "structure_idea": Asked(1.0, 0.0, CLAIM_TOKENS),
        "persona_review": Asked(
            calls,
            calls * of_persona + reviews * DIMENSION_TOKENS,
            reviews * REVIEW_TOKENS,
            shared_tokens=of_persona,
            first_calls=parameters.persona_count,
        ),
        "meta_review": Asked(1.0, reviews * (REVIEW_TOKENS + TITLE_TOKENS), META_TOKENS),
        "later_suggestions": Asked(
            asked, suggesting * (FINDING_TOKENS + TITLE_TOKENS), asked * SUGGESTIONS_TOKENS
        ),
    }


def _kinds(parameters: CommitteeParameters, settings: Settings) -> frozenset[SourceKind]:
    """Kinds for which the profile names a source that can be asked."""
    usable = set(configured(settings)) & set(parameters.sources)
    literature = {SourceKind.PAPERS} if LITERATURE in parameters.sources else set()
    return frozenset(literature | {source.kind for source in SOURCES if source.name in usable})
