"""What `assay check` prints: problems by manuscript, what could not be read, hit rates."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from flows.commands.output import print_engine_note, print_json, print_note, stdout_console
from flows.exit_codes import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES
from flows.terminal import safe
from schemas.base import Noun
from schemas.check_run import CheckHead, CheckRequest
from schemas.manuscripts import Attempt, ManuscriptCheck, Problem
from schemas.settings import Settings
from tasks.manuscripts.scores import CheckScore, check_scores
from warehouse.lake import open_reader
from warehouse.layout import Layout
from warehouse.manuscripts.queries import manuscript_checks

if TYPE_CHECKING:  # importing it imports Prefect, which must not be before its server is known
    from flows.checking import CheckSummary

MAXIMUM_FAILED_SHARE = 0.1


class CheckAnswer(Noun):
    """The answer of `assay check --json`."""

    check: CheckHead
    manuscripts: tuple[ManuscriptCheck, ...]
    scores: tuple[CheckScore, ...]


def print_check(request: CheckRequest, summary: "CheckSummary", *, as_json: bool) -> int:
    """Print the check; the command's exit code."""
    for failed in summary.failed_expectations:
        print_note(f"not published: {failed}")
    if not summary.published:
        return EXIT_FAILURES
    layout = Layout(request.warehouse)
    with open_reader(layout, catalogue_url=Settings().catalogue) as connection:
        checks = manuscript_checks(connection, summary.head.run_id)
    scores = check_scores(checks, request.judges_named, maximum_problems=request.maximum_problems)
    if as_json:
        print_json([CheckAnswer(check=summary.head, manuscripts=checks, scores=scores)])
    else:
        for check in checks:
            stdout_console().print(_manuscript(check))
        _print_scores(scores)
        _print_notes(summary, checks)
    failed_count = sum(
        attempt.problem_count is None for check in checks for attempt in check.attempts
    )
    if summary.head.incomplete_reason == "budget_exhausted":
        return EXIT_BUDGET
    attempted = sum(len(check.attempts) for check in checks)
    return (
        EXIT_FAILURES
        if failed_count > MAXIMUM_FAILED_SHARE * attempted or summary.head.incomplete_reason
        else EXIT_DONE
    )


def _manuscript(check: ManuscriptCheck) -> Group:
    lines: list[Text | Padding] = [Text(safe(check.manuscript_id), style="bold")]
    if check.title:
        lines.append(Text(safe(" ".join(check.title.split())), style="dim"))
    for attempt in check.attempts:
        if len(check.attempts) > 1:
            lines.append(Text(f"attempt {attempt.attempt}"))
        lines.append(Padding(Group(*_attempt(check, attempt)), (0, 0, 0, 2)))
    return Group(*lines, Text(""))


def _attempt(check: ManuscriptCheck, attempt: Attempt) -> list[Text]:
    if attempt.problem_count is None:
        why = check.unread_reason or attempt.unscored_reason or "unscored"
        return [
            Text(
                f"not checked ({str(why).replace('_', ' ')}): {safe(attempt.unscored_detail)}",
                style="red",
            )
        ]
    if attempt.problem_count == 0:
        return [Text("no critical problem found")]
    own = [problem for problem in check.problems if problem.attempt == attempt.attempt]
    lines = [
        line
        for number, problem in enumerate(own, start=1)
        for line in _problem(number, problem, check)
    ]
    if attempt.provenance is not None and attempt.provenance.shortening:
        lines.append(
            Text(f"not all of it was read: {attempt.provenance.shortening}", style="yellow")
        )
    return lines


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
        f"check {summary.head.run_id}: {len(checks)} manuscripts, engine {summary.head.engine}"
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
    if summary.head.incomplete_reason is not None:
        print_note(
            f"the check ended early ({summary.head.incomplete_reason.replace('_', ' ')}): the same"
            " command goes on from there"
        )
    for path in summary.report_paths:
        print_note(f"report: {path}")
