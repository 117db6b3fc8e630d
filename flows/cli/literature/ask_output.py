"""What `assay ask` prints: the answer as Markdown, and on stderr what was not had."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dashboards.render.formats.report_format import ReportFormat
from dashboards.views.write_survey import survey_page
from flows.cli.answer import write_answer
from flows.cli.evaluate.run_output import print_bundled_note
from flows.cli.exit_codes import EXIT_FAILURES
from flows.cli.literature.survey_output import exit_code_of, surveys_answer
from flows.cli.output import (
    ended_early,
    print_engine_note,
    print_where,
    was_published,
)
from flows.cli.talk import print_note
from flows.cli.terminal import safe
from schemas.literature.survey_run import SurveyRequest
from warehouse.kinds.surveys import SURVEY_RECORD
from warehouse.units.reading import published_units
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:  # importing it imports Prefect, which must not be before its server is known
    from flows.works.survey.surveying import SurveySummary


def print_asked(
    request: SurveyRequest, summary: "SurveySummary", output: Path | None, *, as_json: bool
) -> int:
    """Print the answer, or write it to `output`; the command's exit code."""
    head, warehouse = summary.head, Warehouse(request.warehouse)
    if not was_published(summary, as_json=as_json):
        return EXIT_FAILURES
    with warehouse.reader() as connection:
        surveys = published_units(connection, SURVEY_RECORD, head.run_id)
    early = ended_early(
        "the search for an answer",
        head.incomplete_reason,
        request.warehouse,
        head.run_id,
        request.budget,
        "question",
    )
    if as_json:
        told = {"reports": summary.report_paths, "log": summary.log_path}
        write_answer(surveys_answer(head, surveys, early, **told))
        return exit_code_of(head, surveys)
    if output is None:
        sys.stdout.write(safe(survey_page(warehouse, head.run_id).markdown()))
    else:
        from dashboards.render.formats.any_format import report_file

        chosen = _format_of(output)
        output.write_bytes(report_file(warehouse, head.run_id, None, chosen))
        print_note(f"written: {output}")
    print_engine_note(head.engine)
    print_bundled_note(request.literature)
    print_where(summary, early, reports=())
    return exit_code_of(head, surveys)


def _format_of(output: Path) -> ReportFormat:
    """Markdown, which any text file may hold, where the ending names no format."""
    ending = output.suffix.removeprefix(".").lower()
    return ReportFormat(ending) if ending in list(ReportFormat) else ReportFormat.MD
