"""Requests and summaries of all kinds of work."""

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
from schemas.run import HANDFUL, Budget

UnitT = TypeVar("UnitT", bound=Noun)
ParametersT = TypeVar("ParametersT", bound=Noun)
HeadT = TypeVar("HeadT", bound=Noun)


_OF_THE_COMMAND = (
    *("warehouse", "profile", "engine", "api_base"),
    *("workers", "scheduler_address", "budget"),
)


class Judge(Noun):
    """Engine with its server."""

    engine: EngineChoice
    api_base: str | None = None


class Request(Noun, Generic[UnitT, ParametersT]):
    """Request for work on units, resolved from the options of a command.

    Workers do not affect the results.
    """

    workers: int | None = Field(
        default=None, ge=1, description="Processes of a local cluster; None: the default."
    )
    scheduler_address: str | None = Field(default=None, description="Of a Dask cluster.")
    units: tuple[UnitT, ...]
    parameters: ParametersT = Field(description="Parameters of the kind of work.")
    warehouse: WarehouseFolder
    profile: Profile = Field(description="Profile of the method.")
    engine: EngineChoice
    api_base: str | None = None
    literature: LiteratureChoice | None = Field(
        default=None, description="None: the kind of work uses none."
    )
    cutoff_date: date | None = Field(default=None, description="Latest publication date.")
    full_text: bool = Field(
        default=False, description="Whether full texts of works are downloaded."
    )
    budget: Budget = Budget()
    remarks: tuple[str, ...] = Field(
        default=(), description="Parts of the arguments that are not used, a line each."
    )

    @property
    def engines(self) -> tuple[Judge, ...]:
        """All engines: the command's own, then the judges in the parameters."""
        main = Judge(engine=self.engine, api_base=self.api_base)
        return (main, *getattr(self.parameters, "judges", ()))

    @property
    def command_fields(self) -> dict[str, Any]:
        """Fields shared by all requests of a command."""
        return {name: getattr(self, name) for name in _OF_THE_COMMAND}

    @property
    def worker_count(self) -> int:
        """Number of processes of a local cluster."""
        return self.workers or 2

    def in_this_process(self, unit_count: int) -> bool:
        """Return whether the command processes the units itself: few, without requested workers.

        Starting a server and a cluster takes longer than processing a few units.
        """
        needs_cluster = self.workers is not None or self.scheduler_address is not None
        return unit_count <= HANDFUL and not needs_cluster

    @staticmethod
    def spends_as(run_id: RunId) -> RunId:
        """Return the budget scope of the run."""
        return run_id


class Summary(Noun, Generic[HeadT]):
    """Summary of a run of any kind."""

    name: str = Field(description="Name of the kind, which is its command.")
    title: str
    head: HeadT
    published: bool
    unchanged: bool
    failed_expectations: tuple[str, ...]
    report_paths: tuple[Path, ...]
    remarks: tuple[str, ...] = ()
    faults: tuple[str, ...] = Field(default=(), description="Faults of its reports, a line each.")
    other_run_ids: tuple[RunId, ...] = Field(
        default=(), description="Other runs of the same command."
    )
    first: Any = Field(
        default=None,
        description="Summary of the first part of the same command, whose result counts too.",
    )
    waits_for: tuple[Any, ...] = Field(
        default=(), description="Requests to people that must be answered first."
    )
    log_path: Path | None = None
    page: Any = Field(
        default=None, exclude=True, repr=False, description="The published page, if it was read."
    )

    def published_head(self) -> HeadT:
        """Return the head of a published run.

        Raises:
            PublicationError: the run was not published.
        """
        if not self.published:
            raise PublicationError(
                f"{self.title} was not published: {'; '.join(self.failed_expectations)}"
            )
        return self.head


def paths_in(value: object) -> Iterator[Path]:
    """Yield all paths in a value, including nested nouns and sequences."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, Noun):
        for _, inner in value:
            yield from paths_in(inner)
    elif isinstance(value, tuple | list):
        for inner in value:
            yield from paths_in(inner)
