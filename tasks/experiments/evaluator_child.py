"""Runs a function of `evaluate.py` in a sandbox of its own and leaves what it gives as JSON.

    make SEED SIZE    make(seed, size) -> (given, held)
    permute SEED      permute(given, seed) -> given
    score             score(given, held, answer) -> {name: number}

Imports nothing of this project, since nothing of it is there. The candidate has ended when this
begins, and was never here.
"""

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


def main() -> None:
    asked, *more = sys.argv[1:]
    evaluate = runpy.run_path("/given/evaluate.py", run_name="evaluate")
    gives: Any
    if asked == "make":
        given, held = evaluate["make"](int(more[0]), more[1])
        gives = {"given": given, "held": held}
    elif asked == "permute":
        gives = evaluate["permute"](read("given"), int(more[0]))
    else:
        gives = evaluate["score"](read("given"), read("held"), read("answer"))
    Path("/scratch/gives.json").write_text(json.dumps(gives, default=plain), "utf-8")


if __name__ == "__main__":
    main()
