"""Study `injected_errors`: detection of rule-based errors in manuscripts.

The engine reports problems of each changed text (twin) and of the unchanged one, in one reading as
`assay check` does and, with a model, section by section as `assay check --review` does. An error is
found if a problem quotes one of its sentences and is not reported for the unchanged text too.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.judgement.benchmark import ASSAY, BenchmarkRequest
from schemas.judging import Wording
from schemas.outcome import Outcome, Unscored
from schemas.settings import DocumentSettings
from schemas.works.check_run import ManuscriptSource
from schemas.works.manuscripts import ManuscriptForm
from tasks.accounting.ledger import Ledger
from tasks.benchmarks.items import ItemContext, ItemResult
from tasks.benchmarks.records import Row, Text, rows_of
from tasks.benchmarks.suite import (
    GRADE_TOKENS,
    PROBLEM_TOKENS,
    ExpectedCalls,
    Suite,
    SuiteData,
    SuiteEstimate,
    Trial,
)
from tasks.documents.document import Refusal
from tasks.manuscripts.collect import TEX_SUFFIXES, TEXT_SUFFIXES
from tasks.manuscripts.read import Manuscript, read_manuscript
from tasks.manuscripts.reference_pool import Pool
from tasks.manuscripts.review import review_manuscript
from tasks.manuscripts.steps.find_problems import (
    FIND_PROBLEMS,
    ProblemsInput,
    ProblemsReply,
    ReportedProblem,
)
from tasks.manuscripts.steps.review import (
    NOTES_WORDS,
    READ_SECTION,
    REFUTE_PROBLEM,
    REVIEW_ASPECT,
    WRITE_REVIEW,
    Aspect,
)
from tasks.metrics.means import mean, share_of
from tests.benchmarks.studies.injection import ErrorKind, InjectedError, inject

MANIFEST_FILE = "manuscripts/manifest.jsonl"
PDF_FILES = "pdf/*.pdf"
REVIEW = "assay --review"
"""System that reads section by section; `ASSAY` reads the text once."""
MAXIMUM_PROBLEMS = 2 * len(ErrorKind)
"""Maximum number of problems of one text: twice the number of errors."""
TWINS_OF_CHECKS = 10
"""Twins of each text for the extractive engine, which costs nothing; a model reads one."""
SECTION_TOKENS = 2_000
PASSAGES_TOKENS = 900
MANUSCRIPT_TOKENS = 12_000
"""Tokens of a text, for estimates; fourteen real ones have 300 to 30,000."""


@dataclass(frozen=True, slots=True)
class ManuscriptText:
    """Manuscript as input of a checker; `form` is `latex`, `text` or `pdf`."""

    name: str
    title: str
    form: str
    text: str

    @property
    def item_id(self) -> str:
        """Item id of the unchanged text."""
        return f"{self.name}:unchanged"


@dataclass(frozen=True, slots=True)
class Twin:
    """Text with injected errors.

    `number` counts the twins of one text from 1.
    """

    of: ManuscriptText
    number: int
    text: str
    errors: tuple[InjectedError, ...]

    @property
    def item_id(self) -> str:
        return f"{self.of.name}:twin {self.number}"


class ReportedProblems(ItemResult):
    """Problems reported for one text."""

    problems: tuple[ReportedProblem, ...] = ()


Reports = Mapping[str, ReportedProblems]
"""Reported problems by item."""


def run(trial: Trial) -> None:
    """Score recall by kind, precision, and false reports on unchanged texts."""
    places = dict(trial.draw(list(manuscript_places(trial.data).items())))
    texts = asyncio.run(_manuscript_texts(places, trial.settings.documents))
    twins = [
        Twin(text, number, *injection)
        for text in texts
        for number in range(1, _twin_count(trial.request) + 1)
        if (injection := inject(text.text, text.form, trial.seed + number - 1))[1]
    ]
    wording = trial.parameters.judge
    questions = {text.item_id: _question(text, text.text, wording) for text in texts}
    questions |= {twin.item_id: _question(twin.of, twin.text, wording) for twin in twins}
    systems: dict[str, Reports] = {
        ASSAY: {name: _result_of(one) for name, one in trial.ask(FIND_PROBLEMS, questions).items()}
    }
    if not trial.request.engine.is_baseline:  # the baseline's checks are the same in both modes
        systems[REVIEW] = trial.each("review", questions, _review, ReportedProblems)
    for system, reports in systems.items():
        _score(trial, system, texts, twins, reports)


def _result_of(outcome: Outcome[ProblemsReply]) -> ReportedProblems:
    if isinstance(outcome, Unscored):
        reason, detail = outcome.reason, outcome.detail
        return ReportedProblems(reason=reason, detail=detail, provenance=outcome.provenance)
    problems = tuple(outcome.value.problems[:MAXIMUM_PROBLEMS])
    return ReportedProblems(problems=problems, provenance=outcome.provenance)


async def _review(question: ProblemsInput, context: ItemContext) -> ReportedProblems:
    """Review a text section by section.

    Return the problems that are not refuted.
    """
    manuscript = Manuscript(
        manuscript_id=question.title or "manuscript",
        name=question.title,
        title=question.title,
        form=ManuscriptForm.LATEX if question.form == "latex" else ManuscriptForm.TEXT,
        content_sha256="",
        text=question.text,
        pages=(question.text,) if question.form == "pdf" else (),
    )
    review = await review_manuscript(manuscript, context.engine, 1, len(ErrorKind), Pool())
    attempt = review.attempt
    problems = (
        ReportedProblem(
            problem=one.problem,
            location=one.location,
            quote=one.quote,
            explanation=one.explanation,
        )
        for one in review.problems
        if one.stands and attempt.unscored_reason is None
    )
    return ReportedProblems(
        problems=tuple(problems)[:MAXIMUM_PROBLEMS],
        reason=attempt.unscored_reason,
        detail=attempt.unscored_detail,
        provenance=attempt.provenance,
    )


def _twin_count(request: BenchmarkRequest) -> int:
    """Return the number of twins of each text."""
    return TWINS_OF_CHECKS if request.engine.is_baseline else 1


def _question(text: ManuscriptText, content: str, wording: Wording) -> ProblemsInput:
    return ProblemsInput(
        title=text.title,
        form=text.form,
        text=content,
        attached=False,
        maximum_problems=MAXIMUM_PROBLEMS,
        wording=wording,
    )


def _score(
    trial: Trial,
    system: str,
    texts: Sequence[ManuscriptText],
    twins: Sequence[Twin],
    reports: Reports,
) -> None:
    """Score and record one system; intervals resample whole texts."""
    for text in texts:
        one = reports[text.item_id]
        count = len(one.problems)
        trial.record(
            "unchanged",
            text.item_id,
            f"{count} problems" if one.reason is None else None,
            one,
            system=system,
            value=count,
            explanation="\n".join(f"{each.problem} ({each.location})" for each in one.problems),
        )
    detections: list[tuple[ErrorKind, str, bool | None]] = []
    hits: list[tuple[str, bool | None]] = []
    for twin in twins:
        one = reports[twin.item_id]
        # A problem reported for the unchanged text too does not count.
        unchanged_problems = {report.problem for report in reports[twin.of.item_id].problems}
        new_reports = [
            report for report in one.problems if report.problem not in unchanged_problems
        ]
        for error in twin.errors:
            report = next((each for each in new_reports if _points_at(each, error)), None)
            is_found = None if one.reason is not None else report is not None
            detections.append((error.kind, twin.of.name, is_found))
            trial.record(
                str(error.kind),
                f"{twin.item_id}:{error.kind}",
                None if is_found is None else "found" if is_found else "missed",
                one,
                system=system,
                gold=f"{error.location}: {error.before} → {error.after or '(deleted)'}",
                value=None if is_found is None else float(is_found),
                explanation="" if report is None else report.problem,
            )
        hits_of_text: list[bool | None] = [
            each in new_reports and any(_points_at(each, error) for error in twin.errors)
            for each in one.problems
        ]
        hits += [(twin.of.name, hit) for hit in (hits_of_text if one.reason is None else [None])]
    for part, kinds in {
        "all": list(ErrorKind),
        **{f"kind={one}": [one] for one in ErrorKind},
    }.items():
        of_kind = [(name, is_found) for kind, name, is_found in detections if kind in kinds]
        shares = [is_found for _, is_found in of_kind]
        estimate = share_of(shares, trial.seed, [name for name, _ in of_kind])
        trial.score("injected_recall", estimate, system, part)
    precision = share_of([hit for _, hit in hits], trial.seed, [name for name, _ in hits])
    trial.score("injected_precision", precision, system)
    unchanged_reports = (reports[text.item_id] for text in texts)
    counts = [
        None if one.reason is not None else float(len(one.problems)) for one in unchanged_reports
    ]
    without_problems = [None if count is None else count == 0 for count in counts]
    trial.score("problems_of_unchanged_text", mean(counts, trial.seed), system)
    trial.score("unchanged_text_left_alone", share_of(without_problems, trial.seed), system)


def _points_at(report: ReportedProblem, error: InjectedError) -> bool:
    return error.is_quoted_by(f"{report.quote} {report.problem} {report.explanation}")


class ManifestRow(Row):
    """Manuscript by its main file, else by its PDF file."""

    id: Text
    main: Text
    pdf: str | None = None


def manuscript_places(data: Path) -> dict[str, Path]:
    """Return manuscript paths by name, first manifest entries, then PDF files.

    A LaTeX manuscript is the folder of its main file.

    Raises:
        ConfigurationError: an entry is incomplete, or its file is missing.
    """
    path = data / MANIFEST_FILE
    places = {}
    for row in rows_of(path, ManifestRow):
        name, folder = row.id, path.parent
        main = folder / name / row.main
        if main.suffix.lower() in TEX_SUFFIXES:
            places[name] = main.parent
        elif main.suffix.lower() in TEXT_SUFFIXES:
            places[name] = main
        else:
            places[name] = folder / name / (row.pdf or row.main)
        if not places[name].exists():
            raise ConfigurationError(f"{path}: {name} is missing at {places[name]}")
    return places | {one.stem: one for one in sorted(data.glob(PDF_FILES))}


async def _manuscript_texts(
    places: Mapping[str, Path], settings: DocumentSettings
) -> list[ManuscriptText]:
    """Return each manuscript as text, in order.

    Raises:
        ConfigurationError: one cannot be read.
    """
    texts = []
    for name, path in places.items():
        source = ManuscriptSource(manuscript_id=name, path=path, content_sha256="")
        ledger = Ledger(IdeaId(name))
        manuscript = await read_manuscript(source, "auto", settings, None, ledger, lambda: False)
        if isinstance(manuscript, Refusal):
            raise ConfigurationError(f"{path} cannot be read: {manuscript.detail}")
        texts.append(ManuscriptText(name, manuscript.title, manuscript.shown_form, manuscript.text))
    return texts


def _expects(data: SuiteData) -> SuiteEstimate:
    places = data.first(list(manuscript_places(data.data)))
    text_count = len(places) * (1 + _twin_count(data.request))
    refutation_count = text_count * MAXIMUM_PROBLEMS / 2
    reply_tokens = MAXIMUM_PROBLEMS / 2 * PROBLEM_TOKENS
    calls = [ExpectedCalls(FIND_PROBLEMS, text_count, MANUSCRIPT_TOKENS, reply_tokens)]
    if not data.request.engine.is_baseline:
        sections = text_count * MANUSCRIPT_TOKENS / SECTION_TOKENS
        notes_tokens = 2 * NOTES_WORDS
        aspects = text_count * (len(Aspect) - 1)  # novelty is not judged without literature
        calls += [
            ExpectedCalls(
                READ_SECTION, sections, SECTION_TOKENS + notes_tokens, notes_tokens + PROBLEM_TOKENS
            ),
            ExpectedCalls(REFUTE_PROBLEM, refutation_count, PASSAGES_TOKENS, GRADE_TOKENS),
            ExpectedCalls(
                REVIEW_ASPECT, aspects, notes_tokens + 2 * PASSAGES_TOKENS, PROBLEM_TOKENS
            ),
            ExpectedCalls(WRITE_REVIEW, text_count, 2 * notes_tokens, notes_tokens),
        ]
    return SuiteEstimate(text_count, calls)


SUITE = Suite(
    "injected_errors",
    "Which errors put into a manuscript does it find, and what does it say of the same text without"
    " them?",
    (MANIFEST_FILE,),
    run,
    steps=(FIND_PROBLEMS, READ_SECTION, REFUTE_PROBLEM, REVIEW_ASPECT, WRITE_REVIEW),
    expects=_expects,
    optional=(
        "manuscripts/*/src/*.tex",
        "manuscripts/*/src/*.md",
        "manuscripts/*/*.pdf",
        PDF_FILES,
    ),
)
