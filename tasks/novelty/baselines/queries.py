"""Baseline of `novelty_queries`: the idea's strongest sentences, and key phrases of each as queries."""

from schemas.reasons import Reason
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.novelty.answers import SearchedStatement, StatementsAnswer
from tasks.novelty.closeness import key_statements
from tasks.novelty.questions import StatementsQuestion
from tasks.text.queries import phrase_queries


async def baseline_queries(question: StatementsQuestion, tools: BaselineTools) -> StatementsAnswer | NoAnswer:
    """The first `maximum_statements` key statements, with the queries made of each."""
    del tools
    statements = key_statements(question.idea)[: question.maximum_statements]
    if not statements:
        detail = "the idea has no sentence of six words or more; write it out in sentences"
        return NoAnswer(Reason.NOTHING_TO_JUDGE, detail)
    made = phrase_queries(question.idea, statements, question.maximum_queries)
    searched = [
        SearchedStatement(statement=statement, queries=queries) for statement, queries in zip(statements, made, strict=True) if queries
    ]
    if not searched:
        detail = "the statements name nothing specific to search for"
        return NoAnswer(Reason.NOTHING_TO_JUDGE, detail)
    return StatementsAnswer(statements=searched)
