"""The file of authors' own reasons: which manuscript was withdrawn why."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from schemas.base import encodable
from schemas.errors import ConfigurationError

_FORMAT = (
    'write JSON Lines such as {"manuscript": "paper-1", "reason": "…"}, or CSV with the columns'
    " manuscript, reason"
)


def read_reasons(path: Path) -> dict[str, str]:
    """Reasons by manuscript: JSON Lines, one JSON object or list, or CSV.

    Raises:
        ConfigurationError: the file cannot be read, an entry lacks a field, or two speak of one
            manuscript.
    """
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise ConfigurationError(f"--reasons {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"--reasons {path} is no UTF-8 text: {_FORMAT}") from error
    reasons: dict[str, str] = {}
    for number, entry in enumerate(_entries(path, text), start=1):
        fields = (
            (entry.get("manuscript"), entry.get("reason"))
            if isinstance(entry, dict)
            else (None, None)
        )
        name, reason = fields
        if not (
            isinstance(name, str) and name.strip() and isinstance(reason, str) and reason.strip()
        ):
            raise ConfigurationError(
                f"--reasons {path}: entry {number} lacks its manuscript or its reason; {_FORMAT}"
            )
        if not encodable(name + reason):
            raise ConfigurationError(
                f"--reasons {path}: entry {number} holds half a character (a lone surrogate): write"
                " it anew"
            )
        if name.strip() in reasons:
            raise ConfigurationError(
                f"--reasons {path}: entry {number} gives {name.strip()!r} a second reason"
            )
        reasons[name.strip()] = reason.strip()
    if not reasons:
        raise ConfigurationError(f"--reasons {path} is empty: {_FORMAT}")
    return reasons


def _entries(path: Path, text: str) -> list[Any]:
    if path.suffix.lower() == ".csv":
        try:
            return list(csv.DictReader(io.StringIO(text, newline="")))
        except csv.Error as error:
            raise ConfigurationError(
                f"--reasons {path} is no readable table ({error}): check the quotes; {_FORMAT}"
            ) from error
    try:
        if path.suffix.lower() == ".json":
            whole = json.loads(text)
            if isinstance(whole, dict) and not {"manuscript", "reason"} <= set(whole):
                return [{"manuscript": name, "reason": reason} for name, reason in whole.items()]
            return whole if isinstance(whole, list) else [whole]
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except json.JSONDecodeError as error:
        raise ConfigurationError(
            f"--reasons {path}: line {error.lineno} is no JSON; {_FORMAT}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"--reasons {path} is nested too deeply, or holds too large a number; {_FORMAT}"
        ) from error
