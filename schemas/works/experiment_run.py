"""One command that experiments on tasks: what was asked, what it is, what landed."""

from pathlib import Path

from pydantic import Field

from schemas.base import Noun
from schemas.choices import EXTRACTIVE, EngineChoice
from schemas.place import WarehouseFolder
from schemas.profile import Profile
from schemas.run import Budget, EndedEarly, WorkHead, WorkRequest
from schemas.works.experiment import Container


class TaskSource(Noun):
    """One task to be experimented on: where its folder lies."""

    task_id: str = Field(min_length=1)
    folder: Path
    content_sha256: str = Field(description="Hash over its files.")


class ExperimentRequest(WorkRequest):
    """What a user asked to be tried, resolved."""

    tasks: tuple[TaskSource, ...]
    warehouse: WarehouseFolder
    profile: Profile = Field(description="Says which models are asked, and how.")
    engine: EngineChoice = Field(
        default=EXTRACTIVE,
        description="Proposes programs; offline other values of tunables are tried.",
    )
    api_base: str | None = None
    seed: int = Field(default=0, ge=0, le=2**31 - 1)
    container: Container | None = Field(
        default=None, description="Where programs run; None: in bubblewrap."
    )
    budget: Budget = Budget()


class ExperimentHead(WorkHead):
    """One run of experiments by one engine."""

    seed: int = Field(ge=0, description="Seed of the search, and of the data of every execution.")
    task_count: int = Field(ge=0, description="Tasks.")
    incomplete_reason: EndedEarly = None
