"""One shard against loopback servers: what a collector sees of it, and what it never sees."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.profiles import load_profile
from flows.works.evaluate.evaluate import Evaluation
from schemas.choices import LIVE
from schemas.idea import Idea
from schemas.identifiers import EvaluationKey, IdeaId, RunId
from schemas.run import Module
from schemas.settings import Settings
from tasks.evaluation.shard_job import PlannedIdea, ShardJob
from tasks.literature.gateway.process import GatewayProcess
from tasks.telemetry.reporting import reporting, span, traceparent
from tests.support.openai_server import start_openai_server
from tests.support.otlp_server import Collector, collector
from tests.support.requests import run_request
from tests.support.semantic_scholar_server import SemanticScholarServer, corpus
from warehouse.kinds.runs.landing import RUNS
from warehouse.units.landing import read_receipt
from warehouse.warehouse import Warehouse

TEXT = (
    "We will train a quokkaformer on graphs.\n\n# Method\nWe align quokkaformer layers by"
    " contrastive sampling and compare its error."
)
SECRETS = ("sk-never-reported", "s2-never-reported")
KEY = EvaluationKey("0" * 32)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Collector, ShardJob]]:
    """A driver's span, a worker's shard and a gateway's requests, each reported by a reporter of
    its own.
    """
    folder = tmp_path_factory.mktemp("shard")
    with (
        pytest.MonkeyPatch.context() as patch,
        collector() as kept,
        start_openai_server("good") as model,
        SemanticScholarServer(
            corpus(60), fault=lambda number, path: "500" if number == 0 else None
        ) as source,
    ):
        for name, value in {
            "ASSAY_TELEMETRY__OTLP_ENDPOINT": kept.url,
            "ASSAY_HOME": str(folder / "home"),
            "ASSAY_LITERATURE__UPSTREAM_URL": source.url,
            "ASSAY_LITERATURE__REQUESTS_PER_SECOND": "100",
            "ASSAY_LITERATURE__RETRY_BASE_SECONDS": "0.01",
            "SEMANTIC_SCHOLAR_API_KEY": SECRETS[1],
            "OPENAI_API_KEY": SECRETS[0],
        }.items():
            patch.setenv(name, value)
        settings = Settings()
        with GatewayProcess(settings, LIVE, folder / "cache") as gateway:
            with reporting(settings.telemetry, "assay-run"), span("run", run_id="run-1"):
                job = shard_job(folder, gateway.url, model.url)
            path = folder / "shard.json"
            path.write_text(job.model_dump_json())
            assert Evaluation.work(path.read_bytes()) == 1
        yield kept, job


def shard_job(folder: Path, gateway_url: str, api_base: str) -> ShardJob:
    request = run_request(
        ideas_path=folder / "ideas.jsonl",
        warehouse=folder,
        profile=load_profile("economy"),
        engine="litellm:openai/loopback",
        api_base=api_base,
        literature="live",
        modules=(Module.SOUNDNESS,),
        full_text=False,
    )
    idea = Idea(idea_id=IdeaId("idea-1"), title="Quokkaformers", text=TEXT)
    return ShardJob(
        run_id=RunId("run-1"),
        request=request,
        gateway_url=gateway_url,
        literature="live:test",
        ideas=(PlannedIdea(idea=idea, evaluation_key=KEY),),
        trace_parent=traceparent(),
    )


def test_every_span_hangs_below_the_run_across_processes(seen: tuple[Collector, ShardJob]) -> None:
    kept, _ = seen
    (run,) = kept.named("run")
    assert {span.trace_id for span in kept.spans} == {run.trace_id}
    below = {
        "shard": "run",
        "idea": "shard",
        "module": "idea",
        "step": "module",
        "model call": "step",
        "gateway request": "literature request",
    }
    for name, parent in below.items():
        assert kept.named(name), name
        assert {kept.parent_of(span).name for span in kept.named(name)} == {parent}
    assert {span.service for span in kept.named("gateway request")} == {"assay-gateway"}
    assert {span.service for span in kept.named("shard")} == {"assay-worker"}
    assert {kept.parent_of(span).name for span in kept.named("upstream request")} == {
        "gateway request"
    }


def test_spans_say_what_happened(seen: tuple[Collector, ShardJob]) -> None:
    kept, _ = seen
    (idea,) = kept.named("idea")
    assert idea.attributes["assay.idea_id"] == "idea-1"
    assert {span.attributes["assay.module"] for span in kept.named("module")} == {"soundness"}
    assert {"extract_methods", "soundness_query"} <= {
        span.attributes["assay.step"] for span in kept.named("step")
    }
    assert [span.failed_because for span in kept.named("upstream request")].count(
        "server_error"
    ) == 1


def test_metrics_agree_with_what_landed(seen: tuple[Collector, ShardJob]) -> None:
    kept, job = seen
    receipt = read_receipt(Warehouse(job.request.warehouse), RUNS, job.run_id, KEY)
    assert receipt is not None
    assert kept.total("assay.ideas") == 1
    calls = kept.named("model call")
    assert kept.total("assay.model.calls", status="ok") == len(
        [span for span in calls if span.failed_because is None]
    )
    prompt_tokens = sum(span.attributes.get("assay.prompt_tokens", 0) for span in calls)
    assert kept.total("assay.model.tokens", kind="prompt") == prompt_tokens > 0
    assert (
        kept.total("assay.model.unpriced_calls") == kept.total("assay.model.latency") == len(calls)
    )
    assert kept.total("assay.gateway.requests") == len(kept.named("gateway request"))
    assert kept.total("assay.gateway.upstream_requests") == len(kept.named("upstream request"))
    assert kept.total("assay.gateway.upstream_requests", outcome="500") == 1


def test_no_text_and_no_secret_is_reported(seen: tuple[Collector, ShardJob]) -> None:
    reported = b"".join(seen[0].bodies)
    assert b"soundness_query" in reported
    for kept_in in (*SECRETS, "uokkaformer", "contrastive"):
        assert kept_in.encode() not in reported
