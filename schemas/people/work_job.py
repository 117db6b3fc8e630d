"""Jobs of kinds of work, with their commands and web forms."""

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
"""Options that only the operator of the service may set."""


@dataclass(frozen=True, slots=True)
class Argument:
    """Positional argument of a command.

    Attributes:
        name: of the parameter.
        metavar: placeholder of the value in help texts.
        type: text, path, a list of them, or an optional one.
        default: `...` if it is required.
        standard_input: whether `-` means standard input.
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
    """Form of a job on the command line.

    Attributes:
        section: of the help page.
        arguments: positional arguments.
        help: help text; empty: the job's docstring.
        examples: complete commands; empty: one with a file of ideas.
        formats: formats of `--output`.
    """

    section: str = "make"
    arguments: tuple[Argument, ...] = (IDEAS,)
    help: str = ""
    examples: tuple[str, ...] = ()
    formats: str = "html, pdf, docx or json"


@dataclass(frozen=True, slots=True)
class WebForm:
    """Web form of a job on the dashboard.

    Attributes:
        label: of the input.
        verb: label of the submit button.
        files: accepted formats; empty: text only.
        options: option fields in addition to engine, profile, literature and maximum cost.
        resembles: whether the form suits a file by its ending, or a text with an empty ending.
    """

    label: str
    verb: str
    files: str = ""
    options: tuple[str, ...] = ()
    resembles: Callable[[str, str], bool] = lambda _ending, _text: False


class WorkJob(Noun):
    """Job of a kind of work: its command, input and options."""

    name: str = Field(min_length=1, description="Name for lists of jobs.")
    asked_by: str = Field(min_length=1, description="Origin of the request, such as `dashboard`.")
    created_at: datetime
    idempotency_key: str = Field(
        min_length=1, description="Requests with the same key are one job."
    )
    command: str
    options: DeclaredOptions

    not_offered: ClassVar[frozenset[str]] = OF_THE_MACHINE
    """Options that requests may not set."""
    tool: ClassVar[str]
    """Name of the MCP tool."""
    wait_seconds: ClassVar[float] = 0.0
    """Default time that the MCP tool waits for the result."""
    beside: ClassVar[int] = 0
    """Number of such jobs that run next to long ones; 0: it is a long one."""
    command_line: ClassVar[CommandLine] = CommandLine()
    """Form on the command line; only its section counts for commands in `flows/cli`."""
    web_form: ClassVar[WebForm | None] = None
    """Form on the dashboard; None: there is none."""

    @classmethod
    def of_file(cls, name: str, content: bytes) -> dict[str, Any]:
        """Return the input fields from a file, or from a text with an empty name.

        Raises:
            ConfigurationError: the file does not suit the job.
        """
        raise NotImplementedError

    @property
    def as_file(self) -> tuple[str, bytes]:
        """Name and content of the input, as accepted by `of_file`."""
        raise NotImplementedError

    def to_estimate(self) -> "WorkJob":
        """Return the job that estimates this one."""
        return replace(self, options=replace(self.options, dry_run=True))

    def to_do(self) -> "WorkJob":
        """Return the job that this one estimates."""
        return replace(self, options=replace(self.options, dry_run=False))

    @property
    def asks_nothing(self) -> bool:
        """Return whether the job is only an estimate."""
        return self.options.dry_run

    @property
    def work(self) -> str:
        """Return the work as JSON, without requester and budget."""
        bounds = {"max_cost_usd", "max_tokens", "max_requests"}
        job_fields = {"name", "asked_by", "created_at", "idempotency_key"}
        return self.model_dump_json(exclude={**dict.fromkeys(job_fields, True), "options": bounds})

    @classmethod
    def name_of_command(cls) -> str:
        """Return the name of its command."""
        return str(cls.model_fields["command"].default)

    @classmethod
    def sent_fields(cls) -> dict[str, FieldInfo]:
        """Return the input fields, without those of all jobs."""
        common = WorkJob.model_fields
        return {name: field for name, field in cls.model_fields.items() if name not in common}

    @property
    def title(self) -> str:
        """Return the default name for lists, from the first input."""
        sent_value: Any = next(getattr(self, name) for name in self.sent_fields())
        first = sent_value[0] if isinstance(sent_value, tuple) else sent_value
        return first if isinstance(first, str) else str(first.name)
