"""Execution and output of the command of any declared kind of work."""

import dataclasses
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dashboards.render.formats.report_file import file_of
from dashboards.render.formats.report_format import ReportFormat, format_or_markdown
from dashboards.views.pages_by_kind import cites_works
from flows.cli.answer import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES, Answer, answer_of, write_answer
from flows.cli.evaluate.run_output import literature_in_words, tables_of
from flows.cli.output import (
    early_end_lines,
    print_engine_note,
    print_estimate,
    print_where,
    was_published,
)
from flows.cli.people.inbox import print_waiting
from flows.cli.terminal import print_note, print_warning, safe
from flows.run.declared_campaign import published_page
from flows.run.requests import request_of
from flows.run.session import Session
from flows.works.evaluate.idea_input import print_remarks
from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, RunId
from schemas.options.commands import DeclaredOptions
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.work import Request, Summary, paths_in
from tasks.work.declaration import Result, Work
from tasks.works import work_named, works
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.units.published_work import published_kind
from warehouse.warehouse import Warehouse

# Writes a page in a format that only the kind has; None: another format.
Save = Callable[[Any, Any, Path], tuple[Path, ...] | None]
# Leaves waiting work to the job runner; returns whether it will resume it.
Leave = Callable[[Any, Summary[Any]], bool]
# Writes further files about the results; returns their paths.
More = Callable[[Any, Summary[Any]], tuple[Path, ...]]

# Returns the request whose page is printed, such as one with runs to compare.
ChoosePage = Callable[[Any, Summary[Any]], Any]


def run(
    name: str,
    arguments: tuple[Any, ...],
    options: DeclaredOptions,
    output: Path | None,
    *,
    as_json: bool,
    save: Save | None = None,
    more: More | None = None,
    leave: Leave | None = None,
    choose_page: ChoosePage | None = None,
) -> int:
    """Run the command `name`, or print its estimate; return the exit code.

    Args:
        save: writes a format that only this kind has.
        more: writes further files about the published work.
        leave: takes over work that waits for people.
        choose_page: returns the request whose page is printed.
    """
    work, settings = work_named(name), Settings()
    request = request_of(work, arguments, options, settings)
    _check_output(work, request, (arguments, options), output)
    print_remarks(request.remarks)
    if options.dry_run:
        from flows.run.estimate import estimate

        if output is not None:
            print_warning(f"--output {output} is not written: --dry-run prints its estimate")
        return print_estimate(estimate(work, request, settings), as_json=as_json)
    with Session() as session:
        summary = session.run(work, request)
        goes_on = summary.published and not summary.waits_for
        extra_files = more(request, summary) if more is not None and goes_on else ()
        if choose_page is not None and goes_on:
            request = choose_page(request, summary)
    return print_published(
        work, request, summary, output, extra_files, as_json=as_json, save=save, leave=leave
    )


def print_published(
    work: Work[Any, Any, Any],
    request: Request[Any, Any],
    summary: Summary[Any],
    output: Path | None = None,
    more: tuple[Path, ...] = (),
    *,
    as_json: bool,
    save: Save | None = None,
    leave: Leave | None = None,
) -> int:
    """Print published work, or write it to `output`; return the exit code.

    Args:
        more: files written in addition to the reports.
    """
    if summary.waits_for:
        goes_on = leave is not None and leave(request, summary)
        return print_waiting(summary.waits_for, summary.head, goes_on=goes_on, as_json=as_json)
    if not was_published(summary, as_json=as_json):
        return max(EXIT_FAILURES, _first_exit_code(summary))
    last_work, head = work_named(summary.name), summary.head
    warehouse = Warehouse(request.warehouse)
    page: Any = published_page(last_work, warehouse, head.run_id, request, summary.page)
    page = dataclasses.replace(page, head=head)  # a later step may have ended early
    result = last_work.result(head, page.units)
    messages = (*summary.faults, *summary.remarks)
    early_end = early_end_lines(
        f"the {last_work.kind.word}",
        head.ended_early(),
        request.warehouse,
        last_work.request.spends_as(head.run_id),  # of the last step, such as the ranking
        request.budget,
        work.options.unit_word(),
    )
    paths = () if output is None else _write_output(page, request, output, save)
    if as_json:
        values: dict[str, Any] = {
            "published": summary.published,
            "unchanged": summary.unchanged,
            "failed_expectations": summary.failed_expectations,
            "reports": (*paths, *more, *summary.report_paths),
            "log": summary.log_path,
        }
        if request.literature is not None:
            values["literature"] = literature_in_words(request.literature)
        write_answer(
            answer_about(page, result, (*request.remarks, *messages, *early_end), **values)
        )
        return exit_code_of(summary, result)
    if tables := tables_of(summary.name):
        tables(page, result, summary)
    else:
        if not paths:
            sys.stdout.write(safe(page.short()))
        for line in (*result.lost, *page.warnings):
            print_warning(safe(line))
    for path in (*paths, *more):
        print_note(f"written: {path}")
    for line in messages:
        print_warning(safe(line))
    print_engine_note(head.engine)
    if request.literature is not None:
        print_note(f"literature: {literature_in_words(request.literature)}")
    print_where(summary, early_end)
    return exit_code_of(summary, result)


