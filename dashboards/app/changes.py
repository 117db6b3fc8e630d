"""Change events for open pages; all pages share one look at the warehouse."""

import asyncio
from collections.abc import AsyncIterator
from itertools import islice

from starlette.concurrency import run_in_threadpool

from dashboards.app.data import Lake
from schemas.errors import AssayError
from schemas.identifiers import content_hash
from warehouse.app.database import services_file
from warehouse.app.jobs import jobs, log_tail

LOOK_SECONDS = 1.0
_MOST_JOBS = 50


class Changes:
    """Versions of changing content: publications, active runs, jobs and services."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._version, self._last_look = "", 0.0
        self._look_lock: asyncio.Lock | None = None

    async def versions(self) -> AsyncIterator[str]:
        """Yield the current version, then each new one."""
        last_version = ""
        while True:
            version = await self._current_version()
            if version != last_version:
                yield version
                last_version = version
            await asyncio.sleep(LOOK_SECONDS)

    async def _current_version(self) -> str:
        self._look_lock = self._look_lock or asyncio.Lock()
        async with self._look_lock:
            clock = asyncio.get_running_loop().time()
            if not self._version or clock - self._last_look >= LOOK_SECONDS:
                self._version = await run_in_threadpool(self._look)
                self._last_look = clock
        return self._version

    def _look(self) -> str:
        try:
            snapshot = self._lake.snapshot() if self._lake.exists else ""
            run_states = [
                (run.planned.run_id, run.activity, run.in_words, run.cost_usd)
                for run in self._lake.under_way()
            ]
            return content_hash(repr((snapshot, run_states, self._jobs(), self._services())))
        except AssayError as error:  # the reloaded page shows the error
            return content_hash(str(error))

    def _jobs(self) -> list[tuple[object, ...]]:
        if self._lake.warehouse.objects is not None:
            return []
        newest_jobs = islice(jobs(self._lake.warehouse), _MOST_JOBS)
        return [
            (job.job_id, job.status, job.stop_requested, log_tail(job)[-1:] if job.at_work else ())
            for job in newest_jobs
        ]

    def _services(self) -> list[int]:
        """Return the modification times of the services database, in nanoseconds."""
        file = services_file(self._lake.warehouse)
        files = (file, file.with_name(f"{file.name}-wal"))
        return [each.stat().st_mtime_ns for each in files if each.exists()]
