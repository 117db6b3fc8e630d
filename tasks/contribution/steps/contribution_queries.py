"""`contribution_queries`: searches for the papers closest to each statement.

Baseline: key phrases of the statement with the idea's subject.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.reasons import Reason
from tasks.contribution.steps.extract_dimensions import ShownDimension
from tasks.judging.reply_fields import SoundEntries, Text
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.phrases import phrase_queries


class QueriesInput(Noun):
    """Input of `contribution_queries`; statements are numbered from 1 over all dimensions.

    All statements of a dimension share a call, so that their queries can differ.
    """

    idea: str = Field(min_length=1)
    dimensions: tuple[ShownDimension, ...] = Field(min_length=1)
    maximum_queries: int = Field(ge=1, description="Per statement.")


class StatementQueries(Reply):
    statement: int = Field(ge=1, description="The number of the statement, as shown.")
    queries: Annotated[list[Text], Field(min_length=1)] = Field(
        description="Each of at most seven words."
    )


class QueriesReply(Reply):
    statements: Annotated[list[StatementQueries], Field(min_length=1), SoundEntries]


async def baseline_queries(inputs: QueriesInput, tools: BaselineTools) -> QueriesReply | NoAnswer:
    del tools
    statements = [text for dimension in inputs.dimensions for text in dimension.statements]
    queries_by_statement = phrase_queries(inputs.idea, statements, inputs.maximum_queries)
    answers = [
        StatementQueries(statement=number, queries=queries)
        for number, queries in enumerate(queries_by_statement, start=1)
        if queries
    ]
    if not answers:
        detail = "the statements name nothing specific to search for"
        return NoAnswer(Reason.NOTHING_TO_JUDGE, detail)
    return QueriesReply(statements=answers)


CONTRIBUTION_QUERIES = Step(
    name="contribution_queries",
    version=3,
    package="tasks.contribution",
    input_model=QueriesInput,
    output_model=QueriesReply,
    baseline=baseline_queries,
)
