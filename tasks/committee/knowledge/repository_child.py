"""Child process that extracts the structure of a ZIP archive.

It reads the archive from stdin and writes JSON to stdout.

The structure is README, files and Python definitions. An archive may be hostile, so memory,
processor time and files are limited before parsing. Writes no files, runs no code, and imports
nothing of this project. `reader.py` depends on the exit codes.
"""

import ast
import io
import json
import sys
import time
import warnings
import zipfile
import zlib
from typing import Any

EXIT_DAMAGED = 10

MAXIMUM_ENTRIES = 20_000
MAXIMUM_FILES_LISTED = 3_000
MAXIMUM_MODULES = 200
MAXIMUM_FILE_BYTES = 400_000
MAXIMUM_BYTES = 30_000_000
MAXIMUM_NAMES = 60
PARSING_SHARE = 0.4
"""Share of the processor time limit after which no further module is parsed."""
_READMES = ("readme.md", "readme.rst", "readme.txt", "readme")
_SKIPPED_PATHS = ("/test", "/tests/", "/docs/", "/node_modules/", "/vendor/", "/third_party/", "/.")


def main() -> int:
    cpu_seconds = int(sys.argv[1])
    warnings.simplefilter("ignore")
    try:
        answer = read(sys.stdin.buffer.read(), cpu_seconds * PARSING_SHARE)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        ValueError,
        NotImplementedError,
        RuntimeError,
        OSError,
    ):
        return EXIT_DAMAGED
    json.dump(answer, sys.stdout, ensure_ascii=True)
    return 0


def read(content: bytes, parsing_seconds: float) -> dict[str, Any]:
    """Return README, (path, bytes) of files, and definitions and calls of Python modules.

    The number of modules is limited by processor time.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = [entry for entry in archive.infolist()[:MAXIMUM_ENTRIES] if not entry.is_dir()]
        files = {entry.filename.partition("/")[2] or entry.filename: entry for entry in entries}
        budget = [MAXIMUM_BYTES]  # a list, for `_text` to count down
        modules = []
        waiting = _modules(files)
        while waiting and time.process_time() < parsing_seconds:
            path = waiting.pop(0)
            text = _text(archive, files[path], budget)
            structure = _structure(text) if text is not None else None
            if structure is not None:
                modules.append({"path": path, **structure})
        readme = next((path for name in _READMES for path in files if path.lower() == name), None)
        return {
            "readme": (_text(archive, files[readme], budget) or "") if readme else "",
            "file_count": len(files),
            "files": [
                [path, entry.file_size]
                for path, entry in list(files.items())[:MAXIMUM_FILES_LISTED]
            ],
            "modules": modules,
            "modules_left_out": len(waiting),
        }


def _modules(files: dict[str, zipfile.ZipInfo]) -> list[str]:
    """Return Python files, nearest to the root first, without tests, docs and vendored code."""
    paths = [
        path
        for path in files
        if path.endswith(".py") and not any(mark in f"/{path.lower()}" for mark in _SKIPPED_PATHS)
    ]
    return sorted(paths, key=lambda path: (path.count("/"), path))[:MAXIMUM_MODULES]


def _text(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, budget: list[int]) -> str | None:
    """Return a file's text.

    Returns None beyond the limits, regardless of the sizes stated in the archive.
    """
    if entry.flag_bits & 1:
        return None
    with archive.open(entry) as stream:
        content = stream.read(min(MAXIMUM_FILE_BYTES, budget[0]) + 1)
    budget[0] -= len(content)
    return (
        None
        if len(content) > MAXIMUM_FILE_BYTES or budget[0] < 0
        else content.decode("utf-8", "replace")
    )


def _structure(text: str) -> dict[str, Any] | None:
    try:
        tree = ast.parse(text)
        document = (ast.get_docstring(tree) or "").strip().splitlines()
        classes = {
            node.name: _methods(node) for node in tree.body if isinstance(node, ast.ClassDef)
        }
        functions = [
            node.name
            for node in tree.body
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        ]
        return {
            "about": document[0][:200] if document else "",
            "classes": dict(list(classes.items())[:MAXIMUM_NAMES]),
            "functions": functions[:MAXIMUM_NAMES],
            "calls": _calls(tree),
        }
    except (
        SyntaxError,
        ValueError,
        RecursionError,
        MemoryError,
    ):  # the parser's own limits on nesting come as MemoryError
        return None


def _methods(node: ast.ClassDef) -> list[str]:
    names = [
        each.name for each in node.body if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    return [name for name in names if not name.startswith("__")][:MAXIMUM_NAMES]


def _calls(tree: ast.Module) -> dict[str, list[str]]:
    """Return called names by top-level definition.

    The empty name is the module's own body.
    """
    names_by_definition: dict[str, dict[str, None]] = {}
    for node in tree.body:
        is_definition = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        names = names_by_definition.setdefault(node.name if is_definition else "", {})  # type: ignore[attr-defined]
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                target = inner.func
                name = (
                    target.id
                    if isinstance(target, ast.Name)
                    else target.attr
                    if isinstance(target, ast.Attribute)
                    else ""
                )
                if len(name) > 2 and len(names) < MAXIMUM_NAMES:
                    names.setdefault(name)
    return {name: list(names) for name, names in names_by_definition.items() if names}


if __name__ == "__main__":
    sys.exit(main())
