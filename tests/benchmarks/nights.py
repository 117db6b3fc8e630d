"""Thirty nights of a thousand ideas: what publication, lake, marts and pages of the dashboard come
to, with retention and compaction at work.

python -m tests.benchmarks nights [--nights 30] [--ideas 1000] [--landed 1000]
    [--every 1] [--base 8 | --warehouse DIR]

A few of the bundled ideas are really evaluated. Every night lands them under other names and dates,
and is validated, published and reported as a run is. Two options take a fraction of the time, while
marts and pages read as many rows: with `--landed` below `--ideas` the rest of a night are copies
made inside the lake, and with `--every N` only the first, each Nth and the last night are landed
and published; the others are copies of the first, each in one transaction.
"""

import argparse
import logging
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
from starlette.testclient import TestClient

from dashboards.app.data import clear_cached_answers
from dashboards.app.site import PAGES
from dashboards.views.write_run import write_reports
from flows.works.evaluate.request import bundled_file
from schemas.base import Noun, replace
from schemas.columns import ColumnType, Table
from schemas.identifiers import EvaluationKey, RunId, content_hash
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.run import Run
from schemas.tables import IDEA_TABLES
from tests.benchmarks._assay import environment, first
from tests.support.assay_command import COMMAND
from tests.support.openai_server import start_openai_server
from tests.support.site import site_of
from warehouse.compact import compact
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.lake import transaction
from warehouse.statements import MARTS
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

CLOCKS = {"wall": time.monotonic, "cpu": time.process_time}
COMPACTED_EVERY = 10
COPIES_AT_ONCE = 25
_TOLD_APART = ("idea_id", "evaluation_key", "call_id")


@dataclass
class Nights:
    """A lake that grows by a night at a time."""

    warehouse: Warehouse
    run: Run
    models: Sequence[IdeaEvaluation]
    ideas: int
    landed: int
    nights: int

    def night(self, number: int) -> tuple[float, float]:
        """Land, publish and report; the seconds of the last two."""
        run = self._run(number)
        by = run.started_at - self.run.started_at
        models = [shifted(each, by) for each in self.models]
        for place in range(self.landed):
            land(self.warehouse, renamed(models[place % len(models)], run.run_id, place))
        started = time.monotonic()
        report = publish(self.warehouse, RUNS, run)
        assert report.published, report.failed_expectations
        published = time.monotonic()
        write_reports(self.warehouse, run.run_id)
        ended = time.monotonic()
        self._copy(run)
        return published - started, ended - published

    def _run(self, number: int) -> Run:
        """Ended so many days ago that the last one ended just now."""
        by = datetime.now(UTC) - self.run.finished_at - timedelta(days=self.nights - number)
        return replace(
            self.run,
            run_id=RunId(f"night-{number:02d}"),
            idea_count=self.landed,
            evaluated_count=self.landed,
            scored_count=self.landed if self.run.scored_count is not None else None,
            started_at=self.run.started_at + by,
            finished_at=self.run.finished_at + by,
        )

    def copied(self, number: int) -> float:
        """The first night once more, later; the seconds of its transaction."""
        run, source = self._run(number), self._run(1)
        days = (run.started_at - source.started_at).days
        started = time.monotonic()
        with self.warehouse.publisher() as connection, transaction(connection, run.run_id):
            for table in RUNS.published_tables:
                moved = [
                    f"{column.name} + interval {days} day as {column.name}"
                    for column in table.columns
                    if column.type is ColumnType.TIMESTAMP
                ]
                changed = ", ".join((f"'{run.run_id}' as run_id", *moved))
                connection.execute(
                    f"insert into {table.name} select * replace ({changed}) from {table.name}"
                    f" where run_id = '{source.run_id}'"
                )
        return time.monotonic() - started

    def _copy(self, run: Run) -> None:
        copies = self.ideas // self.landed
        with self.warehouse.publisher() as connection:
            for start in range(1, copies, COPIES_AT_ONCE):
                with transaction(connection, run.run_id):
                    for table in IDEA_TABLES:
                        copy_ideas(
                            connection,
                            table,
                            start,
                            min(start + COPIES_AT_ONCE, copies),
                            run_id=run.run_id,
                        )


