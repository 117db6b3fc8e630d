"""What a soak came to: whether anything is missing, doubled or paid for twice, and its figures."""

import csv
import itertools
import json
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import linear_regression, median
from typing import TYPE_CHECKING, Any

import duckdb

from tests.benchmarks._soak_cluster import CATALOGUE, SAMPLES, Watch
from tests.benchmarks._soak_servers import ASKED
from tests.support.assay_command import COMMAND
from warehouse.lake import may_hold_a_lake, open_reader
from warehouse.layout import Layout
from warehouse.runs.landing import RUNS

if TYPE_CHECKING:
    from tests.benchmarks.soak import Soak

CALLS_ON_THEIR_WAY = 16
"""Most calls that a worker has in flight: as many are lost with it."""
LOADED_SECONDS = 120
"""After which a new process has read in what it needs."""


def report(soak: "Soak", watch: Watch, began_at: float) -> None:
    receipts = list(read_receipts(soak.warehouse))
    seconds = max((at for at, _ in receipts), default=began_at) - began_at
    print(f"{len(receipts):,} of {soak.ideas:,} ideas landed in {seconds / 60:.1f} min;", end=" ")
    print(f"the command ended with {soak.exit_code}" if soak.exit_code is not None else "stopped")
    print(f"killed: {len(soak.worker_kills)} workers, the command {len(soak.driver_kills)} times")
    _report_receipts(soak, [told for _, told in receipts])
    _report_lake(soak)
    _report_calls(soak)
    _report_pace([at for at, _ in receipts], began_at)
    _report_parts(watch, len(receipts))
    _report_memory(soak.made.folder / SAMPLES)
    _report_disk(soak.made.folder, len(receipts))


def read_receipts(warehouse: Path) -> Iterator[tuple[float, dict[str, Any]]]:
    """Each receipt with the time at which it was written."""
    for path in warehouse.glob("landing/run=*/idea=*/receipt.json"):
        yield path.stat().st_mtime, json.loads(path.read_bytes())


def _report_receipts(soak: "Soak", receipts: Sequence[Mapping[str, Any]]) -> None:
    ideas = Counter(told["idea_id"] for told in receipts)
    wanted = {f"idea-{number:05d}" for number in range(soak.ideas)}
    doubled = sum(count > 1 for count in ideas.values())
    print(f"receipts: {len(wanted - set(ideas)):,} ideas missing, {doubled} twice,", end=" ")
    print(f"{len(set(ideas) - wanted)} of nobody")
    print(f"states: {_counted(told['state'] for told in receipts)}")
    print(f"ended early: {_counted(told['incomplete_reason'] or 'no' for told in receipts)}")


def _counted(words: Iterator[str] | Any) -> str:
    return ", ".join(f"{word} {count:,}" for word, count in Counter(words).most_common())


def _report_lake(soak: "Soak") -> None:
    layout, url = Layout(soak.warehouse), soak.made.env.get("ASSAY_CATALOGUE_URL")
    if soak.exit_code not in (0, 1) or not may_hold_a_lake(layout, url):
        print("lake: not published")
        return
    with open_reader(layout, catalogue_url=url) as lake:
        for row in _rows(lake, "select state, idea_count, evaluated_count, failed_count from runs"):
            print(f"run: {row}")
        judged = "count(*), count(distinct idea_id), count(score_1_to_5), count(unscored_reason)"
        (told,) = _rows(lake, f"select {judged} from novelty_judgements")
        print("lake: {} judgements of {} ideas, {} scored and {} with a reason".format(*told))
        reasons = _rows(lake, "select unscored_reason from novelty_judgements where 1 = 1")
        print(f"reasons: {_counted(reason or 'scored' for (reason,) in reasons)}")
        doubled = {
            table.name: count
            for table in RUNS.published_tables
            if (count := _doubled(lake, table.name, table.key))
        }
        print(f"rows whose key occurs twice: {doubled or 'none'}")
    verified = subprocess.run(
        [*COMMAND, "warehouse", "verify", "--warehouse", str(soak.warehouse)],
        env=soak.made.env,
        capture_output=True,
        text=True,
        check=False,
    )
    print(f"verify ends with {verified.returncode}: {verified.stdout.strip()[-300:]}")


def _rows(lake: duckdb.DuckDBPyConnection, query: str) -> list[tuple[Any, ...]]:
    return lake.execute(query).fetchall()


def _doubled(lake: duckdb.DuckDBPyConnection, table: str, key: Sequence[str]) -> int:
    names = ", ".join(f"coalesce({name}::varchar, '')" for name in key)
    (row,) = _rows(lake, f"select count(*) - count(distinct ({names},)) from {table}")
    return int(row[0])


def _report_calls(soak: "Soak") -> None:
    """Against the server's own count. A killed worker takes what is on its way with it; a killed
    command leaves its workers at their shards, while the next one deals out the same ideas.
    """
    asked = json.loads((soak.made.folder / ASKED).read_text())
    again = asked["again"]
    allowed = CALLS_ON_THEIR_WAY * (len(soak.worker_kills) + 3 * len(soak.driver_kills))
    print(
        f"model: {asked['requests']:,} requests, {asked['questions']:,} questions answered,",
        end=" ",
    )
    print(f"{len(again)} answered twice (with as many kills up to {allowed} are explained)")
    kills = [*soak.worker_kills, *soak.driver_kills]
    apart = [at for at in again if not any(0 <= at - kill < 60 for kill in kills)]
    print(f"  of these {len(apart)} not within a minute after a kill")
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


def _report_parts(watch: Watch, ideas: int) -> None:
    parts = watch.by_part()
    print(
        f"CPU-seconds: {sum(parts.values()):,.0f}, {sum(parts.values()) / max(ideas, 1):.3f} an idea"
    )
    for role, used in sorted(parts.items(), key=lambda each: -each[1]):
        print(f"  {role:16} {used:8,.0f}  {used / max(ideas, 1):.4f} an idea")


def _report_memory(samples: Path) -> None:
    """Of each process that lived long: median of its first and last tenth, and the slope of its
    second half.
    """
    series: dict[tuple[str, int], list[tuple[float, int]]] = {}
    with samples.open() as stream:
        for at, role, pid, memory, _ in csv.reader(stream):
            series.setdefault((role, int(pid)), []).append((float(at), int(memory)))
    print("memory: part, minutes it lived, MB at first, in the middle and last, MB an hour at last")
    for (role, pid), points in sorted(series.items()):
        points = [each for each in points if each[0] > points[0][0] + LOADED_SECONDS]
        if role == CATALOGUE or len(points) < 60:
            continue
        megabytes = [memory / 1e6 for _, memory in points]
        tenth, half = max(1, len(points) // 10), len(points) // 2
        hours = [at / 3600 for at, _ in points[half:]]
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
