"""What programs send to have work of a declared kind done."""

from datetime import datetime
from typing import ClassVar

from pydantic import Field
from pydantic.fields import FieldInfo

from schemas.base import Noun
from schemas.options.commands import DeclaredOptions

OF_THE_MACHINE = frozenset({"warehouse", "workers", "scheduler", "again"})
"""Options that say where work is done, which is for whoever runs the service to say."""


class JobBase(Noun):
    """What all jobs say."""

    name: str = Field(min_length=1, description="What lists of jobs call it.")
    asked_by: str = Field(min_length=1, description="Where it was asked, such as `dashboard`.")
    created_at: datetime
    idempotency_key: str = Field(
        min_length=1, description="A request with a key that is known is the same job."
    )

    not_offered: ClassVar[frozenset[str]] = OF_THE_MACHINE
    """Options that are not for a request to say."""

    @property
    def asks_nothing(self) -> bool:
        """Whether it only says what something would ask and cost."""
        return False

    @property
    def work(self) -> str:
        """What is to be done, as JSON: the same for all who ask the same,
        whatever they may spend.
        """
        bounds = {"max_cost_usd", "max_tokens", "max_requests"}
        who = {"name", "asked_by", "created_at", "idempotency_key"}
        return self.model_dump_json(exclude={**dict.fromkeys(who, True), "options": bounds})


class WorkJob(JobBase):
    """What the command of a declared kind of work does with what a program sends."""

    command: str
    options: DeclaredOptions

    tool: ClassVar[str]
    """What agents call it."""
    wait_seconds: ClassVar[float] = 0.0
    """How long an agent waits for it unless it says so."""

    @property
    def asks_nothing(self) -> bool:
        return self.options.dry_run

    @classmethod
    def name_of_command(cls) -> str:
        """Return the name of its command."""
        return str(cls.model_fields["command"].default)

    @classmethod
    def sent_fields(cls) -> dict[str, FieldInfo]:
        """What is worked on: the fields beside those that all jobs have."""
        common = WorkJob.model_fields
        return {name: field for name, field in cls.model_fields.items() if name not in common}

    @property
    def title(self) -> str:
        """What lists call it where it is sent without a name."""
        raise NotImplementedError
