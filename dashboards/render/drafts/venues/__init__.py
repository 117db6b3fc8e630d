"""Draft templates: bundled ones and folders of users."""

import json
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from schemas.base import first_fault
from schemas.errors import ConfigurationError
from schemas.reasons import Reason
from schemas.text.plain_files import PlainFileError, read_file
from schemas.text.toml_text import parse_toml
from schemas.works.draft_venue import Venue

SHIPPED = Path(__file__).parent
LAYOUT, TYPST, PREAMBLE, RULES = "layout.typ", "venue.typ", "preamble.tex", "venue.toml"
NEUTRAL, DRAFT = "neutral", "draft"
# Over all files of a user's template.
_MOST_BYTES, _MOST_FILES = 20_000_000, 1_000


def shipped_venues() -> tuple[str, ...]:
    """Return the names of the bundled templates."""
    return tuple(sorted(path.parent.name for path in SHIPPED.glob(f"*/{RULES}")))


def read_venue(name_or_path: str) -> Venue:
    """Read the bundled template of that name, or the one in that folder.

    Raises:
        ConfigurationError: there is no such template, or its file is invalid.
    """
    is_shipped = name_or_path in shipped_venues()
    folder = (SHIPPED / name_or_path if is_shipped else Path(name_or_path)).resolve()
    path = folder / RULES
    if not path.exists():
        raise ConfigurationError(
            f"--venue {name_or_path}: there is no template for it; there are"
            f" {', '.join(shipped_venues())}, or name a folder with a {RULES}"
        )
    try:
        rules = parse_toml(read_file(path, _MOST_BYTES).decode())
        rules |= {"venue": folder.name, "folder": str(folder)}
        venue = Venue.model_validate_json(json.dumps(rules, default=str))
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {first_fault(error)}") from error
    except (ValueError, RecursionError) as error:  # also for numbers with too many digits
        raise ConfigurationError(f"{path} cannot be read as TOML: {error}") from error
    files_of(venue)
    return venue


def files_of(venue: Venue) -> dict[str, bytes]:
    """Return the template files that are copied next to a draft, by name.

    Its rules, hidden files, folders and Python files are left out.

    Raises:
        ConfigurationError: a link, a file named like one of the draft, or too many files or bytes.
    """
    contents: dict[str, bytes] = {}
    bytes_left = _MOST_BYTES
    paths = sorted(islice(venue.folder.iterdir(), _MOST_FILES + 1))
    if len(paths) > _MOST_FILES:
        raise ConfigurationError(
            f"{venue.folder} has more than {_MOST_FILES:,} files: it is too large to be a template"
        )
    for path in paths:
        is_folder = path.is_dir() and not path.is_symlink()
        if is_folder or path.name == RULES or path.name.startswith((".", "__")):
            continue
        if path.stem == DRAFT:  # such as draft.fdb_latexmk, which latexmk would use
            raise ConfigurationError(f"{path} is called like a file of the draft: rename it")
        try:
            contents[path.name] = read_file(path, bytes_left)
        except PlainFileError as error:
            if error.reason is not Reason.TOO_LARGE:
                raise
            raise ConfigurationError(
                f"{venue.folder} has more than {_MOST_BYTES:,} bytes: it is too large to be a"
                " template"
            ) from error
        bytes_left -= len(contents[path.name])
    return contents
