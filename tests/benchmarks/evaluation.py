"""The main job at full size: 81 real ideas, then 324, on the 87,106-paper snapshot with the
extractive engine.

Prints processor seconds per idea, peak memory of each process and ideas per minute.
"""

import json
import tempfile
from pathlib import Path

from tests.benchmarks._assay import (
    IDEAS,
    PAPERS,
    command,
    data_is_here,
    environment,
    evaluate,
    renamed,
)
from tests.support.process_tree import Usage, measure


def main() -> None:
    if not data_is_here():
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env, index = environment(folder / "home"), folder / "index"
        built = measure(
            command("literature", "build", str(PAPERS), str(index)), env, folder / "build.log"
        )
        print(
            f"index of 87,106 papers: {built.wall_seconds:.1f} s wall,"
            f" {built.total_cpu_seconds:.1f} s processor"
        )
        for count, path in ((81, IDEAS), (324, renamed(IDEAS, folder / "fourfold.jsonl", 4))):
            log = folder / f"{count}.log"
            used = measure(evaluate(path, folder / f"warehouse-{count}", index), env, log)
            report(f"{count} ideas", count, used, log)


def report(name: str, count: int, used: Usage, log: Path) -> None:
    """Print the figures of one run, or why it failed."""
    if used.exit_code:
        print(f"{name}: exit code {used.exit_code}\n{log.read_text()[-2000:]}")
        return
    run = json.loads(used.output)["run"]
    print(
        f"{name}: {used.wall_seconds:.0f} s wall, {60 * count / used.wall_seconds:.1f}"
        f" ideas/minute, {used.total_cpu_seconds / count:.2f} processor seconds per idea,"
        f" {run['failed_count']} incomplete"
    )
    for role in sorted(used.cpu_seconds):
        print(
            f"  {role:<18} {used.cpu_seconds[role]:7.1f} s processor  "
            f" {used.peak_bytes[role] / 1e6:7.0f} MB peak"
        )


if __name__ == "__main__":
    main()
