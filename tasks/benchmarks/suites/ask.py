"""Suite `ask` (ScholarQABench): recall of expert-cited works, and criteria met.

Questions with expert answers search the works that any expert cites; questions with criteria search
the literature of `--literature`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field

from schemas.base import Noun
from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import PaperId
from schemas.literature.survey import Survey
from schemas.literature.survey_review import ReviewPart
from schemas.outcome import Outcome, Unscored
from schemas.reasons import Reason
from tasks.benchmarks.items import ItemContext, ItemResult
from tasks.benchmarks.records import Record, json_lines, text_of
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


@dataclass(frozen=True, slots=True)
class AnswerCase:
    """Question of a field, with the works that its expert cites."""

    case_id: str
    question: str
    subject: str
    cited: frozenset[PaperId]


@dataclass(frozen=True, slots=True)
class RubricCase:
    """Question with weighted criteria; weights need not add up to 1."""

    case_id: str
    question: str
    criteria: Sequence[tuple[str, float]]


def answer_cases(path: Path) -> list[AnswerCase]:
    return [
        AnswerCase(
            case_id=text_of(record, "id", path),
            question=text_of(record, "question", path),
            subject=text_of(record, "subject", path),
            cited=frozenset(
                paper_id_of(_name(each, path)) for each in _list(record, "passages", path)
            ),
        )
        for record in json_lines(path)
    ]


def passages_as_papers(path: Path) -> Iterator[dict[str, Any]]:
    """Yield distinct expert-cited works with their passages as abstracts."""
    texts: dict[str, dict[str, None]] = {}
    titles: dict[str, str] = {}
    for record in json_lines(path):
        for passage in _list(record, "passages", path):
            name = _name(passage, path)
            titles.setdefault(name, text_of(passage, "title", path))
            texts.setdefault(name, {})[text_of(passage, "text", path)] = None
    for name, title in titles.items():
        yield paper_row(name, title, "\n\n".join(texts[name]))


def rubric_cases(path: Path) -> list[RubricCase]:
    return [
        RubricCase(
            case_id=text_of(record, "id", path),
            question=text_of(record, "question", path),
            criteria=tuple(
                (text_of(each, "criterion", path), _weight(each, path))
                for each in _list(record, "criteria", path)
            ),
        )
        for record in json_lines(path)
    ]


def _name(passage: Record, path: Path) -> str:
    return normal_title(text_of(passage, "title", path))


def _list(record: Record, name: str, path: Path) -> list[Record]:
    entries = record.get(name)
    if (
        not isinstance(entries, list)
        or not entries
        or not all(isinstance(one, dict) for one in entries)
    ):
        raise ConfigurationError(f"{path}: an entry lists no {name}: is it the file its name says?")
    return entries


def _weight(criterion: Record, path: Path) -> float:
    weight = criterion.get("weight")
    if not isinstance(weight, int | float) or weight <= 0:
        raise ConfigurationError(f"{path}: a criterion has no weight above 0")
    return float(weight)


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
    path = trial.file(ANSWERS_FILE)
    cases = trial.draw(answer_cases(path))
    literature = snapshot_of(trial, EXPERTS, partial(passages_as_papers, path))
    answers = _answers_to(
        trial, EXPERTS, {case.case_id: case.question for case in cases}, literature
    )
    metrics = [_measure(case, answers[case.case_id]) for case in cases]
    for case, values in zip(cases, metrics, strict=True):
        result, recall = answers[case.case_id], values["cited_recall"]
        trial.record(
            EXPERTS,
            case.case_id,
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
        _by_criteria(trial, rubric_cases(trial.file(RUBRICS_FILE)))


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
    questions = {each.case_id: each.question for each in cases}
    answers = _answers_to(trial, RUBRICS, questions, trial.parameters.literature)
    inputs: dict[str, Noun] = {
        case.case_id: JudgedAnswerInput(
            question=case.question,
            answer=answers[case.case_id].text,
            criteria=tuple(text for text, _ in case.criteria),
        )
        for case in cases
        if answers[case.case_id].text
    }
    judge_outcomes = trial.ask(JUDGE_ANSWER, inputs)
    shares = []
    for case in cases:
        result, outcome = answers[case.case_id], judge_outcomes.get(case.case_id)
        share = share_met(case, result, outcome)
        shares.append(share)
        reason, detail = result.reason, result.detail
        if isinstance(outcome, Unscored):
            reason, detail = outcome.reason, outcome.detail
        elif outcome is not None:
            reason, detail = Reason.REPLY_UNPARSABLE, "a criterion has no verdict"
        trial.record(
            RUBRICS,
            case.case_id,
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
    weights = [weight for _, weight in case.criteria]
    return sum(w * each for w, each in zip(weights, worth, strict=True)) / sum(weights)


def _expects(data: SuiteData) -> SuiteEstimate:
    limit, parameters = data.parameters.item_limit, answer_parameters()
    experts = limit or len(answer_cases(data.file(ANSWERS_FILE)))
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
