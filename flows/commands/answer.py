"""The one shape of what commands print with `--json`."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny

from flows.terminal import safe_json
from schemas.base import Noun


class Answer(BaseModel):
    """What a command with `--json` prints on stdout; what else it tells stands beside these fields.

    `assay sql --json` alone prints a list: the rows of the question.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    run: SerializeAsAny[Noun] | None = Field(
        description="The run, check or benchmark it is about, with its `run_id`; null: of none."
    )
    state: str = Field(
        description="One word for how it stands, such as in_order; error; interrupted."
    )
    rows: tuple[SerializeAsAny[Noun] | dict[str, Any], ...] = Field(
        description="The answer proper: one object for each idea, step, part, job or file."
    )
    warnings: tuple[str, ...] = Field(description="What is wrong, a line each, the worst first.")


def print_answer(
    state: str,
    rows: Sequence[Noun | Mapping[str, Any]] = (),
    *,
    run: Noun | None = None,
    warnings: Sequence[str] = (),
    **more: Any,
) -> None:
    """Print an `Answer` as one JSON document on stdout; dates as ISO 8601, models as objects.

    Args:
        more: what this command tells beside.
    """
    answer = Answer(run=run, state=state, rows=tuple(rows), warnings=tuple(warnings), **more)
    sys.stdout.write(f"{safe_json(answer.model_dump_json(indent=2, fallback=str))}\n")


def print_error(line: str) -> None:
    """The answer of a command that failed: `line` says what can be mended."""
    print_answer("error", warnings=(line,), error=line)


def print_interrupted(line: str) -> None:
    """The answer of a command that was interrupted: `line` says how to go on."""
    print_answer("interrupted", warnings=(line,))
