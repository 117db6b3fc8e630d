"""What `assay check` prints: problems by manuscript, what could not be read, hit rates."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from dashboards.render import figures
from dashboards.views.idea.preferences import NAME as PREFERENCES
from dashboards.views.write_check import missing_files, missing_macros, nothing_found
from flows.cli.answer import Answer, answer_of, print_answer, write_answer
from flows.cli.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.cli.output import (
    ended_early,
    print_engine_note,
    print_log_note,
    print_table,
    stdout_console,
    was_published,
)
from flows.cli.talk import print_note, print_warning
from flows.cli.terminal import safe
from schemas.works.check_run import CheckHead, CheckRequest
from schemas.works.manuscripts import Attempt, ManuscriptCheck, Problem
from tasks.manuscripts.scores import CheckScore, check_scores
from warehouse.kinds.manuscripts.landing import CHECKS
from warehouse.units.reading import published_units
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:  # importing it imports Prefect, which must not be before its server is known
    from flows.works.check.check_estimate import ManuscriptEstimate
    from flows.works.check.checking import CheckSummary

MAXIMUM_FAILED_SHARE = 0.1


def print_check(request: CheckRequest, summary: "CheckSummary", *, as_json: bool) -> int:
    """Print the check; the command's exit code."""
    if not was_published(summary, as_json=as_json):
        return EXIT_FAILURES
    warehouse = Warehouse(request.warehouse)
    with warehouse.reader() as connection:
        checks = published_units(connection, CHECKS, summary.head.run_id)
    scores = check_scores(checks, request.judges_named, maximum_problems=request.maximum_problems)
    early = ended_early(
        "the check",
        summary.head.incomplete_reason,
        request.warehouse,
        request.budget_scope,
        request.budget,
        "paper",
    )
    if as_json:
        write_answer(
            checks_answer(
                summary.head, checks, scores, early, summary.report_paths, summary.log_path
            )
        )
    else:
        for check in checks:
            stdout_console().print(_manuscript(check, summary.head.maximum_problems))
        _print_scores(scores)
        _print_notes(summary, checks)
        for line in early:
            print_warning(line)
    failed_count = sum(
        attempt.problem_count is None or check.is_partly_read
        for check in checks
        for attempt in check.attempts
    )
    if summary.head.incomplete_reason == "budget_exhausted":
        return EXIT_BUDGET
    attempted = sum(len(check.attempts) for check in checks)
    return (
        EXIT_FAILURES
        if failed_count > MAXIMUM_FAILED_SHARE * attempted or summary.head.incomplete_reason
        else EXIT_DONE
    )


def checks_answer(
    head: CheckHead,
    checks: Sequence[ManuscriptCheck],
    scores: Sequence[CheckScore],
    warnings: Sequence[str] = (),
    report_paths: Sequence[Path] = (),
    log_path: Path | None = None,
) -> Answer:
    """A check as `--json` prints it: a row a manuscript."""
    unread = [
        f"{check.manuscript_id} could not be read ({check.unread_reason.replace('_', ' ')})"
        for check in checks
        if check.unread_reason is not None
    ]
    partly = [
        f"{check.manuscript_id}: {nothing_found(check) if not check.standing else missing_files(check)}"
        for check in checks
        if check.is_partly_read
    ]
    return answer_of(
        "checked" if head.incomplete_reason is None else "incomplete",
        checks,
        run=head,
        warnings=[*warnings, *unread, *partly],
        scores=scores,
        reports=report_paths,
        log=log_path,
    )


def print_expected(estimates: Sequence["ManuscriptEstimate"], *, as_json: bool) -> None:
    """What each manuscript would ask, one line each; why where one cannot be read."""
    unread = [
        f"{one.manuscript_id} cannot be read: {one.unread_detail}"
        for one in estimates
        if one.unread_reason is not None
    ]
    if as_json:
        print_answer("expected", estimates, warnings=unread)
        return
    print_table(
        [
            "manuscript",
            "words",
            "model calls at most",
            "prompt tokens",
            "completion tokens",
            "cost",
        ],
        [
            [
                safe(one.manuscript_id),
                f"{one.word_count:,}",
                f"{one.model_calls:,}",
                f"{one.prompt_tokens:,}",
                f"{one.completion_tokens:,}",
                figures.usd(one.cost_usd) if one.model_calls else "none",
            ]
            for one in estimates
            if one.unread_reason is None
        ],
    )
    for line in unread:
        print_warning(line)
    print_note("nothing was asked; sizes of answers may differ by half")


