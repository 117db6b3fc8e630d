"""Profiles ship as files beside this module; a user copies one, edits it and names its path."""

import json
import tomllib
from importlib import resources
from pathlib import Path

from pydantic import ValidationError

from schemas.errors import ConfigurationError
from schemas.profile import Profile


def shipped_profiles() -> tuple[str, ...]:
    """Names of the profiles that come with Assay."""
    return tuple(
        sorted(
            entry.name.removesuffix(".toml")
            for entry in resources.files("flows.profiles").iterdir()
            if entry.name.endswith(".toml")
        )
    )


def load_profile(name_or_path: str) -> Profile:
    """The shipped profile of that name, or the profile in that TOML file.

    Raises:
        ConfigurationError: no such profile, no TOML, an unknown key or a value out of bounds.
    """
    text, where = _read(name_or_path)
    try:
        return Profile.model_validate_json(json.dumps(tomllib.loads(text), default=str))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(f"profile {where} is not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        known = "unknown key" if first["type"] == "extra_forbidden" else first["msg"]
        raise ConfigurationError(
            f"profile {where}: `{key}`: {known}. Compare it with flows/profiles/economy.toml."
        ) from error


def _read(name_or_path: str) -> tuple[str, str]:
    if name_or_path in shipped_profiles():
        return (
            resources.files("flows.profiles").joinpath(f"{name_or_path}.toml").read_text("utf-8"),
            name_or_path,
        )
    path = Path(name_or_path)
    try:
        return path.read_text("utf-8"), str(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"no profile `{name_or_path}`: say one of {', '.join(shipped_profiles())}, or the path"
            " of a profile file"
        ) from error
