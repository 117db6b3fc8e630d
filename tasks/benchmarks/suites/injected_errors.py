"""Suite `injected_errors`: errors of eight kinds are put into manuscripts by rule, and the engine
looks for problems in each twin and in the text as it was, in one reading as `assay check` does and,
with a model, section by section as `assay check --review` does.

A problem counts as a find where it quotes the changed sentence, the one that this contradicts, or a
neighbour of one that was deleted, and was not said of the unchanged text too.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.judgement.benchmark import ASSAY, BenchmarkRequest
from schemas.outcome import Outcome, Unscored
from schemas.settings import DocumentSettings
from schemas.works.check_run import ManuscriptSource
from schemas.works.manuscripts import ManuscriptForm
from tasks.accounting.ledger import Ledger
from tasks.benchmarks.injection import ErrorKind, InjectedError, inject
from tasks.benchmarks.items import ItemContext, ItemResult
from tasks.benchmarks.records import json_lines, text_of
from tasks.benchmarks.suite import (
    GRADE_TOKENS,
    PROBLEM_TOKENS,
    ExpectedCalls,
    Suite,
    SuiteData,
    SuiteEstimate,
    Trial,
)
from tasks.manuscripts.collect import TEX_SUFFIXES, TEXT_SUFFIXES
from tasks.manuscripts.pool import Pool
from tasks.manuscripts.read import Manuscript, Unreadable, read_manuscript
from tasks.manuscripts.review import review_manuscript
from tasks.manuscripts.steps.find_problems import (
    FIND_PROBLEMS,
    ProblemsInput,
    ProblemsReply,
    ReportedProblem,
)
from tasks.manuscripts.steps.read_section import NOTES_WORDS, READ_SECTION
from tasks.manuscripts.steps.refute_problem import REFUTE_PROBLEM
from tasks.manuscripts.steps.review_aspect import REVIEW_ASPECT, Aspect
from tasks.manuscripts.steps.write_review import WRITE_REVIEW
from tasks.metrics.means import mean, share_of

MANIFEST_FILE = "manuscripts/manifest.jsonl"
PDF_FILES = "pdf/*.pdf"
REVIEW = "assay --review"
"""The system that reads section by section; `ASSAY` reads once."""
MAXIMUM_PROBLEMS = 2 * len(ErrorKind)
"""That a text may be reported with: twice as many as it has errors."""
TWINS_OF_CHECKS = 10
"""Twins of each text for the extractive engine, whose checks cost nothing; a model reads one."""
SECTION_TOKENS = 2_000
PASSAGES_TOKENS = 900
MANUSCRIPT_TOKENS = 12_000
"""Of a whole text: 30,000 at most, 300 at least, of fourteen real ones."""


@dataclass(frozen=True, slots=True)
class ManuscriptText:
    """A manuscript as a checker gets it; `form` is `latex`, `text` or `pdf`."""

    name: str
    title: str
    form: str
    text: str

    @property
    def item_id(self) -> str:
        """Of the text as it was."""
        return f"{self.name}:unchanged"


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


class ReportedProblems(ItemResult):
    """Reports on one text."""

    problems: tuple[ReportedProblem, ...] = ()


Reports = Mapping[str, ReportedProblems]
"""By item."""


def run(trial: Trial) -> None:
    """Score recall by kind, precision, and what is said of the texts as they were."""
    places = dict(trial.draw(list(manuscript_places(trial.data).items())))
    texts = asyncio.run(_manuscript_texts(places, trial.settings.documents))
    twins = [
        Twin(text, number, *twin)
        for text in texts
        for number in range(1, _twin_count(trial.request) + 1)
        if (twin := inject(text.text, text.form, trial.seed + number - 1))[1]
    ]
    questions = {text.item_id: _question(text, text.text) for text in texts}
    questions |= {twin.item_id: _question(twin.of, twin.text) for twin in twins}
    systems: dict[str, Reports] = {
        ASSAY: {name: _result_of(one) for name, one in trial.ask(FIND_PROBLEMS, questions).items()}
    }
    if not trial.request.engine.is_baseline:  # its checks see the whole text in either way
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
    """Review a text section by section; what stands after the second looks is what was said."""
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
    """Of each text."""
    return TWINS_OF_CHECKS if request.engine.is_baseline else 1


def _question(text: ManuscriptText, content: str) -> ProblemsInput:
    return ProblemsInput(
        title=text.title,
        form=text.form,
        text=content,
        attached=False,
        maximum_problems=MAXIMUM_PROBLEMS,
    )


def _score(
    trial: Trial,
    system: str,
    texts: Sequence[ManuscriptText],
    twins: Sequence[Twin],
    reports: Reports,
) -> None:
    """Intervals draw whole texts: the twins of one share much."""
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
    finds: list[tuple[ErrorKind, str, bool | None]] = []
    hits: list[tuple[str, bool | None]] = []
    for twin in twins:
        one = reports[twin.item_id]
        # What was said of the unchanged text in the same words is no find.
        before = {report.problem for report in reports[twin.of.item_id].problems}
        new = [report for report in one.problems if report.problem not in before]
        for error in twin.errors:
            report = next((each for each in new if _points_at(each, error)), None)
            is_found = None if one.reason is not None else report is not None
            finds.append((error.kind, twin.of.name, is_found))
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
        right: list[bool | None] = [
            each in new and any(_points_at(each, error) for error in twin.errors)
            for each in one.problems
        ]
        hits += [(twin.of.name, hit) for hit in (right if one.reason is None else [None])]
    for part, kinds in {
        "all": list(ErrorKind),
        **{f"kind={one}": [one] for one in ErrorKind},
    }.items():
        of_kind = [(name, is_found) for kind, name, is_found in finds if kind in kinds]
        shares = [is_found for _, is_found in of_kind]
        estimate = share_of(shares, trial.seed, [name for name, _ in of_kind])
        trial.score("injected_recall", estimate, system, part)
    # Of all that is said of the twins; what stands in the unchanged text too counts as wrong.
    precision = share_of([hit for _, hit in hits], trial.seed, [name for name, _ in hits])
    trial.score("injected_precision", precision, system)
    unchanged = (reports[text.item_id] for text in texts)
    counts = [None if one.reason is not None else float(len(one.problems)) for one in unchanged]
    silent = [None if count is None else count == 0 for count in counts]
    trial.score("problems_of_unchanged_text", mean(counts, trial.seed), system)
    trial.score("unchanged_text_left_alone", share_of(silent, trial.seed), system)


def _points_at(report: ReportedProblem, error: InjectedError) -> bool:
    return error.is_quoted_by(f"{report.quote} {report.problem} {report.explanation}")


# Manuscripts: listed by a folder of data, and read as `assay check` reads them.


def manuscript_places(data: Path) -> dict[str, Path]:
    """Return where each manuscript lies, by its name, in order: those of the manifest, then PDFs.

    Of LaTeX it is the folder of the main file, which includes others.

    Raises:
        ConfigurationError: an entry lacks a field or names no file that can be read.
    """
    path = data / MANIFEST_FILE
    places = {}
    for row in json_lines(path):
        name, folder = text_of(row, "id", path), path.parent
        main = folder / name / text_of(row, "main", path)
        if main.suffix.lower() in TEX_SUFFIXES:
            places[name] = main.parent
        elif main.suffix.lower() in TEXT_SUFFIXES:
            places[name] = main
        else:
            places[name] = folder / name / text_of(row, "pdf", path)
        if not places[name].exists():
            raise ConfigurationError(f"{path}: {name} lies at {places[name]}, which is not there")
    if not places:
        raise ConfigurationError(f"{path} holds nothing: name a manuscript on each line")
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
        read = await read_manuscript(source, "auto", settings, None, ledger, lambda: False)
        if isinstance(read, Unreadable):
            raise ConfigurationError(f"{path} cannot be read: {read.detail}")
        texts.append(ManuscriptText(name, read.title, read.shown_form, read.text))
    return texts


def _expects(data: SuiteData) -> SuiteEstimate:
    """Each text as it was, and its twins."""
    places = data.first(list(manuscript_places(data.data)))
    read = len(places) * (1 + _twin_count(data.request))
    looks = read * MAXIMUM_PROBLEMS / 2
    reply_tokens = MAXIMUM_PROBLEMS / 2 * PROBLEM_TOKENS
    calls = [ExpectedCalls(FIND_PROBLEMS, read, MANUSCRIPT_TOKENS, reply_tokens)]
    if not data.request.engine.is_baseline:
        sections = read * MANUSCRIPT_TOKENS / SECTION_TOKENS
        noted = 2 * NOTES_WORDS
        aspects = read * (len(Aspect) - 1)  # nobody judges novelty where nothing is looked up
        calls += [
            ExpectedCalls(READ_SECTION, sections, SECTION_TOKENS + noted, noted + PROBLEM_TOKENS),
            ExpectedCalls(REFUTE_PROBLEM, looks, PASSAGES_TOKENS, GRADE_TOKENS),
            ExpectedCalls(REVIEW_ASPECT, aspects, noted + 2 * PASSAGES_TOKENS, PROBLEM_TOKENS),
            ExpectedCalls(WRITE_REVIEW, read, 2 * noted, noted),
        ]
    return SuiteEstimate(read, calls)


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
