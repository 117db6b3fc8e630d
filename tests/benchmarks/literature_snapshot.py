"""Cost of building a snapshot of 87,106 real papers and of asking it through the gateway over HTTP.

Prints papers per second, bytes per paper, peak memory, and p50/p95 latency of searches, look-ups
and recommendations at 1 and 16 concurrent clients.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from schemas.choices import LiteratureChoice
from schemas.settings import Settings
from tasks.literature.gateway.process import GatewayProcess
from tasks.literature.snapshot.snapshot import open_snapshot
from tests.benchmarks._assay import IDEAS, PAPERS, data_is_here

CLIENT_COUNTS = (1, 16)
SEARCHES = 800

_BUILD = (
    "import sys, resource; from pathlib import Path; from tasks.literature.snapshot.build import"
    " build_snapshot; build_snapshot(Path(sys.argv[1]), Path(sys.argv[2])); used"
    " = resource.getrusage(resource.RUSAGE_SELF);print(used.ru_maxrss, used.ru_utime +"
    " used.ru_stime)"
)
_FIELDS = "title,abstract,authors,venue,year,publicationDate,url,externalIds,openAccessPdf,citationCount,referenceCount,corpusId"


def main() -> None:
    if not data_is_here():
        return
    texts = [json.loads(line)["text"] for line in IDEAS.read_text().splitlines()]
    print(f"load of the machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        index = Path(folder) / "index"
        _measure_build(index)
        with GatewayProcess(Settings(), LiteratureChoice(index), Path(folder) / "cache") as gateway:
            for clients in CLIENT_COUNTS:
                asyncio.run(_through_gateway(gateway, texts, clients))
            print(f"gateway: {_memory(gateway.process_id)}")


def _measure_build(index: Path) -> None:
    started = time.monotonic()
    built = subprocess.check_output([sys.executable, "-c", _BUILD, PAPERS, index], text=True)
    peak_kilobytes, cpu_seconds = built.split()
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


def _bytes_below(path: Path) -> int:
    return (
        path.stat().st_size
        if path.is_file()
        else sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    )


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