def _manuscript(check: ManuscriptCheck, most: int) -> Group:
    lines: list[Text | Padding] = [Text(safe(check.manuscript_id), style="bold")]
    if check.title:
        lines.append(Text(safe(" ".join(check.title.split())), style="dim"))
    for attempt in check.attempts:
        if len(check.attempts) > 1:
            lines.append(Text(f"attempt {attempt.attempt}"))
        lines.append(Padding(Group(*_attempt(check, attempt, most)), (0, 0, 0, 2)))
    return Group(*lines, Text(""))


def _attempt(check: ManuscriptCheck, attempt: Attempt, most: int) -> list[Text]:
    if attempt.problem_count is None:
        why = check.unread_reason or attempt.unscored_reason or "unscored"
        return [
            Text(
                f"not checked ({str(why).replace('_', ' ')}): {safe(attempt.unscored_detail)}",
                style="red",
            )
        ]
    own = [problem for problem in check.standing if problem.attempt == attempt.attempt]
    style = "yellow" if check.is_partly_read else ""
    lines = [] if own else [Text(safe(nothing_found(check)), style=style)]
    for number, problem in enumerate(own[:most], start=1):
        lines += _problem(number, problem, check)
    if own and check.missing_files:
        lines.append(Text(f"not checked: {safe(missing_files(check))}", style="yellow"))
    if told := missing_macros(check):
        lines.append(Text(f"not read: {safe(told)}"))
    lines += _behind(check, attempt, len(own) - most)
    if attempt.provenance is not None and attempt.provenance.shortening:
        lines.append(Text(f"how it was read: {attempt.provenance.shortening}", style="yellow"))
    return lines


def _behind(check: ManuscriptCheck, attempt: Attempt, more: int) -> list[Text]:
    """How many problems the report has that are not printed."""
    own = [problem for problem in check.problems if problem.attempt == attempt.attempt]
    questions = sum(problem.is_open for problem in own)
    set_aside = sum(not problem.stands for problem in own) - questions
    told = [f"{more} more that stand"] if more > 0 else []
    told += [figures.counted(questions, "open question")] if questions else []
    told += [f"{set_aside} set aside"] if set_aside else []
    disputed = sum(bool(problem.dispute) and not problem.is_decided for problem in own)
    told += [f"{disputed} that reviewers disagree over"] if disputed else []
    return [Text(f"in the report: {', '.join(told)}", style="dim")] if told else []


def _problem(number: int, problem: Problem, check: ManuscriptCheck) -> list[Text]:
    nowhere = " (the manuscript has no such place)" if problem.location_found is False else ""
    votes = [vote for vote in check.votes if vote.problem_id == problem.problem_id]
    said = ", ".join(
        f"{vote.judge} {'no answer' if vote.hit is None else 'yes' if vote.hit else 'no'}"
        for vote in votes
    )
    lines = [
        Text(f"{number}. {safe(problem.problem)}"),
        Text(f"   where: {safe(problem.location) or 'not said'}{nowhere}"),
        Text(f"   why: {safe(problem.explanation)}", style="dim"),
    ]
    if problem.quote_found is False:
        lines.append(Text("   the sentence it quotes is not in the manuscript", style="yellow"))
    return [*lines, Text(f"   judges: {safe(said)}")] if votes else lines


def _print_scores(scores: Sequence[CheckScore]) -> None:
    for score in scores:
        value = score.undefined_reason if score.value is None else f"{score.value:.3f}"
        interval = "" if score.lower is None else f" [{score.lower:.3f}, {score.upper:.3f}]"
        missing = f", {score.unscored_count} undecided" if score.unscored_count else ""
        stdout_console().print(
            Text(f"{score.metric}, {score.judges}: {value}{interval} over {score.count}{missing}")
        )


def _print_notes(summary: "CheckSummary", checks: Sequence[ManuscriptCheck]) -> None:
    attempts = [attempt for check in checks for attempt in check.attempts]
    used = [attempt for attempt in attempts if attempt.input_tokens is not None]
    print_note(
        f"check {summary.head.run_id}: {figures.counted(len(checks), 'manuscript')}, engine"
        f" {summary.head.engine}"
    )
    if used:
        tokens = sum(
            (attempt.input_tokens or 0)
            + (attempt.output_tokens or 0)
            + (attempt.thinking_tokens or 0)
            for attempt in used
        )
        costs = [attempt.cost_usd for attempt in used]
        cost = (
            "unknown"
            if any(cost is None for cost in costs)
            else f"${sum(cost or 0.0 for cost in costs) / len(used):.4f}"
        )
        print_note(
            f"finding problems took {tokens / len(used):,.0f} tokens an attempt; cost an attempt:"
            f" {cost}"
        )
    print_engine_note(summary.head.engine, "text checks")
    for path in summary.report_paths:
        told = "to say what you think of it" if path.name == PREFERENCES else "report"
        print_note(f"{told}: {path}")
    print_log_note(summary.log_path)
