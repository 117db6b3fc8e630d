"""What landing and publishing cost, and that the publisher's memory does not grow with the number
of ideas.

Run by `make tools`, or alone: pytest tests/benchmarks/warehouse_publish.py -s
"""

import multiprocessing
import resource
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.evaluations import make_evaluation, make_run
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.warehouse import Warehouse

SIZES = (300, 1000)
SPAWN = multiprocessing.get_context("spawn")


def land_ideas(root: str, count: int) -> dict[str, float]:
    for number in range(count):
        receipt = land(
            Warehouse(Path(root)),
            make_evaluation(number, papers=60, methods=6, dimensions=5, compared=25, calls=60),
        )
    return used() | {
        "rows_per_idea": float(sum(receipt.rows.values())),
        "bytes_per_idea": float(receipt.bytes),
    }


def publish_ideas(root: str, count: int) -> dict[str, float]:
    from warehouse.units.publish import publish

    started = time.monotonic()
    assert publish(Warehouse(Path(root)), RUNS, make_run(ideas=count)).published
    return used() | {"wall_seconds": time.monotonic() - started}


def used() -> dict[str, float]:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_megabytes": usage.ru_maxrss / 1024,
    }


def apart(function: Any, *arguments: Any) -> dict[str, float]:
    """Run in a process of its own, so that its peak memory is its own."""
    with SPAWN.Pool(1) as pool:
        return pool.apply(function, arguments)


@pytest.mark.benchmark
@pytest.mark.timeout(1800)
def test_publishing_takes_no_more_memory_for_more_ideas(tmp_path: Path) -> None:
    peaks = []
    for count in SIZES:
        root = str(tmp_path / str(count))
        for name, figures in (
            ("land", apart(land_ideas, root, count)),
            ("publish", apart(publish_ideas, root, count)),
        ):
            per_idea = 1000 * figures["cpu_seconds"] / count
            told = ", ".join(f"{key} {value:,.1f}" for key, value in figures.items())
            sys.stdout.write(f"\n{name} {count} ideas: {per_idea:.0f} CPU ms per idea; {told}")
        peaks.append(figures["peak_megabytes"])
    assert peaks[-1] < 1.3 * peaks[0]
