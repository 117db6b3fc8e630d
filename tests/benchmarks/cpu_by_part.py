"""CPU-seconds and bytes of a run by part: of new ideas against a snapshot whose texts are known,
and of texts that nobody has embedded (a fresh warehouse and index).

Run as `python tests/benchmarks/cpu_by_part.py [--ideas 5]`. Last, and with `--live` only this, real
ideas look at the Semantic Scholar API on loopback over 87,000 real abstracts (`_semantic_scholar`),
none of them embedded before; `--index` names a snapshot of them built before. With `--known` it is
that snapshot itself, and only the second of two runs over the same ideas counts: it asks the model
everything again, of texts that the first has embedded. A model on loopback
answers at once; live, it reads (`_reader`), so that as many papers are relevant as a real one
finds. However many ideas there are, the command works on them itself, so that all of its CPU is
seen by part; the gateway is a child process, and what plays API and model is not counted.
"""

import argparse
import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path

import polars

from flows.works.evaluate.request import bundled_file
from tasks.literature.snapshot.build import build_snapshot
from tests.benchmarks._assay import IDEAS, PAPERS, data_is_here, first
from tests.benchmarks._reader import Judge, Reader, reading_server
from tests.benchmarks._semantic_scholar import SemanticScholarOverSnapshot
from tests.support.openai_server import start_openai_server
from warehouse.console.console import run_sql
from warehouse.warehouse import Warehouse


def ideas_file(path: Path, first: int, count: int) -> Path:
    ideas = [json.loads(line) for line in bundled_file("ideas.jsonl").read_text().splitlines()]
    chosen = [ideas[(first + number) % len(ideas)] for number in range(count)]
    path.write_text("".join(json.dumps(idea) + "\n" for idea in chosen))
    return path


def measured(
    folder: Path,
    ideas: Path,
    warehouse: Path,
    options: list[str],
    snapshot: Path | None = None,
    upstream_url: str | None = None,
) -> dict[str, float]:
    figures = folder / "figures.json"
    command = ["evaluate", str(ideas), "--warehouse", str(warehouse)]
    literature = ["--literature", f"snapshot:{snapshot or bundled_file('papers.jsonl')}"]
    env = {**os.environ, "ASSAY_HOME": str(folder / "home"), "OPENAI_API_KEY": "none"}
    if upstream_url is not None:
        literature = ["--literature", "live", "--no-full-text"]
        env["ASSAY_LITERATURE__UPSTREAM_URL"] = upstream_url
        env["ASSAY_LITERATURE__REQUESTS_PER_SECOND"] = "1000"
    own = [sys.executable, "-m", "tests.benchmarks._cpu_parts", str(figures)]
    done = subprocess.run(
        [*own, *command, *literature, *options], env=env, capture_output=True, text=True
    )
    if done.returncode != 0 or not figures.exists():
        sys.exit(f"the command ended with {done.returncode}: {done.stderr}")
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
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--known", action="store_true")
    parser.add_argument("--index", type=Path, default=None)
    options = parser.parse_args()
    if options.live or options.known:
        _of_real_papers(options.ideas, options.index, known=options.known)
        return
    with tempfile.TemporaryDirectory() as name, start_openai_server(record=False) as server:
        folder = Path(name)
        warehouse = folder / "warehouse"
        engine = ["--engine", "litellm:openai/loopback", "--api-base", server.url]
        for number, label in enumerate(("texts nobody has embedded", "texts that are known")):
            start = number * options.ideas
            ideas = ideas_file(folder / f"ideas-{number}.jsonl", start, options.ideas)
            seconds = measured(folder, ideas, warehouse, engine)
            _print(label, seconds, options.ideas)
        _print_sizes(warehouse, 2 * options.ideas)
    _of_real_papers(options.ideas, options.index, known=False)


def _of_real_papers(count: int, index: Path | None, *, known: bool) -> None:
    """Fresh texts, as a night meets them live; or known ones of a snapshot."""
    if not data_is_here():
        return
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        if index is None:
            index = folder / "index"
            build_snapshot(PAPERS, index)
        rows = polars.read_parquet(PAPERS, columns=["title", "abstract"]).iter_rows()
        judge = Judge(f"{title}\n\n{abstract or ''}" for title, abstract in rows)
        server = stack.enter_context(reading_server(Reader(judge)))
        warehouse = folder / "warehouse"
        engine = ["--engine", "litellm:openai/loopback", "--api-base", server.url]
        ideas = first(IDEAS, folder / "ideas.jsonl", count)
        if known:
            again = folder / "again.toml"
            written = resources.files("flows.profiles").joinpath("economy.toml").read_text()
            again.write_text(
                written.replace("seed = 7", "seed = 8").replace('"economy"', '"again"')
            )
            measured(folder, ideas, warehouse, engine, index)
            seconds = measured(folder, ideas, warehouse, [*engine, "--profile", str(again)], index)
            _print("a snapshot whose texts are known", seconds, count)
            return
        upstream = stack.enter_context(SemanticScholarOverSnapshot(index))
        seconds = measured(folder, ideas, warehouse, engine, upstream_url=upstream.url)
        _print("live, texts nobody has embedded", seconds, count)
        (found,) = run_sql(
            Warehouse(warehouse),
            "select count(distinct paper_id) papers, (select count(*) from llm_calls) calls"
            " from candidates",
        )
        with contextlib.closing(sqlite3.connect(warehouse / "cache" / "embeddings.sqlite")) as kept:
            (texts,) = kept.execute("select count(*) from entries").fetchone()
        print(
            f"  an idea: {sum(upstream.counts.values()) / count:.1f} requests,"
            f" {found['calls'] / count:.1f} model calls, {found['papers'] / count:.0f} new papers,"
            f" {texts / count:.0f} texts embedded"
        )
        _print_sizes(warehouse, count)


def _print(label: str, seconds: dict[str, float], count: int) -> None:
    print(f"{label}: {sum(seconds.values()):.1f} CPU-seconds, {count} ideas")
    for part, used in sorted(seconds.items(), key=lambda item: -item[1]):
        print(f"  {part:20} {used:6.2f}  {used / count:6.2f} an idea")


def _print_sizes(warehouse: Path, count: int) -> None:
    print("disk, bytes an idea:")
    for part, size in size_by_part(warehouse).items():
        print(f"  {part:28} {size / count:12,.0f}")


if __name__ == "__main__":
    main()
