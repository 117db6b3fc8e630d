"""Parses a program in a sandbox and leaves its syntax tree as JSON; nothing of it is run.

A parser can be brought down by what it reads, so it reads what nobody vouches for here.
"""

import ast
import json
from pathlib import Path


def main() -> None:
    tree = ast.parse(Path("/given/program.py").read_text("utf-8"))
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    told = {"functions": functions, "tree": ast.dump(tree)}
    Path("/scratch/tree.json").write_text(json.dumps(told), "utf-8")


if __name__ == "__main__":
    main()
