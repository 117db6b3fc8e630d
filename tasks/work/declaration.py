"""Declaration of a kind of work.

The command line, jobs, services, estimates, runs and reports are generic over these declarations,
which `tasks/works.py` lists.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, get_type_hints

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.options.commands import DeclaredOptions
from schemas.outcome import Unscored
from schemas.people.work_job import WorkJob
from schemas.settings import Settings
from schemas.work import ParametersT, Request, Summary, UnitT
from schemas.work_schema import WorkSchema
from tasks.judging.expected import CHARACTERS_PER_TOKEN, CallsByStep, ExpectedCalls
from tasks.judging.step import Step
from tasks.shards.work import Cause
from tasks.work.tools import Tools
from warehouse.units.kind import Kind, kind_of

NounT = TypeVar("NounT", bound=Noun)
Steps = tuple[Step[Any, Any], ...]
Common = Mapping[str, Any]
"""Fields of a request other than its units and parameters: see `flows/run/requests.py`."""
Follow = tuple[str, Request[Any, Any], int]
"""Kind, request and maximum number of runs that a command may start; part of its estimate."""


class Runs(Protocol):
    """Runs work of any kind up to publication; landed units are skipped."""

    def __call__(self, name: str, request: Request[Any, Any]) -> Summary[Any]: ...

    def run_id(self, name: str, request: Request[Any, Any]) -> RunId:
        """Return the id of the run."""
        ...


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected calls and requests of a whole run.

    Attributes:
        per_step: calls of each step, over all units.
        counts: numbers of units and requests, by plural names such as `literature_requests`.
        note: limitations of the estimate.
        of_each_judge: calls of the steps that judges answer in addition to the engine.
        lost: one line for each unit that cannot be processed.
    """

    per_step: CallsByStep
    counts: Mapping[str, int]
    note: str
    of_each_judge: CallsByStep = field(default_factory=dict)
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a published run.

    Attributes:
        state: one word, as in the output of `--json`.
        in_order: whether the run is complete.
        lost: one line for each missing outcome.
        stands: whether a job counts as done although its run is not in order.
    """

    state: str
    in_order: bool
    lost: tuple[str, ...] = ()
    stands: bool = False


def no_columns(*_: object) -> Mapping[str, Any]:
    """Return no columns in addition to those of every kind."""
    return {}


ANSWER_TOKENS = 500.0
"""Tokens of an answer, for kinds without their own estimate."""


def each_step_once(work: "Work[Any, Any, Any]", request: Request[Any, Any]) -> Expected:
    """Expect one call per step and unit, with the unit in full."""
    count = len(request.units)
    tokens = sum(len(unit.model_dump_json()) for unit in request.units) / CHARACTERS_PER_TOKEN
    per_step = ExpectedCalls(count, tokens, count * ANSWER_TOKENS)
    return Expected(
        per_step=dict.fromkeys(work.steps(request), per_step),
        counts={work.units_noun: count},
        note="sizes of answers are taken from other steps",
    )


def reason_only(work: "Work[Any, Any, NounT]", unit: Noun, tools: Tools, cause: Cause) -> NounT:
    """Return a failed unit's noun, with its fields, reason and calls."""
    reason, detail = cause
    noun, ledger = work.schema.noun, tools.ledger
    values = {name: getattr(unit, name) for name in type(unit).model_fields} | {
        "unscored_reason": reason,
        "unscored_detail": detail,
        "failures": tuple(ledger.failures),
        "llm_calls": tuple(ledger.llm_calls),
        "api_calls": tuple(ledger.api_calls),
    }
    return noun(**{name: values[name] for name in values.keys() & noun.model_fields.keys()})


