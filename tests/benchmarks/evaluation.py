"""The main job at full size: 81 real ideas, then 324, on the 87,106-paper snapshot with the extractive engine.

Prints processor seconds per idea, peak memory of each process, ideas per minute, and the time from the
command to the first idea landed.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from tests.support.process_tree import Usage, measure

DATA = Path(__file__).parents[3] / "shared" / "data"


def main() -> None:
    ideas, papers = DATA / "scholarideas.jsonl", DATA / "literature.parquet"
    if not ideas.exists() or not papers.exists():
        print(f"skipped: {DATA} is not here")
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        index = Path(folder) / "index"
        environment = {**os.environ, "ASSAY_HOME": str(home)}
        built = measure(_assay("literature", "build", str(papers), str(index)), environment, Path(folder) / "build.log")
        print(f"index of 87,106 papers: {built.wall_seconds:.1f} s wall, {built.total_cpu_seconds:.1f} s processor")
        fourfold = _renamed(ideas, Path(folder) / "fourfold.jsonl", 4)
        for name, path, count in (("81 ideas", ideas, 81), ("324 ideas", fourfold, 324)):
            warehouse = Path(folder) / name.replace(" ", "-")
            log = Path(folder) / f"{count}.log"
            used = measure(_evaluate(path, warehouse, index), environment, log)
            _print(name, count, used, log)


def _assay(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "flows", *arguments]


def _evaluate(ideas: Path, warehouse: Path, index: Path) -> list[str]:
    return _assay("evaluate", str(ideas), "--warehouse", str(warehouse), "--literature", f"snapshot:{index}", "--workers", "2", "--json")


def _renamed(source: Path, target: Path, times: int) -> Path:
    with target.open("w") as stream:
        for number in range(times):
            for line in source.read_text().splitlines():
                idea = json.loads(line)
                stream.write(json.dumps({**idea, "idea_id": f"{idea['idea_id']}-{number}"}) + "\n")
    return target


def _print(name: str, count: int, used: Usage, log: Path) -> None:
    if used.exit_code:
        print(f"{name}: exit code {used.exit_code}\n{log.read_text()[-2000:]}")
        return
    run = json.loads(used.output)["run"]
    print(
        f"{name}: {used.wall_seconds:.0f} s wall, {60 * count / used.wall_seconds:.1f} ideas/minute, "
        f"{used.total_cpu_seconds / count:.2f} processor seconds per idea, {run['failed_count']} incomplete"
    )
    for role in sorted(used.cpu_seconds):
        print(f"  {role:<18} {used.cpu_seconds[role]:7.1f} s processor   {used.peak_bytes[role] / 1e6:7.0f} MB peak")


if __name__ == "__main__":
    main()
