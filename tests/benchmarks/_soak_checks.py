"""What a soak came to: whether anything is missing, doubled or paid for twice, and its figures."""

import csv
import itertools
import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import linear_regression, median
from typing import Any

import duckdb

from tests.benchmarks._soak_cluster import CATALOGUE, SAMPLES
from tests.benchmarks._soak_servers import ASKED
from tests.support.assay_command import COMMAND
from tests.support.catalogues import with_catalogue
from warehouse.kinds.runs.landing import RUNS
from warehouse.warehouse import Warehouse

Samples = dict[tuple[str, int], list[tuple[float, int, float]]]

DONE = "done.json"
CALLS_ON_THEIR_WAY = 16
"""Most calls that a worker has in flight: as many are lost with it."""
IDLE_BYTES = 50_000_000
"""Less than that have only trackers and the like."""
LOADED_SECONDS = 120
"""After which a new process has read in what it needs."""


@dataclass
class Done:
    """What was done to a run so far, kept beside it."""

    folder: Path
    ideas: int
    began_at: float
    worker_kills: list[float] = field(default_factory=list)
    driver_kills: list[float] = field(default_factory=list)
    exit_code: int | None = None

    @property
    def warehouse(self) -> Path:
        return self.folder / "warehouse"

    def keep(self) -> None:
        (self.folder / DONE).write_text(json.dumps(asdict(self), default=str))

    @classmethod
    def of(cls, folder: Path) -> "Done":
        return cls(**json.loads((folder / DONE).read_text()) | {"folder": folder})


def report(done: Done) -> None:
    """All that files tell, also of a run that was stopped."""
    receipts = list(read_receipts(done.warehouse))
    landed = len(receipts)
    seconds = max((at for at, _ in receipts), default=done.began_at) - done.began_at
    print(f"{landed:,} of {done.ideas:,} ideas landed in {seconds / 60:.1f} min;", end=" ")
    print("stopped" if done.exit_code is None else f"the command ended with {done.exit_code}")
    print(f"killed: {len(done.worker_kills)} workers, the command {len(done.driver_kills)} times")
    _report_receipts(done, [told for _, told in receipts])
    _report_calls(done)
    _report_pace([at for at, _ in receipts], done.began_at)
    samples = read_samples(done.folder / SAMPLES)
    _report_parts(samples, landed)
    _report_memory(samples)
    _report_disk(done.folder, landed)


def read_receipts(warehouse: Path) -> Iterator[tuple[float, dict[str, Any]]]:
    """Each receipt with the time at which it was written."""
    for path in warehouse.glob("landing/run=*/idea=*/receipt.json"):
        yield path.stat().st_mtime, json.loads(path.read_bytes())


def _report_receipts(done: Done, receipts: Sequence[Mapping[str, Any]]) -> None:
    ideas = Counter(told["idea_id"] for told in receipts)
    wanted = {f"idea-{number:05d}" for number in range(done.ideas)}
    doubled = sum(count > 1 for count in ideas.values())
    print(f"receipts: {len(wanted - set(ideas)):,} ideas missing, {doubled} twice,", end=" ")
    print(f"{len(set(ideas) - wanted)} of nobody")
    print(f"states: {_counted(told['state'] for told in receipts)}")
    print(f"ended early: {_counted(told['incomplete_reason'] or 'no' for told in receipts)}")


def _counted(words: Iterator[str] | Any) -> str:
    return ", ".join(f"{word} {count:,}" for word, count in Counter(words).most_common())


