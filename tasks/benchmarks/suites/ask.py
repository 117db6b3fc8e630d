"""Suite `ask`: does an answer rest on the works that experts cite, and does it meet the
criteria that experts wrote?

The experts' questions are asked of all works that any of them cites; questions with criteria of the
literature that `--literature` names.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from pydantic import Field

from schemas.base import Noun
from schemas.choices import LiteratureChoice
from schemas.judgement.benchmark import ASSAY, BenchmarkItem, BenchmarkScore
from schemas.literature.survey import Survey
from schemas.literature.survey_review import ReviewPart
from schemas.outcome import Outcome, Unscored
from schemas.reasons import Reason, may_pass
from schemas.works.survey_run import SurveyQuestion
from tasks.benchmarks.answer_sets import (
    ANSWERS_FILE,
    RUBRICS_FILE,
    AnswerCase,
    RubricCase,
    answer_cases,
    passages_as_papers,
    rubric_cases,
)
from tasks.benchmarks.items import ItemContext
from tasks.benchmarks.steps.judge_answer import (
    JUDGE_ANSWER,
    WORTH,
    JudgedAnswerInput,
    JudgedAnswerReply,
)
from tasks.benchmarks.suite import Suite
from tasks.benchmarks.suites.survey import snapshot_of
from tasks.benchmarks.trial import Trial, drawn_rows
from tasks.documents.document import AbstractLibrary
from tasks.metrics.estimate import benchmark_score, undefined
from tasks.metrics.means import mean
from tasks.survey.expected import ANSWER_STEPS
from tasks.survey.survey import survey
from tasks.survey.work import answer_parameters

NAME = "ask"
EXPERTS, RUBRICS = "expert_answers", "rubrics"
RUBRIC_CASES = 20
"""Drawn of the questions with criteria; `--limit` says another number."""
CRITERIA_PER_QUESTION = 4
"""On average."""
CRITERIA_MET = "criteria_met"
METRICS = (
    "found_recall",
    "read_recall",
    "cited_recall",
    "cited_precision",
    "answered_share",
)
OF_THE_CHECK = ("sentences_checked", "sentences_taken_out")
"""Metrics of engines that write."""


class Answered(Noun):
    """An answer and what it rests on, or why there is none."""

    text: str = Field(description="The answer, or without a model the passages; empty: nothing.")
    found: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    cited: frozenset[str] = frozenset()
    checked: int | None = Field(default=None, description="Sentences; None: none was checked.")
    taken_out: int | None = None
    reason: Reason | None = None
    detail: str = ""


def run(trial: Trial) -> Sequence[BenchmarkScore]:
    """Shares of the works that experts cite among those found, read and cited; and the share of
    criteria met.
    """
    path = trial.file(ANSWERS_FILE)
    cases = trial.draw(answer_cases(path))
    literature = snapshot_of(trial, EXPERTS, partial(passages_as_papers, path))
    answers = _answered(trial, EXPERTS, {case.case_id: case.question for case in cases}, literature)
    trial.record(_items(cases, answers))
    metrics = METRICS if trial.request.engine.is_baseline else (*METRICS, *OF_THE_CHECK)
    scores = list(_scores(metrics, cases, answers, trial.seed))
    rubrics = trial.file(RUBRICS_FILE)
    if rubrics.is_file():
        scores.append(_by_criteria(trial, rubric_cases(rubrics)))
    return scores


def _answered(
    trial: Trial, task: str, questions: Mapping[str, str], literature: LiteratureChoice
) -> dict[str, Answered]:
    parameters = answer_parameters()

    async def work(question: str, context: ItemContext) -> Answered:
        assert context.literature is not None, "the trial opens a gateway"
        found = await survey(
            SurveyQuestion(question_id=context.ledger.idea_id, question=question),
            parameters,
            None,
            engine=context.engine,
            literature=context.literature,
            embedder=context.embedder,
            ledger=context.ledger,
            documents=AbstractLibrary(),
        )
        return _told(found)

    return trial.each(
        f"answers to {task}",
        questions,
        work,
        Answered,
        ask_again=lambda answered: may_pass(answered.reason),
        literature=literature,
    )


def _told(found: Survey) -> Answered:
    """An answer as it is shown; without a model its passages, which cite what they stand in."""
    if found.kept_count is None:
        return Answered(text="", reason=found.unscored_reason, detail=found.unscored_detail)
    said = [quote for quote in found.quotes if quote.aspect is not None]
    read = frozenset(str(quote.paper_id) for quote in said)
    told = Answered(
        text="\n\n".join(quote.quote for quote in said),
        found=frozenset(str(paper.paper_id) for paper in found.papers),
        read=read,
        cited=read,
    )
    answer = next((part for part in found.sections if part.part is ReviewPart.ANSWER), None)
    if answer is None:
        return told
    return told.model_copy(
        update={
            "text": answer.text,
            "cited": frozenset(answer.cited_paper_ids),
            "checked": answer.checked_sentence_count,
            "taken_out": len(found.removed),
            "reason": answer.unscored_reason,
            "detail": answer.unscored_detail,
        }
    )


def _measured(case: AnswerCase, answered: Answered) -> dict[str, float | None]:
    """By metric; None: it could not be looked up, or there is nothing to divide by."""
    if answered.reason is not None and answered.reason is not Reason.NO_EVIDENCE:
        return dict.fromkeys((*METRICS, *OF_THE_CHECK))
    right, cited = len(case.cited), len(answered.cited)
    return {
        "found_recall": len(case.cited & answered.found) / right,
        "read_recall": len(case.cited & answered.read) / right,
        "cited_recall": len(case.cited & answered.cited) / right,
        "cited_precision": len(case.cited & answered.cited) / cited if cited else None,
        "answered_share": float(bool(answered.text)),
        "sentences_checked": answered.checked,
        "sentences_taken_out": answered.taken_out,
    }


def _items(cases: Sequence[AnswerCase], answers: Mapping[str, Answered]) -> Iterator[BenchmarkItem]:
    for case in cases:
        answered = answers[case.case_id]
        recall = _measured(case, answered)["cited_recall"]
        yield BenchmarkItem(
            item_id=case.case_id,
            task=EXPERTS,
            system=ASSAY,
            gold=f"{len(case.cited)} works",
            answer=None if recall is None else f"{round(recall * len(case.cited))} works",
            value=recall,
            explanation=answered.text,
            unscored_reason=answered.reason if recall is None else None,
            unscored_detail=answered.detail if recall is None else "",
        )


def _scores(
    metrics: Sequence[str], cases: Sequence[AnswerCase], answers: Mapping[str, Answered], seed: int
) -> Iterator[BenchmarkScore]:
    measured = [_measured(case, answers[case.case_id]) for case in cases]
    for metric in metrics:
        values = [each[metric] for each in measured]
        yield benchmark_score(mean(values, seed), NAME, metric, ASSAY, f"set={EXPERTS}")


def _by_criteria(trial: Trial, listed: Sequence[RubricCase]) -> BenchmarkScore:
    """The share of criteria met, by weight; a question without an answer meets none."""
    limit = trial.parameters.item_limit or RUBRIC_CASES
    cases = drawn_rows(listed, limit, trial.seed)
    part = f"set={RUBRICS}"
    if trial.request.engine.is_baseline:
        nothing = undefined("the extractive engine writes no answer", len(cases))
        return benchmark_score(nothing, NAME, CRITERIA_MET, ASSAY, part)
    literature = trial.parameters.literature
    answers = _answered(trial, RUBRICS, {each.case_id: each.question for each in cases}, literature)
    questions: dict[str, Noun] = {
        case.case_id: JudgedAnswerInput(
            question=case.question,
            answer=answers[case.case_id].text,
            criteria=tuple(text for text, _ in case.criteria),
        )
        for case in cases
        if answers[case.case_id].text
    }
    judged = trial.ask(JUDGE_ANSWER, questions)
    shares = {
        case.case_id: share_met(case, answers[case.case_id], judged.get(case.case_id))
        for case in cases
    }
    trial.record(_judged_items(cases, answers, judged, shares))
    return benchmark_score(mean(list(shares.values()), trial.seed), NAME, CRITERIA_MET, ASSAY, part)


def share_met(
    case: RubricCase, answered: Answered, outcome: Outcome[JudgedAnswerReply] | None
) -> float | None:
    """The share of criteria met, by weight; None: one of them has no verdict."""
    if outcome is None:
        return 0.0 if answered.reason in (None, Reason.NO_EVIDENCE) else None
    if isinstance(outcome, Unscored):
        return None
    met = {each.criterion: each.met for each in outcome.value.criteria}
    verdicts = [met.get(number) for number in range(1, len(case.criteria) + 1)]
    worth = [WORTH[verdict] for verdict in verdicts if verdict is not None]
    if len(worth) < len(verdicts):
        return None
    weights = [weight for _, weight in case.criteria]
    return sum(w * each for w, each in zip(weights, worth, strict=True)) / sum(weights)


def _judged_items(
    cases: Sequence[RubricCase],
    answers: Mapping[str, Answered],
    judged: Mapping[str, Outcome[JudgedAnswerReply]],
    shares: Mapping[str, float | None],
) -> Iterator[BenchmarkItem]:
    for case in cases:
        share, outcome = shares[case.case_id], judged.get(case.case_id)
        reason, detail = answers[case.case_id].reason, answers[case.case_id].detail
        if isinstance(outcome, Unscored):
            reason, detail = outcome.reason, outcome.detail
        elif outcome is not None:
            reason, detail = Reason.REPLY_UNPARSABLE, "a criterion has no verdict"
        yield BenchmarkItem(
            item_id=case.case_id,
            task=RUBRICS,
            system=ASSAY,
            gold=f"{len(case.criteria)} criteria",
            answer=None if share is None else f"{share:.2f} of them by weight",
            value=share,
            explanation=answers[case.case_id].text,
            unscored_reason=reason if share is None else None,
            unscored_detail=detail if share is None else "",
        )


SUITE = Suite(
    NAME,
    "Do answers rest on the works that experts cite, and meet the criteria that experts wrote?",
    (ANSWERS_FILE,),
    run,
    steps=(*ANSWER_STEPS, JUDGE_ANSWER),
    searches=lambda request: not request.engine.is_baseline,
    optional=(RUBRICS_FILE,),
)
