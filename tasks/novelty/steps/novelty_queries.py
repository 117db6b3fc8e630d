"""`novelty_queries`: an idea's key statements, and searches for each.

Baseline: the idea's strongest sentences, and key phrases of each as queries.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.reasons import Reason
from tasks.judging.reply_fields import SoundEntries, Text
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.novelty.closeness import key_statements
from tasks.text.phrases import phrase_queries


class StatementsInput(Noun):
    idea: str = Field(min_length=1)
    maximum_statements: int = Field(ge=1)
    maximum_queries: int = Field(ge=1, description="Per statement.")


class SearchedStatement(Reply):
    """The queries for one thing that the idea proposes."""

    queries: Annotated[list[Text], Field(min_length=1)] = Field(
        description="Each of at most seven words."
    )


class StatementsReply(Reply):
    statements: Annotated[list[SearchedStatement], Field(min_length=1), SoundEntries]


async def baseline_queries(
    inputs: StatementsInput, tools: BaselineTools
) -> StatementsReply | NoAnswer:
    """Return the first `maximum_statements` key statements, with queries for each."""
    del tools
    statements = key_statements(inputs.idea)[: inputs.maximum_statements]
    if not statements:
        detail = "the idea has no sentence of six words or more; write it out in sentences"
        return NoAnswer(Reason.NOTHING_TO_JUDGE, detail)
    queries_by_statement = phrase_queries(inputs.idea, statements, inputs.maximum_queries)
    answers = [SearchedStatement(queries=queries) for queries in queries_by_statement if queries]
    if not answers:
        detail = "the statements name nothing specific to search for"
        return NoAnswer(Reason.NOTHING_TO_JUDGE, detail)
    return StatementsReply(statements=answers)


NOVELTY_QUERIES = Step(
    name="novelty_queries",
    version=2,
    package="tasks.novelty",
    input_model=StatementsInput,
    output_model=StatementsReply,
    baseline=baseline_queries,
)
