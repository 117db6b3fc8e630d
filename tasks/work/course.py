"""Commands that start several runs, of one kind of work or of several."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from schemas.identifiers import RunId
from schemas.settings import Settings
from schemas.work import Request, Summary


class Runs(Protocol):
    """Runs work of any kind up to publication; landed units are skipped."""

    def __call__(self, name: str, request: Request[Any, Any]) -> Summary[Any]: ...

    def run_id(self, name: str, request: Request[Any, Any]) -> RunId:
        """Return the id of the run."""
        ...


@dataclass(frozen=True, slots=True)
class Follow:
    """A run of another kind that a command may start; part of the estimate.

    Attributes:
        name: of its kind.
        request: what it asks of a file that is made on the way; None: there is none yet.
        text: stands in that file for an estimate.
        times: how often, at most.
    """

    name: str
    request: Callable[[Path | None], Request[Any, Any]]
    text: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class Course:
    """The runs of a command that starts several.

    Attributes:
        run: does one run after the other; what the command came to.
        follows: the runs of other kinds among them.
    """

    run: Callable[[Any, Settings, Runs], Summary[Any]]
    follows: Callable[[Any, Settings], Sequence[Follow]]
