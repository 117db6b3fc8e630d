"""A snapshot of 87,106 real papers: building, interrupting and resuming, and searching it through the gateway.

Prints papers per second, bytes per paper, peak memory, and p50/p95 latency of searches, look-ups and recommendations
at 1 and 16 concurrent clients, beside the index alone without gateway.
"""

import asyncio
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from schemas.settings import Settings
from tasks.literature.gateway.process import GatewayProcess
from tasks.literature.snapshot.snapshot import Snapshot, open_snapshot

DATA = Path(__file__).parents[3] / "shared" / "data"
QUESTIONS_PER_CLIENT_COUNT = 800
CLIENT_COUNTS = (1, 16)

_BUILD = (
    "import sys; from pathlib import Path; from tasks.literature.snapshot.build import build_snapshot;"
    "print(build_snapshot(Path(sys.argv[1]), Path(sys.argv[2])).fingerprint)"
)
_FIELDS = "title,abstract,authors,venue,year,publicationDate,url,externalIds,openAccessPdf,citationCount,referenceCount,corpusId"


def main() -> None:
    papers, ideas = DATA / "literature.parquet", DATA / "scholarideas.jsonl"
    if not papers.exists() or not ideas.exists():
        print(f"skipped: {DATA} is not here")
        return
    texts = [json.loads(line)["text"] for line in ideas.read_text().splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        fingerprint = _measured_build(papers, index)
        _interrupted_build(papers, Path(folder) / "interrupted", fingerprint)
        snapshot = open_snapshot(index)
        _direct(snapshot, texts)
        with GatewayProcess(Settings(), f"snapshot:{index}", Path(folder) / "cache") as gateway:
            for clients in CLIENT_COUNTS:
                asyncio.run(_through_gateway(gateway.url, texts, clients))
            print(f"gateway: peak memory {_peak_megabytes(gateway.process_id):.0f} MB")


def _build(papers: Path, index: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", _BUILD, str(papers), str(index)], stdout=subprocess.PIPE, text=True)


def _measured_build(papers: Path, index: Path) -> str:
    started, before = time.monotonic(), _children_cpu_seconds()
    fingerprint = _build(papers, index).communicate()[0].strip()
    seconds, cpu_seconds = time.monotonic() - started, _children_cpu_seconds() - before
    count = open_snapshot(index).paper_count
    size = sum(path.stat().st_size for path in index.rglob("*") if path.is_file())
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
    print(f"build: {count:,} papers in {seconds:.1f} s ({count / seconds:,.0f}/s, {cpu_seconds:.1f} s of processor)")
    print(f"index: {size / 1e6:.0f} MB, {size / count:,.0f} bytes per paper; peak memory of the build {peak:.0f} MB")
    return fingerprint


def _interrupted_build(papers: Path, index: Path, expected: str) -> None:
    """Kill the build three times at different moments, then let it finish."""
    started = time.monotonic()
    for seconds in (3.0, 5.0, 6.0):
        process = _build(papers, index)
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
    fingerprint = _build(papers, index).communicate()[0].strip()
    snapshot = open_snapshot(index)
    same = "the same fingerprint" if fingerprint == expected else "ANOTHER FINGERPRINT"
    print(f"build killed three times and resumed: {time.monotonic() - started:.1f} s in all, {snapshot.paper_count:,} papers, {same}")


def _direct(snapshot: Snapshot, texts: list[str]) -> None:
    for name, query in _queries().items():
        latencies = []
        for text in texts * 3:
            began = time.perf_counter()
            snapshot.search(query(text), 20)
            latencies.append(time.perf_counter() - began)
        _print(f"index alone, {name}", 1, latencies, sum(latencies))


def _queries() -> dict[str, Callable[[str], str]]:
    return {"6 words": lambda text: " ".join(text.split()[20:26]), "70 words": lambda text: " ".join(text.split()[20:90])}


async def _through_gateway(url: str, texts: list[str], clients: int) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        seeds = (await http.get("/graph/v1/paper/search", params={"query": "neural networks", "limit": 100})).json()["data"]
        asks: dict[str, Callable[[int], httpx.Request]] = {}
        for name, query in _queries().items():
            asks[f"search, {name}"] = lambda number, query=query: http.build_request(  # type: ignore[misc]
                "GET", "/graph/v1/paper/search", params={"query": query(texts[number % len(texts)]), "limit": 20, "fields": _FIELDS}
            )
        ids = [paper["paperId"] for paper in seeds]
        asks["batch of 50 papers"] = lambda number: http.build_request(
            "POST", "/graph/v1/paper/batch", params={"fields": _FIELDS}, json={"ids": ids[number % 50 : number % 50 + 50]}
        )
        asks["recommendations"] = lambda number: http.build_request(
            "GET", f"/recommendations/v1/papers/forpaper/{ids[number % len(ids)]}", params={"limit": 8, "fields": _FIELDS}
        )
        for name, ask in asks.items():
            latencies, seconds = await _measured(http, ask, clients)
            _print(f"gateway, {name}", clients, latencies, seconds)


async def _measured(http: httpx.AsyncClient, ask: Callable[[int], httpx.Request], clients: int) -> tuple[list[float], float]:
    latencies: list[float] = []

    async def client(first: int) -> None:
        for number in range(first, QUESTIONS_PER_CLIENT_COUNT, clients):
            began = time.perf_counter()
            response = await http.send(ask(number))
            latencies.append(time.perf_counter() - began)
            assert response.status_code == 200, response.text

    started = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for first in range(clients):
            group.create_task(client(first))
    return latencies, time.perf_counter() - started


def _print(name: str, clients: int, latencies: list[float], seconds: float) -> None:
    ranked = sorted(latencies)
    p50, p95 = ranked[len(ranked) // 2] * 1000, ranked[int(len(ranked) * 0.95)] * 1000
    print(f"{name}: {clients} client{'s' if clients > 1 else ''}, p50 {p50:.1f} ms, p95 {p95:.1f} ms, {len(latencies) / seconds:,.0f}/s")


def _children_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _peak_megabytes(process_id: int) -> float:
    status = Path(f"/proc/{process_id}/status")
    lines = status.read_text().splitlines() if os.name == "posix" and status.exists() else []
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM")), 0.0)


if __name__ == "__main__":
    main()
