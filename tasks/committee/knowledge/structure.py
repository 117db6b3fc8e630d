"""What a repository's archive holds, put into words: its README, its files by kind, its modules and who calls whom."""

from collections import Counter
from pathlib import PurePosixPath
from typing import Any

from schemas.base import Noun

KINDS_NAMED = 8
FOLDERS_NAMED = 12
CALLS_NAMED = 8


class Module(Noun):
    """One Python file, as its syntax tree has it."""

    path: str
    about: str
    classes: dict[str, list[str]]
    functions: list[str]
    calls: dict[str, list[str]]

    @property
    def defined(self) -> frozenset[str]:
        return frozenset((*self.classes, *self.functions))


class Archive(Noun):
    """The answer of `repository_child.py`."""

    readme: str
    file_count: int
    files: list[tuple[str, int]]
    modules: list[Module]
    modules_left_out: int


def archive_of(content: bytes) -> Archive:
    """Read the child's JSON.

    Raises:
        pydantic.ValidationError: it is not what the child writes.
    """
    return Archive.model_validate_json(content)


def described(archive: Archive) -> str:
    """Files by kind and folder, then the modules, those first whose definitions most others call."""
    kinds = Counter(
        PurePosixPath(path).suffix or PurePosixPath(path).name for path, _ in archive.files
    )
    folders = Counter(path.partition("/")[0] + "/" for path, _ in archive.files if "/" in path)
    lines = [
        f"{archive.file_count} files: "
        + ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(KINDS_NAMED)),
    ]
    if folders:
        lines.append(
            "Folders: "
            + ", ".join(
                f"{folder} ({count})" for folder, count in folders.most_common(FOLDERS_NAMED)
            )
        )
    if archive.modules_left_out:
        lines.append(f"[… {archive.modules_left_out} Python files left out …]")
    return "\n".join(
        (*lines, *(_line(module, archive.modules) for module in _by_use(archive.modules)))
    )


def _by_use(modules: list[Module]) -> list[Module]:
    called = Counter(
        name
        for module in modules
        for names in module.calls.values()
        for name in names
        if name not in module.defined
    )

    def order(module: Module) -> tuple[int, int, str]:
        return -sum(called[name] for name in module.defined), module.path.count("/"), module.path

    return sorted((module for module in modules if module.defined or module.calls), key=order)


def _line(module: Module, modules: list[Module]) -> str:
    known = frozenset(name for each in modules for name in each.defined)
    parts = [f"{module.path}: {module.about}".rstrip(": ")]
    if module.classes:
        parts.append(
            "classes "
            + ", ".join(f"{name}({', '.join(methods)})" for name, methods in module.classes.items())
        )
    if module.functions:
        parts.append("functions " + ", ".join(module.functions))
    calls = [
        (name or "the module", [called for called in names if called in known and called != name])
        for name, names in module.calls.items()
    ]
    told = [f"{name} calls {', '.join(names[:CALLS_NAMED])}" for name, names in calls if names]
    return "; ".join((*parts, *told))


def parts_of(archive: Archive) -> tuple[tuple[str, str], ...]:
    """(heading, text) of what there is to read."""
    parts: list[tuple[str, Any]] = [
        ("README", archive.readme.strip()),
        ("Structure", described(archive)),
    ]
    return tuple((heading, text) for heading, text in parts if text)
