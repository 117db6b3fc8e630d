"""The steps of the novelty module, in order of work (RINoBench §4, Table 1)."""

from typing import Any

from schemas.judging import StepKind
from tasks.judging.step import Step
from tasks.novelty.answers import NoveltyAnswer, StatementsAnswer
from tasks.novelty.baselines.judging import baseline_judgement
from tasks.novelty.baselines.queries import baseline_queries
from tasks.novelty.questions import NoveltyQuestion, StatementsQuestion

PACKAGE = "tasks.novelty"

NOVELTY_QUERIES = Step(
    name="novelty_queries",
    version=1,
    package=PACKAGE,
    input_model=StatementsQuestion,
    output_model=StatementsAnswer,
    baseline=baseline_queries,
)
JUDGE_NOVELTY = Step(
    name="judge_novelty",
    version=1,
    package=PACKAGE,
    input_model=NoveltyQuestion,
    output_model=NoveltyAnswer,
    baseline=baseline_judgement,
    kind=StepKind.JUDGEMENT,
)

STEPS: tuple[Step[Any, Any], ...] = (NOVELTY_QUERIES, JUDGE_NOVELTY)
