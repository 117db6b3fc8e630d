"""What a user asks of any kind of work, resolved, and what came of it: one shape for every kind."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import Field

from schemas.base import Noun
from schemas.choices import EngineChoice, LiteratureChoice
from schemas.errors import PublicationError
from schemas.identifiers import RunId
from schemas.place import WarehouseFolder
from schemas.profile import Profile
from schemas.run import Budget, WorkRequest

UnitT = TypeVar("UnitT", bound=Noun)
ParametersT = TypeVar("ParametersT", bound=Noun)
HeadT = TypeVar("HeadT", bound=Noun)


_OF_THE_COMMAND = (
    *("warehouse", "profile", "engine", "api_base"),
    *("workers", "scheduler_address", "budget"),
)


class Judge(Noun):
    """An engine, and where it is asked."""

    engine: EngineChoice
    api_base: str | None = None


class Request(WorkRequest, Generic[UnitT, ParametersT]):
    """Everything that work on some units needs, resolved from the options of its command."""

    units: tuple[UnitT, ...]
    parameters: ParametersT = Field(description="What the kind of work can be told.")
    warehouse: WarehouseFolder
    profile: Profile = Field(description="Says which models are asked, and how.")
    engine: EngineChoice
    api_base: str | None = None
    literature: LiteratureChoice | None = Field(
        default=None, description="None: the kind of work asks none."
    )
    cutoff_date: date | None = Field(default=None, description="Nothing later is looked at.")
    full_text: bool = Field(
        default=False, description="Whether works that are read are looked for in full."
    )
    budget: Budget = Budget()
    remarks: tuple[str, ...] = Field(
        default=(), description="What of the arguments is not read or not used, a line each."
    )

    @property
    def engines(self) -> tuple[Judge, ...]:
        """Every engine that is asked: the command's own first, then judges that parameters name."""
        main = Judge(engine=self.engine, api_base=self.api_base)
        return (main, *getattr(self.parameters, "judges", ()))

    @property
    def command_fields(self) -> dict[str, Any]:
        """Fields that every request made under the same command shares."""
        return {name: getattr(self, name) for name in _OF_THE_COMMAND}

    @staticmethod
    def spends_as(run_id: RunId) -> RunId:
        """Under which name the spending of its run is kept."""
        return run_id


class Summary(Noun, Generic[HeadT]):
    """Summary of a run of any kind."""

    name: str = Field(description="Of its kind, as of its command.")
    title: str
    head: HeadT
    published: bool
    unchanged: bool
    failed_expectations: tuple[str, ...]
    report_paths: tuple[Path, ...]
    remarks: tuple[str, ...] = ()
    faults: tuple[str, ...] = Field(
        default=(), description="What is wrong with its reports, a line each."
    )
    other_run_ids: tuple[RunId, ...] = Field(
        default=(), description="Runs that the same command made on the way."
    )
    first: Any = Field(
        default=None,
        description="The summary that it follows under the same command, and that counts as well.",
    )
    waits_for: tuple[Any, ...] = Field(
        default=(), description="What people are asked before it goes on."
    )
    log_path: Path | None = None

    def published_head(self) -> HeadT:
        """The head, for what needs it in the lake. Raises PublicationError when it is not."""
        if not self.published:
            raise PublicationError(
                f"{self.title} was not published: {'; '.join(self.failed_expectations)}"
            )
        return self.head


def paths_in(held: object) -> Iterator[Path]:
    """Every path in a noun and in what it holds, such as the files that a unit is read from."""
    if isinstance(held, Path):
        yield held
    elif isinstance(held, Noun):
        for _, value in held:
            yield from paths_in(value)
    elif isinstance(held, tuple | list):
        for value in held:
            yield from paths_in(value)
