"""Runs one function of a task in its own sandbox, and writes the result as JSON.

    solve SEED        solve(given, seed) of a candidate -> answer
    tree              a program's functions and syntax tree; nothing is run
    make SEED SIZE    make(seed, size) of evaluate.py -> (given, held)
    permute SEED      permute(given, seed) -> given
    score             score(given, held, answer) -> {name: number}

Imports nothing of this project, which the sandbox does not contain. Only the file that a candidate
writes leaves its sandbox; the metric is computed from that file in another one. Untrusted programs
are also parsed here, because a source can crash the parser.
"""

import ast
import json
import runpy
import sys
from pathlib import Path
from typing import Any


def plain(value: Any) -> Any:
    """Convert arrays and numbers of libraries to lists and numbers."""
    return value.tolist()


def read(name: str) -> Any:
    return json.loads(Path(f"/given/{name}.json").read_text("utf-8"))


def function(module: str, name: str) -> Any:
    return runpy.run_path(f"/given/{module}.py", run_name=module)[name]


def main() -> None:
    command, *more = sys.argv[1:]
    result: Any
    if command == "solve":
        given_data = read("given")
        result = function("program", "solve")(given_data, int(more[0]))
    elif command == "tree":
        tree = ast.parse(Path("/given/program.py").read_text("utf-8"))
        functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        result = {"functions": functions, "tree": ast.dump(tree)}
    elif command == "make":
        given_data, held_data = function("evaluate", "make")(int(more[0]), more[1])
        result = {"given": given_data, "held": held_data}
    elif command == "permute":
        result = function("evaluate", "permute")(read("given"), int(more[0]))
    else:
        result = function("evaluate", "score")(read("given"), read("held"), read("answer"))
    Path("/scratch/left").write_text(json.dumps(result, default=plain), "utf-8")


if __name__ == "__main__":
    main()
