"""The HTTP API held by 200 readers and 20 submitters at once: answers a second, and how long one
takes.

Readers ask for a run, a review and a report in turn, each as soon as the last answer is there;
submitters write down one job after the other. Nothing does the jobs meanwhile.
"""

import asyncio
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from itertools import cycle, islice
from pathlib import Path
from urllib.parse import quote

import httpx
import psutil

from schemas.people.role import Role
from tests.support.api_server import api_server, bearing, make_token
from tests.support.report_lake import publish_report_lake
from warehouse.app.jobs import job_ids
from warehouse.warehouse import Warehouse

READERS, SUBMITTERS, SECONDS = 200, 20, 30.0
READERS_OF_A_TOKEN = 10


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warehouse = publish_report_lake(folder / "warehouse")
        with api_server(warehouse, folder / "home") as (url, process):
            taken, refused = asyncio.run(_crowd(url, warehouse))
            megabytes = psutil.Process(process.pid).memory_info().rss / 1e6
        for kind, seconds in taken.items():
            ordered = statistics.quantiles(seconds, n=100)
            print(
                f"{kind}: {len(seconds) / SECONDS:.1f} a second, median {ordered[49]:.2f} s,"
                f" 95th of 100 {ordered[94]:.2f} s, longest {max(seconds):.2f} s"
            )
        accepted = len(taken["jobs submitted"])
        print(f"refused or failed: {dict(refused) or 'none'}")
        print(f"{accepted} jobs accepted, {len(job_ids(warehouse))} on disk; {megabytes:.0f} MB")


async def _crowd(url: str, warehouse: Warehouse) -> tuple[dict[str, list[float]], Counter[int]]:
    taken: dict[str, list[float]] = defaultdict(list)
    refused: Counter[int] = Counter()
    tokens = [make_token(warehouse, Role.READER) for _ in range(READERS // READERS_OF_A_TOKEN)]
    submitting = [make_token(warehouse, maximum_open_jobs=10_000) for _ in range(SUBMITTERS)]
    async with httpx.AsyncClient(
        base_url=url, timeout=120, limits=httpx.Limits(max_connections=None)
    ) as client:
        first = bearing(tokens[0])
        run_id = (await client.get("/v1/runs", headers=first)).json()["rows"][0]["run_id"]
        rows = (await client.get(f"/v1/runs/{run_id}", headers=first)).json()["rows"]
        idea_id = quote(rows[0]["idea_id"], safe="")
        paths = {
            "runs read": f"/v1/runs/{run_id}",
            "reviews read": f"/v1/runs/{run_id}/review?idea={idea_id}",
            "reports read": f"/v1/runs/{run_id}/report?idea={idea_id}",
        }
        until = time.monotonic() + SECONDS

        async def read(token: str, number: int) -> None:
            for kind, path in islice(cycle(paths.items()), number % len(paths), None):
                if time.monotonic() > until:
                    return
                began = time.monotonic()
                answer = await client.get(path, headers=bearing(token))
                _note(kind, answer, began)

        async def submit(token: str, number: int) -> None:
            count = 0
            while time.monotonic() < until:
                count += 1
                began = time.monotonic()
                body = {"ideas": [f"We test claim {count} of submitter {number} on held-out data."]}
                answer = await client.post("/v1/jobs/evaluate", json=body, headers=bearing(token))
                _note("jobs submitted", answer, began)

        def _note(kind: str, answer: httpx.Response, began: float) -> None:
            if answer.is_success:
                taken[kind].append(time.monotonic() - began)
            else:
                refused[answer.status_code] += 1

        await asyncio.gather(
            *(read(tokens[number % len(tokens)], number) for number in range(READERS)),
            *(submit(token, number) for number, token in enumerate(submitting)),
        )
    return taken, refused


if __name__ == "__main__":
    main()
