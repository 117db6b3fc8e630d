"""Does one thing with a task's code in a sandbox of its own, and leaves what it gives as JSON.

    solve SEED        solve(given, seed) of a candidate -> answer
    tree              a program's functions and syntax tree; nothing of it is run
    make SEED SIZE    make(seed, size) of evaluate.py -> (given, held)
    permute SEED      permute(given, seed) -> given
    score             score(given, held, answer) -> {name: number}

Imports nothing of this project, since nothing of it is there. Whatever a candidate does to its
process, only the file it leaves comes out; the metric is computed from that in another sandbox,
where the candidate never was. A parser can be brought down by what it reads, so programs that
nobody vouches for are parsed here too.
"""

import ast
import json
import runpy
import sys
from pathlib import Path
from typing import Any


def plain(value: Any) -> Any:
    """Arrays and numbers of libraries as lists and numbers."""
    return value.tolist()


def read(name: str) -> Any:
    return json.loads(Path(f"/given/{name}.json").read_text("utf-8"))


def function(module: str, name: str) -> Any:
    return runpy.run_path(f"/given/{module}.py", run_name=module)[name]


def main() -> None:
    asked, *more = sys.argv[1:]
    gives: Any
    if asked == "solve":
        given = read("given")
        gives = function("program", "solve")(given, int(more[0]))
    elif asked == "tree":
        tree = ast.parse(Path("/given/program.py").read_text("utf-8"))
        functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        gives = {"functions": functions, "tree": ast.dump(tree)}
    elif asked == "make":
        given, held = function("evaluate", "make")(int(more[0]), more[1])
        gives = {"given": given, "held": held}
    elif asked == "permute":
        gives = function("evaluate", "permute")(read("given"), int(more[0]))
    else:
        gives = function("evaluate", "score")(read("given"), read("held"), read("answer"))
    Path("/scratch/gives.json").write_text(json.dumps(gives, default=plain), "utf-8")


if __name__ == "__main__":
    main()
