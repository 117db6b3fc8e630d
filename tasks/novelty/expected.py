"""Estimates of the calls of a novelty judgement."""

from schemas.profile import NoveltyParameters
from tasks.judging.expected import ExpectedCalls

STATEMENT_TOKENS = 60.0
"""Tokens of one key statement with its queries."""
WORK_TOKENS = 325.0
"""Tokens of title, key and abstract of one related work."""
CONTRIBUTIONS = 4
CONTRIBUTION_TOKENS = 45.0
PROBABILITY_TOKENS = 45.0
JUDGEMENT_TOKENS = 320.0 + CONTRIBUTIONS * CONTRIBUTION_TOKENS + PROBABILITY_TOKENS
"""Tokens of contributions with their closest works, aspects, a justification of a few sentences,
and the probability of each score.
"""
EXEMPLARS_TOKENS = 1_500.0
"""Tokens of five labeled ideas with reasons."""
TOKENS_PER_WORD = 1.7


def expected_novelty(parameters: NoveltyParameters) -> tuple[dict[str, ExpectedCalls], float]:
    """Return (expected calls by step, literature requests) for one idea."""
    statements = parameters.maximum_statements
    brief = parameters.words_per_text
    answer = (
        JUDGEMENT_TOKENS
        if brief is None
        else (brief + (6 + CONTRIBUTIONS) * 20) * TOKENS_PER_WORD + PROBABILITY_TOKENS
    )
    works_tokens = parameters.related_works * WORK_TOKENS
    if parameters.exemplars is not None:
        works_tokens += EXEMPLARS_TOKENS
    calls = {
        "novelty_queries": ExpectedCalls(1.0, 0.0, statements * STATEMENT_TOKENS),
        "judge_novelty": ExpectedCalls(1.0, works_tokens, answer),
    }
    return calls, float(statements * parameters.queries_per_statement)
