"""The knowledge steps, in order of work (InnoEval, "Method", 1 and 2)."""

from typing import Any

from schemas.judging import LONG_ANSWER_TOKENS
from tasks.committee.knowledge.answers import GroundingAnswer, QueriesAnswer, RefinementAnswer, StandingAnswer, SummariesAnswer
from tasks.committee.knowledge.baselines.grounding import baseline_grounding
from tasks.committee.knowledge.baselines.queries import baseline_queries
from tasks.committee.knowledge.baselines.refinement import baseline_refinement
from tasks.committee.knowledge.baselines.standing import baseline_standing
from tasks.committee.knowledge.baselines.summaries import baseline_summaries
from tasks.committee.knowledge.questions import (
    GroundingQuestion,
    QueriesQuestion,
    RefinementQuestion,
    StandingQuestion,
    SummariesQuestion,
)
from tasks.judging.step import Step

PACKAGE = "tasks.committee.knowledge"

KNOWLEDGE_QUERIES = Step(
    name="knowledge_queries",
    version=1,
    package=PACKAGE,
    input_model=QueriesQuestion,
    output_model=QueriesAnswer,
    baseline=baseline_queries,
)
JUDGE_STANDING = Step(
    name="judge_standing",
    version=1,
    package=PACKAGE,
    input_model=StandingQuestion,
    output_model=StandingAnswer,
    baseline=baseline_standing,
    answer_tokens=LONG_ANSWER_TOKENS,
)
SUMMARISE_PAGES = Step(
    name="summarise_pages",
    version=1,
    package=PACKAGE,
    input_model=SummariesQuestion,
    output_model=SummariesAnswer,
    baseline=baseline_summaries,
    answer_tokens=LONG_ANSWER_TOKENS,
)
REFINE_QUERIES = Step(
    name="refine_queries",
    version=1,
    package=PACKAGE,
    input_model=RefinementQuestion,
    output_model=RefinementAnswer,
    baseline=baseline_refinement,
)
GROUND_EVIDENCE = Step(
    name="ground_evidence",
    version=1,
    package=PACKAGE,
    input_model=GroundingQuestion,
    output_model=GroundingAnswer,
    baseline=baseline_grounding,
    answer_tokens=LONG_ANSWER_TOKENS,
)

STEPS: tuple[Step[Any, Any], ...] = (KNOWLEDGE_QUERIES, JUDGE_STANDING, SUMMARISE_PAGES, REFINE_QUERIES, GROUND_EVIDENCE)
