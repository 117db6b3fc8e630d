"""Personas and review dimensions of a committee, shipped or from a user's file."""

import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from pydantic import Field, ValidationError

from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.judgement.committee import Persona, ReviewDimension

SHIPPED_PERSONAS, SHIPPED_DIMENSIONS = "personas.toml", "dimensions.toml"


@dataclass(frozen=True, slots=True)
class Roster:
    """Every persona that can be drawn, and the dimensions each of them judges, in order."""

    personas: tuple[Persona, ...]
    dimensions: tuple[ReviewDimension, ...]


class _RosterFile(Noun):
    persona: tuple[Persona, ...] = ()
    dimension: tuple[ReviewDimension, ...] = Field(default=())


def load_roster(personas_file: str | None) -> Roster:
    """Load the shipped roster, or that of `personas_file`.

    A file's `[[persona]]` entries replace the shipped personas altogether; its `[[dimension]]`
    entries replace shipped dimensions of their name and add others. A file with dimensions alone
    keeps the shipped personas.

    Raises:
        ConfigurationError: no such file, no TOML, an unknown or missing key, a value out of bounds,
            two entries of one name.
    """
    shipped_roster = Roster(
        _parse(_shipped_text(SHIPPED_PERSONAS), SHIPPED_PERSONAS).persona,
        _parse(_shipped_text(SHIPPED_DIMENSIONS), SHIPPED_DIMENSIONS).dimension,
    )
    if personas_file is None:
        return shipped_roster
    custom = _parse(_text_of(personas_file), personas_file)
    if not custom.persona and not custom.dimension:
        raise ConfigurationError(
            f"personas file {personas_file} holds neither [[persona]] nor [[dimension]]: copy"
            f" {SHIPPED_PERSONAS}"
        )
    replacing = {dimension.name: dimension for dimension in custom.dimension}
    dimensions = tuple(
        replacing.pop(dimension.name, dimension) for dimension in shipped_roster.dimensions
    )
    return Roster(custom.persona or shipped_roster.personas, (*dimensions, *replacing.values()))


def _shipped_text(name: str) -> str:
    return resources.files("tasks.personas").joinpath(name).read_text("utf-8")


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"no personas file `{path}` that can be read as text: check [committee] personas_file"
        ) from error


def _parse(text: str, where: str) -> _RosterFile:
    try:
        content = tomllib.loads(text)
        roster = _RosterFile.model_validate_json(json.dumps(content, default=str))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(f"personas file {where} is not TOML: {error}") from error
    except ValidationError as error:
        raise ConfigurationError(
            f"personas file {where}: {_first_mistake(error, content)}"
        ) from error
    _refuse_repeated((persona.persona_id for persona in roster.persona), where, "persona_id")
    _refuse_repeated((dimension.name for dimension in roster.dimension), where, "dimension name")
    return roster


def _first_mistake(error: ValidationError, content: dict[str, object]) -> str:
    """`persona 3 (statistician): `habits`: …`, by the entry's own name where it has one."""
    first = error.errors()[0]
    message = "unknown key" if first["type"] == "extra_forbidden" else first["msg"]
    table, *rest = first["loc"]
    if not rest or not isinstance(rest[0], int):
        return f"`{table}`: {message}"
    entries = content.get(str(table))
    entry = (
        entries[rest[0]] if isinstance(entries, list) and isinstance(entries[rest[0]], dict) else {}
    )
    name = entry.get("persona_id") or entry.get("name") or "unnamed"
    key = ".".join(str(part) for part in rest[1:])
    return f"{table} {rest[0] + 1} ({name}): `{key}`: {message}"


def _refuse_repeated(names: Iterable[str], where: str, what: str) -> None:
    seen_names: set[str] = set()
    for name in names:
        if name in seen_names:
            raise ConfigurationError(
                f"personas file {where}: two entries have the {what} `{name}`: rename or remove one"
            )
        seen_names.add(name)
