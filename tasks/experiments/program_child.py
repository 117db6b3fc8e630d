"""Runs `solve` of a candidate in its sandbox and leaves what it gives as JSON.

Imports nothing of this project, since nothing of it is there. Whatever the candidate does to this
process, only the file it leaves comes out, and the metric is computed from that elsewhere.
"""

import json
import runpy
import sys
from pathlib import Path
from typing import Any


def plain(value: Any) -> Any:
    """Arrays and numbers of libraries as lists and numbers."""
    return value.tolist()


def main() -> None:
    given = json.loads(Path("/given/given.json").read_text("utf-8"))
    solve = runpy.run_path("/given/program.py", run_name="program")["solve"]
    answer = solve(given, int(sys.argv[1]))
    Path("/scratch/answer.json").write_text(json.dumps(answer, default=plain), "utf-8")


if __name__ == "__main__":
    main()