def report_lake(warehouse: Path, env: Mapping[str, str]) -> None:
    """What was published, while the servers of the lake are there."""
    opened, url = Warehouse(warehouse), env.get("ASSAY_CATALOGUE_URL")
    with with_catalogue(opened, url).reader() as lake:
        for row in _rows(lake, "select state, idea_count, evaluated_count, failed_count from runs"):
            print(f"run: {row}")
        judged = "count(*), count(distinct idea_id), count(score_1_to_5), count(unscored_reason)"
        (told,) = _rows(lake, f"select {judged} from novelty")
        print("lake: {} judgements of {} ideas, {} scored and {} with a reason".format(*told))
        reasons = _rows(lake, "select unscored_reason from novelty where 1 = 1")
        print(f"reasons: {_counted(reason or 'scored' for (reason,) in reasons)}")
        doubled = {
            table.name: count
            for table in RUNS.published_tables
            if (count := _doubled(lake, table.name, table.key))
        }
        print(f"rows whose key occurs twice: {doubled or 'none'}")
    verified = subprocess.run(
        [*COMMAND, "warehouse", "verify", "--warehouse", str(warehouse)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    print(f"verify ends with {verified.returncode}: {verified.stdout.strip()[-300:]}")


def _rows(lake: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return lake.execute(query).fetchall()


def _doubled(lake: duckdb.DuckDBPyConnection, table: str, key: Sequence[str]) -> int:
    names = ", ".join(f"coalesce({name}::varchar, '')" for name in key)
    (row,) = _rows(lake, f"select count(*) - count(distinct row({names})) from {table}")
    return int(row[0])


def _report_calls(done: Done) -> None:
    """Against the server's own count. A killed worker takes what is on its way with it; a killed
    command leaves its workers at their shards, while the next one deals out the same ideas.
    """
    asked = json.loads((done.folder / ASKED).read_text())
    again = asked["again"]
    allowed = CALLS_ON_THEIR_WAY * (len(done.worker_kills) + 3 * len(done.driver_kills))
    print(
        f"model: {asked['requests']:,} requests, {asked['questions']:,} questions answered,",
        end=" ",
    )
    print(f"{len(again)} answered twice (with as many kills up to {allowed} are explained)")
    kills = [*done.worker_kills, *done.driver_kills]
    apart = [one for one in again if not any(one[0] <= kill <= one[1] for kill in kills)]
    print(f"  of these {len(apart)} without a kill between both answers")
    print(f"faults: model {asked['faults']}; literature {asked['look_ups']}")


def _report_pace(landed: Sequence[float], began_at: float) -> None:
    """Ideas a minute for each tenth of them; the first has the start of all parts in it."""
    ordered = sorted(landed)
    size = max(1, len(ordered) // 10)
    edges = [began_at, *(ordered[min(n * size, len(ordered)) - 1] for n in range(1, 11))]
    if len(ordered) < 10:
        return
    pace = [60 * size / (last - first) for first, last in itertools.pairwise(edges)]
    print(f"ideas a minute by tenth: {', '.join(f'{each:.0f}' for each in pace)}")


def read_samples(path: Path) -> Samples:
    """When, bytes and processor seconds, by part and process."""
    series: Samples = {}
    with path.open() as stream:
        for at, role, pid, memory, used in csv.reader(stream):
            series.setdefault((role, int(pid)), []).append((float(at), int(memory), float(used)))
    return series


def _report_parts(samples: Samples, ideas: int) -> None:
    parts: Counter[str] = Counter()
    for (role, _), points in samples.items():
        parts[role] += points[-1][2]
    print(
        f"CPU-seconds: {sum(parts.values()):,.0f}, {sum(parts.values()) / max(ideas, 1):.3f} an idea"
    )
    for role, used in sorted(parts.items(), key=lambda each: -each[1]):
        print(f"  {role:16} {used:8,.0f}  {used / max(ideas, 1):.4f} an idea")


def _report_memory(samples: Samples) -> None:
    """Of each process that lived long: median of its first and last tenth, and the slope of its
    second half.
    """
    print("memory: part, minutes it lived, MB at first, in the middle and last, MB an hour at last")
    for (role, pid), points in sorted(samples.items()):
        points = [each for each in points if each[0] > points[0][0] + LOADED_SECONDS]
        if role == CATALOGUE or len(points) < 60 or points[-1][1] < IDLE_BYTES:
            continue
        megabytes = [memory / 1e6 for _, memory, _ in points]
        tenth, half = max(1, len(points) // 10), len(points) // 2
        hours = [at / 3600 for at, _, _ in points[half:]]
        slope = linear_regression([at - hours[0] for at in hours], megabytes[half:]).slope
        lived = (points[-1][0] - points[0][0] + LOADED_SECONDS) / 60
        first, middle, last = (
            median(part)
            for part in (megabytes[:tenth], megabytes[half : half + tenth], megabytes[-tenth:])
        )
        print(
            f"  {role:12} {pid:8} {lived:5.0f} {first:7.0f} {middle:7.0f} {last:7.0f} {slope:+8.1f}"
        )


def _report_disk(folder: Path, ideas: int) -> None:
    print("disk, bytes an idea:")
    for part in (
        *sorted((folder / "warehouse").iterdir()),
        folder / "literature",
        folder / "prefect",
    ):
        if part.is_dir():
            size = sum(path.stat().st_size for path in part.rglob("*") if path.is_file())
            print(f"  {part.name:12} {size / max(ideas, 1):10,.0f}")
