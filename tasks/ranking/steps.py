"""The step of the ranking module (InnoEval, "Report Generation": pairwise comparisons along the dimensions)."""

from typing import Any

from schemas.judging import StepKind
from tasks.judging.step import Step
from tasks.ranking.answers import PairAnswer
from tasks.ranking.baselines.comparison import baseline_pair
from tasks.ranking.questions import PairQuestion

COMPARE_IDEAS = Step(
    name="compare_ideas",
    version=1,
    package="tasks.ranking",
    input_model=PairQuestion,
    output_model=PairAnswer,
    baseline=baseline_pair,
    kind=StepKind.JUDGEMENT,
)

STEPS: tuple[Step[Any, Any], ...] = (COMPARE_IDEAS,)
