"""Study `survey_reviews`: marks of surveys written with and without citation hops.

Surveys of some questions are written without hops and with two, and judged along five dimensions.
"""

from collections.abc import Sequence
from enum import StrEnum

from pydantic import Field

from schemas.base import Noun, Reply, replace
from schemas.identifiers import content_hash
from schemas.judging import StepKind
from schemas.literature.survey import SurveyParameters
from schemas.outcome import Outcome, Scored, Unscored
from schemas.reasons import About, Reason
from tasks.benchmarks.items import ItemContext, ItemResult
from tasks.benchmarks.suite import (
    GRADE_TOKENS,
    QUESTION_TOKENS,
    ExpectedCalls,
    Suite,
    SuiteData,
    SuiteEstimate,
    Trial,
)
from tasks.benchmarks.suites.survey import SUITE as SURVEY
from tasks.benchmarks.suites.survey import CaseSet, case_sets, survey_bounds, survey_of, system_of
from tasks.benchmarks.survey_sets import VIS_FILE, SurveyCase
from tasks.judging.reply_fields import Prose
from tasks.judging.step import Step, no_baseline
from tasks.metrics.estimate import undefined
from tasks.metrics.means import mean, paired_difference
from tasks.survey.expected import SURVEY_STEPS, TOKENS_PER_WORD, expected_survey

WITHOUT_HOPS, WITH_HOPS = 0, 2
REVIEWED_CASES = 10
"""Questions per set, each with about thirty calls."""
MARK, MARK_GAIN = "survey_mark", "survey_mark_gain"


class SurveyDimension(StrEnum):
    """Dimension of the quality of a survey."""

    COVERAGE = "coverage"
    STRUCTURE = "structure"
    RELEVANCE = "relevance"
    SYNTHESIS = "synthesis"
    CRITICAL_ANALYSIS = "critical_analysis"


class SurveyInput(Noun):
    """Input of `judge_survey`."""

    question: str = Field(min_length=1)
    survey: str = Field(min_length=1)


class Mark(Reply):
    """A mark, and why."""

    reason: Prose = ""
    score: int = Field(ge=1, le=5)


class SurveyReply(Reply):
    """A mark for each dimension."""

    coverage: Mark
    structure: Mark
    relevance: Mark
    synthesis: Mark
    critical_analysis: Mark

    def mark(self, dimension: SurveyDimension) -> Mark:
        """Return the mark along one dimension."""
        mark = getattr(self, dimension.value)
        assert isinstance(mark, Mark)
        return mark


JUDGE_SURVEY = Step(
    name="judge_survey",
    version=2,
    package="tests.benchmarks",
    input_model=SurveyInput,
    output_model=SurveyReply,
    baseline=no_baseline("a survey is judged with --engine litellm:MODEL, not by its wording"),
    kind=StepKind.JUDGEMENT,
)


class WrittenSurvey(ItemResult):
    """Text of a survey."""

    text: str = Field(description="Empty if none was written.")


def run(trial: Trial) -> None:
    """Score the marks of every set with references whose questions people wrote."""
    for one in case_sets(trial):
        if one.has_references and not one.is_planted:
            score_written(trial, one)


