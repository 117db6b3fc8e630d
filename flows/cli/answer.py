"""Exit codes, and the JSON answer of commands and services."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny

from flows.cli.terminal import safe, safe_json
from schemas.base import Noun
from schemas.errors import ConfigurationError

EXIT_DONE = 0
EXIT_FAILURES = 1
EXIT_USAGE = 2
EXIT_BUDGET = 3
# Requests to people are open; the same command resumes once they are answered.
EXIT_WAITING = 4
# As shells report a command that Ctrl-C ended.
EXIT_INTERRUPTED = 130


class Answer(BaseModel):
    """JSON answer of commands and services, with further fields as needed.

    Only `assay sql --json` prints a list instead: the rows of the query.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    run: SerializeAsAny[Noun] | None = Field(
        description="The run, check or benchmark, with its `run_id`; null: none."
    )
    state: str = Field(description="State in one word, such as in_order, error or interrupted.")
    rows: tuple[SerializeAsAny[Noun] | dict[str, Any], ...] = Field(
        description="One object for each idea, step, part, job or file."
    )
    warnings: tuple[str, ...] = Field(description="Warnings, a line each, the worst first.")

    def document(self) -> str:
        """Return the answer as JSON, with dates in ISO 8601."""
        return self.model_dump_json(indent=2, fallback=str)


def answer_of(
    state: str,
    rows: Sequence[Noun | Mapping[str, Any]] = (),
    *,
    run: Noun | None = None,
    warnings: Sequence[str] = (),
    **more: Any,
) -> Answer:
    return Answer(run=run, state=state, rows=tuple(rows), warnings=tuple(warnings), **more)


def error_answer(line: str) -> Answer:
    return answer_of("error", warnings=(line,), error=line)


def write_answer(answer: Answer) -> None:
    write_document(safe_json(answer.document()) + "\n")


def write_document(text: str) -> None:
    """Write what programs read: UTF-8 in a file or pipe, whatever the locale; on a terminal what it
    can show.
    """
    binary = getattr(sys.stdout, "buffer", None)  # a notebook's stream has none
    if binary is None or sys.stdout.isatty():
        sys.stdout.write(text)
    else:
        sys.stdout.flush()
        binary.write(text.encode())


def write_content(content: bytes, output: Path | None, what: str, *, is_text: bool) -> None:
    """Write an answer in some format to a file, or to stdout.

    Raises:
        ConfigurationError: it is no text, and stdout is a terminal.
    """
    if output is not None:
        output.write_bytes(content)
    elif is_text:
        write_document(safe(content.decode()))
    elif sys.stdout.isatty():
        raise ConfigurationError(f"{what} is no text: write it to a file with --output")
    else:
        sys.stdout.buffer.write(content)


def print_answer(state: str, rows: Sequence[Noun | Mapping[str, Any]] = (), **more: Any) -> None:
    write_answer(answer_of(state, rows, **more))
