"""Whatever module a process begins with, it can be imported; and no module needs itself later."""

import ast
from collections.abc import Iterator, Sequence
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[2]
PACKAGES = ("schemas", "warehouse", "dashboards", "tasks", "flows")


def modules() -> dict[str, ast.Module]:
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = ast.parse(path.read_text("utf-8"))
    return found


def at_import(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """What runs when a module is imported; what only type checkers read does not."""
    for each in statements:
        if isinstance(each, ast.If) and "TYPE_CHECKING" in ast.unparse(each.test):
            continue
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield each
            for name in ("body", "orelse", "finalbody"):
                yield from at_import(getattr(each, name, ()))


def imported_by(name: str, tree: ast.Module, known: dict[str, ast.Module]) -> set[str]:
    """Modules that have to be there before `name` is, packages around them included."""
    said = []
    for each in at_import(tree.body):
        if isinstance(each, ast.ImportFrom) and each.module:
            said += [each.module, *(f"{each.module}.{alias.name}" for alias in each.names)]
        elif isinstance(each, ast.Import):
            said += [alias.name for alias in each.names]
    if "steps_in(" in ast.unparse(tree):  # it imports every step of its folder
        said += [each for each in known if each.startswith(f"{name}.")]
    around = {".".join(each.split(".")[:count]) for each in said for count in range(1, 9)}
    return {each for each in around & {*known} if not f"{name}.".startswith(f"{each}.")}


def test_no_module_needs_itself() -> None:
    known = modules()
    needs = {name: imported_by(name, tree, known) for name, tree in known.items()}
    assert len(needs) > 500
    TopologicalSorter(needs).prepare()  # raises CycleError, which names the circle


def test_no_module_leads_back_to_itself_by_imports_within_functions_or_for_types() -> None:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    needs = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    assert len(needs) > 500
    TopologicalSorter(needs).prepare()  # raises CycleError, which names the circle
