"""Twenty ideas, two workers, a limit, every kind of fault, one look-up that never succeeds, and the gateway killed in the middle."""

import json
import os
import random
import re
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from dashboards.reports.wording import reason
from flows.request import bundled
from tasks.literature.gateway.request_record import RECORD_NAME
from tests.end_to_end.test_live import KEY, bundled_corpus
from tests.support.assay_command import assay, find_child, kill_hard, rows, start_assay
from tests.support.semantic_scholar_server import FAULTS, SemanticScholarServer

pytestmark = [pytest.mark.end_to_end, pytest.mark.undisturbed]

RATE = 8
KILLED_AFTER = 90
LOST_WORD = "abstention"
"""In queries of two of the twenty ideas."""

EVIDENCE = ("methods", "passages", "papers", "method_evidence", "soundness_reviews", "candidates", "comparisons", "citations", "failures")
MADE_ANEW = {"created_at", "run_id", "failure_id", "latency_seconds", "reused_from_run_id"}


def twenty_ideas(path: Path) -> Path:
    """The bundled sixteen, and four of them once more under another title."""
    ideas = [json.loads(line) for line in bundled("ideas.jsonl").read_text().splitlines()]
    again = [{**idea, "idea_id": f"{idea['idea_id']}-again", "title": f"{idea['title']}, revisited"} for idea in ideas[:4]]
    path.write_text("".join(json.dumps(idea) + "\n" for idea in [*ideas, *again]))
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


def evidence(warehouse: Path, env: dict[str, str]) -> dict[str, list[str]]:
    """What the ideas were judged by, without clocks and names of the run."""
    seen = {}
    for table in EVIDENCE:
        found = rows(warehouse, f"from {table}")
        told = (repr({name: value for name, value in row.items() if name not in MADE_ANEW}) for row in found)
        seen[table] = sorted(re.sub(r"127\.0\.0\.1:\d+", "the server", row) for row in told)
    return seen


def used_share(record: Path, arrivals: list[float], rate: float) -> tuple[float, float]:
    """Arrivals over those the allowance had room for while some request waited, as the gateway's record tells; and those seconds.

    The second around a restart is nobody's: the killed gateway's requests come again.
    """
    with sqlite3.connect(record) as connection:
        sent = list(connection.execute("select sent_at, wait_seconds from requests order by sent_at"))
    shift = time.time() - time.monotonic()
    spans: list[list[float]] = []
    for left_at, waited in sorted((sent_at - waited, sent_at) for sent_at, waited in sent if waited > 0.02):
        if spans and left_at <= spans[-1][1]:
            spans[-1][1] = max(spans[-1][1], waited)
        else:
            spans.append([left_at, waited])
    spans = [span for span in spans if span[1] - span[0] > 1.0]
    seconds = sum(last - first for first, last in spans)
    inside = sum(any(first < moment + shift <= last + 0.01 for first, last in spans) for moment in arrivals)
    return inside / rate / seconds, seconds


def test_a_bad_night_costs_time_and_nothing_else(env: dict[str, str], tmp_path: Path) -> None:
    ideas = twenty_ideas(tmp_path / "ideas.jsonl")
    dice = random.Random(11)
    planned = [dice.choice(FAULTS) if dice.random() < 0.1 else None for _ in range(5_000)]
    with SemanticScholarServer(bundled_corpus(), lost_word=LOST_WORD) as server:
        good = assay(*command(ideas, tmp_path / "good"), env={**env, **settings(server, 1000)})
        assert good.returncode == 0, good.stderr
    with SemanticScholarServer(bundled_corpus(), RATE, lambda number, path: planned[number], LOST_WORD, slow_seconds=2.5) as server:
        code = run_with_killed_gateway(command(ideas, tmp_path / "bad"), {**env, **settings(server, RATE)}, server, tmp_path / "bad.log")
        assert code == 0, (tmp_path / "bad.log").read_text()
        overloaded = os.getloadavg()[0] > 3 * (os.cpu_count() or 1)
        assert server.violations(RATE) <= (2 if overloaded else 0), "on a machine where everything stalls, arrivals do too"
        record = next((tmp_path / "bad").rglob(RECORD_NAME))
        share, limited_seconds = used_share(record, server.arrivals, RATE)
    assert share >= (0.9 if overloaded else 0.98)
    assert overloaded or limited_seconds > 0.5 * (server.arrivals[-1] - server.arrivals[0]), "the limit was what held the run up"
    assert evidence(tmp_path / "bad", env) == evidence(tmp_path / "good", env)
    check_rows(tmp_path / "bad", env, len(server.arrivals))
    check_report(tmp_path / "bad", env)


def run_with_killed_gateway(arguments: list[str], env: dict[str, str], server: SemanticScholarServer, log: Path) -> int:
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
    code = process.wait(280)
    killer.join()
    return code


def check_rows(warehouse: Path, env: dict[str, str], arrived: int) -> None:
    """Every request that left is one row, apart from the few that the kill took the answer from."""
    calls: list[dict[str, Any]] = rows(
        warehouse, "select call_id, failure_reason, upstream_requests, request_share from api_calls where source = 'semantic_scholar'"
    )
    left = [call for call in calls if call["upstream_requests"]]
    assert len({call["call_id"] for call in left}) == len(left)
    assert arrived - 25 <= len(left) <= arrived
    assert sum(call["request_share"] for call in calls) == pytest.approx(len(left), rel=0.05)
    assert {call["failure_reason"] for call in left} >= {"rate_limited", "server_error", "timeout", None}


def check_report(warehouse: Path, env: dict[str, str]) -> None:
    """What could not be looked up stands in the failures and in the report, and nothing else does."""
    unanswered = rows(warehouse, "select distinct reason from failures where reason <> 'no_open_access'")
    assert unanswered == [{"reason": "server_error"}]
    (run,) = rows(warehouse, "select run_id, evaluated_count, failed_count from runs")
    incomplete = rows(warehouse, "select distinct idea_id from failures where reason = 'server_error'")
    assert 1 <= len(incomplete) <= 2
    assert run["evaluated_count"] + run["failed_count"] == 20
    for idea in incomplete:
        report = assay("report", run["run_id"], "--idea", idea["idea_id"], "--warehouse", str(warehouse), env=env)
        assert report.returncode == 0, report.stderr
        assert reason("server_error") in report.stdout