def score_written(trial: Trial, one: CaseSet) -> None:
    """Score marks of surveys with and without hops, and the gains."""
    cases = one.cases[:REVIEWED_CASES]
    depths = (WITHOUT_HOPS, WITH_HOPS)
    if trial.request.engine.is_baseline:
        nothing = undefined("the extractive engine writes no survey", len(cases))
        for depth in depths:
            trial.score(MARK, nothing, system_of(depth), f"set={one.name}")
        return
    replies: dict[int, list[SurveyReply | None]] = {}
    for depth in depths:
        surveys = _write_surveys(trial, one, cases, depth)
        questions: dict[str, Noun] = {
            case.case_id: SurveyInput(question=case.question, survey=surveys[case.case_id].text)
            for case in cases
            if surveys[case.case_id].text
        }
        outcomes = trial.ask(JUDGE_SURVEY, questions, task=f"{one.name}, marks of depth {depth}")
        replies[depth] = [
            outcome.value if isinstance(outcome, Scored) else None
            for outcome in (outcomes.get(case.case_id) for case in cases)
        ]
        for case, reply in zip(cases, replies[depth], strict=True):
            lacking: ItemResult | Outcome[SurveyReply] = surveys[case.case_id]
            if isinstance(outcome := outcomes.get(case.case_id), Unscored):
                lacking = ItemResult(reason=outcome.reason, detail=outcome.detail)
            for dimension in SurveyDimension:
                mark = _mark(reply, dimension)
                trial.record(
                    f"{one.name}, {dimension}",
                    case.case_id,
                    None if mark is None else str(mark.score),
                    lacking,
                    system=system_of(depth),
                    value=None if mark is None else float(mark.score),
                    explanation="" if mark is None else mark.reason,
                )
    for dimension in SurveyDimension:
        part = f"set={one.name}, dimension={dimension}"
        values = {
            depth: [
                None if (mark := _mark(reply, dimension)) is None else float(mark.score)
                for reply in replies[depth]
            ]
            for depth in depths
        }
        for depth in depths:
            trial.score(MARK, mean(values[depth], trial.seed), system_of(depth), part)
        gain = paired_difference(values[WITH_HOPS], values[WITHOUT_HOPS], trial.seed)
        trial.score(MARK_GAIN, gain, system_of(WITH_HOPS), part)


def _mark(reply: SurveyReply | None, dimension: SurveyDimension) -> Mark | None:
    return None if reply is None else reply.mark(dimension)


def written_bounds(depth: int) -> SurveyParameters:
    """Return the parameters of a written survey."""
    return replace(survey_bounds(depth), papers_read=30, maximum_sections=6)


def _write_surveys(
    trial: Trial, one: CaseSet, cases: Sequence[SurveyCase], depth: int
) -> dict[str, WrittenSurvey]:
    parameters = written_bounds(depth)

    async def work(case: SurveyCase, context: ItemContext) -> WrittenSurvey:
        survey = await survey_of(case.case_id, case.question, parameters, case.cutoff, context)
        sections = [section for section in survey.sections if section.text]
        if sections:
            text = "\n\n".join(f"## {each.heading}\n\n{each.text}" for each in sections)
            return WrittenSurvey(text=text)
        score_failures = [each for each in survey.failures if each.reason.about is About.SCORE]
        failure = score_failures[-1] if score_failures else None
        reason = survey.unscored_reason or (failure.reason if failure else Reason.NO_EVIDENCE)
        detail = survey.unscored_detail or (failure.detail if failure else "no section was written")
        return WrittenSurvey(text="", reason=reason, detail=detail)

    bounds = content_hash(parameters.model_dump_json(), length=8)
    return trial.each(
        f"{one.name}, survey of depth {depth}, {bounds}",
        {case.case_id: case for case in cases},
        work,
        WrittenSurvey,
        literature=one.literature,
    )


def _expects(data: SuiteData) -> SuiteEstimate:
    limit = data.parameters.item_limit or REVIEWED_CASES
    case_count = min(limit, REVIEWED_CASES) * data.file(VIS_FILE).is_file()
    written_count, bounds = 2.0 * case_count, written_bounds(WITH_HOPS)
    calls_by_step = expected_survey(bounds, full_text=False)
    calls = [
        ExpectedCalls(
            step,
            written_count * each.calls,
            QUESTION_TOKENS + each.data_tokens / each.calls,
            each.answer_tokens / each.calls,
        )
        for step in SURVEY_STEPS
        for each in (calls_by_step[step.name],)
    ]
    length = bounds.maximum_sections * bounds.words_per_section * TOKENS_PER_WORD
    calls.append(
        ExpectedCalls(JUDGE_SURVEY, written_count, QUESTION_TOKENS + length, 5 * GRADE_TOKENS)
    )
    return SuiteEstimate(case_count, calls)


SUITE = Suite(
    "survey_reviews",
    "Are surveys better that follow the citation graph?",
    (),
    run,
    steps=(*SURVEY_STEPS, JUDGE_SURVEY),
    expects=_expects,
    searches=SURVEY.searches,
    optional=SURVEY.optional,
)
