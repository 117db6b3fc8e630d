"""Walks over a citation graph of a million invented edges: seconds and memory of each question, and
what they come to for 10 million papers.

python -m tests.benchmarks graph_walk
python -m tests.benchmarks graph_walk --edges 5000000

Papers of fifty fields cite earlier ones, mostly of their own field, and half of them by how often
these are cited already, as real papers do: so there are hubs. The estimate takes loading and
communities to grow with the edges, and the questions about some papers with the degrees around
them, which do not grow with the graph.
"""

import argparse
import random
import resource
import statistics
import tempfile
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tasks.literature.snapshot.graph import CitationGraph

REFERENCES_PER_PAPER = 10
ESTIMATED_PAPERS = 10_000_000
ESTIMATED_REFERENCES = 20
"""Of a paper, those that are in a snapshot of this size themselves."""
QUESTIONS = 20
FIELDS = 50
WITHIN_FIELD = 0.9
MEMORY_LIMIT = "1GB"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--edges", type=int, default=1_000_000)
    wanted = parser.parse_known_args()[0].edges
    papers = wanted // REFERENCES_PER_PAPER
    with tempfile.TemporaryDirectory() as folder:
        workplace = Path(folder)
        started = time.monotonic()
        made = CitationGraph.of(_edges(papers), workplace, name="walk", memory_limit=MEMORY_LIMIT)
        loading = time.monotonic() - started
        with made as graph:
            edges = graph.edge_count()
            size = (workplace / "graph-walk.duckdb").stat().st_size
            print(f"{papers:,} papers, {edges:,} edges, {size / 1e6:.0f} MB on disk")
            print(f"made and loaded in {loading:.1f} s")
            _ask(graph, papers)
            seconds, sizes = _communities(graph)
        print(
            f"communities: {len(sizes):,} in {seconds:.1f} s, the largest {max(sizes):,} papers;"
            f" {FIELDS} fields of {papers // FIELDS:,} were planted"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak memory {peak / 1024:,.0f} MB, of which DuckDB may take {MEMORY_LIMIT}")
    times = ESTIMATED_PAPERS * ESTIMATED_REFERENCES / edges
    print(
        f"estimated for {ESTIMATED_PAPERS:,} papers with {ESTIMATED_REFERENCES} references each:"
        f" {size * times / 1e9:.1f} GB on disk, {loading * times / 3600:.1f} h to load,"
        f" {seconds * times / 3600:.1f} h for communities, which go on on disk beyond the limit"
    )


def _edges(papers: int) -> Iterator[tuple[int, int]]:
    generator = random.Random(19)
    cited = array("q", [0])
    for paper in range(1, papers):
        for _ in range(REFERENCES_PER_PAPER):
            often = generator.random() < 0.5
            other = generator.choice(cited) if often else generator.randrange(paper)
            if generator.random() < WITHIN_FIELD:
                other = max(other - (other - paper) % FIELDS, paper % FIELDS)
            cited.append(other)
            yield paper, other


def _ask(graph: CitationGraph, papers: int) -> None:
    generator = random.Random(20)
    seeds = [generator.randrange(papers) for _ in range(QUESTIONS)]
    _print("co-citation", lambda seed: graph.co_cited([seed], 20), seeds)
    _print("co-citation of the hub", lambda _: graph.co_cited([0], 20), seeds[:3])
    _print("coupling", lambda seed: graph.coupled([seed], 20), seeds)
    _print("shortest path", lambda seed: graph.path(seed, papers - 1), seeds)


def _print(question: str, ask: Callable[[int], object], seeds: list[int]) -> None:
    taken = []
    for seed in seeds:
        started = time.monotonic()
        ask(seed)
        taken.append(time.monotonic() - started)
    print(f"{question}: median {statistics.median(taken):.3f} s, longest {max(taken):.3f} s")


def _communities(graph: CitationGraph) -> tuple[float, list[int]]:
    started = time.monotonic()
    sizes = Counter(label for _, label in graph.communities())
    return time.monotonic() - started, list(sizes.values())


if __name__ == "__main__":
    main()
