"""The steps of the contribution module, in order of work (ScholarEval §2.2, B.2.2)."""

from typing import Any

from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from tasks.contribution.answers import ComparisonAnswer, DimensionsAnswer, QueriesAnswer, RelevanceAnswer, ReviewAnswer
from tasks.contribution.baselines.comparison import baseline_comparison
from tasks.contribution.baselines.dimensions import baseline_dimensions
from tasks.contribution.baselines.queries import baseline_queries
from tasks.contribution.baselines.relevance import baseline_relevance
from tasks.contribution.baselines.review import baseline_review
from tasks.contribution.questions import ComparisonQuestion, DimensionsQuestion, QueriesQuestion, RelevanceQuestion, ReviewQuestion
from tasks.judging.step import Step

PACKAGE = "tasks.contribution"

EXTRACT_DIMENSIONS = Step(
    name="extract_dimensions",
    version=2,
    package=PACKAGE,
    input_model=DimensionsQuestion,
    output_model=DimensionsAnswer,
    baseline=baseline_dimensions,
)
CONTRIBUTION_QUERIES = Step(
    name="contribution_queries",
    version=2,
    package=PACKAGE,
    input_model=QueriesQuestion,
    output_model=QueriesAnswer,
    baseline=baseline_queries,
)
RELEVANCE = Step(
    name="relevance",
    version=2,
    package=PACKAGE,
    input_model=RelevanceQuestion,
    output_model=RelevanceAnswer,
    baseline=baseline_relevance,
    shares_prefix=True,
    answer_tokens=LONG_ANSWER_TOKENS,
)
COMPARE_PAPER = Step(
    name="compare_paper",
    version=3,
    package=PACKAGE,
    input_model=ComparisonQuestion,
    output_model=ComparisonAnswer,
    baseline=baseline_comparison,
    shares_prefix=True,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)
CONTRIBUTION_REVIEW = Step(
    name="contribution_review",
    version=4,
    package=PACKAGE,
    input_model=ReviewQuestion,
    output_model=ReviewAnswer,
    baseline=baseline_review,
    kind=StepKind.JUDGEMENT,
)

STEPS: tuple[Step[Any, Any], ...] = (EXTRACT_DIMENSIONS, CONTRIBUTION_QUERIES, RELEVANCE, COMPARE_PAPER, CONTRIBUTION_REVIEW)
