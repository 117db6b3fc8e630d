"""Before a committee sits: what has to hold, what beyond the profile could change its result, and
what it will cost.
"""

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
from tasks.personas.roster import Roster, load_roster
from tasks.sources.registry import SOURCES, configured

NEW_SHARE_OF_LATER_ROUNDS = 0.5
"""Of what comes through in a later round, the share not met before."""
TOKENS_PER_WORD = 1.7
"""Characters / 4 of the words of real ideas and abstracts."""
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
) -> dict[str, ExpectedCalls]:
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


def _queries(parameters: CommitteeParameters, kinds: frozenset[SourceKind]) -> ExpectedCalls:
    calls = math.ceil(len(IdeaPart) / parameters.parts_per_query_call)
    return ExpectedCalls(
        calls, CLAIM_TOKENS, QUERY_TOKENS * _places(kinds) * parameters.queries_per_part
    )


def _refinements(parameters: CommitteeParameters, kinds: frozenset[SourceKind]) -> ExpectedCalls:
    """Every round but the last: the claims again, each query so far with what came of it, and the
    gists of the best finds.
    """
    calls = math.ceil(len(IdeaPart) / parameters.parts_per_query_call)
    times = parameters.search_rounds - 1
    queries = _places(kinds) * parameters.queries_per_part
    gists = (
        parameters.knowledge_per_kind * len(kinds) * (GIST_WORDS * TOKENS_PER_WORD + TITLE_TOKENS)
    )
    query_count = queries * sum(range(1, times + 1))
    data = times * (CLAIM_TOKENS + gists) + query_count * OUTCOME_TOKENS
    return ExpectedCalls(calls * times, data, times * queries * QUERY_TOKENS)


def _credibility(parameters: CommitteeParameters, pools: int) -> ExpectedCalls:
    """Every round: the nearest of every kind and side of the time point that were not judged
    before.
    """
    if parameters.judge_weight == 0:
        return ExpectedCalls(0.0, 0.0, 0.0)
    first = pools * SIMILARITY_SHARE * parameters.knowledge_per_kind
    later = first * NEW_SHARE_OF_LATER_ROUNDS
    times = parameters.search_rounds - 1
    items = first + times * later
    calls = math.ceil(first / parameters.items_per_judge_call) + times * math.ceil(
        later / parameters.items_per_judge_call
    )
    return ExpectedCalls(calls, items * STANDING_TOKENS, items * REASON_TOKENS)


def _summaries(parameters: CommitteeParameters, phases: int) -> ExpectedCalls:
    pages = (
        phases
        * parameters.knowledge_per_kind
        * (1 + NEW_SHARE_OF_LATER_ROUNDS * (parameters.search_rounds - 1))
    )
    page = (
        min(LONGEST_PAGE_TOKENS, PAGE_SHARE * parameters.reading_word_limit * TOKENS_PER_WORD)
        + TITLE_TOKENS
    )
    return ExpectedCalls(
        math.ceil(pages / parameters.pages_per_summary_call), pages * page, pages * SUMMARY_TOKENS
    )


def _grounding(
    parameters: CommitteeParameters, kinds: frozenset[SourceKind], *, later: bool, full_text: bool
) -> ExpectedCalls:
    """Estimate the calls that ground knowledge in every part its kind bears on.

    Calls that show the same items begin alike: those for parts on which the same kinds bear.
    """
    m, size = parameters.knowledge_per_kind, parameters.items_per_grounding_call
    tokens_by_kind = {
        kind: m * (_read_tokens(kind, parameters, full_text) + TITLE_TOKENS) for kind in kinds
    }
    before = [tuple(sorted(kind for kind in kinds if part in GROUNDED[kind])) for part in IdeaPart]
    after = [tuple(sorted(kinds))] if later else []
    kinds_per_call = [*before, *after]
    calls, first_calls = (
        sum(math.ceil(m * len(some) / size) for some in each)
        for each in (kinds_per_call, [*set(before), *after])
    )
    claims = calls * CLAIM_TOKENS / len(IdeaPart)
    item_tokens = sum(tokens_by_kind[kind] for some in kinds_per_call for kind in some)
    items = m * sum(len(some) for some in kinds_per_call)
    return ExpectedCalls(
        calls,
        claims + item_tokens,
        items * GROUNDING_TOKENS,
        shared_tokens=item_tokens / calls if calls else 0.0,
        first_calls=first_calls,
    )


