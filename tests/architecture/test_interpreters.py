"""One place says how a Python process starts another: without the folder where the user stands."""

import ast
from pathlib import Path

from schemas.interpreter import module_command

REPOSITORY = Path(__file__).parents[2]
PACKAGES = ("flows", "tasks", "schemas", "warehouse", "dashboards")
HELPER = REPOSITORY / "schemas" / "interpreter.py"


def test_no_other_file_names_the_interpreter() -> None:
    paths = [
        path
        for package in PACKAGES
        for path in (REPOSITORY / package).rglob("*.py")
        if path != HELPER
    ]
    assert len(paths) > 100
    assert [str(path) for path in paths if "sys.executable" in _attributes(path)] == []


def _attributes(path: Path) -> set[str]:
    nodes = ast.walk(ast.parse(path.read_text()))
    return {f"{node.value.id}.{node.attr}" for node in nodes if _is_attribute(node)}


def _is_attribute(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)


def test_a_child_looks_for_modules_elsewhere_than_in_the_folder_it_starts_in() -> None:
    assert module_command("flows", "plan")[1:] == ["-P", "-m", "flows", "plan"]
