"""Baseline of `novelty_queries`: the idea's strongest sentences, and key phrases of each as queries."""

from schemas.reasons import Reason
from tasks.contribution.baselines.queries import baseline_queries as contribution_queries
from tasks.contribution.questions import QueriesQuestion, ShownDimension
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.novelty.answers import SearchedStatement, StatementsAnswer
from tasks.novelty.closeness import key_statements
from tasks.novelty.questions import StatementsQuestion


async def baseline_queries(question: StatementsQuestion, tools: BaselineTools) -> StatementsAnswer | NoAnswer:
    """The first `maximum_statements` key statements, each with queries of at most seven words that begin at different phrases of it."""
    statements = key_statements(question.idea)[: question.maximum_statements]
    if not statements:
        return NoAnswer(Reason.NOTHING_TO_JUDGE, "the idea has no sentence of six words or more; write it out in sentences")
    claims = ShownDimension(dimension_id="d1", name="Novelty", statements=statements)
    asked = QueriesQuestion(idea=question.idea, dimensions=(claims,), maximum_queries=question.maximum_queries)
    answer = await contribution_queries(asked, tools)
    if isinstance(answer, NoAnswer):
        return answer
    return StatementsAnswer(
        statements=[SearchedStatement(statement=statements[one.statement - 1], queries=one.queries) for one in answer.statements]
    )
