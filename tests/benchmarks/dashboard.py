"""First paint and later opening of every page on a lake of 10,000 ideas: 480,000 model calls, 640,000 comparisons."""

import tempfile
import time
from pathlib import Path

from dashboards.app.registry import PAGES
from schemas.tables import IDEA_TABLES
from tests.support.dashboard import open_page
from tests.support.report_lake import publish_report_lake
from warehouse.lake import open_writer
from warehouse.layout import Layout

COPIES = 2000
ROWS_PER_ROW = {"llm_calls": 10, "comparisons": 8, "api_calls": 6, "method_evidence": 3, "candidates": 3, "papers": 2, "passages": 2}
_FRESH = {
    "call_id": "call_id || '-' || k as call_id",
    "created_at": "created_at + to_milliseconds(n * 7000 + k * 500) as created_at",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        layout = grown_lake(Path(name))
        print(f"{'page':<12} {'first':>8} {'again':>8}")
        for page in PAGES:
            times = [_seconds(page.name, layout) for _ in range(2)]
            print(f"{page.name:<12} {times[0]:7.2f}s {times[1]:7.2f}s", flush=True)


def grown_lake(root: Path) -> Layout:
    """The lake of the report tests, its five ideas copied until there are 10,000 of realistic size, as run `run-big`."""
    layout = publish_report_lake(root)
    with open_writer(layout) as lake:
        for table in IDEA_TABLES:
            fresh = ["'run-big' as run_id", "idea_id || '-' || n as idea_id"]
            fresh += [text for column, text in _FRESH.items() if column in table.column_names]
            lake.execute(
                f"insert into {table.name} select * exclude (n, k) replace ({', '.join(fresh)}) from {table.name} "
                f"cross join (select range as n from range({COPIES})) "
                f"cross join (select range as k from range({ROWS_PER_ROW.get(table.name, 1)}))"
            )
        lake.execute(
            "insert into runs select * replace ('run-big' as run_id, 10000 as idea_count, started_at + interval 1 day as started_at) "
            "from runs"
        )
    return layout


def _seconds(name: str, layout: Layout) -> float:
    started = time.monotonic()
    page = open_page(name, layout, run="run-big")
    assert not page.exception
    return time.monotonic() - started


if __name__ == "__main__":
    main()