def copy_ideas(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    first: int,
    last: int,
    *,
    run_id: RunId,
) -> None:
    """Insert copies `first` to `last` of a run's ideas; what tells rows apart gets the copy's number, long
    texts get words of their own.

    An idea's rows lie together, as they do where ideas land one by one.
    """
    names = table.column_names
    changed = [
        f"case when {name} is null then null else {name} || '-c' || copy end as {name}"
        for name in _TOLD_APART
        if name in names
    ]
    texts = [
        name for name in ("text", "abstract", "support", "comparison", "title") if name in names
    ]
    changed += [f"{name} || ' ' || md5(copy || idea_id) as {name}" for name in texts]
    of_models = (
        f"run_id = '{run_id}' and idea_id is not null and not regexp_matches(idea_id, '-c\\d+$')"
    )
    connection.execute(
        f"insert into {table.name} select * exclude (copy) replace ({', '.join(changed)}) from"
        f" (select m.*, c.copy::varchar as copy from {table.name} as m cross join range({first},"
        f" {last}) as c(copy) where {of_models}) order by idea_id"
    )


def shifted(value: Any, by: timedelta) -> Any:
    """The same with every moment in it later."""
    if isinstance(value, datetime):
        return value + by
    if isinstance(value, tuple):
        later = tuple(shifted(each, by) for each in value)
        return value if all(map(_same, value, later)) else later
    if isinstance(value, Noun):
        changes = {name: new for name, old in value if not _same(old, new := shifted(old, by))}
        return replace(value, **changes) if changes else value
    return value


def _same(one: object, other: object) -> bool:
    return one is other


def renamed(model: IdeaEvaluation, run_id: RunId, place: int) -> IdeaEvaluation:
    name = f"{model.idea.idea_id}-{place:04d}"
    return replace(
        model,
        run_id=run_id,
        evaluation_key=EvaluationKey(content_hash(f"{run_id} {name}", length=32)),
        idea=replace(model.idea, idea_id=name),
        llm_calls=tuple(replace(call, idea_id=name) for call in model.llm_calls),
        api_calls=tuple(replace(call, idea_id=name) for call in model.api_calls),
    )


def evaluated(folder: Path, count: int) -> Path:
    """A warehouse with a run of bundled ideas, judged by a model on loopback."""
    ideas = first(bundled_file("ideas.jsonl"), folder / "ideas.jsonl", count)
    with start_openai_server(record=False) as server:
        engine = ["--engine", "litellm:openai/loopback", "--api-base", server.url]
        literature = ["--literature", f"snapshot:{bundled_file('papers.jsonl')}"]
        subprocess.run(
            [
                *(*COMMAND, "evaluate", str(ideas), "--warehouse", str(folder / "base")),
                *(*engine, *literature, "--json"),
            ],
            env=environment(folder / "home", OPENAI_API_KEY="none"),
            stdout=subprocess.DEVNULL,
            check=True,
        )
    return folder / "base"


def newest(warehouse: Path) -> tuple[Run, list[IdeaEvaluation]]:
    with Warehouse(warehouse).queries() as queries:
        run = queries.latest_run()
        return run, [each.evaluation for each in queries.idea_reviews(run.run_id)]


@dataclass
class Latencies:
    """Seconds by what was asked and when, each several times."""

    repeat: int
    clock: Callable[[], float]
    seconds: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def look(self, warehouse: Warehouse, when: str) -> None:
        with warehouse.reader() as lake:
            for mart in MARTS:
                self._take(f"mart {mart}", when, partial(_rows, lake, mart))
        site = site_of(warehouse)
        for path in [page.path for page in PAGES if page.label and not page.is_post]:
            site.get(path)  # imports what it needs; the server does so once
            self._take(f"page {path}", when, partial(opened, site, path))

    def _take(self, what: str, when: str, ask: Callable[[], object]) -> None:
        taken = self.seconds.setdefault(what, {}).setdefault(when, [])
        for _ in range(self.repeat):
            started = self.clock()
            ask()
            taken.append(self.clock() - started)

    def lines(self) -> Iterator[str]:
        whens = list(next(iter(self.seconds.values())))
        yield "median / 95th percentile, ms".ljust(30) + "".join(each.rjust(20) for each in whens)
        for what, found in self.seconds.items():
            told = (
                f"{_median(found[w]):,.0f} / {_p95(found[w]):,.0f}" for w in whens if w in found
            )
            yield what.ljust(30) + "".join(each.rjust(20) for each in told)


