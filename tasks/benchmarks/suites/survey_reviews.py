"""Written surveys judged along five dimensions: with two hops along the citation graph, and beside
them from searches alone, at equal papers judged and read.
"""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import Field

from schemas.base import Noun
from schemas.choices import LiteratureChoice
from schemas.identifiers import content_hash
from schemas.judgement.benchmark import BenchmarkItem, BenchmarkScore
from schemas.literature.survey import SurveyParameters
from schemas.outcome import Outcome, Unscored
from schemas.reasons import About, Reason, may_pass
from schemas.works.survey_run import SurveyQuestion
from tasks.benchmarks.items import ItemContext
from tasks.benchmarks.review_text import text_of_survey
from tasks.benchmarks.steps.judge_survey import (
    JUDGE_SURVEY,
    SurveyDimension,
    SurveyInput,
    SurveyReply,
)
from tasks.benchmarks.survey_sets import SurveyCase
from tasks.benchmarks.trial import Trial
from tasks.documents.document import AbstractLibrary
from tasks.metrics.estimate import benchmark_score, undefined
from tasks.metrics.means import mean, paired_difference
from tasks.survey.survey import survey

WITHOUT_HOPS, WITH_HOPS = 0, 2
REVIEWED_CASES = 10
"""Questions of a set of which surveys are written: each takes some thirty calls at both depths."""
METRIC, GAIN = "survey_mark", "survey_mark_gain"


class Written(Noun):
    """A survey as text, or why there is none."""

    text: str = Field(description="Empty: there is none.")
    reason: Reason | None = None
    detail: str = ""


def review_parameters(depth: int, papers_judged: int, papers_kept: int) -> SurveyParameters:
    """Of a survey that is written to be judged."""
    return SurveyParameters(
        depth=depth,
        maximum_papers=papers_kept,
        maximum_judged=papers_judged,
        papers_per_query=papers_judged,
        papers_read=30,
        maximum_sections=6,
    )


def review_scores(
    trial: Trial,
    suite: str,
    name: str,
    literature: LiteratureChoice,
    cases: Sequence[SurveyCase],
    parameters: Mapping[int, SurveyParameters],
) -> list[BenchmarkScore]:
    """Marks of surveys of `cases` at each depth, and what hops add on the same questions.

    Args:
        parameters: by depth, searches alone first.
    """
    chosen = cases[:REVIEWED_CASES]
    if trial.request.engine.is_baseline:
        nothing = undefined("the extractive engine writes no survey", len(chosen))
        return [
            benchmark_score(nothing, suite, METRIC, f"depth_{depth}", f"set={name}")
            for depth in parameters
        ]
    marks: dict[int, dict[str, Outcome[SurveyReply]]] = {}
    for depth, bounds in parameters.items():
        written = _written(trial, name, literature, chosen, bounds)
        questions: dict[str, Noun] = {
            case.case_id: SurveyInput(question=case.question, survey=written[case.case_id].text)
            for case in chosen
            if written[case.case_id].text
        }
        marks[depth] = trial.ask(JUDGE_SURVEY, questions, task=f"{name}, marks of depth {depth}")
        trial.record(_items(name, depth, chosen, written, marks[depth]))
    return [*_scores(suite, name, chosen, marks, trial.seed)]


def _written(
    trial: Trial,
    name: str,
    literature: LiteratureChoice,
    cases: Sequence[SurveyCase],
    parameters: SurveyParameters,
) -> dict[str, Written]:
    async def work(case: SurveyCase, context: ItemContext) -> Written:
        assert context.literature is not None, "the trial opens a gateway"
        found = await survey(
            SurveyQuestion(question_id=case.case_id, question=case.question),
            parameters,
            case.cutoff,
            engine=context.engine,
            literature=context.literature,
            embedder=context.embedder,
            ledger=context.ledger,
            documents=AbstractLibrary(),
        )
        text = text_of_survey(found)
        if text:
            return Written(text=text)
        judged = [each for each in found.failures if each.reason.about is About.SCORE]
        failed = judged[-1] if judged else None
        reason = found.unscored_reason or (failed.reason if failed else Reason.NO_EVIDENCE)
        detail = found.unscored_detail or (failed.detail if failed else "no section was written")
        return Written(text="", reason=reason, detail=detail)

    bounds = content_hash(parameters.model_dump_json(), length=8)
    return trial.each(
        f"{name}, survey of depth {parameters.depth}, {bounds}",
        {case.case_id: case for case in cases},
        work,
        Written,
        ask_again=lambda written: may_pass(written.reason),
        literature=literature,
    )


def _items(
    name: str,
    depth: int,
    cases: Sequence[SurveyCase],
    written: Mapping[str, Written],
    marks: Mapping[str, Outcome[SurveyReply]],
) -> Iterator[BenchmarkItem]:
    """A row for each dimension of each survey; of one that was not written, or not judged, why."""
    for case in cases:
        outcome = marks.get(case.case_id)
        reason, detail = written[case.case_id].reason, written[case.case_id].detail
        if isinstance(outcome, Unscored):
            reason, detail = outcome.reason, outcome.detail
        for dimension in SurveyDimension:
            mark = _mark(outcome, dimension)
            yield BenchmarkItem(
                item_id=case.case_id,
                task=f"{name}, {dimension}",
                system=f"depth_{depth}",
                gold=None,
                answer=None if mark is None else str(mark[0]),
                value=None if mark is None else float(mark[0]),
                explanation="" if mark is None else mark[1],
                unscored_reason=reason if mark is None else None,
                unscored_detail=detail if mark is None else "",
            )


def _mark(
    outcome: Outcome[SurveyReply] | None, dimension: SurveyDimension
) -> tuple[int, str] | None:
    if outcome is None or isinstance(outcome, Unscored):
        return None
    mark = outcome.value.mark(dimension)
    return mark.score, mark.reason


def _scores(
    suite: str,
    name: str,
    cases: Sequence[SurveyCase],
    marks: Mapping[int, Mapping[str, Outcome[SurveyReply]]],
    seed: int,
) -> Iterator[BenchmarkScore]:
    for dimension in SurveyDimension:
        part = f"set={name}, dimension={dimension}"
        values: dict[int, list[float | None]] = {}
        for depth, by_case in marks.items():
            found = [_mark(by_case.get(case.case_id), dimension) for case in cases]
            values[depth] = [None if mark is None else float(mark[0]) for mark in found]
            yield benchmark_score(mean(values[depth], seed), suite, METRIC, f"depth_{depth}", part)
        for depth in values:
            if depth:
                gain = paired_difference(values[depth], values[WITHOUT_HOPS], seed)
                yield benchmark_score(gain, suite, GAIN, f"depth_{depth}", part)