def _read_tokens(kind: SourceKind, parameters: CommitteeParameters, full_text: bool) -> float:
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
    return sum(part in GROUNDED[kind] for kind in kinds for part in IdeaPart)


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
# The gist is one of the six parts.
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
) -> tuple[dict[str, ExpectedCalls], float]:
    """For one idea: what each step asks; and requests to the literature.

    Args:
        dated: whether the idea has a cutoff date, after which later knowledge is searched too.
        full_text: whether papers are read whole where they can be had.
    """
    kinds = _kinds(parameters, settings)
    later = dated and parameters.use_later_knowledge
    search_calls = (
        expected_calls(parameters, kinds, dated=dated, full_text=full_text) if kinds else {}
    )
    requests = (
        len(IdeaPart) * parameters.queries_per_part * (2 if later else 1) * parameters.search_rounds
    )
    if parameters.references_per_paper:
        requests += parameters.search_rounds - 1
    own_calls = _own_calls(parameters, kinds, later=later)
    in_order_of_work = {"structure_idea": own_calls["structure_idea"]} | search_calls | own_calls
    return in_order_of_work, float(requests if LITERATURE in parameters.sources else 0)


def _own_calls(
    parameters: CommitteeParameters, kinds: frozenset[SourceKind], *, later: bool
) -> dict[str, ExpectedCalls]:
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
    suggestion_items = TELLING_SHARE * parameters.knowledge_per_kind * len(kinds) if later else 0.0
    suggestion_calls = float(bool(suggestion_items))
    return {
        "structure_idea": ExpectedCalls(1.0, 0.0, CLAIM_TOKENS),
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


def _kinds(parameters: CommitteeParameters, settings: Settings) -> frozenset[SourceKind]:
    usable = set(configured(settings)) & set(parameters.sources)
    literature = {SourceKind.PAPERS} if LITERATURE in parameters.sources else set()
    return frozenset(literature | {source.kind for source in SOURCES if source.name in usable})


def check_committee(parameters: CommitteeParameters) -> None:
    """Look before anything is paid for.

    Raises:
        ConfigurationError: a personas file with a mistake, too few personas, or a source that does
            not exist.
    """
    roster = load_roster(parameters.personas_file)
    if len(roster.personas) < parameters.persona_count:
        raise ConfigurationError(
            f"persona_count is {parameters.persona_count}, but there are {len(roster.personas)}"
            " personas: ask for fewer, or add some"
        )
    source_names = {LITERATURE, *(source.name for source in SOURCES)}
    if unknown := sorted(set(parameters.sources) - source_names):
        raise ConfigurationError(
            f"[committee] sources: no source is named {', '.join(unknown)}; choose from"
            f" {', '.join(sorted(source_names))}"
        )


def committee_conditions(parameters: CommitteeParameters, settings: Settings) -> tuple[str, ...]:
    """The personas as they stand in their file, and which of the profile's sources can be asked.

    Never a key or an address.
    """
    usable = sorted(set(parameters.sources) & {LITERATURE, *configured(settings)})
    return (
        f"roster {_hash_of(load_roster(parameters.personas_file))}",
        f"sources {','.join(usable)}",
    )


def _hash_of(roster: Roster) -> str:
    """Over all that a committee is shown; what only matches are asked is none of its business."""
    dimensions = (
        dimension.model_dump_json(exclude={"comparison"}) for dimension in roster.dimensions
    )
    return content_hash(*(persona.model_dump_json() for persona in roster.personas), *dimensions)
