"""What programs send, and people type, to have work of a declared kind done."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field
from pydantic.fields import FieldInfo

from schemas.base import Noun, replace
from schemas.options.commands import DeclaredOptions
from schemas.options.values import IDEA_FILES

OF_THE_MACHINE = frozenset({"warehouse", "workers", "scheduler", "again"})
"""Options that say where work is done, which is for whoever runs the service to say."""


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional argument of a command.

    Attributes:
        name: of the parameter.
        metavar: stands for the value in help texts.
        type: as the command line reads it: a text, a path, several of them, or one or none.
        default: `...` where it must be given.
        standard_input: whether `-` stands for what comes on standard input.
    """

    name: str
    metavar: str
    help: str
    type: Any = str
    default: Any = ...
    standard_input: bool = False


IDEAS = Argument("ideas", "IDEAS", IDEA_FILES, Path, standard_input=True)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Form of a command of a kind on the command line.

    Attributes:
        section: of the help page.
        arguments: what is worked on.
        help: empty: as programs are told of the job.
        examples: whole commands; empty: one on a file of ideas.
        formats: what `--output` writes, by its ending.
    """

    section: str = "make"
    arguments: tuple[Argument, ...] = (IDEAS,)
    help: str = ""
    examples: tuple[str, ...] = ()
    formats: str = "html, pdf, docx or json"


@dataclass(frozen=True, slots=True)
class WebForm:
    """Form by which readers of the dashboard submit work of a kind.

    Attributes:
        label: what is given.
        verb: on the button that begins it.
        files: formats that it takes; empty: a text alone.
        options: fields offered beside engine, profile, literature and the bound on the cost.
        resembles: whether a file, by its ending, or a text, whose ending is empty, is probably
            meant for it.
    """

    label: str
    verb: str
    files: str = ""
    options: tuple[str, ...] = ()
    resembles: Callable[[str, str], bool] = lambda _ending, _text: False


class JobBase(Noun):
    """Fields that all jobs have."""

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
        """Return whether it only says what something would ask and cost."""
        return False

    @property
    def work(self) -> str:
        """Return what is to be done, as JSON: the same for all who ask the same,
        whatever they may spend.
        """
        bounds = {"max_cost_usd", "max_tokens", "max_requests"}
        who = {"name", "asked_by", "created_at", "idempotency_key"}
        return self.model_dump_json(exclude={**dict.fromkeys(who, True), "options": bounds})


class WorkJob(JobBase):
    """Job of a declared kind of work: its command, with what a program sends."""

    command: str
    options: DeclaredOptions

    tool: ClassVar[str]
    """What agents call it."""
    wait_seconds: ClassVar[float] = 0.0
    """How long an agent waits for it unless it says so."""
    beside: ClassVar[int] = 0
    """How many are done beside jobs that take long; 0: it is one of them."""
    command_line: ClassVar[CommandLine] = CommandLine()
    """How people type it; of a command with a file of its own in `flows/cli`, its section."""
    web_form: ClassVar[WebForm | None] = None
    """How readers of the dashboard submit it; None: they do not."""

    @classmethod
    def of_file(cls, name: str, content: bytes) -> dict[str, Any]:
        """Return what is worked on, by field, from a file or a text, whose name is empty.

        Raises:
            ConfigurationError: it is none of this kind.
        """
        raise NotImplementedError

    @property
    def as_file(self) -> tuple[str, bytes]:
        """Name and content that `of_file` takes back."""
        raise NotImplementedError

    def to_estimate(self) -> "WorkJob":
        """Return the job that says what this one would ask and cost."""
        return replace(self, options=replace(self.options, dry_run=True))

    def to_do(self) -> "WorkJob":
        """Return the job that this one estimates."""
        return replace(self, options=replace(self.options, dry_run=False))

    @property
    def asks_nothing(self) -> bool:
        return self.options.dry_run

    @classmethod
    def name_of_command(cls) -> str:
        """Return the name of its command."""
        return str(cls.model_fields["command"].default)

    @classmethod
    def sent_fields(cls) -> dict[str, FieldInfo]:
        """Return what is worked on: the fields beside those that all jobs have."""
        common = WorkJob.model_fields
        return {name: field for name, field in cls.model_fields.items() if name not in common}

    @property
    def title(self) -> str:
        """Return what lists call it where it is sent without a name: as the first thing that is
        sent.
        """
        sent: Any = next(getattr(self, name) for name in self.sent_fields())
        first = sent[0] if isinstance(sent, tuple) else sent
        return first if isinstance(first, str) else str(first.name)
