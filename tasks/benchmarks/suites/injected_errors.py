"""Suite `injected_errors`: errors of eight kinds are put into manuscripts by rule, and the engine
looks for problems in each twin and in the text as it was, in one reading as `assay check` does and,
with a model, section by section as `assay check --review` does.

A problem counts as a find where it quotes the changed sentence, the one that this contradicts, or a
neighbour of one that was deleted, and was not said of the unchanged text too.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schemas.base import Noun
from schemas.judgement.benchmark import ASSAY, BenchmarkItem, BenchmarkRequest, BenchmarkScore
from schemas.outcome import Outcome, Scored, Unscored
from schemas.reasons import may_pass
from schemas.works.manuscripts import Attempt, ManuscriptForm, Problem
from tasks.benchmarks.answer_rows import answered, unanswered
from tasks.benchmarks.injected_errors import InjectedError, inject
from tasks.benchmarks.injection_rules import ErrorKind
from tasks.benchmarks.injection_texts import (
    MANIFEST_FILE,
    OTHER_FILES,
    ManuscriptText,
    manuscript_places,
    manuscript_texts,
)
from tasks.benchmarks.items import ItemContext
from tasks.benchmarks.suite import Suite
from tasks.benchmarks.trial import Trial
from tasks.manuscripts.pool import Pool
from tasks.manuscripts.read import Manuscript
from tasks.manuscripts.review import review_manuscript
from tasks.manuscripts.steps.find_problems import (
    FIND_PROBLEMS,
    ProblemsInput,
    ProblemsReply,
    ReportedProblem,
)
from tasks.manuscripts.steps.read_section import READ_SECTION
from tasks.manuscripts.steps.refute_problem import REFUTE_PROBLEM
from tasks.manuscripts.steps.review_aspect import REVIEW_ASPECT
from tasks.manuscripts.steps.write_review import WRITE_REVIEW
from tasks.metrics.estimate import benchmark_score
from tasks.metrics.means import mean, share_of

NAME = "injected_errors"
REVIEW = "assay --review"
"""The system that reads section by section; `ASSAY` reads once."""
MAXIMUM_PROBLEMS = 2 * len(ErrorKind)
"""That a text may be reported with: twice as many as it has errors."""
TWINS_OF_CHECKS = 10
"""Twins of each text for the extractive engine, whose checks cost nothing; a model reads one."""


@dataclass(frozen=True, slots=True)
class Twin:
    """A text with errors in it; `number` is 1 for the first of its text."""

    of: ManuscriptText
    number: int
    text: str
    errors: tuple[InjectedError, ...]

    @property
    def item_id(self) -> str:
        return f"{self.of.name}:twin {self.number}"


class Reviewed(Noun):
    """A review of one text as it is kept."""

    attempt: Attempt
    problems: tuple[Problem, ...]

    @property
    def outcome(self) -> Outcome[ProblemsReply]:
        """What it says, in the form of one reading's answer."""
        provenance = self.attempt.provenance
        assert provenance is not None, "a review asks"
        if self.attempt.unscored_reason is not None:
            reason, detail = self.attempt.unscored_reason, self.attempt.unscored_detail
            return Unscored(reason, detail, provenance)
        said = [
            ReportedProblem(
                problem=one.problem,
                location=one.location,
                quote=one.quote,
                explanation=one.explanation,
            )
            for one in self.problems
            if one.stands
        ]
        return Scored(ProblemsReply(problems=said), provenance)


@dataclass(frozen=True, slots=True)
class Finding:
    """An error of a twin, and the report that points at it; None: there is none."""

    twin: Twin
    error: InjectedError
    report: ReportedProblem | None


def run(trial: Trial) -> Sequence[BenchmarkScore]:
    """Recall by kind, precision, and what is said of the texts as they were."""
    places = manuscript_places(trial.data)
    drawn = dict(trial.draw(list(places.items())))
    texts = asyncio.run(manuscript_texts(drawn, trial.settings.documents))
    twins = [twin for text in texts for twin in _twins(text, trial)]
    questions = {_clean(text): _question(text, text.text) for text in texts}
    questions |= {twin.item_id: _question(twin.of, twin.text) for twin in twins}
    systems = {ASSAY: trial.ask(FIND_PROBLEMS, questions)}
    if not trial.request.engine.is_baseline:  # its checks see the whole text in either way
        systems[REVIEW] = _reviewed(trial, questions)
    scores: list[BenchmarkScore] = []
    for system, outcomes in systems.items():
        findings = [finding for twin in twins for finding in _findings(twin, outcomes)]
        trial.record(_items(system, texts, findings, outcomes))
        scores += _recall(system, findings, outcomes, trial.seed)
        scores += _precision(system, twins, outcomes, trial.seed)
        scores += _unchanged(system, texts, outcomes, trial.seed)
    return scores


def _reviewed(
    trial: Trial, questions: Mapping[str, ProblemsInput]
) -> dict[str, Outcome[ProblemsReply]]:
    """The same texts, section by section; what stands after the second looks is what was said."""

    async def work(question: ProblemsInput, context: ItemContext) -> Reviewed:
        read = Manuscript(
            manuscript_id=question.title or "manuscript",
            name=question.title,
            title=question.title,
            form=ManuscriptForm.LATEX if question.form == "latex" else ManuscriptForm.TEXT,
            content_sha256="",
            text=question.text,
            pages=(question.text,) if question.form == "pdf" else (),
        )
        review = await review_manuscript(read, context.engine, 1, len(ErrorKind), Pool())
        return Reviewed(attempt=review.attempt, problems=review.problems)

    found = trial.each(
        "review",
        questions,
        work,
        Reviewed,
        ask_again=lambda one: may_pass(one.attempt.unscored_reason),
    )
    return {item_id: one.outcome for item_id, one in found.items()}


