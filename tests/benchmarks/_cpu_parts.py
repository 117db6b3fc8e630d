"""CPU of one process by part: what each thread's ticks went to, by where its Python stack stood.

`python -m tests.benchmarks._cpu_parts FIGURES.json evaluate …` runs the command as `assay` does.
"""

import contextlib
import json
import os
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import FrameType

TICK_SECONDS = 1 / os.sysconf("SC_CLK_TCK")
SAMPLE_SECONDS = 0.02
PARTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("imports", ("importlib._bootstrap",)),
    ("embedding", ("/tasks/embeddings/", "/onnxruntime/", "/tokenizers/")),
    (
        "validation",
        (
            "great_expectations",
            "/warehouse/units/validate.py",
            "/warehouse/validate/expectations.py",
        ),
    ),
    ("publishing", ("/warehouse/units/publish.py", "/warehouse/lake.py", "/warehouse/compact.py")),
    ("landing", ("/warehouse/units/landing.py", "/warehouse/parquet.py")),
    ("reports", ("/dashboards/",)),
    ("parsing", ("/tasks/documents/", "/pypdfium2/", "/lxml/")),
    ("HTTP", ("/httpx/", "/httpcore/", "/anyio/", "/tasks/web/", "/uvicorn/", "/starlette/")),
    ("model calls", ("/litellm/", "/openai/", "/tasks/judging/")),
    ("literature", ("/tasks/literature/",)),
    ("Prefect", ("/prefect/",)),
    ("Dask", ("/distributed/", "/dask/")),
    ("caches", ("/warehouse/stores/keyed_store.py",)),
    ("engine", ("/tasks/",)),
)


class CpuParts:
    """Samples all threads of this process; threads without Python frames are ONNX Runtime's."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._ticks: dict[int, int] = {}
        self._over = threading.Event()
        self._sampler = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> "CpuParts":
        self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._sampler.join()

    def _sample(self) -> None:
        own = threading.get_native_id()
        while not self._over.wait(SAMPLE_SECONDS):
            frames = sys._current_frames()
            stacks = {
                thread.native_id: frames.get(thread.ident or 0) for thread in threading.enumerate()
            }
            for name in (task.name for task in Path("/proc/self/task").iterdir()):
                thread_id = int(name)
                with contextlib.suppress(OSError):
                    stat = Path(f"/proc/self/task/{name}/stat").read_text().rpartition(")")[2]
                    used = sum(map(int, stat.split()[11:13]))
                    more = used - self._ticks.get(thread_id, 0)
                    self._ticks[thread_id] = used
                    if more and thread_id != own:
                        part = _part(stacks[thread_id]) if thread_id in stacks else "native threads"
                        self.seconds[part] += more * TICK_SECONDS


def _part(frame: FrameType | None) -> str:
    """The part of the innermost frame that belongs to one; imports count wherever they happen."""
    found = "other"
    while frame is not None:
        file = frame.f_code.co_filename
        for part, places in PARTS:
            if any(place in file for place in places):
                if part == "imports":
                    return part
                if found == "other":
                    found = part
        frame = frame.f_back
    return found


def main() -> None:
    figures, sys.argv = Path(sys.argv[1]), ["assay", *sys.argv[2:]]
    started = time.process_time()
    parts = CpuParts()
    try:
        with parts:
            import schemas.work
            from flows.cli.command_line import main as assay

            # All of it here, however many units.
            schemas.work.Request.in_this_process = lambda *_: True  # type: ignore[method-assign]
            assay()
    finally:
        told = {"interpreter start": started, **parts.seconds}
        told["unseen"] = max(time.process_time() - sum(told.values()), 0.0)
        children = os.times()
        told["child processes"] = children.children_user + children.children_system
        figures.write_text(json.dumps(told))


if __name__ == "__main__":
    main()
