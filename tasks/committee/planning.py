"""Checks, identity and cost estimate of a committee."""

import math

from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash
from schemas.judgement.committee import IdeaPart
from schemas.literature.knowledge import SourceKind
from schemas.profile import CommitteeParameters
from schemas.settings import Settings
from tasks.committee.knowledge.context import GROUNDED
from tasks.committee.knowledge.gather import GIST_WORDS
from tasks.committee.knowledge.reading import PAGE_SHARE
from tasks.committee.knowledge.tools import LITERATURE
from tasks.committee.knowledge.weighing import SIMILARITY_SHARE
from tasks.judging.expected import CLAIM_TOKENS, ExpectedCalls
from tasks.personas.roster import load_roster
from tasks.sources.registry import SOURCES, configured

NEW_SHARE_OF_LATER_ROUNDS = 0.5
"""Share of new finds among those selected in a later round."""
TOKENS_PER_WORD = 1.7
"""Characters / 4 of the words of real ideas and abstracts."""
TITLE_TOKENS = 35.0
"""Tokens of title, key and tags of an item in a prompt."""
ABSTRACT_TOKENS = 290.0
FULL_TEXT_SHARE = 0.8
"""Share of papers with an available full text."""
LONGEST_PAGE_TOKENS = 2_500
SUMMARY_TOKENS = 350.0
"""Tokens of a page's summary, with its passages."""
STANDING_TOKENS, SCORE_TOKENS = 50.0, 10.0
"""Tokens per find: metadata in the credibility prompt, and the entry of the reply."""
QUERY_TOKENS, OUTCOME_TOKENS = 35.0, 45.0
"""Tokens of a query with its part in a reply, and of its outcome in a prompt."""
GROUNDING_TOKENS = 200.0
"""Tokens of one entry of a grounding reply: evidence, analysis and passage."""


def expected_calls(
    parameters: CommitteeParameters, kinds: frozenset[SourceKind], *, dated: bool, full_text: bool
) -> dict[str, ExpectedCalls]:
    """Return expected calls by step, for an idea with all parts and enough search results.

    Args:
        kinds: kinds with a configured source.
        dated: whether the idea has a cutoff date, so that later knowledge is searched too.
        full_text: whether available full texts are read.
    """
    phases = 2 if dated and parameters.use_later_knowledge else 1
    m, later_rounds = parameters.knowledge_per_kind, parameters.search_rounds - 1
    batches = math.ceil(len(IdeaPart) / parameters.parts_per_query_call)
    places = sum(part in GROUNDED[kind] for kind in kinds for part in IdeaPart)
    queries = places * parameters.queries_per_part
    # Every round but the last is followed by a refinement: claims, query outcomes, and gists.
    gists = m * len(kinds) * (GIST_WORDS * TOKENS_PER_WORD + TITLE_TOKENS)
    outcomes = queries * sum(range(1, later_rounds + 1))
    refinement_tokens = later_rounds * (CLAIM_TOKENS + gists) + outcomes * OUTCOME_TOKENS
    page_phases = phases if SourceKind.WEB in kinds else 0
    pages = page_phases * m * (1 + NEW_SHARE_OF_LATER_ROUNDS * later_rounds)
    longest = PAGE_SHARE * parameters.reading_word_limit * TOKENS_PER_WORD
    page = min(LONGEST_PAGE_TOKENS, longest) + TITLE_TOKENS
    return {
        "knowledge_queries": ExpectedCalls(batches, CLAIM_TOKENS, QUERY_TOKENS * queries),
        "judge_credibility": _credibility(parameters, len(kinds) * phases),
        "summarise_pages": ExpectedCalls(
            math.ceil(pages / parameters.pages_per_summary_call),
            pages * page,
            pages * SUMMARY_TOKENS,
        ),
        "refine_queries": ExpectedCalls(
            batches * later_rounds, refinement_tokens, later_rounds * queries * QUERY_TOKENS
        ),
        "ground_evidence": _grounding(
            parameters, kinds, has_later_phase=phases == 2, full_text=full_text
        ),
    }


