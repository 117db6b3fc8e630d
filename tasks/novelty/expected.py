"""What a judgement of novelty will cost, before it is paid for."""

from schemas.profile import NoveltyParameters
from tasks.judging.expected import Asked

STATEMENT_TOKENS = 60.0
"""Of one key statement with its queries."""
WORK_TOKENS = 325.0
"""Title, key and abstract of one related work."""
JUDGEMENT_TOKENS = 320.0
"""Known and novel aspects with a justification of a few sentences."""
TOKENS_PER_WORD = 1.7


def expected_novelty(parameters: NoveltyParameters) -> tuple[dict[str, Asked], float]:
    """For one idea: what each step asks; and requests to the literature."""
    statements = parameters.maximum_statements
    brief = parameters.words_per_text
    answer = JUDGEMENT_TOKENS if brief is None else (brief + 6 * 20) * TOKENS_PER_WORD
    asked = {
        "novelty_queries": Asked(1.0, 0.0, statements * STATEMENT_TOKENS),
        "judge_novelty": Asked(1.0, parameters.related_works * WORK_TOKENS, answer),
    }
    return asked, float(statements * parameters.queries_per_statement)
