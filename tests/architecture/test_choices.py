"""Names of engines and literatures are read in `schemas/choices.py` and nowhere else."""

import ast
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PACKAGES = ("flows", "tasks", "schemas", "warehouse", "dashboards")
READ_HERE = REPOSITORY / "schemas" / "choices.py"
WORDS = {"extractive", "litellm:", "snapshot:", "live", "+live"}
TAKING_APART = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "split"}


def readings(path: Path) -> Iterator[int]:
    """Lines in which one of the words is compared with, or cut off, a text."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        operands: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            operands = node.args if node.func.attr in TAKING_APART else []
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            operands = [node.value]
        for operand in operands:
            parts = (
                operand.elts if isinstance(operand, ast.Tuple | ast.Set | ast.List) else [operand]
            )
            if any(isinstance(part, ast.Constant) and part.value in WORDS for part in parts):
                yield node.lineno


def test_no_other_module_takes_the_name_of_an_engine_or_a_literature_apart() -> None:
    files = [path for package in PACKAGES for path in (REPOSITORY / package).rglob("*.py")]
    found = [
        f"{path.relative_to(REPOSITORY)}:{line}"
        for path in files
        if path != READ_HERE
        for line in readings(path)
    ]
    assert found == []
    assert list(readings(READ_HERE)), "the words are no longer written as this test expects"