def _credibility(parameters: CommitteeParameters, pools: int) -> ExpectedCalls:
    """Estimate the judging of new finds in every round, per kind and phase."""
    if parameters.judge_weight == 0:
        return ExpectedCalls(0.0, 0.0, 0.0)
    size, later_rounds = parameters.items_per_judge_call, parameters.search_rounds - 1
    first_items = pools * SIMILARITY_SHARE * parameters.knowledge_per_kind
    later_items = first_items * NEW_SHARE_OF_LATER_ROUNDS
    items = first_items + later_rounds * later_items
    calls = math.ceil(first_items / size) + later_rounds * math.ceil(later_items / size)
    return ExpectedCalls(calls, items * STANDING_TOKENS, items * SCORE_TOKENS)


def _grounding(
    parameters: CommitteeParameters,
    kinds: frozenset[SourceKind],
    *,
    has_later_phase: bool,
    full_text: bool,
) -> ExpectedCalls:
    """Estimate the calls that ground knowledge in the parts of its kind.

    Calls for parts with the same kinds have the same items and share a prompt prefix.
    """
    m, size = parameters.knowledge_per_kind, parameters.items_per_grounding_call
    full_text_tokens = parameters.reading_word_limit * TOKENS_PER_WORD
    full_text_share = FULL_TEXT_SHARE if full_text else 0.0
    read_tokens = {
        SourceKind.WEB: min(SUMMARY_TOKENS, full_text_tokens),
        SourceKind.PAPERS: full_text_share * full_text_tokens
        + (1 - full_text_share) * ABSTRACT_TOKENS,
        SourceKind.CODE: full_text_tokens,
    }
    tokens_by_kind = {kind: m * (read_tokens[kind] + TITLE_TOKENS) for kind in kinds}
    earlier_kinds = [
        tuple(sorted(kind for kind in kinds if part in GROUNDED[kind])) for part in IdeaPart
    ]
    later_kinds = [tuple(sorted(kinds))] if has_later_phase else []
    kinds_per_call = [*earlier_kinds, *later_kinds]
    calls, first_calls = (
        sum(math.ceil(m * len(call_kinds) / size) for call_kinds in each)
        for each in (kinds_per_call, [*set(earlier_kinds), *later_kinds])
    )
    claims = calls * CLAIM_TOKENS / len(IdeaPart)
    item_tokens = sum(tokens_by_kind[kind] for call_kinds in kinds_per_call for kind in call_kinds)
    items = m * sum(len(call_kinds) for call_kinds in kinds_per_call)
    return ExpectedCalls(
        calls,
        claims + item_tokens,
        items * GROUNDING_TOKENS,
        shared_tokens=item_tokens / calls if calls else 0.0,
        first_calls=first_calls,
    )


FINDING_TOKENS = 145.0
"""Tokens of one finding in a reviewer's prompt, without the title of its source."""
TELLING_SHARE = 0.4
"""Share of grounded items with relevant evidence."""
KNOWN_SHARE = 0.55
"""Share of the evidence that a bundled persona knows on average."""
REVIEW_TOKENS = 180.0
"""Tokens of one review along one dimension."""
DIMENSION_TOKENS, PERSONA_TOKENS = 115.0, 110.0
"""Tokens of one dimension with its scale, and of one reviewer, in a prompt."""
META_TOKENS, SUGGESTIONS_TOKENS = 600.0, 450.0
# The gist is one of the six parts.
GIST_TOKENS, IDEA_TITLE_TOKENS = CLAIM_TOKENS / 6, 12.0
IDEA_TOKENS_SHOWN = {
    "summarise_pages": GIST_TOKENS,
    "refine_queries": GIST_TOKENS,
    "ground_evidence": GIST_TOKENS,
    "judge_credibility": IDEA_TITLE_TOKENS,
}
"""Tokens of the idea in the prompts of these steps; other prompts have all of it."""