def twin_count(request: BenchmarkRequest) -> int:
    """Of each text."""
    return TWINS_OF_CHECKS if request.engine.is_baseline else 1


def _twins(text: ManuscriptText, trial: Trial) -> Iterator[Twin]:
    for number in range(1, twin_count(trial.request) + 1):
        changed, errors = inject(text.text, text.form, trial.seed + number - 1)
        if errors:
            yield Twin(text, number, changed, errors)


def _clean(text: ManuscriptText) -> str:
    return f"{text.name}:unchanged"


def _question(text: ManuscriptText, shown: str) -> ProblemsInput:
    return ProblemsInput(
        title=text.title,
        form=text.form,
        text=shown,
        attached=False,
        maximum_problems=MAXIMUM_PROBLEMS,
    )


Outcomes = Mapping[str, Outcome[ProblemsReply]]


def _reports(outcomes: Outcomes, item_id: str) -> list[ReportedProblem] | None:
    """None where there is no answer."""
    outcome = outcomes[item_id]
    if isinstance(outcome, Unscored):
        return None
    return outcome.value.problems[:MAXIMUM_PROBLEMS]


def _new_reports(twin: Twin, outcomes: Outcomes) -> list[ReportedProblem]:
    """Without those that were said of the unchanged text in the same words."""
    before = {report.problem for report in _reports(outcomes, _clean(twin.of)) or ()}
    reports = _reports(outcomes, twin.item_id) or ()
    return [report for report in reports if report.problem not in before]


def _points_at(report: ReportedProblem, error: InjectedError) -> bool:
    return error.is_quoted_by(f"{report.quote} {report.problem} {report.explanation}")


def _findings(twin: Twin, outcomes: Outcomes) -> Iterator[Finding]:
    reports = _new_reports(twin, outcomes)
    for error in twin.errors:
        yield Finding(
            twin, error, next((each for each in reports if _points_at(each, error)), None)
        )


def _recall(
    system: str, findings: Sequence[Finding], outcomes: Outcomes, seed: int
) -> Iterator[BenchmarkScore]:
    """Whole texts are drawn for the intervals: the twins of one share much."""
    for part, kinds in {
        "all": list(ErrorKind),
        **{f"kind={one}": [one] for one in ErrorKind},
    }.items():
        of_kind = [each for each in findings if each.error.kind in kinds]
        found = [_found(each, outcomes) for each in of_kind]
        estimate = share_of(found, seed, [each.twin.of.name for each in of_kind])
        yield benchmark_score(estimate, NAME, "injected_recall", system, part)


def _found(finding: Finding, outcomes: Outcomes) -> bool | None:
    if isinstance(outcomes[finding.twin.item_id], Unscored):
        return None
    return finding.report is not None


def _precision(
    system: str, twins: Sequence[Twin], outcomes: Outcomes, seed: int
) -> Iterator[BenchmarkScore]:
    """Of all that is said of the twins; what stands in the unchanged text too counts as wrong."""
    hits: list[bool | None] = []
    names: list[str] = []
    for twin in twins:
        new = _new_reports(twin, outcomes)
        reports = _reports(outcomes, twin.item_id)
        right = (
            [None]
            if reports is None
            else [
                each in new and any(_points_at(each, error) for error in twin.errors)
                for each in reports
            ]
        )
        hits += right
        names += [twin.of.name] * len(right)
    yield benchmark_score(share_of(hits, seed, names), NAME, "injected_precision", system)


def _unchanged(
    system: str, texts: Sequence[ManuscriptText], outcomes: Outcomes, seed: int
) -> Iterator[BenchmarkScore]:
    counts = [
        None if reports is None else len(reports)
        for reports in (_reports(outcomes, _clean(text)) for text in texts)
    ]
    silent = [None if count is None else count == 0 for count in counts]
    numbers = [None if count is None else float(count) for count in counts]
    yield benchmark_score(mean(numbers, seed), NAME, "problems_of_unchanged_text", system)
    yield benchmark_score(share_of(silent, seed), NAME, "unchanged_text_left_alone", system)


def _items(
    system: str, texts: Sequence[ManuscriptText], findings: Sequence[Finding], outcomes: Outcomes
) -> Iterator[BenchmarkItem]:
    for text in texts:
        outcome = outcomes[_clean(text)]
        asked = {"item_id": _clean(text), "task": "unchanged", "system": system}
        if isinstance(outcome, Unscored):
            yield unanswered(outcome, **asked)
            continue
        reports = outcome.value.problems[:MAXIMUM_PROBLEMS]
        said = "\n".join(f"{each.problem} ({each.location})" for each in reports)
        yield answered(
            outcome, f"{len(reports)} problems", value=len(reports), explanation=said, **asked
        )
    for finding in findings:
        outcome, error = outcomes[finding.twin.item_id], finding.error
        asked = {
            "item_id": f"{finding.twin.item_id}:{error.kind}",
            "task": str(error.kind),
            "system": system,
            "gold": f"{error.location}: {error.before} → {error.after or '(deleted)'}",
        }
        if isinstance(outcome, Unscored):
            yield unanswered(outcome, **asked)
            continue
        report = finding.report
        yield answered(
            outcome,
            "missed" if report is None else "found",
            value=float(report is not None),
            explanation="" if report is None else report.problem,
            **asked,
        )


SUITE = Suite(
    NAME,
    "Which errors put into a manuscript does it find, and what does it say of the same text without"
    " them?",
    (MANIFEST_FILE,),
    run,
    steps=(FIND_PROBLEMS, READ_SECTION, REFUTE_PROBLEM, REVIEW_ASPECT, WRITE_REVIEW),
    optional=OTHER_FILES,
)
