"""Baseline of `contribution_queries`: key phrases of the statement, set in the idea's subject."""

from schemas.reasons import Reason
from tasks.contribution.answers import QueriesAnswer, StatementQueries
from tasks.contribution.questions import QueriesQuestion
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.text.queries import phrase_queries


async def baseline_queries(question: QueriesQuestion, tools: BaselineTools) -> QueriesAnswer | NoAnswer:
    """For each statement the queries that `phrase_queries` makes of it."""
    del tools
    statements = [text for dimension in question.dimensions for text in dimension.statements]
    made = phrase_queries(question.idea, statements, question.maximum_queries)
    answers = [StatementQueries(statement=number, queries=queries) for number, queries in enumerate(made, start=1) if queries]
    if not answers:
        detail = "the statements name nothing specific to search for"
        return NoAnswer(Reason.NOTHING_TO_JUDGE, detail)
    return QueriesAnswer(statements=answers)
