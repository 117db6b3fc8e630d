"""`find_problems`: critical problems of a manuscript.

Baseline: all checks of the text, gravest problems first, without any understanding.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pydantic import AliasChoices, Field, model_validator

from schemas.base import Noun
from schemas.judging import LONG_ANSWER_TOKENS, StepKind, Wording
from schemas.reasons import Reason
from tasks.judging.findings_of_judges import Finding, FindingsReply
from tasks.judging.reply_fields import OptionalPercent
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.manuscripts.steps.abstract import check_abstract
from tasks.manuscripts.steps.numbers import (
    check_intervals,
    check_shares,
    check_statistics,
)
from tasks.manuscripts.steps.reading import DetectedProblem, Reading, Words
from tasks.manuscripts.steps.restated import check_restated
from tasks.manuscripts.steps.support import (
    check_claims,
    check_instructions,
    check_labels,
    check_numbers,
    check_reference_list,
    check_unresolved,
)
from tasks.manuscripts.steps.tables import check_text_against_tables, check_totals


class ProblemsInput(Noun):
    """A manuscript to be checked. With `attached`, `text` is not shown: the engine gets the PDF
    itself.
    """

    title: str
    form: str
    text: str
    attached: bool
    maximum_problems: int
    wording: Wording = Wording.OWN


class ReportedProblem(Finding):
    TEXT = "problem"

    problem: Words = Field(
        min_length=1,
        description="What is wrong, in one sentence.",
        validation_alias=AliasChoices("problem", "Problem"),
    )
    location: Words = Field(
        description="Page, section, equation, theorem, table or figure.",
        validation_alias=AliasChoices("location", "Location"),
    )
    quote: Words = Field(
        default="",
        description="The sentence that is wrong, word for word; empty where something is missing.",
        validation_alias=AliasChoices("quote", "Quote"),
    )
    explanation: Words = Field(
        description="Why, and which conclusion falls with it, in a few sentences.",
        validation_alias=AliasChoices("explanation", "Explanation"),
    )
    confidence_percent: OptionalPercent = Field(
        default=None, description="How sure you are that it is a problem."
    )


class ProblemsReply(FindingsReply):
    """Problems in order; an empty list says that nothing critical is wrong."""

    LIST = "problems"

    problems: list[ReportedProblem] = Field(description="In the order asked for; may be empty.")

    @model_validator(mode="before")
    @classmethod
    def _bare_list(cls, value: Any) -> Any:
        return {"problems": value} if isinstance(value, list) and value else value


CHECKS: tuple[Callable[[Reading], Iterator[DetectedProblem]], ...] = (
    check_statistics,
    check_shares,
    check_intervals,
    check_totals,
    check_text_against_tables,
    check_abstract,
    check_restated,
    check_instructions,
    check_claims,
    check_numbers,
    check_labels,
    check_reference_list,
    check_unresolved,
)
_PLACES_SHOWN = 3


async def baseline_problems(inputs: ProblemsInput, _: BaselineTools) -> ProblemsReply | NoAnswer:
    """Return up to `maximum_problems` problems; no problem is a valid reply."""
    if inputs.attached:
        return NoAnswer(Reason.NO_EVIDENCE, "the extractive engine reads text, not attached files")
    reading = Reading(inputs.form, inputs.text)
    problems = [problem for check in CHECKS for problem in check(reading)]
    kinds: dict[str, list[DetectedProblem]] = {}
    for problem in sorted(problems, key=lambda problem: problem.gravity):
        kinds.setdefault(problem.kind, []).append(problem)
    return ProblemsReply(
        problems=[_problem(each) for each in list(kinds.values())[: inputs.maximum_problems]]
    )


def _problem(occurrences: Sequence[DetectedProblem]) -> ReportedProblem:
    """Report one problem of a kind, with the places of its other occurrences."""
    first, other_occurrences = occurrences[0], occurrences[1 : 1 + _PLACES_SHOWN]
    more = (
        f" The same is found {len(occurrences) - 1} more {'time' if len(occurrences) == 2 else 'times'}, as at"
        f" {'; '.join(dict.fromkeys(one.location for one in other_occurrences))}."
        if other_occurrences
        else ""
    )
    return ReportedProblem(
        problem=first.problem,
        location=first.location,
        quote=first.quote,
        explanation=first.explanation + more,
    )


FIND_PROBLEMS = Step(
    name="find_problems",
    version=7,
    package="tasks.manuscripts",
    input_model=ProblemsInput,
    output_model=ProblemsReply,
    baseline=baseline_problems,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)
