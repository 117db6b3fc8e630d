"""Commands that start several runs, of one kind of work or of several."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from schemas.base import replace
from schemas.identifiers import RunId
from schemas.run import Budget
from schemas.settings import Settings
from schemas.work import Request, Summary

if TYPE_CHECKING:  # most commands open no warehouse
    from warehouse.warehouse import Warehouse


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


def remaining(budget: Budget, warehouse: "Warehouse", others: Sequence[RunId]) -> Budget:
    """Return the budget minus the spending of `others`, published runs of the same command."""
    if budget == Budget() or not others:
        return budget
    with warehouse.queries() as queries:
        (spent_row,) = queries.rows("spent_by_runs", run_ids=list(others))
    rest = {
        name: max(bound - spent_row[name], 0)
        for name in ("maximum_cost_usd", "maximum_tokens", "maximum_requests")
        if (bound := getattr(budget, name)) is not None
    }
    return replace(budget, **rest)
