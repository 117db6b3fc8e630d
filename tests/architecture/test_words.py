"""Wording of the code: counts of patterns to avoid, which may only fall.

Lower a limit when a count has fallen. docs/glossary.md lists the terms of the project.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PACKAGES = ("flows", "tasks", "schemas", "warehouse", "dashboards")
HEADLESS = frozenset({"What", "Whether", "How", "Who", "Which", "Where", "Whose"})
PARTICIPLES = frozenset({"found", "told", "known", "asked", "shown", "said", "kept", "own"})
MOST_HEADLESS_DOCSTRINGS = 31
MOST_PARTICIPLE_NAMES = 24
_ASSIGNED = re.compile(rf"\b(?:{'|'.join(sorted(PARTICIPLES))})\s*(?::[^=\n]+)?=(?!=)")


@cache
def sources() -> dict[Path, str]:
    paths = (path for package in PACKAGES for path in (REPOSITORY / package).rglob("*.py"))
    return {path: path.read_text("utf-8") for path in paths}


def headless_docstrings() -> Iterator[str]:
    """Yield the place of each docstring that begins with a question word instead of a noun or verb."""
    for path, text in sources().items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                first = (ast.get_docstring(node) or "").split(" ", 1)[0]
                if first in HEADLESS:
                    yield f"{path.relative_to(REPOSITORY)}:{node.lineno}: {first} …"


def participle_names() -> Iterator[str]:
    """Yield the place of each assignment to a participle, which does not say what the name holds."""
    for path, text in sources().items():
        for found in _ASSIGNED.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            yield f"{path.relative_to(REPOSITORY)}:{line}: {found[0]}"


def test_docstrings_begin_with_a_noun_phrase_or_an_imperative() -> None:
    places = list(headless_docstrings())
    assert len(places) <= MOST_HEADLESS_DOCSTRINGS, "\n".join(places)


def test_names_say_what_they_hold() -> None:
    places = list(participle_names())
    assert len(places) <= MOST_PARTICIPLE_NAMES, "\n".join(places)
