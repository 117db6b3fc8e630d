"""The steps of the benchmarks: judges of reviews (ScholarEval E.1, E.3) and baselines that are systems of their own (F.1)."""

from typing import Any

from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from tasks.benchmarks.answers import CoverageReply, PreferenceReply, WholeReview
from tasks.benchmarks.baselines.coverage import baseline_coverage
from tasks.benchmarks.baselines.preference import baseline_preference
from tasks.benchmarks.baselines.whole_review import baseline_prompt_only, baseline_prompt_with_search
from tasks.benchmarks.questions import CoverageQuestion, PreferenceQuestion, PromptOnlyQuestion, PromptWithSearchQuestion
from tasks.judging.step import Step

_PACKAGE = "tasks.benchmarks"

JUDGE_COVERAGE = Step(
    name="judge_coverage",
    version=1,
    package=_PACKAGE,
    input_model=CoverageQuestion,
    output_model=CoverageReply,
    baseline=baseline_coverage,
    shares_prefix=True,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)
JUDGE_PREFERENCE = Step(
    name="judge_preference",
    version=1,
    package=_PACKAGE,
    input_model=PreferenceQuestion,
    output_model=PreferenceReply,
    baseline=baseline_preference,
    kind=StepKind.JUDGEMENT,
)
PROMPT_ONLY = Step(
    name="prompt_only",
    version=1,
    package=_PACKAGE,
    input_model=PromptOnlyQuestion,
    output_model=WholeReview,
    baseline=baseline_prompt_only,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)
PROMPT_WITH_SEARCH = Step(
    name="prompt_with_search",
    version=1,
    package=_PACKAGE,
    input_model=PromptWithSearchQuestion,
    output_model=WholeReview,
    baseline=baseline_prompt_with_search,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)
STEPS: tuple[Step[Any, Any], ...] = (JUDGE_COVERAGE, JUDGE_PREFERENCE, PROMPT_ONLY, PROMPT_WITH_SEARCH)
