"""The steps of the manuscript checker (quality checker, sections 2.2 and 2.3, appendix A)."""

from typing import Any

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
)

JUDGE_HIT = Step(
    name="judge_hit",
    version=1,
    package="tasks.manuscripts",
    input_model=HitQuestion,
    output_model=HitAnswer,
    baseline=baseline_hit,
)

STEPS: tuple[Step[Any, Any], ...] = (FIND_PROBLEMS, JUDGE_HIT)
