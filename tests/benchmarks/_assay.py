"""What the benchmarks of whole commands share."""

import json
import os
import sys
from pathlib import Path

DATA = Path(__file__).parents[3] / "shared" / "data"
IDEAS, PAPERS = DATA / "scholarideas.jsonl", DATA / "literature.parquet"


def data_is_here() -> bool:
    """Whether the real ideas and papers are beside the repository; says so when not."""
    if IDEAS.exists() and PAPERS.exists():
        return True
    print(f"skipped: {DATA} is not here")
    return False


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "flows", *arguments]


def environment(home: Path, **extra: str) -> dict[str, str]:
    return {**os.environ, "ASSAY_HOME": str(home), **extra}


def evaluate(ideas: Path, warehouse: Path, index: Path, *more: str) -> list[str]:
    literature = ["--literature", f"snapshot:{index}"]
    return command(
        "evaluate",
        str(ideas),
        "--warehouse",
        str(warehouse),
        *literature,
        "--workers",
        "2",
        "--json",
        *more,
    )


def renamed(source: Path, target: Path, times: int) -> Path:
    """Every idea `times` times, under other identifiers."""
    with target.open("w") as stream:
        for number in range(times):
            for line in source.read_text().splitlines():
                idea = json.loads(line)
                stream.write(json.dumps({**idea, "idea_id": f"{idea['idea_id']}-{number}"}) + "\n")
    return target


def first(source: Path, target: Path, count: int) -> Path:
    """The first `count` ideas."""
    target.write_text("".join(source.read_text().splitlines(keepends=True)[:count]))
    return target
