"""A kind of work, declared once: the command line, jobs, services, estimates, runs and reports are
generic over these declarations, which `tasks/works.py` lists.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.options.commands import DeclaredOptions
from schemas.outcome import Unscored
from schemas.people.work_job import WorkJob
from schemas.profile import Profile
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
Follow = tuple[str, Request[Any, Any], int]
"""Kind, request and maximum number of runs that a command may start; part of its estimate."""


class Runs(Protocol):
    """Runs work of any kind up to publication; landed units are skipped."""

    def __call__(self, name: str, request: Request[Any, Any]) -> Summary[Any]: ...

    def run_id(self, name: str, request: Request[Any, Any]) -> RunId:
        """Return the id of the run."""
        ...


@dataclass(frozen=True, slots=True)
class Needs:
    """Requirements of the units of a kind beside models; the run id counts the settings of each.

    Attributes:
        literature: papers, through the gateway.
        documents: texts of documents that users give.
        sandbox: a place for programs that nobody vouches for.
        concepts: the network of concepts of the literature, which is a snapshot.
    """

    literature: bool = False
    documents: bool = False
    sandbox: bool = False
    concepts: bool = False


@dataclass(frozen=True, slots=True)
class Resolved(Generic[UnitT, ParametersT]):
    """Request that the arguments and options of a command come to.

    Attributes:
        units: what is worked on.
        parameters: what options and profile say of the work itself.
        profile: as the options change it; None: they do not.
        remarks: what of the arguments is not read or not used, a line each.
    """

    units: tuple[UnitT, ...]
    parameters: ParametersT
    profile: Profile | None = None
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected calls and requests of a whole run.

    Attributes:
        per_step: of each step, over all units.
        counts: what the run is made of, by a name in the plural such as `literature_requests`.
        note: what the estimate does not know.
        of_each_judge: of each step that judges answer beside the engine.
        lost: units that cannot be worked on, a line each.
        titles: of the first units.
    """

    per_step: CallsByStep
    counts: Mapping[str, int]
    note: str
    of_each_judge: CallsByStep = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a published run.

    Attributes:
        state: in a word, as `--json` has it.
        in_order: whether it gave what was asked for.
        lost: what it did not give, a line each.
        stands: whether a job of it is done although that is not all in order.
    """

    state: str
    in_order: bool
    lost: tuple[str, ...] = ()
    stands: bool = False


def by_its_campaign(*_: object) -> Any:
    """Refuse: what has a plan of its own works on its units itself."""
    raise NotImplementedError


def no_columns(*_: object) -> Mapping[str, Any]:
    """Say nothing beside what is known of every kind."""
    return {}


ANSWER_TOKENS = 500.0
"""Of an answer, where a kind does not say."""


def each_step_once(work: "Work[Any, Any, Any]", request: Request[Any, Any]) -> Expected:
    """Expect every step to be asked once about each unit, and shown all of it."""
    count = len(request.units)
    tokens = sum(len(unit.model_dump_json()) for unit in request.units) / CHARACTERS_PER_TOKEN
    per_step = ExpectedCalls(count, tokens, count * ANSWER_TOKENS)
    return Expected(
        per_step=dict.fromkeys(work.steps(request), per_step),
        counts={work.units_noun: count},
        note="sizes of answers are taken from other steps",
    )


def reason_only(work: "Work[Any, Any, NounT]", unit: Noun, tools: Tools, cause: Cause) -> NounT:
    """Return what stands for a unit: what it says of itself, the reason, and its calls."""
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
    """Return what a run came to, by the reasons of units without an outcome."""
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
        schema: what it lands: its unit and tables; a `Kind` where a schema does not say all.
        job: what programs send of it; says the name and the options of its command.
        given: the arguments of the command that stand for what a program sent; may write files
            into the job's folder.
        request: the type of its request.
        resolve: units and parameters, by the arguments of the command, its options, with literature
            and places filled in, the profile and the settings.
        identity: fields of a unit that can change what comes of it; none: its parameters decide
            what its units are.
        steps: all that the units of a request may ask.
        do: works on one unit; gives what lands of it, or why there is nothing.
        failed: what stands for a unit of which there is nothing. None: its own fields and the reason.
        campaign: by name, what plans and lands its units in a way of its own; empty: `do` works on
            one unit after the other.
        expects: what a run will ask; nothing is asked for it. None: each step once of each unit.
        result: what a published run came to.
        needs: what the units need beside models.
        head: columns of the head beside those that request and parameters have.
        figures: what its page shows beside what was published, by the fields of the page: figures
            over it, and what its request says, None where that is not known.
        run: does the runs of a command that starts several; None: one run.
        follows: the runs of other kinds among them, about placeholder files in a folder.
    """

    schema: WorkSchema[NounT, Any] | Kind[NounT, Any, Any]
    job: type[WorkJob]
    given: Callable[[Any, Path], tuple[Any, ...]]
    request: type[Request[UnitT, ParametersT]]
    resolve: Callable[[Any, Any, Profile, Settings], Resolved[UnitT, ParametersT]]
    identity: tuple[str, ...] = ()
    steps: Callable[[Any], Steps]
    do: Callable[[UnitT, Tools], Awaitable[NounT | Unscored]] = by_its_campaign
    failed: Callable[[UnitT, Tools, Cause], NounT] | None = None
    campaign: str = ""
    expects: Callable[[Any, Settings], Expected] | None = None
    result: Callable[[Any, Sequence[Any]], Result] = result_of_units
    needs: Needs = Needs()
    head: Callable[[Request[UnitT, ParametersT]], Mapping[str, Any]] = no_columns
    figures: Callable[[Any, Request[UnitT, ParametersT] | None], Mapping[str, Any]] = no_columns
    run: Callable[[Any, Settings, Runs], Summary[Any]] | None = None
    follows: Callable[[Any, Settings, Path], Iterable[Follow]] = lambda *_: ()

    @property
    def name(self) -> str:
        """The name of its command and its span, with which its run ids begin."""
        return self.job.name_of_command()

    @property
    def kind(self) -> Kind[NounT, Any, Any]:
        """Return how what a unit gives lies in the lake."""
        return self.schema if isinstance(self.schema, Kind) else kind_of(self.schema)

    @property
    def unit_noun(self) -> str:
        """Return what one unit is called."""
        return self.kind.unit_noun

    @property
    def units_noun(self) -> str:
        """Return what several are called."""
        return f"{self.unit_noun}s"

    @property
    def options(self) -> type[DeclaredOptions]:
        """The options of its command."""
        options: type[DeclaredOptions] = self.job.model_fields["options"].annotation  # type: ignore[assignment]
        return options

    async def outcome(self, unit: UnitT, tools: Tools) -> NounT:
        """Work on a unit, and return what lands of it."""
        noun = await self.do(unit, tools)
        if isinstance(noun, Unscored):
            return self.without_outcome(unit, tools, Cause(noun.reason, noun.detail))
        return noun

    def without_outcome(self, unit: UnitT, tools: Tools, cause: Cause) -> NounT:
        """Return what lands of a unit of which there is nothing."""
        if self.failed is None:
            return reason_only(self, unit, tools, cause)
        return self.failed(unit, tools, cause)

    def expected(self, request: Request[UnitT, ParametersT], settings: Settings) -> Expected:
        """Return what a run will ask."""
        expects = self.expects
        return each_step_once(self, request) if expects is None else expects(request, settings)

    def unit_name(self, unit: UnitT) -> str:
        """Return what the receipt of a unit is called."""
        return str(getattr(unit, self.kind.name_column))
