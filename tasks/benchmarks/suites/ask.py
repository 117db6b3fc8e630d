"""Suite `ask` (ScholarQABench): recall of expert-cited works, and criteria met.

Questions with expert answers search the works that any expert cites; questions with criteria search
the literature of `--literature`.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pydantic import Field

from schemas.base import Noun
from schemas.choices import LiteratureChoice
from schemas.identifiers import PaperId
from schemas.literature.survey import Survey
from schemas.literature.survey_review import ReviewPart
from schemas.outcome import Outcome, Unscored
from schemas.reasons import Reason
from tasks.benchmarks.items import ItemContext, ItemResult
from tasks.benchmarks.records import Row, Text, rows_of
from tasks.benchmarks.steps.judge_answer import (
    JUDGE_ANSWER,
    WORTH,
    JudgedAnswerInput,
    JudgedAnswerReply,
)
from tasks.benchmarks.suite import (
    GRADE_TOKENS,
    QUESTION_TOKENS,
    ExpectedCalls,
    Suite,
    SuiteData,
    SuiteEstimate,
    Trial,
)
from tasks.benchmarks.suites.survey import snapshot_of, survey_of
from tasks.benchmarks.survey_sets import paper_id_of, paper_row
from tasks.literature.snapshot.records import normal_title
from tasks.metrics.estimate import undefined
from tasks.metrics.means import mean
from tasks.survey.expected import ANSWER_STEPS, TOKENS_PER_WORD, expected_survey
from tasks.survey.work import answer_parameters

ANSWERS_FILE = "scholarqa_expert_answers/answers.jsonl.gz"
RUBRICS_FILE = "scholarqa_expert_answers/rubrics_cs.jsonl.gz"
EXPERTS, RUBRICS = "expert_answers", "rubrics"
RUBRIC_CASES = 20
"""Default sample of the questions with criteria, without `--limit`."""
CRITERIA_PER_QUESTION = 4
"""Average, for estimates."""
CRITERIA_MET = "criteria_met"
METRICS = (
    "found_recall",
    "read_recall",
    "cited_recall",
    "cited_precision",
    "answered_share",
)
OF_THE_CHECK = ("sentences_checked", "sentences_taken_out")
"""Additional metrics of engines that write answers."""


class Passage(Row):
    """Passage that an expert cites."""

    title: Text
    text: Text

    @property
    def name(self) -> str:
        """Return the name of its work."""
        return normal_title(self.title)


class AnswerCase(Row):
    """Question of a field, with the passages that its expert cites."""

    id: Text
    question: Text
    subject: Text
    passages: tuple[Passage, ...] = Field(min_length=1)

    @property
    def cited(self) -> frozenset[PaperId]:
        """Return the cited works."""
        return frozenset(paper_id_of(passage.name) for passage in self.passages)


class Criterion(Row):
    """Weighted criterion of an expert; weights need not add up to 1."""

    criterion: Text
    weight: float = Field(gt=0)


class RubricCase(Row):
    """Question with weighted criteria."""

    id: Text
    question: Text
    criteria: tuple[Criterion, ...] = Field(min_length=1)


def passages_as_papers(cases: Sequence[AnswerCase]) -> Iterator[dict[str, Any]]:
    """Yield distinct expert-cited works with their passages as abstracts."""
    texts: dict[str, dict[str, None]] = {}
    titles: dict[str, str] = {}
    for passage in (passage for case in cases for passage in case.passages):
        titles.setdefault(passage.name, passage.title)
        texts.setdefault(passage.name, {})[passage.text] = None
    for name, title in titles.items():
        yield paper_row(name, title, "\n\n".join(texts[name]))


class AnswerResult(ItemResult):
    """Answer to a question with its papers."""

    text: str = Field(description="The answer, or the passages of the extractive engine.")
    found_ids: frozenset[str] = frozenset()
    read_ids: frozenset[str] = frozenset()
    cited_ids: frozenset[str] = frozenset()
    checked: int | None = Field(default=None, description="Sentences; None: none was checked.")
    removed: int | None = None


def run(trial: Trial) -> None:
    """Score the recall of expert-cited works and the share of criteria met."""
    all_cases = rows_of(trial.file(ANSWERS_FILE), AnswerCase)
    cases = trial.draw(all_cases)
    literature = snapshot_of(trial, EXPERTS, partial(passages_as_papers, all_cases))
    answers = _answers_to(trial, EXPERTS, {case.id: case.question for case in cases}, literature)
    metrics = [_measure(case, answers[case.id]) for case in cases]
    for case, values in zip(cases, metrics, strict=True):
        result, recall = answers[case.id], values["cited_recall"]
        trial.record(
            EXPERTS,
            case.id,
            None if recall is None else f"{round(recall * len(case.cited))} works",
            result,
            gold=f"{len(case.cited)} works",
            value=recall,
            explanation=result.text,
        )
    baseline = trial.request.engine.is_baseline
    for metric in METRICS if baseline else (*METRICS, *OF_THE_CHECK):
        estimate = mean([each[metric] for each in metrics], trial.seed)
        trial.score(metric, estimate, part=f"set={EXPERTS}")
    if trial.file(RUBRICS_FILE).is_file():
        _by_criteria(trial, rows_of(trial.file(RUBRICS_FILE), RubricCase))


def _answers_to(
    trial: Trial, task: str, questions: Mapping[str, str], literature: LiteratureChoice
) -> dict[str, AnswerResult]:
    async def work(question: str, context: ItemContext) -> AnswerResult:
        name = context.ledger.idea_id
        return _answer_of(await survey_of(name, question, answer_parameters(), None, context))

    return trial.each(f"answers to {task}", questions, work, AnswerResult, literature=literature)


def _answer_of(survey: Survey) -> AnswerResult:
    """Return the answer of a survey; of the extractive engine its passages."""
    if survey.kept_count is None:
        return AnswerResult(text="", reason=survey.unscored_reason, detail=survey.unscored_detail)
    quotes = [quote for quote in survey.quotes if quote.aspect is not None]
    read_ids = frozenset(str(quote.paper_id) for quote in quotes)
    found_ids = frozenset(str(paper.paper_id) for paper in survey.papers)
    answer = next((part for part in survey.sections if part.part is ReviewPart.ANSWER), None)
    if answer is None:
        text = "\n\n".join(quote.quote for quote in quotes)
        return AnswerResult(text=text, found_ids=found_ids, read_ids=read_ids, cited_ids=read_ids)
    return AnswerResult(
        text=answer.text,
        found_ids=found_ids,
        read_ids=read_ids,
        cited_ids=frozenset(answer.cited_paper_ids),
        checked=answer.checked_sentence_count,
        removed=len(survey.removed),
        reason=answer.unscored_reason,
        detail=answer.unscored_detail,
    )


def _measure(case: AnswerCase, result: AnswerResult) -> dict[str, float | None]:
    """Return the metrics of one answer.

    A metric is None if the search failed or its denominator is 0.
    """
    if result.reason is not None and result.reason is not Reason.NO_EVIDENCE:
        return dict.fromkeys((*METRICS, *OF_THE_CHECK))
    right, cited_count = len(case.cited), len(result.cited_ids)
    return {
        "found_recall": len(case.cited & result.found_ids) / right,
        "read_recall": len(case.cited & result.read_ids) / right,
        "cited_recall": len(case.cited & result.cited_ids) / right,
        "cited_precision": len(case.cited & result.cited_ids) / cited_count
        if cited_count
        else None,
        "answered_share": float(bool(result.text)),
        "sentences_checked": result.checked,
        "sentences_taken_out": result.removed,
    }


def _by_criteria(trial: Trial, all_cases: Sequence[RubricCase]) -> None:
    """Score the weighted share of criteria met.

    A question without an answer meets none.
    """
    cases = trial.draw(all_cases, RUBRIC_CASES)
    part = f"set={RUBRICS}"
    if trial.request.engine.is_baseline:
        undefined_share = undefined("the extractive engine writes no answer", len(cases))
        trial.score(CRITERIA_MET, undefined_share, part=part)
        return
    questions = {each.id: each.question for each in cases}
    answers = _answers_to(trial, RUBRICS, questions, trial.parameters.literature)
    inputs: dict[str, Noun] = {
        case.id: JudgedAnswerInput(
            question=case.question,
            answer=answers[case.id].text,
            criteria=tuple(each.criterion for each in case.criteria),
        )
        for case in cases
        if answers[case.id].text
    }
    judge_outcomes = trial.ask(JUDGE_ANSWER, inputs)
    shares = []
    for case in cases:
        result, outcome = answers[case.id], judge_outcomes.get(case.id)
        share = share_met(case, result, outcome)
        shares.append(share)
        reason, detail = result.reason, result.detail
        if isinstance(outcome, Unscored):
            reason, detail = outcome.reason, outcome.detail
        elif outcome is not None:
            reason, detail = Reason.REPLY_UNPARSABLE, "a criterion has no verdict"
        trial.record(
            RUBRICS,
            case.id,
            None if share is None else f"{share:.2f} of them by weight",
            ItemResult(reason=reason, detail=detail),
            gold=f"{len(case.criteria)} criteria",
            value=share,
            explanation=result.text,
        )
    trial.score(CRITERIA_MET, mean(shares, trial.seed), part=part)


def share_met(
    case: RubricCase, result: AnswerResult, outcome: Outcome[JudgedAnswerReply] | None
) -> float | None:
    """Return the weighted share of criteria met.

    The result is None if a verdict is missing.
    """
    if outcome is None:
        return 0.0 if result.reason in (None, Reason.NO_EVIDENCE) else None
    if isinstance(outcome, Unscored):
        return None
    met_by_criterion = {each.criterion: each.met for each in outcome.value.criteria}
    verdicts = [met_by_criterion.get(number) for number in range(1, len(case.criteria) + 1)]
    worth = [WORTH[verdict] for verdict in verdicts if verdict is not None]
    if len(worth) < len(verdicts):
        return None
    weights = [each.weight for each in case.criteria]
    return sum(w * each for w, each in zip(weights, worth, strict=True)) / sum(weights)


def _expects(data: SuiteData) -> SuiteEstimate:
    limit, parameters = data.parameters.item_limit, answer_parameters()
    experts = limit or len(rows_of(data.file(ANSWERS_FILE), AnswerCase))
    rubrics = 0
    if data.file(RUBRICS_FILE).is_file() and not data.request.engine.is_baseline:
        rubrics = limit or RUBRIC_CASES
    calls_by_step = expected_survey(parameters, full_text=False)
    expected_calls = []
    for step in ANSWER_STEPS:
        each = calls_by_step[step.name]
        prompt_tokens = QUESTION_TOKENS + each.data_tokens / each.calls
        calls = (experts + rubrics) * each.calls
        expected_calls.append(
            ExpectedCalls(step, calls, prompt_tokens, each.answer_tokens / each.calls)
        )
    length = parameters.words_per_answer * TOKENS_PER_WORD
    criteria = CRITERIA_PER_QUESTION * GRADE_TOKENS
    expected_calls.append(
        ExpectedCalls(JUDGE_ANSWER, rubrics, QUESTION_TOKENS + length + criteria, criteria)
    )
    return SuiteEstimate(experts + rubrics, expected_calls)


SUITE = Suite(
    "ask",
    "Do answers rest on the works that experts cite, and meet the criteria that experts wrote?",
    (ANSWERS_FILE,),
    run,
    steps=(*ANSWER_STEPS, JUDGE_ANSWER),
    expects=_expects,
    searches=lambda request: not request.engine.is_baseline,
    optional=(RUBRICS_FILE,),
)