def result_of_units(_: object, units: Sequence[Any]) -> Result:
    """Return a run's result, by the reasons of units without outcome."""
    lost_details = tuple(each.unscored_detail for each in units if each.unscored_reason is not None)
    return Result(
        "failed" if len(lost_details) == len(units) else "done",
        in_order=not lost_details,
        lost=lost_details,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Work(Generic[UnitT, ParametersT, NounT]):
    """The declaration of a kind of work.

    Attributes:
        schema: unit and tables that the kind lands; a `Kind` if a schema does not suffice.
        job: job that programs send; defines the name and the options of the command.
        given: converts a job to arguments of the command; may write files into the job's folder.
        resolve: returns the request by the arguments of the command, its options, the fields that
            requests of all kinds share, and the settings; its annotation is the request's type.
        identity: fields of a unit that can change its result; empty: the parameters determine the
            units.
        steps: returns all steps that the units of a request may use.
        do: processes one unit; returns the noun to land, or the reason why there is none. A text:
            name of the campaign that plans and lands the units in place of the declared one.
        failed: returns the noun of a failed unit. None: its own fields and the reason.
        expects: estimates the calls of a run without making any. None: each step once per unit.
        result: returns the result of a published run.
        documents: whether units are documents of users, whose limits the run id covers.
        sandbox: whether units run untrusted programs, in isolation.
        head: returns columns of the head in addition to those of request and parameters.
        figures: returns additional figures of the page, by its fields and the request; the request
            is None if unknown.
        run: makes the runs of a command that starts several; None: one run.
        follows: returns the runs of other kinds among them, for placeholder files in a folder.
    """

    schema: WorkSchema[NounT, Any] | Kind[NounT, Any, Any]
    job: type[WorkJob]
    given: Callable[[Any, Path], tuple[Any, ...]]
    resolve: Callable[[Any, Any, Common, Settings], Request[UnitT, ParametersT]]
    identity: tuple[str, ...] = ()
    steps: Callable[[Any], Steps]
    do: Callable[[UnitT, Tools], Awaitable[NounT | Unscored]] | str
    failed: Callable[[UnitT, Tools, Cause], NounT] | None = None
    expects: Callable[[Any, Settings], Expected] | None = None
    result: Callable[[Any, Sequence[Any]], Result] = result_of_units
    documents: bool = False
    sandbox: bool = False
    head: Callable[[Request[UnitT, ParametersT]], Mapping[str, Any]] = no_columns
    figures: Callable[[Any, Request[UnitT, ParametersT] | None], Mapping[str, Any]] = no_columns
    run: Callable[[Any, Settings, Runs], Summary[Any]] | None = None
    follows: Callable[[Any, Settings, Path], Iterable[Follow]] = lambda *_: ()

    @property
    def name(self) -> str:
        """Name of command and span, and prefix of the run ids."""
        return self.job.name_of_command()

    @property
    def kind(self) -> Kind[NounT, Any, Any]:
        """Return the kind that describes the storage of units."""
        return self.schema if isinstance(self.schema, Kind) else kind_of(self.schema)

    @property
    def unit_noun(self) -> str:
        """Return the noun for one unit."""
        return self.kind.unit_noun

    @property
    def units_noun(self) -> str:
        """Return the noun for several units."""
        return f"{self.unit_noun}s"

    @property
    def request(self) -> type[Request[UnitT, ParametersT]]:
        """The type of its requests."""
        request: type[Request[UnitT, ParametersT]] = get_type_hints(self.resolve)["return"]
        return request

    @property
    def options(self) -> type[DeclaredOptions]:
        """The options of its command."""
        options: type[DeclaredOptions] = self.job.model_fields["options"].annotation  # type: ignore[assignment]
        return options

    async def outcome(self, unit: UnitT, tools: Tools) -> NounT:
        """Process a unit, and return the noun to land."""
        assert not isinstance(self.do, str), "its campaign processes the units"
        noun = await self.do(unit, tools)
        if isinstance(noun, Unscored):
            return self.without_outcome(unit, tools, Cause(noun.reason, noun.detail))
        return noun

    def without_outcome(self, unit: UnitT, tools: Tools, cause: Cause) -> NounT:
        """Return the noun to land for a unit without an outcome."""
        if self.failed is None:
            return reason_only(self, unit, tools, cause)
        return self.failed(unit, tools, cause)

    def expected(self, request: Request[UnitT, ParametersT], settings: Settings) -> Expected:
        """Return the expected calls of a run."""
        expects = self.expects
        return each_step_once(self, request) if expects is None else expects(request, settings)

    def unit_name(self, unit: UnitT) -> str:
        """Return the name of a unit's receipt."""
        return str(getattr(unit, self.kind.name_column))