def expected_committee(
    parameters: CommitteeParameters, settings: Settings, *, dated: bool, full_text: bool
) -> tuple[dict[str, ExpectedCalls], float]:
    """Return (expected calls by step, literature requests) for one idea.

    Args:
        dated: whether the idea has a cutoff date, so that later knowledge is searched too.
        full_text: whether available full texts are read.
    """
    usable = set(configured(settings)) & set(parameters.sources)
    literature = {SourceKind.PAPERS} if LITERATURE in parameters.sources else set()
    kinds = frozenset(literature | {source.kind for source in SOURCES if source.name in usable})
    has_later_phase = dated and parameters.use_later_knowledge
    search_calls = (
        expected_calls(parameters, kinds, dated=dated, full_text=full_text) if kinds else {}
    )
    requests = (
        len(IdeaPart)
        * parameters.queries_per_part
        * (2 if has_later_phase else 1)
        * parameters.search_rounds
    )
    if parameters.references_per_paper:
        requests += parameters.search_rounds - 1
    dimensions = len(load_roster(parameters.personas_file).dimensions)
    calls = parameters.persona_count * math.ceil(dimensions / parameters.dimensions_per_call)
    reviews = parameters.persona_count * dimensions
    items = parameters.knowledge_per_kind * len(kinds)
    findings = (
        TELLING_SHARE * parameters.knowledge_per_kind * sum(len(GROUNDED[kind]) for kind in kinds)
    )
    evidence = KNOWN_SHARE * (findings * FINDING_TOKENS + items * TITLE_TOKENS)
    of_persona = CLAIM_TOKENS + evidence + PERSONA_TOKENS
    suggestion_items = TELLING_SHARE * items if has_later_phase else 0.0
    suggestion_calls = float(bool(suggestion_items))
    in_order_of_work = {
        "structure_idea": ExpectedCalls(1.0, 0.0, CLAIM_TOKENS),
        **search_calls,
        "persona_review": ExpectedCalls(
            calls,
            calls * of_persona + reviews * DIMENSION_TOKENS,
            reviews * REVIEW_TOKENS,
            shared_tokens=of_persona,
            first_calls=parameters.persona_count,
        ),
        "meta_review": ExpectedCalls(1.0, reviews * (REVIEW_TOKENS + TITLE_TOKENS), META_TOKENS),
        "later_suggestions": ExpectedCalls(
            suggestion_calls,
            suggestion_items * (FINDING_TOKENS + TITLE_TOKENS),
            suggestion_calls * SUGGESTIONS_TOKENS,
        ),
    }
    return in_order_of_work, float(requests if LITERATURE in parameters.sources else 0)


def check_committee(parameters: CommitteeParameters) -> None:
    """Validate the committee's parameters.

    Raises:
        ConfigurationError: an invalid personas file, too few personas, or an unknown source.
    """
    roster = load_roster(parameters.personas_file)
    if len(roster.personas) < parameters.persona_count:
        raise ConfigurationError(
            f"persona_count is {parameters.persona_count}, but there are {len(roster.personas)}"
            " personas: ask for fewer, or add some"
        )
    source_names = {LITERATURE, *(source.name for source in SOURCES)}
    if unknown_names := sorted(set(parameters.sources) - source_names):
        raise ConfigurationError(
            f"[committee] sources: no source is named {', '.join(unknown_names)}; choose from"
            f" {', '.join(sorted(source_names))}"
        )


def committee_conditions(parameters: CommitteeParameters, settings: Settings) -> tuple[str, ...]:
    """Return the hash of the personas and the usable sources, without keys or addresses."""
    usable = sorted(set(parameters.sources) & {LITERATURE, *configured(settings)})
    roster = load_roster(parameters.personas_file)
    # Without the comparison questions of matches.
    dimensions = (each.model_dump_json(exclude={"comparison"}) for each in roster.dimensions)
    roster_hash = content_hash(*(each.model_dump_json() for each in roster.personas), *dimensions)
    return f"roster {roster_hash}", f"sources {','.join(usable)}"
