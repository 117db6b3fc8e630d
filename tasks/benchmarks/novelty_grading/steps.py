"""The grading steps, in order of work (RINoBench §4.2.2: G-Eval for alignment, FActScore's extract and verify for aspects)."""

from typing import Any

from schemas.judging import StepKind
from tasks.benchmarks.novelty_grading.answers import AlignmentAnswer, AspectsAnswer, CheckAnswer
from tasks.benchmarks.novelty_grading.baselines.alignment import baseline_alignment
from tasks.benchmarks.novelty_grading.baselines.aspects import baseline_aspects
from tasks.benchmarks.novelty_grading.baselines.checking import baseline_check
from tasks.benchmarks.novelty_grading.questions import AlignmentQuestion, AspectsQuestion, CheckQuestion
from tasks.judging.step import Step

PACKAGE = "tasks.benchmarks.novelty_grading"

EXTRACT_ASPECTS = Step(
    name="extract_aspects",
    version=1,
    package=PACKAGE,
    input_model=AspectsQuestion,
    output_model=AspectsAnswer,
    baseline=baseline_aspects,
)
JUDGE_ALIGNMENT = Step(
    name="judge_alignment",
    version=1,
    package=PACKAGE,
    input_model=AlignmentQuestion,
    output_model=AlignmentAnswer,
    baseline=baseline_alignment,
    kind=StepKind.JUDGEMENT,
)
CHECK_ASPECT = Step(
    name="check_aspect",
    version=1,
    package=PACKAGE,
    input_model=CheckQuestion,
    output_model=CheckAnswer,
    baseline=baseline_check,
    kind=StepKind.JUDGEMENT,
)

STEPS: tuple[Step[Any, Any], ...] = (EXTRACT_ASPECTS, JUDGE_ALIGNMENT, CHECK_ASPECT)
