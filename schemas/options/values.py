"""Declaration of options, and option types that several commands share.

A field `max_cost_usd` is the option `--max-cost-usd`.
"""

from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError

from schemas.base import Noun
from schemas.choices import EngineChoice, LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.idea import FIELD_PARTS, cutoff_day
from schemas.place import WarehouseFolder
from schemas.run import Module

MOST_WORKERS = 256
LONGEST_LABEL = 200
DEFAULT_PROFILE = "economy"
DEFAULT_WAREHOUSE = Path("assay-warehouse")


def option(
    default: Any, metavar: str, description: str, variable: str | None = None, **bounds: Any
) -> Any:
    """Declare a field as an option.

    Args:
        default: `...` if each command sets it.
        metavar: placeholder of the value in help texts; empty for a flag.
        variable: environment variable with the default of the command line.
    """
    extra: dict[str, Any] = {"metavar": metavar, "variable": variable}
    return Field(default, description=description, json_schema_extra=extra, **bounds)


def flag_of(field: str) -> str:
    return f"--{field.replace('_', '-')}"


def parse_modules(text: str) -> tuple[Module, ...]:
    """Parse a list of modules such as `soundness,contribution`, without duplicates.

    Raises:
        ConfigurationError: the list is empty, or a module is unknown.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown_names = [name for name in names if name not in set(Module)]
    if unknown_names or not names:
        raise ConfigurationError(
            f"--modules {text!r:.200}: {', '.join(unknown_names)[:200] or 'nothing named'}; "
            f"choose from {', '.join(Module)}"
        )
    return tuple(Module(name) for name in dict.fromkeys(names))


def parse_cutoff(text: str) -> date:
    """Parse a YYYY-MM-DD date or a YYYY-MM month.

    Raises:
        ConfigurationError: `text` is neither.
    """
    try:
        return cutoff_day(text)
    except ValueError as error:
        raise ConfigurationError(
            f"--cutoff {text!r:.200} is not a date; write it as YYYY-MM-DD, or YYYY-MM,"
            " in the years 1500 to 2100"
        ) from error


def from_text(parse: Callable[[str], Any]) -> BeforeValidator:
    """Return a validator that parses texts and accepts other values unchanged."""
    return BeforeValidator(lambda value: parse(value) if isinstance(value, str) else value)


def from_texts(parse: Callable[[tuple[str, ...]], Any]) -> BeforeValidator:
    """Return a validator that parses one or several texts and accepts other values unchanged."""

    def validate(value: Any) -> Any:
        texts = (value,) if isinstance(value, str) else value
        is_texts = isinstance(texts, list | tuple) and all(isinstance(each, str) for each in texts)
        return parse(tuple(texts)) if is_texts else value

    return BeforeValidator(validate)


def parse_names(texts: Iterable[str]) -> tuple[str, ...]:
    """Parse lists with commas, without duplicates."""
    names = (name.strip() for name in ",".join(texts).split(","))
    return tuple(dict.fromkeys(filter(None, names)))


def _parse_fields(fields: tuple[str, ...]) -> tuple[str, ...]:
    """Parse texts of the form `PART=COLUMN`.

    Raises:
        ConfigurationError: a text has another form.
    """
    for text in fields:
        part, _, column = text.partition("=")
        if part.strip() not in FIELD_PARTS or not column.strip():
            raise ConfigurationError(
                f"--field {text!r:.200}: write it as PART=COLUMN, where PART is one of"
                f" {', '.join(FIELD_PARTS)}"
            )
    pairs = (text.partition("=") for text in fields)
    return tuple(dict.fromkeys(f"{part.strip()}={column.strip()}" for part, _, column in pairs))


IDEA_FILES = (
    "JSON, JSONL, CSV, TSV, YAML, Excel, Parquet, a folder of .txt and .md files, or - for standard"
    " input."
)
LITERATURES = "snapshot:PATH|live|URL"
ENGINES = "`extractive` (offline baseline) or `litellm:MODEL`."
MODULES = (
    f"Comma-separated: {', '.join(Module)}. A model assesses every plan unless the profile says 0"
    " repetitions."
)

Warehouse = Annotated[
    WarehouseFolder,
    option(
        ...,
        "DIR|ADDRESS",
        "Folder of the warehouse (landing, lake, caches, reports), or s3://bucket/prefix.",
        variable="ASSAY_WAREHOUSE",
    ),
]
Profile = Annotated[
    str, option(..., "NAME|FILE", "`economy`, `faithful`, or the path of a profile file.")
]
Engine = Annotated[EngineChoice, option(..., "NAME", ENGINES)]
ApiBase = Annotated[str | None, option(..., "URL", "An OpenAI-compatible server for the model.")]
Literature = Annotated[
    LiteratureChoice | None,
    option(
        ...,
        LITERATURES,
        "Where papers come from. Default: live when a key is set, else the bundled sample.",
    ),
]
Modules = Annotated[tuple[Module, ...], from_text(parse_modules), option(..., "LIST", MODULES)]
Survey = Annotated[
    bool,
    option(
        ...,
        "",
        "Survey each idea first, along references and citations: soundness, contribution and "
        "novelty draw on what that finds.",
    ),
]
Experiment = Annotated[
    tuple[str, ...],
    from_texts(parse_names),
    option(
        ...,
        "RUN",
        "An experiment whose findings count as evidence for the ideas that it tried; repeatable.",
    ),
]
Cutoff = Annotated[
    date | None,
    from_text(parse_cutoff),
    option(..., "DATE", "For ideas without a date of their own: cite nothing published after it."),
]
Fields = Annotated[
    tuple[str, ...],
    from_texts(_parse_fields),
    option(
        ...,
        "PART=COLUMN",
        "Read a column of the idea file as this part, as in method='Proposed Method'; repeatable.",
    ),
]
Label = Annotated[
    str,
    option(
        ...,
        "TEXT",
        "Part of the evaluation key: a new label re-evaluates.",
        max_length=LONGEST_LABEL,
    ),
]
Workers = Annotated[
    int | None,
    option(
        ...,
        "N",
        "Worker processes of a local cluster. Default: none for a handful, else 2.",
        ge=1,
        le=MOST_WORKERS,
    ),
]


Batch = Annotated[
    bool | None,
    option(
        ...,
        "",
        "Ask through the provider's batches: half the price, hours instead of minutes. Default: as "
        "the profile says.",
    ),
]


Names = Annotated[
    tuple[str, ...],
    from_texts(parse_names),
    option(..., "ID", "Proposals by identifier; repeatable, or a list with commas."),
]


class Options(Noun):
    """Options of a command.

    Raises on construction:
        ConfigurationError: a value is invalid.
    """

    # Not strict: options are texts on a command line and in JSON.
    model_config = ConfigDict(defer_build=True, strict=False)

    def __init__(self, /, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            first = error.errors()[0]
            name = flag_of(str(first["loc"][0]))
            raise ConfigurationError(f"{name} {first['input']!r:.200}: {first['msg']}") from error


def option_text(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
