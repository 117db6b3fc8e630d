"""What the command of any declared kind of work does and prints."""

import dataclasses
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dashboards.render.formats.any_format import file_of
from dashboards.render.formats.report_format import ReportFormat, format_or_markdown
from dashboards.views.any_run import cites_works
from flows.cli.answer import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES, Answer, answer_of, write_answer
from flows.cli.evaluate.run_output import literature_in_words, tables_of
from flows.cli.output import (
    ended_early,
    print_engine_note,
    print_expected,
    print_where,
    was_published,
)
from flows.cli.people.inbox import print_waiting
from flows.cli.talk import print_note, print_warning, safe
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

Save = Callable[[Any, Any, Path], tuple[Path, ...] | None]
"""Writes a page, of a request, in a format of the kind's own; the files. None: the ending names
none.
"""
Leave = Callable[[Any, Summary[Any]], bool]
"""Leaves to the job runner what people are waited for; whether it will go on with it."""
More = Callable[[Any, Summary[Any]], tuple[Path, ...]]
"""Writes files of what a request came to; their paths."""

Shown = Callable[[Any, Summary[Any]], Any]
"""Returns the request whose page is printed, such as one that names other runs to compare."""


def run(
    name: str,
    given: tuple[Any, ...],
    options: DeclaredOptions,
    output: Path | None,
    *,
    as_json: bool,
    save: Save | None = None,
    more: More | None = None,
    leave: Leave | None = None,
    shown: Shown | None = None,
) -> int:
    """Do the work of the command `name`, or say what it would take; the command's exit code.

    Args:
        save: writes a format of the kind's own, where its page does not.
        more: writes what else was asked for of what was published.
        leave: takes over what waits for people.
        shown: says whose page is printed.
    """
    work, settings = work_named(name), Settings()
    request = request_of(work, given, options, settings)
    _check_output(work, request, (given, options), output)
    print_remarks(request.remarks)
    if options.dry_run:
        from flows.run.estimate import estimate

        if output is not None:
            print_warning(f"--output {output} is not written: --dry-run prints its estimate")
        return print_expected(estimate(work, request, settings), as_json=as_json)
    with Session() as session:
        summary = session.run(work, request)
        made = more(request, summary) if more is not None and _goes_on(summary) else ()
        if shown is not None and _goes_on(summary):
            request = shown(request, summary)
    return print_published(
        work, request, summary, output, made, as_json=as_json, save=save, leave=leave
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
    """Print what was published, or write it to `output`; the command's exit code.

    Args:
        more: files that were written of it beside its reports.
    """
    if summary.waits_for:
        goes_on = leave is not None and leave(request, summary)
        return print_waiting(summary.waits_for, summary.head, goes_on=goes_on, as_json=as_json)
    if not was_published(summary, as_json=as_json):
        return max(EXIT_FAILURES, _before(summary))
    shown, head, warehouse = work_named(summary.name), summary.head, Warehouse(request.warehouse)
    page: Any = published_page(shown, warehouse, head.run_id, request)
    page = dataclasses.replace(page, head=head)  # a course may have ended early after this run
    result = shown.result(head, page.units)
    said = (*summary.faults, *summary.remarks)
    early = ended_early(
        f"the {shown.kind.word}",
        head.ended_early(),
        request.warehouse,
        shown.request.spends_as(head.run_id),  # of what was done last, such as the ranking
        request.budget,
        work.options.unit_word(),
    )
    written = () if output is None else _written(page, request, output, save)
    if as_json:
        told: dict[str, Any] = {
            "published": summary.published,
            "unchanged": summary.unchanged,
            "failed_expectations": summary.failed_expectations,
            "reports": (*written, *more, *summary.report_paths),
            "log": summary.log_path,
        }
        if request.literature is not None:
            told["literature"] = literature_in_words(request.literature)
        write_answer(answer_about(page, result, (*request.remarks, *said, *early), **told))
        return exit_code_of(summary, result)
    _show(page, result, summary, as_page=not written)
    for path in (*written, *more):
        print_note(f"written: {path}")
    for line in said:
        print_warning(safe(line))
    print_engine_note(head.engine)
    if request.literature is not None:
        print_note(f"literature: {literature_in_words(request.literature)}")
    print_where(summary, early)
    return exit_code_of(summary, result)


def _written(page: Any, request: Any, output: Path, save: Save | None) -> tuple[Path, ...]:
    own: tuple[Path, ...] | None
    own = page.save_as(output) if save is None else save(page, request, output)
    if own is not None:
        return own
    output.write_bytes(file_of(page, format_or_markdown(output)))
    return (output,)


def _show(page: Any, result: Result, summary: Summary[Any], *, as_page: bool) -> None:
    """Print what was found and what is wrong with it: the tables of the kind, else its page."""
    tables = tables_of(summary.name)
    if tables is not None:
        tables(page, result, summary)
        return
    if as_page:
        sys.stdout.write(safe(page.short()))
    for line in (*result.lost, *page.warnings):
        print_warning(safe(line))


def _goes_on(summary: Summary[Any]) -> bool:
    """Return whether there is more to be made of it: it is published, and nobody is waited for."""
    return summary.published and not summary.waits_for


def answer_about(
    page: Any,
    result: Result,
    warnings: tuple[str, ...] = (),
    rows: Sequence[Noun] | None = None,
    **told: Any,
) -> Answer:
    """Return what `--json` says of a published run.

    Args:
        rows: in place of its units.
        told: what stands beside.
    """
    whole = result.stands or page.head.ended_early() is None
    state = result.state if whole else "incomplete"
    lines, beside = (*result.lost, *page.warnings, *warnings), {**page.beside(), **told}
    shown = page.units if rows is None else rows
    return answer_of(state, shown, run=page.run, warnings=lines, **beside)


def exit_code_of(summary: Summary[Any], result: Result) -> int:
    """Of the command that published it: the worse one where it follows something else."""
    before, reason = _before(summary), summary.head.ended_early()
    counts = result.stands or reason is None
    if result.in_order and counts and not summary.faults:
        return before
    return max(before, EXIT_BUDGET if reason is Reason.BUDGET_EXHAUSTED else EXIT_FAILURES)


def _before(summary: Summary[Any]) -> int:
    first: Summary[Any] | None = summary.first
    if first is None:
        return EXIT_DONE
    return exit_code_of(first, work_named(first.name).result(first.head, ()))


def _check_output(
    work: Work[Any, Any, Any],
    request: Request[Any, Any],
    said: tuple[Any, Any],
    output: Path | None,
) -> None:
    """Before any work is done for a file that could not be written.

    Args:
        said: the arguments and options of the command.

    Raises:
        ConfigurationError: a file that the work is done from would be written over, there is no
            folder for the output, or works are wanted that such a page does not cite.
    """
    if output is None:
        return
    target = output.resolve()
    if not target.parent.is_dir():
        raise ConfigurationError(f"--output {output}: there is no folder {output.parent}; make it")
    warehouse = request.warehouse.resolve()
    named = {path.resolve() for path in paths_in((*request.units, *said))} - {warehouse}
    if target in named:
        raise ConfigurationError(f"--output {output} is one of the files given: name another file")
    if target.is_file() and any(each in target.parents and each.is_dir() for each in named):
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
    """Return what the report says; its rows are those of the command that made what is reported.

    Args:
        run: None: the newest run.

    Raises:
        ConfigurationError: no such lake.
        UnknownNameError: no such run, ranking or idea.
    """
    with warehouse.queries(as_defined=False) as queries:
        run_id = RunId(run) if run else queries.latest_run().run_id
        kind = published_kind(queries.connection, run_id)
    wanted = RANKINGS if ranking else kind
    declared = next(work for work in works() if work.kind is wanted)
    page: Any = published_page(declared, warehouse, run_id)
    if idea is None:
        return answer_about(page, declared.result(page.head, page.units))
    with warehouse.queries() as queries:
        review = queries.idea_review(run_id, IdeaId(idea))
    return answer_about(page, declared.result(page.head, ()), rows=[review])
