"""The steps of the manuscript checker (quality checker, sections 2.2 and 2.3, appendix A)."""

from typing import Any

from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from tasks.judging.step import Step
from tasks.manuscripts.answers import HitAnswer, ProblemList
from tasks.manuscripts.baselines.finding import baseline_problems
from tasks.manuscripts.baselines.matching import baseline_hit
from tasks.manuscripts.questions import HitQuestion, ManuscriptQuestion

FIND_PROBLEMS = Step(
    name="find_problems",
    version=1,
    package="tasks.manuscripts",
    input_model=ManuscriptQuestion,
    output_model=ProblemList,
    baseline=baseline_problems,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)

JUDGE_HIT = Step(
    name="judge_hit",
    version=1,
    package="tasks.manuscripts",
    input_model=HitQuestion,
    output_model=HitAnswer,
    baseline=baseline_hit,
    kind=StepKind.JUDGEMENT,
)

STEPS: tuple[Step[Any, Any], ...] = (FIND_PROBLEMS, JUDGE_HIT)
