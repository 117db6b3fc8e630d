"""Snapshots at scale: building, interrupting and resuming, and searching through the gateway over
HTTP.

python -m tests.benchmarks literature_snapshot 87,106 real papers python -m tests.benchmarks
literature_snapshot --papers 1000000 the real ones and a deterministic expansion

Prints papers per second, bytes per paper, peak memory, and p50/p95 latency of searches, look-ups
and recommendations at 1 and 16 concurrent clients, beside tantivy used directly on the same papers.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import tantivy

from schemas.choices import LiteratureChoice
from schemas.settings import Settings
from tasks.literature.gateway.process import GatewayProcess
from tasks.literature.snapshot.snapshot import Snapshot, open_snapshot
from tests.benchmarks._expansion import expanded

DATA = Path(__file__).parents[3] / "shared" / "data"
CLIENT_COUNTS = (1, 16)
SEARCHES = 800

_BUILD = (
    "import sys, resource; from pathlib import Path; from tasks.literature.snapshot.build import"
    " build_snapshot;found = build_snapshot(Path(sys.argv[1]), Path(sys.argv[2])).fingerprint; used"
    " = resource.getrusage(resource.RUSAGE_SELF);print(found, used.ru_maxrss, used.ru_utime +"
    " used.ru_stime)"
)
_FIELDS = "title,abstract,authors,venue,year,publicationDate,url,externalIds,openAccessPdf,citationCount,referenceCount,corpusId"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--papers", type=int, default=0, help="how many; 0: the real ones alone")
    wanted = parser.parse_known_args()[0].papers
    papers, ideas = DATA / "literature.parquet", DATA / "scholarideas.jsonl"
    if not papers.exists() or not ideas.exists():
        print(f"skipped: {DATA} is not here")
        return
    texts = [json.loads(line)["text"] for line in ideas.read_text().splitlines()]
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        if wanted:
            papers = expanded(papers, Path(folder) / "expanded.parquet", wanted)
        index = Path(folder) / "index"
        fingerprint = _measured_build(papers, index)
        if not wanted:
            _interrupted_build(papers, Path(folder) / "interrupted", fingerprint)
        _direct(open_snapshot(index), texts)
        with GatewayProcess(Settings(), LiteratureChoice(index), Path(folder) / "cache") as gateway:
            for clients in CLIENT_COUNTS:
                asyncio.run(_through_gateway(gateway, texts, clients))
            print(f"gateway: {_memory(gateway.process_id)}")
        _plain_tantivy(papers, Path(folder) / "plain", texts)


def _build(papers: Path, index: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _BUILD, str(papers), str(index)], stdout=subprocess.PIPE, text=True
    )


def _measured_build(papers: Path, index: Path) -> str:
    started = time.monotonic()
    fingerprint, peak_kilobytes, cpu_seconds = _build(papers, index).communicate()[0].split()
    seconds, count = time.monotonic() - started, open_snapshot(index).paper_count
    print(
        f"build: {count:,} papers in {seconds:.1f} s ({count / seconds:,.0f}/s,"
        f" {float(cpu_seconds):.1f} s of processor)"
    )
    sizes = {name: _bytes_below(index / name) for name in ("papers.sqlite", "text")}
    parts = ", ".join(f"{name} {size / count:,.0f}" for name, size in sizes.items())
    print(
        f"index: {sum(sizes.values()) / 1e6:,.0f} MB, {sum(sizes.values()) / count:,.0f} bytes per"
        f" paper ({parts})"
    )
    print(f"peak memory of the build: {int(peak_kilobytes) / 1000:.0f} MB")
    return fingerprint


def _bytes_below(path: Path) -> int:
    return (
        path.stat().st_size
        if path.is_file()
        else sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    )


def _interrupted_build(papers: Path, index: Path, expected: str) -> None:
    """Kill the build three times at different moments, then let it finish."""
    started = time.monotonic()
    for seconds in (3.0, 5.0, 6.0):
        process = _build(papers, index)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
    fingerprint = _build(papers, index).communicate()[0].split()[0]
    same = "the same fingerprint" if fingerprint == expected else "ANOTHER FINGERPRINT"
    count = open_snapshot(index).paper_count
    print(
        f"build killed three times and resumed: {time.monotonic() - started:.1f} s in all,"
        f" {count:,} papers, {same}"
    )


def _direct(snapshot: Snapshot, texts: list[str]) -> None:
    for name, query in _queries().items():
        _in_process(
            f"snapshot in process, {name}",
            lambda text, query=query: snapshot.search(query(text), 20),
            texts,
            1,
        )  # type: ignore[misc]


def _plain_tantivy(papers: Path, folder: Path, texts: list[str]) -> None:
    """The library alone: the same texts with its own English analyser, titles and abstracts,
    nothing stored, nothing else kept.
    """
    folder.mkdir()
    builder = tantivy.SchemaBuilder()
    for name in ("title", "abstract"):
        builder.add_text_field(
            name, stored=False, tokenizer_name="en_stem", index_option="position"
        )
    builder.add_unsigned_field("number", stored=False, fast=True)
    index = tantivy.Index(builder.build(), path=str(folder))
    started, count = time.monotonic(), 0
    writer = index.writer(64_000_000, 1)
    with pq.ParquetFile(papers) as file:
        for batch in file.iter_batches(2_000, columns=["title", "abstract"]):
            for row in batch.to_pylist():
                document = tantivy.Document(
                    title=row["title"] or "", abstract=row["abstract"] or ""
                )
                document.add_unsigned("number", count)
                writer.add_document(document)
                count += 1
    writer.commit()
    writer.wait_merging_threads()
    seconds = time.monotonic() - started
    size = _bytes_below(folder) / count
    print(
        f"plain tantivy: {count:,} papers in {seconds:.1f} s ({count / seconds:,.0f}/s),"
        f" {size:,.0f} bytes per paper"
    )
    index.reload()
    searcher = index.searcher()
    for name, query in _queries().items():
        for clients in CLIENT_COUNTS:
            ask = lambda text, query=query: searcher.search(  # noqa: E731
                index.parse_query_lenient(query(text), ["title", "abstract"])[0], 20
            )
            _in_process(f"plain tantivy in process, {name}", ask, texts, clients)


def _in_process(name: str, ask: Callable[[str], object], texts: list[str], threads: int) -> None:
    def timed(number: int) -> float:
        began = time.perf_counter()
        ask(texts[number % len(texts)])
        return time.perf_counter() - began

    started, used = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(threads) as pool:
        latencies = list(pool.map(timed, range(SEARCHES)))
    _print(name, threads, latencies, time.perf_counter() - started, time.process_time() - used)


def _queries() -> dict[str, Callable[[str], str]]:
    return {
        "6 words": lambda text: " ".join(text.split()[20:26]),
        "70 words": lambda text: " ".join(text.split()[20:90]),
    }


async def _through_gateway(gateway: GatewayProcess, texts: list[str], clients: int) -> None:
    async with httpx.AsyncClient(base_url=gateway.url, timeout=60) as http:
        seeds = (
            await http.get(
                "/graph/v1/paper/search", params={"query": "neural networks", "limit": 100}
            )
        ).json()["data"]
        asks: dict[str, Callable[[int], httpx.Request]] = {}
        for name, query in _queries().items():
            asks[f"search, {name}"] = lambda number, query=query: http.build_request(  # type: ignore[misc]
                "GET",
                "/graph/v1/paper/search",
                params={"query": query(texts[number % len(texts)]), "limit": 20, "fields": _FIELDS},
            )
        ids = [paper["paperId"] for paper in seeds]
        asks["batch of 50 papers"] = lambda number: http.build_request(
            "POST",
            "/graph/v1/paper/batch",
            params={"fields": _FIELDS},
            json={"ids": ids[number % 50 : number % 50 + 50]},
        )
        asks["recommendations"] = lambda number: http.build_request(
            "GET",
            f"/recommendations/v1/papers/forpaper/{ids[number % len(ids)]}",
            params={"limit": 8, "fields": _FIELDS},
        )
        for name, ask in asks.items():
            before = _cpu_seconds(gateway.process_id)
            latencies, seconds = await _measured(http, ask, clients)
            _print(
                f"gateway over HTTP, {name}",
                clients,
                latencies,
                seconds,
                _cpu_seconds(gateway.process_id) - before,
            )


async def _measured(
    http: httpx.AsyncClient, ask: Callable[[int], httpx.Request], clients: int
) -> tuple[list[float], float]:
    latencies: list[float] = []

    async def client(first: int) -> None:
        for number in range(first, SEARCHES, clients):
            began = time.perf_counter()
            response = await http.send(ask(number))
            latencies.append(time.perf_counter() - began)
            assert response.status_code == 200, response.text

    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for first in range(clients):
            group.create_task(client(first))
    return latencies, time.perf_counter() - started


def _print(
    name: str, clients: int, latencies: list[float], seconds: float, cpu_seconds: float
) -> None:
    ranked = sorted(latencies)
    p50, p95 = ranked[len(ranked) // 2] * 1000, ranked[int(len(ranked) * 0.95)] * 1000
    who = f"{clients} client{'s' if clients > 1 else ''}"
    each = f"{cpu_seconds / len(latencies) * 1000:.1f} ms of processor each"
    print(
        f"{name}: {who}, p50 {p50:.1f} ms, p95 {p95:.1f} ms, {len(latencies) / seconds:,.0f}/s,"
        f" {each}",
        flush=True,
    )


def _cpu_seconds(process_id: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(process_id: int) -> str:
    """What the process holds itself, and with the pages of the index it has looked at."""
    found = dict(
        line.split(":", 1) for line in Path(f"/proc/{process_id}/status").read_text().splitlines()
    )
    megabytes = {name: int(found[name].split()[0]) / 1000 for name in ("VmHWM", "RssAnon")}
    return (
        f"peak memory {megabytes['VmHWM']:.0f} MB with mapped pages of the index,"
        f" {megabytes['RssAnon']:.0f} MB of its own"
    )


if __name__ == "__main__":
    main()
