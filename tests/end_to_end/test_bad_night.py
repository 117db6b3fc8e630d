"""The whole job over the live API's own protocol, on the worst of nights.

Ten ideas, two workers, a limit, every kind of fault, one look-up that never succeeds, and the
gateway killed in the middle.
"""

import json
import random
import re
import sqlite3
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from dashboards.render.wording import reason
from flows.works.evaluate.request import bundled_file
from tests.support.assay_command import assay, find_child, kill_hard, rows, start_assay
from tests.support.assay_here import assay_here
from tests.support.semantic_scholar_server import FAULTS, SemanticScholarServer, bundled_corpus
from tests.support.stalls import Stalls
from warehouse.source_states import RECORD_NAME

pytestmark = [pytest.mark.end_to_end, pytest.mark.undisturbed]

RATE = 8
KEY = "s2-very-secret-key"
KILLED_AFTER = 60
LOST_WORD = "abstention"
"""In queries of one of the ideas: of more, the run would not be in order."""

EVIDENCE = (
    "methods",
    "passages",
    "papers",
    "method_evidence",
    "soundness_reviews",
    "candidates",
    "comparisons",
    "citations",
    "failures",
)
MADE_ANEW = {"created_at", "run_id", "failure_id", "latency_seconds", "reused_from_run_id"}


def ten_ideas(path: Path) -> Path:
    """Nine of the bundled ones, and one of them once more under another title."""
    ideas = [json.loads(line) for line in bundled_file("ideas.jsonl").read_text().splitlines()[:9]]
    last = ideas[-1]
    again = last | {"idea_id": "again", "title": f"{last['title']}, revisited"}
    path.write_text("".join(json.dumps(idea) + "\n" for idea in [*ideas, again]))
    return path


def settings(server: SemanticScholarServer, requests_per_second: float) -> dict[str, str]:
    return {
        "ASSAY_LITERATURE__UPSTREAM_URL": server.url,
        "ASSAY_LITERATURE__REQUESTS_PER_SECOND": str(requests_per_second),
        "ASSAY_LITERATURE__TIMEOUT_SECONDS": "2",
        "ASSAY_LITERATURE__MAXIMUM_ATTEMPTS": "7",
        "ASSAY_LITERATURE__RETRY_BASE_SECONDS": "0.05",
        "SEMANTIC_SCHOLAR_API_KEY": KEY,
    }


def command(ideas: Path, warehouse: Path) -> list[str]:
    options = ["--literature", "live", "--profile", "economy", "--workers", "2", "--json"]
    return ["evaluate", str(ideas), "--warehouse", str(warehouse), *options]


def evidence(warehouse: Path) -> dict[str, list[str]]:
    """What the ideas were judged by, without clocks and names of the run."""
    seen = {}
    for table in EVIDENCE:
        found = rows(warehouse, f"from {table}")
        told = (
            repr({name: value for name, value in row.items() if name not in MADE_ANEW})
            for row in found
        )
        seen[table] = sorted(re.sub(r"127\.0\.0\.1:\d+", "the server", row) for row in told)
    return seen


def waits(record: Path) -> list[tuple[float, float]]:
    """When each request was asked for and when it was sent, as the gateway's record tells, on the
    monotonic clock.
    """
    with sqlite3.connect(record) as connection:
        sent = list(connection.execute("select sent_at, wait_seconds from requests"))
    shift = time.time() - time.monotonic()
    return sorted((sent_at - waited - shift, sent_at - shift) for sent_at, waited in sent)


def spans_of_waiting(record: Path) -> list[tuple[float, float]]:
    """When some request waited for its turn.

    The second around a restart is nobody's: the killed gateway's requests come again.
    """
    spans: list[tuple[float, float]] = []
    for began_at, left_at in waits(record):
        if left_at - began_at <= 0.02:
            continue
        if spans and began_at <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], left_at))
        else:
            spans.append((began_at, left_at))
    return [(first, last) for first, last in spans if last - first > 1.0]


def used_share(spans: list[tuple[float, float]], arrivals: list[float], rate: float) -> float:
    """Arrivals over those the allowance had room for."""
    inside = sum(any(first < moment <= last + 0.01 for first, last in spans) for moment in arrivals)
    return inside / rate / seconds_of(spans)


def seconds_of(spans: list[tuple[float, float]]) -> float:
    return sum(last - first for first, last in spans)


def without_stalls(spans: list[tuple[float, float]], stalls: Stalls) -> list[tuple[float, float]]:
    """The same where the machine gave everybody their time: what a busy one takes away is not the
    gateway's to use.
    """
    left = [
        rest
        for first, last in spans
        for rest in stalls.undisturbed(first, last, longer_than_seconds=0.03, recovery_seconds=1.0)
    ]
    return [(first, last) for first, last in left if last - first > 3.0]


