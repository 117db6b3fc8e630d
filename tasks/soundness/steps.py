"""The soundness module's steps, in order of work (ScholarEval §2.1, B.1)."""

from typing import Any

from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from tasks.judging.step import Step
from tasks.soundness.answers import EvidenceReply, MethodsReply, QueriesReply, ReviewReply, SummaryReply
from tasks.soundness.baselines.evidence import read_papers
from tasks.soundness.baselines.methods import extract_methods
from tasks.soundness.baselines.query import make_queries
from tasks.soundness.baselines.review import review_method
from tasks.soundness.baselines.summary import summarise_reviews
from tasks.soundness.questions import EvidenceInput, MethodsInput, QueriesInput, ReviewInput, SummaryInput

_PACKAGE = "tasks.soundness"

EXTRACT_METHODS = Step(
    name="extract_methods", version=1, package=_PACKAGE, input_model=MethodsInput, output_model=MethodsReply, baseline=extract_methods
)
SOUNDNESS_QUERY = Step(
    name="soundness_query", version=2, package=_PACKAGE, input_model=QueriesInput, output_model=QueriesReply, baseline=make_queries
)
METHOD_EVIDENCE = Step(
    name="method_evidence",
    version=4,
    package=_PACKAGE,
    input_model=EvidenceInput,
    output_model=EvidenceReply,
    baseline=read_papers,
    shares_prefix=True,
    answer_tokens=LONG_ANSWER_TOKENS,
)
SOUNDNESS_REVIEW = Step(
    name="soundness_review",
    version=3,
    package=_PACKAGE,
    input_model=ReviewInput,
    output_model=ReviewReply,
    baseline=review_method,
    kind=StepKind.JUDGEMENT,
)
SOUNDNESS_SUMMARY = Step(
    name="soundness_summary",
    version=1,
    package=_PACKAGE,
    input_model=SummaryInput,
    output_model=SummaryReply,
    baseline=summarise_reviews,
    kind=StepKind.JUDGEMENT,
)

STEPS: tuple[Step[Any, Any], ...] = (EXTRACT_METHODS, SOUNDNESS_QUERY, METHOD_EVIDENCE, SOUNDNESS_REVIEW, SOUNDNESS_SUMMARY)
