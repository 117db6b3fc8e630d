"""CPU-seconds and bytes of a run by part: of new ideas against a snapshot whose texts are known, and
of texts that nobody has embedded (a fresh warehouse and index).

Run as `python tests/benchmarks/cpu_by_part.py [--ideas 5]`. Up to five ideas are worked on by the
command itself, so that all of its CPU is seen; the gateway is a child process.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from flows.request import bundled
from tests.support.openai_server import start_openai_server


def ideas_file(path: Path, first: int, count: int) -> Path:
    ideas = [json.loads(line) for line in bundled("ideas.jsonl").read_text().splitlines()]
    chosen = [ideas[(first + number) % len(ideas)] for number in range(count)]
    path.write_text("".join(json.dumps(idea) + "\n" for idea in chosen))
    return path


def measured(folder: Path, ideas: Path, warehouse: Path, engine: list[str]) -> dict[str, float]:
    figures = folder / "figures.json"
    command = ["evaluate", str(ideas), "--warehouse", str(warehouse)]
    literature = ["--literature", f"snapshot:{bundled('papers.jsonl')}"]
    env = {**os.environ, "ASSAY_HOME": str(folder / "home"), "OPENAI_API_KEY": "none"}
    own = [sys.executable, "-m", "tests.benchmarks._cpu_parts", str(figures)]
    done = subprocess.run(
        [*own, *command, *literature, *engine], env=env, capture_output=True, text=True
    )
    if not figures.exists():
        sys.exit(done.stderr)
    return json.loads(figures.read_text())


def size_by_part(warehouse: Path) -> dict[str, int]:
    sizes = {}
    for part in sorted(each for each in warehouse.iterdir() if each.is_dir()):
        files = (path for path in part.rglob("*") if path.is_file())
        sizes[part.name] = sum(path.stat().st_size for path in files)
    caches = sorted((warehouse / "cache").glob("*.sqlite"))
    return sizes | {f"cache/{path.name}": path.stat().st_size for path in caches}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ideas", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, start_openai_server(record=False) as server:
        folder = Path(name)
        warehouse = folder / "warehouse"
        engine = ["--engine", "litellm:openai/loopback", "--api-base", server.url]
        for number, label in enumerate(("texts nobody has embedded", "texts that are known")):
            first = number * options.ideas
            ideas = ideas_file(folder / f"ideas-{number}.jsonl", first, options.ideas)
            seconds = measured(folder, ideas, warehouse, engine)
            print(f"{label}: {sum(seconds.values()):.1f} CPU-seconds, {options.ideas} ideas")
            for part, used in sorted(seconds.items(), key=lambda item: -item[1]):
                print(f"  {part:20} {used:6.2f}  {used / options.ideas:6.2f} an idea")
        print("disk, bytes an idea:")
        for part, size in size_by_part(warehouse).items():
            print(f"  {part:28} {size / (2 * options.ideas):12,.0f}")


if __name__ == "__main__":
    main()
