"""File in which a person accepts or rejects the findings of a review."""

import json
import textwrap
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from schemas.works.check_run import CheckHead
from schemas.works.manuscripts import Decision, ManuscriptCheck, Problem
from warehouse.parquet import write_bytes

NAME = "preferences.toml"
_COLUMNS = 98
_HOW = """What you think of the findings of {run_id}. Set `verdict` to "accept", "reject" or \
"look again"; a finding without a verdict stays as it is. A remark of yours is shown to whoever \
looks again, and in the report. Then, with the options of the review except --literature:"""


def preferences_text(head: CheckHead, checks: Sequence[ManuscriptCheck]) -> str:
    """Return every finding with its earlier verdict, or an empty one.

    Disputed findings come first, then standing ones, then the others.
    """
    lines = [
        *_comment(_HOW.format(run_id=head.run_id)),
        f"#   assay check PAPER --review --revise {NAME}",
        f"check = {_toml_string(head.run_id)}",
    ]
    for check in checks:
        problems = sorted(
            check.problems, key=lambda one: (one.is_decided, not one.dispute, not one.stands)
        )
        for problem in problems:
            lines += ["", *_finding(check, problem)]
    return "\n".join(lines) + "\n"


def _finding(check: ManuscriptCheck, problem: Problem) -> Iterator[str]:
    standing = "stands" if problem.stands else "is set aside"
    place = problem.location or "place not said"
    yield from _comment(f"{problem.problem} ({place}; it {standing})")
    texts = {
        "The text says": problem.quote,
        "Reviewers disagree": problem.dispute,
        "For the authors": problem.optimistic,
        "Against them": problem.sceptical,
        "What would decide": problem.would_decide,
    }
    for name, text in texts.items():
        yield from _comment(f"{name}: {text}") if text else ()
    decision = problem.decision if problem.is_decided else None
    yield "[[findings]]"
    yield f"manuscript = {_toml_string(check.manuscript_id)}"
    yield f"id = {_toml_string(problem.problem_id)}"
    yield f"verdict = {_toml_string(decision or '')}"
    yield f"remark = {_toml_string(problem.remark if decision else '')}"


def _comment(text: str) -> Iterator[str]:
    plain_text = "".join(sign if sign.isprintable() else " " for sign in text)
    return (f"# {line}" for line in textwrap.wrap(plain_text, _COLUMNS))


def _toml_string(text: str | Decision) -> str:
    """Return a TOML basic string: JSON escapes fit, but TOML allows no raw DEL."""
    return json.dumps(str(text), ensure_ascii=False).replace("\x7f", "\\u007f")


def write_preferences(folder: Path, head: CheckHead, checks: Sequence[ManuscriptCheck]) -> Path:
    """Write the file unless somebody edited it; return its path."""
    path = folder / NAME
    if not _is_edited(path, checks):
        write_bytes(path, preferences_text(head, checks).encode("utf-8", "replace"))
    return path


def _is_edited(path: Path, checks: Sequence[ManuscriptCheck]) -> bool:
    """Return whether it has verdicts beyond the recorded ones; unreadable counts as edited."""
    if not path.exists():
        return False
    decisions = {
        (check.manuscript_id, problem.problem_id): problem.decision
        for check in checks
        for problem in check.problems
        if problem.is_decided
    }
    try:
        findings = tomllib.loads(path.read_text("utf-8"))["findings"]
        verdicts = {(each["manuscript"], each["id"]): each["verdict"] for each in findings}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError):
        return True
    return {key: verdict for key, verdict in verdicts.items() if verdict} != decisions
