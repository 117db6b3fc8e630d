"""What the command of any declared kind of work does and prints."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dashboards.render.formats.any_format import file_of
from dashboards.render.formats.report_format import ReportFormat
from dashboards.views.published_page import PublishedPage
from flows.cli.answer import Answer, answer_of, write_answer
from flows.cli.evaluate.run_output import print_bundled_note
from flows.cli.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.cli.output import (
    ended_early,
    print_engine_note,
    print_expected,
    print_where,
    was_published,
)
from flows.cli.talk import print_note, print_warning
from flows.cli.terminal import safe
from flows.run.pages import published_page
from flows.run.requests import request_of
from flows.run.session import Session
from schemas.errors import ConfigurationError
from schemas.options.commands import DeclaredOptions
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.work import Request
from tasks.work.declaration import Result, Work
from tasks.works import work_named
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:  # importing it imports Prefect, which must not be before its server is known
    from flows.run.campaign import Summary


def run(
    name: str,
    given: tuple[Any, ...],
    options: DeclaredOptions,
    output: Path | None,
    *,
    as_json: bool,
) -> int:
    """Do the work of the command `name`, or say what it would take; the command's exit code."""
    work, settings = work_named(name), Settings()
    request = request_of(work, given, options, settings)
    _check_output(work, request, output)
    if options.dry_run:
        from flows.run.estimates.declared import estimate

        return print_expected(estimate(work, request, settings), as_json=as_json)
    with Session() as session:
        summary = session.run(work, request)
    return print_published(work, request, summary, output, as_json=as_json)


def print_published(
    work: Work[Any, Any, Any],
    request: Request[Any, Any],
    summary: "Summary[Any]",
    output: Path | None = None,
    *,
    as_json: bool,
) -> int:
    """Print what was published, or write it to `output`; the command's exit code."""
    if not was_published(summary, as_json=as_json):
        return EXIT_FAILURES
    head = summary.head
    page = published_page(work, Warehouse(request.warehouse), head.run_id)
    result = work.result(head, page.units)
    early = ended_early(
        f"the {work.kind.word}",
        head.incomplete_reason,
        request.warehouse,
        head.run_id,
        request.budget,
        work.unit_noun,
    )
    written = () if output is None else _saved(page, head.run_id, output)
    if as_json:
        told = {"reports": (*written, *summary.report_paths), "log": summary.log_path}
        write_answer(answer_about(page, result, early, **told))
        return exit_code_of(head, result)
    if output is None:
        sys.stdout.write(safe(page.short()))
    for path in written:
        print_note(f"written: {path}")
    for line in result.lost:
        print_warning(safe(line))
    print_engine_note(head.engine)
    if request.literature is not None:
        print_bundled_note(request.literature)
    print_where(summary, early)
    return exit_code_of(head, result)


def _saved(page: PublishedPage, run_id: str, output: Path) -> tuple[Path, ...]:
    """Write the page in the format of the ending, Markdown where that names none; the files."""
    own = page.save_as(output)
    if own:
        return own
    ending = output.suffix.removeprefix(".").lower()
    form = ReportFormat(ending) if ending in list(ReportFormat) else ReportFormat.MD
    output.write_bytes(file_of(page, run_id, form))
    return (output,)


def answer_about(page: Any, result: Result, warnings: tuple[str, ...] = (), **told: Any) -> Answer:
    """What `--json` says of a published run; `told`: what stands beside."""
    state = "incomplete" if page.head.incomplete_reason else result.state
    lines, beside = (*warnings, *result.lost), {**page.beside(), **told}
    return answer_of(state, page.units, run=page.head, warnings=lines, **beside)


def exit_code_of(head: Any, result: Result) -> int:
    """Of the command that published it."""
    if head.incomplete_reason is Reason.BUDGET_EXHAUSTED:
        return EXIT_BUDGET
    return EXIT_DONE if result.in_order and head.incomplete_reason is None else EXIT_FAILURES


def _check_output(
    work: Work[Any, Any, Any], request: Request[Any, Any], output: Path | None
) -> None:
    """Raises ConfigurationError when a file that the work is done from would be written over."""
    given = {path.resolve() for unit in request.units for path in work.files(unit)}
    if output is not None and output.resolve() in given:
        raise ConfigurationError(f"--output {output} is one of the files given: name another file")
