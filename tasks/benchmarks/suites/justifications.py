"""Grades of RINoBench's justifications (§4.2.2), and the seven metrics over them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from schemas.base import Noun
from schemas.outcome import Outcome, Scored, Unscored
from schemas.reasons import Reason, may_pass
from tasks.benchmarks.items import ItemContext, ItemResult
from tasks.benchmarks.novelty_sets import GoldIdea
from tasks.benchmarks.steps.grade_justifications import (
    CHECK_ASPECT,
    EXTRACT_ASPECTS,
    JUDGE_ALIGNMENT,
    AlignmentInput,
    AlignmentReply,
    AspectsInput,
    AspectsReply,
    CheckInput,
    CheckReply,
    SourceShown,
)
from tasks.benchmarks.suite import Trial
from tasks.judging.packing import side_by_side
from tasks.judging.step import Engine
from tasks.metrics.estimate import Estimate, undefined
from tasks.metrics.means import mean

GRADING = (CHECK_ASPECT, EXTRACT_ASPECTS, JUDGE_ALIGNMENT)
"""Steps after G-Eval (alignment) and FActScore (extraction and verification of arguments)."""


@dataclass(frozen=True, slots=True)
class JustificationPair:
    """Justification of a model and of an expert for one idea.

    `works` are (title, abstract).
    """

    idea: str
    works: tuple[tuple[str, str], ...]
    expected: str
    actual: str


class AspectCounts(Noun):
    """Counts of a justification's known or novel arguments, by a judge."""

    gold: int = Field(ge=0, description="Arguments of the gold justification.")
    generated: int = Field(ge=0, description="Arguments of the model's justification.")
    supported: int = Field(ge=0, description="Generated ones that the gold justification supports.")
    additional: int = Field(
        ge=0,
        description="Others that the related works (known) or the idea (novel) support.",
    )
    hallucinated: int = Field(ge=0, description="Generated ones that neither of these supports.")

    @property
    def recall(self) -> float:
        """Return min(1, supported / gold), 0 without gold arguments (Eq. 1)."""
        return min(1.0, self.supported / self.gold) if self.gold else 0.0

    @property
    def additional_ratio(self) -> float:
        """Return additional / max(gold, 1) (Eq. 2); may exceed 1."""
        return self.additional / max(self.gold, 1)

    @property
    def hallucination_rate(self) -> float:
        """Return hallucinated / generated, 0 without generated arguments (Eq. 3)."""
        return self.hallucinated / self.generated if self.generated else 0.0


class Grade(ItemResult):
    """Grade of one justification; None where a judge's answer is missing."""

    alignment_0_to_1: float | None
    known_aspects: AspectCounts | None
    novel_aspects: AspectCounts | None


def score_justifications(
    trial: Trial,
    system: str,
    gold_ideas: Mapping[str, GoldIdea],
    reasoning: Mapping[str, str],
    part: str,
) -> None:
    """Score the metrics of justifications; items without both justifications are unscored."""
    items = {
        name: JustificationPair(
            idea=one.idea.text,
            works=tuple((paper.title, paper.abstract or paper.title) for paper in one.works),
            expected=one.reasoning,
            actual=reasoning[name],
        )
        for name, one in gold_ideas.items()
        if one.reasoning.strip() and reasoning.get(name, "").strip()
    }

    async def work(pair: JustificationPair, context: ItemContext) -> Grade:
        return await grade(pair, context.engine)

    grades = trial.each(f"grade {system}", items, work, Grade)
    missing_count = len(gold_ideas) - len(items)
    if not grades:
        undefined_alignment = undefined("no item has both justifications", 0, missing_count)
        trial.score("alignment", undefined_alignment, system, part)
        return
    blank = Grade(alignment_0_to_1=None, known_aspects=None, novel_aspects=None)
    all_grades = [*grades.values(), *[blank] * missing_count]
    trial.score_all(justification_metrics(all_grades, trial.seed), system, part)


def justification_metrics(grades: Sequence[Grade], seed: int = 0) -> dict[str, Estimate]:
    """Estimate means over justifications, by the release's names without `mean_`.

    `alignment`, and for `known` and `novelty` aspects: `…_aspects_recall`,
    `additional_…_aspects_ratio`, `…_aspects_hallucination_rate`. BCa bootstrap over justifications.

    Bad input: missing answers of the judge are unscored; without any answer a metric is undefined.
    """
    values = {"alignment": [one.alignment_0_to_1 for one in grades]}
    for kind, counts in (
        ("known", [one.known_aspects for one in grades]),
        ("novelty", [one.novel_aspects for one in grades]),
    ):
        for name, ratio in (
            (f"{kind}_aspects_recall", "recall"),
            (f"additional_{kind}_aspects_ratio", "additional_ratio"),
            (f"{kind}_aspects_hallucination_rate", "hallucination_rate"),
        ):
            values[name] = [None if one is None else getattr(one, ratio) for one in counts]
    return {name: mean(of_metric, seed) for name, of_metric in values.items()}


