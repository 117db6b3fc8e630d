"""Bundled tasks; `assay experiment init` copies one as a start."""

import shutil
from importlib import resources
from pathlib import Path

from schemas.errors import ConfigurationError

_NOT_COPIED = shutil.ignore_patterns("__pycache__")


def bundled_tasks() -> tuple[str, ...]:
    """Return the names of the bundled tasks."""
    entries = resources.files(__package__).iterdir()
    return tuple(sorted(entry.name for entry in entries if entry.joinpath("task.toml").is_file()))


def copy_task(name: str, folder: Path) -> tuple[Path, ...]:
    """Copy a bundled task into a new folder; return its files.

    Raises:
        ConfigurationError: no bundled task of that name, or the folder cannot be created.
    """
    if name not in bundled_tasks():
        raise ConfigurationError(
            f"no bundled task `{name}`: say one of {', '.join(bundled_tasks())}"
        )
    try:
        with resources.as_file(resources.files(__package__).joinpath(name)) as source:
            shutil.copytree(source, folder, ignore=_NOT_COPIED)
    except FileExistsError as error:
        raise ConfigurationError(f"{folder} is there already: name a folder that is not") from error
    except OSError as error:
        raise ConfigurationError(f"{folder} cannot be made: {error}") from error
    return tuple(sorted(path for path in folder.rglob("*") if path.is_file()))
