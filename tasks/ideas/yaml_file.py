"""Entries of a YAML file: a list of mappings, or one mapping."""

from pathlib import Path
from typing import Any

import yaml

from schemas.errors import IdeaFileError
from tasks.ideas.fields import Entries, Entry, refuse_wide_encodings, unreadable
from tasks.ideas.limits import refuse_large_file

YAML_SUFFIXES = (".yaml", ".yml")
MAXIMUM_YAML_BYTES = 20_000_000
"""YAML is read in Python, a few megabytes a minute."""


class _PlainLoader(yaml.BaseLoader):
    """Builds strings, lists and mappings only, and each where it stands: a name for another part
    can stand for any amount of it.
    """

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def plain_yaml(text: str) -> Any:
    """What a YAML document says, in strings, lists and mappings.

    Raises:
        ValueError: it is none, or holds aliases or too much nesting.
    """
    try:
        return yaml.load(text, Loader=_PlainLoader)  # noqa: S506 -- a BaseLoader
    except (yaml.YAMLError, RecursionError) as error:
        place = getattr(error, "problem_mark", None)
        where = f", line {place.line + 1}" if place is not None else ""
        reason = getattr(error, "problem", None) or str(error) or type(error).__name__
        raise ValueError(f"{reason}{where}") from error


def read_yaml(path: Path) -> Entries:
    """The entries of `path`; its values are texts.

    Raises:
        IdeaFileError: too large, no YAML, or neither a list nor a mapping.
    """
    refuse_large_file(
        path.name, path.stat().st_size, MAXIMUM_YAML_BYTES, "write it as .jsonl or .csv"
    )
    refuse_wide_encodings(path)
    try:
        content = plain_yaml(path.read_text("utf-8-sig"))
    except ValueError as error:
        raise IdeaFileError(
            f"{path.name} is not valid YAML without aliases ({error}): mend it"
        ) from error
    if not isinstance(content, list | dict):
        raise IdeaFileError(
            f"{path.name} holds neither a list of ideas nor one idea: write `- text: ...` for each"
        )
    for number, value in enumerate(content if isinstance(content, list) else [content], start=1):
        location = f"{path.name} entry {number}"
        if isinstance(value, dict):
            yield Entry(location, {str(name): held for name, held in value.items()})
        else:
            yield unreadable(location, "this is no mapping: write the idea as `text: ...`")