async def grade(pair: JustificationPair, engine: Engine) -> Grade:
    """Grade the alignment, and count supported, additional and hallucinated arguments.

    An argument that the expert's justification does not support is additional if the related works
    (known) or the idea (novel) support it, and hallucinated otherwise. At most seven calls.
    """
    alignment = AlignmentInput(expected=pair.expected, actual=pair.actual)
    async with asyncio.TaskGroup() as group:
        of_alignment = group.create_task(engine.run(JUDGE_ALIGNMENT, alignment))
        of_gold, of_said = (
            group.create_task(engine.run(EXTRACT_ASPECTS, AspectsInput(justification=text)))
            for text in (pair.expected, pair.actual)
        )
    alignment_outcome: Outcome[AlignmentReply] = of_alignment.result()
    gold: Outcome[AspectsReply] = of_gold.result()
    generated_aspects: Outcome[AspectsReply] = of_said.result()
    works = tuple(
        SourceShown(name=f"Related work {number}", text=f"{title}\n\n{text}")
        for number, (title, text) in enumerate(pair.works, start=1)
    )
    idea = (SourceShown(name="Idea", text=pair.idea),)
    reasons = [
        one.reason
        for one in (alignment_outcome, gold, generated_aspects)
        if isinstance(one, Unscored)
    ]
    known_counts: AspectCounts | Reason | None = None
    novel_counts: AspectCounts | Reason | None = None
    if isinstance(gold, Scored) and isinstance(generated_aspects, Scored):
        expert_text = pair.expected
        known_counts, novel_counts = await side_by_side(
            [
                _count_aspects(
                    gold.value.known,
                    generated_aspects.value.known,
                    expert_text,
                    works or idea,
                    engine,
                ),
                _count_aspects(
                    gold.value.novel, generated_aspects.value.novel, expert_text, idea, engine
                ),
            ]
        )
        reasons += [one for one in (known_counts, novel_counts) if isinstance(one, Reason)]
    # Prefer a reason that is worth retrying, so that the item is processed again.
    reason = next(filter(may_pass, reasons), reasons[0] if reasons else None)
    return Grade(
        alignment_0_to_1=alignment_outcome.value.score / 10
        if isinstance(alignment_outcome, Scored)
        else None,
        known_aspects=None if isinstance(known_counts, Reason) else known_counts,
        novel_aspects=None if isinstance(novel_counts, Reason) else novel_counts,
        reason=reason,
    )


async def _count_aspects(
    gold: Sequence[str],
    model_arguments: Sequence[str],
    expert_text: str,
    grounds: Sequence[SourceShown],
    engine: Engine,
) -> AspectCounts | Reason:
    gold_arguments, generated_arguments = (
        list(dict.fromkeys(gold)),
        list(dict.fromkeys(model_arguments)),
    )
    experts = SourceShown(name="Expert's justification", text=expert_text)
    support = await _check_support(generated_arguments, [experts], engine)
    if isinstance(support, Reason):
        return support
    rest = [
        argument
        for argument, is_supported in zip(generated_arguments, support, strict=True)
        if not is_supported
    ]
    grounding = await _check_support(rest, grounds, engine)
    if isinstance(grounding, Reason):
        return grounding
    return AspectCounts(
        gold=len(gold_arguments),
        generated=len(generated_arguments),
        supported=sum(support),
        additional=sum(grounding),
        hallucinated=len(grounding) - sum(grounding),
    )


async def _check_support(
    arguments: Sequence[str], sources: Sequence[SourceShown], engine: Engine
) -> list[bool] | Reason:
    """Return which arguments the sources support, or why checking failed."""
    if not arguments:
        return []
    outcome: Outcome[CheckReply] = await engine.run(
        CHECK_ASPECT, CheckInput(sources=tuple(sources), arguments=tuple(arguments))
    )
    if isinstance(outcome, Unscored):
        return outcome.reason
    support_by_number = {one.number: one.supported for one in outcome.value.arguments}
    numbers = range(1, len(arguments) + 1)
    return (
        [support_by_number[number] for number in numbers]
        if all(number in support_by_number for number in numbers)
        else Reason.REPLY_UNPARSABLE
    )
