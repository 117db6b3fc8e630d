"""Telemetry is off unless an endpoint is set, and never in the way when it is on."""

import socket
import subprocess
import sys

import pytest
from pydantic import ValidationError

from schemas.identifiers import IdeaId
from schemas.settings import TelemetrySettings
from tasks.accounting.ledger import Ledger
from tasks.telemetry.reporting import current, reporting, span, trace_headers, traceparent
from tests.support.otlp_server import collector

OFF = """
import sys
import tasks.evaluation.shard_resources, tasks.literature.gateway.application
from schemas.settings import TelemetrySettings
from tasks.telemetry.reporting import reporting
from tasks.telemetry.reporting import span
with reporting(TelemetrySettings(), "assay"), span("run") as spanned:
    spanned.note(run_id="run-1")
    spanned.fail("timed_out")
print(sorted(name for name in sys.modules if name.startswith("opentelemetry")))
"""


def test_without_an_endpoint_opentelemetry_is_not_imported() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", OFF], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == "[]"


def test_without_an_endpoint_nothing_travels_and_ledgers_hold_plain_lists() -> None:
    with reporting(TelemetrySettings(), "assay"), span("run"):
        assert current() is None
        assert traceparent() is None
        assert trace_headers() == {}
        assert type(Ledger(IdeaId("a")).llm_calls) is list


def test_an_error_is_told_by_its_type_alone() -> None:
    with collector() as kept:
        with (
            pytest.raises(ValueError, match="sk-secret"),
            reporting(TelemetrySettings(otlp_endpoint=kept.url), "assay"),
            span("run"),
        ):
            raise ValueError("sk-secret")
        assert [seen.failed_because for seen in kept.spans] == ["ValueError"]
        assert b"sk-secret" not in b"".join(kept.bodies)


def test_a_reporter_is_shared_by_all_that_report_at_once() -> None:
    with collector() as kept:
        settings = TelemetrySettings(otlp_endpoint=f"{kept.url}/")
        with reporting(settings, "nightly"), span("nightly"):
            with reporting(settings, "assay-run"), span("run"):
                pass
            assert current() is not None
        assert current() is None
        assert [(seen.name, seen.service) for seen in kept.spans] == [
            ("run", "nightly"),
            ("nightly", "nightly"),
        ]
        assert kept.parent_of(kept.named("run")[0]).name == "nightly"


def test_a_collector_that_does_not_answer_costs_no_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tasks.telemetry.otlp.TIMEOUT_SECONDS", 0.5)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        settings = TelemetrySettings(otlp_endpoint=f"http://127.0.0.1:{deaf.getsockname()[1]}")
        with reporting(settings, "assay"), span("run"):
            answer = 42
    assert answer == 42


def test_an_endpoint_must_be_an_address() -> None:
    with pytest.raises(ValidationError):
        TelemetrySettings(otlp_endpoint="localhost:4318")
