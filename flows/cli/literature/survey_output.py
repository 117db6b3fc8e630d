"""What `assay survey` prints: papers by cluster with why they are kept, layers, what failed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from flows.cli.answer import Answer, answer_of, write_answer
from flows.cli.evaluate.run_output import print_bundled_note
from flows.cli.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.cli.output import (
    ended_early,
    print_engine_note,
    print_where,
    print_whole,
    stdout_console,
    was_published,
)
from flows.cli.terminal import safe
from schemas.literature.survey import Survey, SurveyCluster
from schemas.literature.survey_review import ReviewPart, Written
from schemas.literature.survey_run import SurveyHead, SurveyRequest
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.text.patterns import bounded
from warehouse.kinds.surveys import SURVEY_RECORD
from warehouse.lake import open_reader
from warehouse.layout import Layout
from warehouse.units.reading import published_units

if TYPE_CHECKING:  # importing it imports Prefect, which must not be before its server is known
    from flows.works.survey.survey_estimate import SurveyEstimate
    from flows.works.survey.surveying import SurveySummary

_TARGET = bounded(r"\]\(https?://[^\s()<>]{1,2000}\)")
"""Of a rendered citation: its address, which a line of a terminal is too short for."""


def print_surveys(request: SurveyRequest, summary: "SurveySummary", *, as_json: bool) -> int:
    """Print the surveys; the command's exit code."""
    if not was_published(summary, as_json=as_json):
        return EXIT_FAILURES
    with open_reader(Layout(request.warehouse), catalogue_url=Settings().catalogue) as connection:
        surveys = published_units(connection, SURVEY_RECORD, summary.head.run_id)
    reason = summary.head.incomplete_reason
    scope = summary.head.run_id
    early = ended_early("the survey", reason, request.warehouse, scope, request.budget, "question")
    if as_json:
        told = {"reports": summary.report_paths, "log": summary.log_path}
        write_answer(surveys_answer(summary.head, surveys, early, **told))
    else:
        for survey in surveys:
            stdout_console().print(_survey(survey))
        print_engine_note(summary.head.engine)
        print_bundled_note(request.literature)
        print_where(summary, early)
    return exit_code_of(summary.head, surveys)


def exit_code_of(head: SurveyHead, surveys: Sequence[Survey]) -> int:
    """Of the command that published them."""
    if head.incomplete_reason == Reason.BUDGET_EXHAUSTED:
        return EXIT_BUDGET
    unanswered = any(survey.kept_count is None for survey in surveys)
    return EXIT_FAILURES if unanswered or head.incomplete_reason else EXIT_DONE


def surveys_answer(
    head: SurveyHead, surveys: Sequence[Survey], warnings: Sequence[str] = (), **told: Any
) -> Answer:
    """What `--json` says of published surveys; `told`: what stands beside."""
    state = "incomplete" if head.incomplete_reason else _state(head, surveys)
    lost = [survey.unscored_detail for survey in surveys if survey.kept_count is None]
    return answer_of(state, surveys, run=head, warnings=(*warnings, *lost), **told)


def _state(head: SurveyHead, surveys: Sequence[Survey]) -> str:
    if head.written is not Written.ANSWER:
        return "surveyed"
    if any(survey.kept_count is None for survey in surveys):
        return "failed"
    parts = [part for survey in surveys for part in survey.sections]
    answers = [part for part in parts if part.part is ReviewPart.ANSWER]
    if any(part.text for part in answers):
        return "answered"
    if any(part.unscored_reason is not Reason.NO_EVIDENCE for part in answers):
        return "failed"
    shows_passages = not answers and any(survey.quotes for survey in surveys)
    if shows_passages:
        return "passages"
    return "incomplete" if any(survey.not_looked_count for survey in surveys) else "not_found"


def print_expected_survey(estimate: "SurveyEstimate", *, as_json: bool) -> int:
    """Print what a run would ask; the command's exit code."""
    counts = {
        "questions": estimate.questions,
        "literature requests": estimate.literature_requests,
    }
    note = "nothing was asked; a small field takes less, and sizes of answers may differ by half"
    return print_whole(estimate, "step, for each question", counts, note, as_json=as_json)


def _survey(survey: Survey) -> Group:
    lines: list[Text | Padding] = [Text(safe(survey.question), style="bold")]
    if survey.kept_count is None:
        said = (survey.unscored_reason or "").replace("_", " ")
        return Group(*lines, Padding(Text(safe(f"{said}: {survey.unscored_detail}")), (0, 0, 1, 2)))
    end = (survey.end or "").replace("_", " ")
    told = f"{survey.kept_count:,} papers kept of {survey.judged_count:,} judged; ended: {end}"
    lines.append(Text(told))
    for layer in survey.layers:
        where = f"layer {layer.layer}" if layer.layer else "searches"
        told = f"{where}: {layer.judged_count:,} judged, {layer.relevant_count:,} relevant"
        lost = f", {layer.failed_look_up_count:,} look-ups failed"
        told += lost if layer.failed_look_up_count else ""
        lines.append(Padding(Text(told, style="dim"), (0, 0, 0, 2)))
    lines += _review(survey)
    lines.extend(Padding(_cluster(cluster, survey), (1, 0, 0, 2)) for cluster in survey.clusters)
    return Group(*lines, Text(""))


def _review(survey: Survey) -> list[Text | Padding]:
    """How long the review is, how it was checked, and its answer in short."""
    written = [section for section in survey.sections if section.text]
    if not written:
        return []
    checked = sum(section.checked_sentence_count or 0 for section in written)
    told = (
        f"review: {len(written):,} parts from {survey.read_count:,} papers read"
        f" ({survey.full_text_count:,} in full); {checked:,} sentences checked,"
        f" {len(survey.removed):,} taken out"
    )
    lines: list[Text | Padding] = [Text(told)]
    if written[0].part is ReviewPart.SUMMARY:
        said = _TARGET.sub("", written[0].text).replace("[(", "(")
        lines.append(Padding(Text(safe(said)), (1, 0, 0, 2)))
    return lines


def _cluster(cluster: SurveyCluster, survey: Survey) -> Group:
    texts = {str(text.paper_id): text for text in survey.texts}
    years = f"{cluster.first_year or '?'}-{cluster.last_year or '?'}"
    lines = [Text(safe(f"{cluster.name} ({cluster.paper_count:,} papers, {years})"), style="bold")]
    for paper_id in cluster.key_paper_ids:
        paper = texts[paper_id]
        lines.append(Text(safe(f"{paper.title} ({paper.year or 'n.d.'}) {paper.url}")))
    return Group(*lines)