def test_a_bad_night_costs_time_and_nothing_else(env: dict[str, str], tmp_path: Path) -> None:
    ideas = ten_ideas(tmp_path / "ideas.jsonl")
    dice = random.Random(11)
    planned = [dice.choice(FAULTS) if dice.random() < 0.1 else None for _ in range(5_000)]
    with SemanticScholarServer(bundled_corpus(), lost_word=LOST_WORD) as server:
        good = assay(*command(ideas, tmp_path / "good"), env={**env, **settings(server, 1000)})
        assert good.returncode == 0, good.stderr
    with SemanticScholarServer(
        bundled_corpus(), RATE, lambda number, path: planned[number], LOST_WORD, slow_seconds=2.5
    ) as server:
        code = run_with_killed_gateway(
            command(ideas, tmp_path / "bad"),
            {**env, **settings(server, RATE)},
            server,
            tmp_path / "bad.log",
        )
        assert code == 0, (tmp_path / "bad.log").read_text()
    record = next((tmp_path / "bad").rglob(RECORD_NAME))
    began_at, _ = waits(record)[0]
    assert (server.too_early(RATE, began_at - 1.0), server.violations(RATE)) == (0, 0)
    assert server.keys == {KEY}
    check_use_of_the_allowance(record, server)
    assert evidence(tmp_path / "bad") == evidence(tmp_path / "good")
    check_rows(tmp_path / "bad", len(server.arrivals))
    check_report(tmp_path / "bad", env)
    assert not [
        path
        for path in (tmp_path / "bad").rglob("*")
        if path.is_file() and KEY.encode() in path.read_bytes()
    ]


def check_use_of_the_allowance(record: Path, server: SemanticScholarServer) -> None:
    """While there is work the allowance is used, in all the time that the machine was not too busy
    to tell.
    """
    waiting = spans_of_waiting(record)
    quiet = without_stalls(waiting, server.stalls)
    shares = [
        used_share(spans, server.arrivals, RATE)
        for spans in (waiting, quiet)
        if seconds_of(spans) >= 10
    ]
    if seconds_of(quiet) < 10 and max(shares, default=0.0) < 0.98:
        warnings.warn(
            "this machine is too busy for the use of the allowance to be measured", stacklevel=1
        )
    else:
        assert max(shares) >= 0.98


def run_with_killed_gateway(
    arguments: list[str], env: dict[str, str], server: SemanticScholarServer, log: Path
) -> int:
    """Run to the end; the gateway is killed once the server has seen a number of requests."""
    process = start_assay(*arguments, env=env, log=log)

    def kill() -> None:
        while len(server.arrivals) < KILLED_AFTER and process.poll() is None:
            time.sleep(0.05)
        gateway = find_child(process, "tasks.literature.gateway")
        assert gateway is not None
        kill_hard(gateway)

    killer = threading.Thread(target=kill)
    killer.start()
    code = process.wait(800)
    killer.join()
    return code


def check_rows(warehouse: Path, arrived: int) -> None:
    """Every request that left is one row, apart from the few that the kill took the answer from."""
    calls: list[dict[str, Any]] = rows(
        warehouse,
        "select call_id, failure_reason, upstream_requests, request_share from api_calls where"
        " source = 'semantic_scholar'",
    )
    left = [call for call in calls if call["upstream_requests"]]
    assert len({call["call_id"] for call in left}) == len(left)
    # Those in flight at the kill: answers that drip take 2.5 s, and a busy disk holds rows up.
    assert arrived - 5 * RATE <= len(left) <= arrived
    assert sum(call["request_share"] for call in calls) == pytest.approx(len(left), rel=0.05)
    assert {call["failure_reason"] for call in left} >= {
        "rate_limited",
        "server_error",
        "timeout",
        None,
    }
    assert rows(warehouse, "select distinct text_source from paper_sections") == [
        {"text_source": "metadata"}
    ]


def check_report(warehouse: Path, env: dict[str, str]) -> None:
    """What could not be looked up stands in the failures and in the report,
    and nothing else does.
    """
    unanswered = rows(
        warehouse,
        "select distinct reason from failures where reason <> 'no_open_access'"
        " and stage <> 'left_out'",
    )
    assert unanswered == [{"reason": "server_error"}]
    (run,) = rows(warehouse, "select run_id, evaluated_count, failed_count, literature from runs")
    assert run["literature"].startswith("live:")
    incomplete = rows(
        warehouse, "select distinct idea_id from failures where reason = 'server_error'"
    )
    assert len(incomplete) == 1
    assert run["evaluated_count"] + run["failed_count"] == 10
    for idea in incomplete:
        report = assay_here(
            "report",
            run["run_id"],
            "--idea",
            idea["idea_id"],
            "--warehouse",
            str(warehouse),
            env=env,
        )
        assert report.returncode == 0, report.stderr
        assert reason("server_error") in report.stdout
