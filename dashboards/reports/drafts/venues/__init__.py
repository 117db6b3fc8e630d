"""Templates of drafts: a folder each, those that come with Assay or a user's own."""

import json
import tomllib
from pathlib import Path

from pydantic import ValidationError

from schemas.draft_venue import Venue
from schemas.errors import ConfigurationError

SHIPPED = Path(__file__).parent
LAYOUT, TYPST, PREAMBLE, RULES = "layout.typ", "venue.typ", "preamble.tex", "venue.toml"
NEUTRAL = "neutral"
_MOST_BYTES = 20_000_000
"""Of all files of a user's own template together."""


def shipped_venues() -> tuple[str, ...]:
    """Names of the templates that come with Assay."""
    return tuple(sorted(path.parent.name for path in SHIPPED.glob(f"*/{RULES}")))


def read_venue(name_or_path: str) -> Venue:
    """The template of that name, or the one in that folder.

    Raises:
        ConfigurationError: there is no such template, or its file cannot be used.
    """
    shipped = name_or_path in shipped_venues()
    folder = SHIPPED / name_or_path if shipped else Path(name_or_path)
    path = folder / RULES
    if not path.is_file():
        raise ConfigurationError(
            f"--venue {name_or_path}: there is no template for it; there are"
            f" {', '.join(shipped_venues())}, or name a folder with a {RULES}"
        )
    try:
        told = tomllib.loads(path.read_text("utf-8"))
        told |= {"venue": name_or_path if shipped else folder.resolve().name}
        told |= {"folder": str(folder.resolve())}
        venue = Venue.model_validate_json(json.dumps(told, default=str))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigurationError(f"{path} is no TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        known = "unknown key" if first["type"] == "extra_forbidden" else first["msg"]
        raise ConfigurationError(f"{path} `{key}`: {known}") from error
    if sum(each.stat().st_size for each in files_of(venue)) > _MOST_BYTES:
        raise ConfigurationError(f"{folder} is too large to be a template")
    return venue


def files_of(venue: Venue) -> list[Path]:
    """The files of a template that lie beside a draft, its rules and Python's files apart."""
    return sorted(
        path
        for path in venue.folder.iterdir()
        if path.is_file() and path.name != RULES and not path.name.startswith((".", "__"))
    )
