"""Evaluation profiles: TOML files in this folder, and files that extend them."""

import json
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from schemas.base import first_fault
from schemas.errors import ConfigurationError
from schemas.profile import Profile

_MOST_EXTENDED = 8


def shipped_profiles() -> tuple[str, ...]:
    """Return the names of the profiles that come with Assay."""
    files = (each.name for each in resources.files("flows.profiles").iterdir())
    names = (name.removesuffix(".toml") for name in files if name.endswith(".toml"))
    # `_shared` is their base, no profile.
    return tuple(sorted(name for name in names if not name.startswith("_")))


def load_profile(name_or_path: str) -> Profile:
    """Return a shipped profile by name, or the profile in a TOML file.

    A file may start with `extends = "economy"`, a shipped name or the path of another file, and
    override its values.

    Raises:
        ConfigurationError: no such profile, no TOML, an unknown key or a value out of bounds.
    """
    try:
        return Profile.model_validate_json(json.dumps(_read(name_or_path, Path()), default=str))
    except RecursionError as error:  # a key with many dots nests tables
        raise ConfigurationError(f"profile {name_or_path} is not TOML: {error}") from error
    except ValidationError as error:
        raise ConfigurationError(
            f"profile {name_or_path}: {first_fault(error)}. Compare it with"
            " flows/profiles/economy.toml."
        ) from error


def _read(name_or_path: str, parent: Path, depth: int = 1) -> dict[str, Any]:
    """Return the values of a profile merged over those that it extends.

    Args:
        parent: the folder that relative paths start from.
    """
    is_shipped = name_or_path in (*shipped_profiles(), "_shared")
    folder = Path(str(resources.files("flows.profiles"))) if is_shipped else parent
    path = folder / (f"{name_or_path}.toml" if is_shipped else name_or_path)
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"no profile `{name_or_path}`: name one of {', '.join(shipped_profiles())}, or the path"
            " of a profile file"
        ) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(f"profile {name_or_path} is not TOML: {error}") from error
    base = content.pop("extends", None)
    if base is None:
        return content
    if not isinstance(base, str) or depth > _MOST_EXTENDED:
        raise ConfigurationError(
            f"profile {name_or_path}: `extends` names one profile, and none that extends this one"
        )
    base_values = _read(base, path.parent, depth + 1)
    # Runs are found by the name of their profile, so a derived one must not inherit it.
    base_values.pop("name", None)
    return _merge(base_values, content)


def _merge(base: dict[str, Any], overrides: dict[str, Any]) -> dict[str, Any]:
    merged_sections = {
        name: _merge(base[name], value)
        for name, value in overrides.items()
        if isinstance(value, dict) and isinstance(base.get(name), dict)
    }
    return {**base, **overrides, **merged_sections}