def _write_output(page: Any, request: Any, output: Path, save: Save | None) -> tuple[Path, ...]:
    paths: tuple[Path, ...] | None
    paths = page.save_as(output) if save is None else save(page, request, output)
    if paths is not None:
        return paths
    output.write_bytes(file_of(page, format_or_markdown(output)))
    return (output,)


def answer_about(
    page: Any,
    result: Result,
    warnings: tuple[str, ...] = (),
    rows: Sequence[Noun] | None = None,
    **more: Any,
) -> Answer:
    """Return the JSON answer about published work.

    Args:
        rows: in place of its units.
        more: further fields.
    """
    is_whole = result.stands or page.head.ended_early() is None
    state = result.state if is_whole else "incomplete"
    lines, fields = (*result.lost, *page.warnings, *warnings), {**page.json_fields(), **more}
    units = page.units if rows is None else rows
    return answer_of(state, units, run=page.run, warnings=lines, **fields)


def exit_code_of(summary: Summary[Any], result: Result) -> int:
    """Return the exit code of published work, or of what it follows if that is worse."""
    first_code, reason = _first_exit_code(summary), summary.head.ended_early()
    counts = result.stands or reason is None
    if result.in_order and counts and not summary.faults:
        return first_code
    return max(first_code, EXIT_BUDGET if reason is Reason.BUDGET_EXHAUSTED else EXIT_FAILURES)


def _first_exit_code(summary: Summary[Any]) -> int:
    first_summary: Summary[Any] | None = summary.first
    if first_summary is None:
        return EXIT_DONE
    return exit_code_of(
        first_summary, work_named(first_summary.name).result(first_summary.head, ())
    )


def _check_output(
    work: Work[Any, Any, Any],
    request: Request[Any, Any],
    arguments: tuple[Any, Any],
    output: Path | None,
) -> None:
    """Check the output path before any work is done.

    Args:
        arguments: the arguments and options of the command.

    Raises:
        ConfigurationError: an input file would be overwritten, the folder is missing, or a
            bibliography
            is requested from a page that cites no papers.
    """
    if output is None:
        return
    target = output.resolve()
    if not target.parent.is_dir():
        raise ConfigurationError(f"--output {output}: there is no folder {output.parent}; make it")
    warehouse = request.warehouse.resolve()
    input_paths = {path.resolve() for path in paths_in((*request.units, *arguments))} - {warehouse}
    if target in input_paths:
        raise ConfigurationError(f"--output {output} is one of the files given: name another file")
    if target.is_file() and any(each in target.parents and each.is_dir() for each in input_paths):
        raise ConfigurationError(
            f"--output {output} is a file of a folder given: name another file, or remove it"
        )
    if format_or_markdown(output) is ReportFormat.BIB and not cites_works(work.kind):
        raise ConfigurationError(
            f"--output {output}: it cites no works; end it in .md, .html, .pdf, .docx or .json"
        )


def report_answer(
    warehouse: Warehouse, run: str | None, idea: str | None = None, *, ranking: bool = False
) -> Answer:
    """Return the JSON answer of the command that made the reported work.

    Args:
        run: None: the newest run.

    Raises:
        ConfigurationError: there is no such lake.
        UnknownNameError: there is no such run, ranking or idea.
    """
    with warehouse.queries(as_defined=False) as queries:
        run_id = RunId(run) if run else queries.latest_run().run_id
        kind = published_kind(queries.connection, run_id)
    wanted_kind = RANKINGS if ranking else kind
    wanted_work = next(work for work in works() if work.kind is wanted_kind)
    page: Any = published_page(wanted_work, warehouse, run_id)
    if idea is None:
        return answer_about(page, wanted_work.result(page.head, page.units))
    with warehouse.queries() as queries:
        review = queries.idea_review(run_id, IdeaId(idea))
    return answer_about(page, wanted_work.result(page.head, ()), rows=[review])