def _rows(lake: duckdb.DuckDBPyConnection, mart: str) -> int:
    return len(lake.execute(f"from {mart}").fetchall())


def opened(site: TestClient, path: str) -> None:
    """The page, with nothing cached."""
    clear_cached_answers()
    assert site.get(path).status_code == 200


def _median(seconds: Sequence[float]) -> float:
    return 1000 * statistics.median(seconds)


def _p95(seconds: Sequence[float]) -> float:
    if len(seconds) == 1:
        return 1000 * seconds[0]
    return 1000 * statistics.quantiles(seconds, n=20, method="inclusive")[-1]


def size(path: Path) -> float:
    """In megabytes."""
    files = [path] if path.is_file() else path.rglob("*")
    return sum(each.stat().st_size for each in files if each.is_file()) / 1e6


def sizes(warehouse: Warehouse) -> str:
    parts = {"catalogue": warehouse.catalogue, "data": warehouse.data, "landing": warehouse.landing}
    return ", ".join(f"{name} {size(path):,.1f} MB" for name, path in parts.items())


def command(warehouse: Warehouse, *arguments: str) -> None:
    started = time.monotonic()
    done = subprocess.run(
        [*COMMAND, *arguments, "--warehouse", str(warehouse.root)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = " ".join((done.stdout + done.stderr).split())[-200:]
    print(f"assay {' '.join(arguments)}: {time.monotonic() - started:.1f} s; {told}")
    print(f"  then {sizes(warehouse)}", flush=True)


def main() -> None:
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser(prog="nights")
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--ideas", type=int, default=1000)
    parser.add_argument("--landed", type=int, default=None, help="default: all of them")
    parser.add_argument(
        "--every", type=int, default=1, help="of these nights the others are copies"
    )
    parser.add_argument("--base", type=int, default=8, help="ideas that are really evaluated")
    parser.add_argument("--warehouse", type=Path, help="whose newest run is taken instead")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall", help="cpu: when busy")
    parser.add_argument("--looked-at", default="1,10,30", help="nights, and after the last")
    parser.add_argument("--keep-days", type=int, default=14, help="what expire is told at the end")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-nights-") as name:
        folder = Path(name)
        run, models = newest(options.warehouse or evaluated(folder, options.base))
        warehouse = Warehouse(folder / "warehouse")
        landed = options.landed or options.ideas
        nights = Nights(warehouse, run, models, options.ideas, landed, options.nights)
        latencies = Latencies(options.repeat, CLOCKS[options.clock])
        _grow(nights, latencies, options.every, set(map(int, options.looked_at.split(","))))
        command(warehouse, "runs", "expire", "--older-than", str(options.keep_days), "--yes")
        command(warehouse, "warehouse", "compact")
        compact(warehouse, keep=timedelta(0))
        print(f"once no snapshot reads what went: {sizes(warehouse)}", flush=True)
        latencies.look(warehouse, "after retention")
        print(*latencies.lines(), sep="\n")


def _grow(nights: Nights, latencies: Latencies, every: int, looked_at: set[int]) -> None:
    for number in range(1, nights.nights + 1):
        if number in (1, nights.nights) or number % every == 0:
            publication, reports = nights.night(number)
            told = (
                f"{nights.landed:,} ideas published in {publication:.1f} s, reports {reports:.1f} s"
            )
        else:
            told = f"copied in {nights.copied(number):.1f} s"
        print(f"night {number}: {told}; {sizes(nights.warehouse)}", flush=True)
        if number % COMPACTED_EVERY == 0:
            command(nights.warehouse, "warehouse", "compact")
        if number in looked_at or number == nights.nights:
            latencies.look(nights.warehouse, f"night {number}")
            print(*latencies.lines(), sep="\n", flush=True)


if __name__ == "__main__":
    main()
