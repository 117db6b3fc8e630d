"""Every suite from its data to the report by a model behind a server on loopback; only the main job
is a stand-in.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from dashboards.views.metric_meanings import meaning_of
from flows.run import declared_campaign
from flows.run.gateway import OpenGateway
from schemas.errors import ConfigurationError
from schemas.judgement.benchmark import ASSAY
from tasks.benchmarks import suite as suite_module
from tasks.benchmarks.registry import SUITES
from tests.support.benchmark_sets import (
    benchmark_request,
    rows_of,
    run_small,
    tried,
    write_all,
    write_nothing,
)
from tests.support.openai_server import OpenAIServer, start_openai_server
from tests.support.semantic_scholar_server import SemanticScholarServer, corpus
from tests.support.tiers import some

ENGINE = "litellm:openai/loopback"
NEEDS_NO_ANSWER = ("gold_", "reference_", "hit_rate")
"""Of papers in which nothing was found the hit rate is known without a judge."""

OWN_SYSTEMS = (ASSAY, "depth_0", "depth_1", "depth_2")
"""What answers in the name of the engine that is measured, in any suite."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_all(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_nothing(tmp_path_factory.mktemp("nothing"))


@pytest.fixture(scope="module")
def model() -> Iterator[OpenAIServer]:
    with start_openai_server() as server:
        yield server


@pytest.fixture
def literature(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The gateway's API without a gateway."""
    papers = [{**paper, "title": f"{paper['title']} by sparse attention"} for paper in corpus(20)]
    with SemanticScholarServer(papers) as server:
        opened = OpenGateway(lambda: server.url, "live:loopback")
        monkeypatch.setattr(declared_campaign, "open_gateway", lambda *_: nullcontext(opened))
        monkeypatch.setattr(suite_module, "GatewayProcess", lambda *_: nullcontext(opened))
        yield server.url


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("warehouse")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    monkeypatch.setenv("ASSAY_LANGUAGE_MODEL__MAXIMUM_ATTEMPTS", "1")


@pytest.mark.parametrize("name", some(SUITES, {"decisions"}.__contains__))
def test_every_step_of_a_suite_is_answered_by_the_model_and_every_score_is_a_value_or_a_reason(
    name: str, data: Path, warehouse: Path, model: OpenAIServer, literature: str
) -> None:
    suite = SUITES[name]
    asked = {
        "engine": ENGINE,
        "api_base": model.url,
        "literature": literature,
        "baselines": ("prompt_only", "prompt_with_search"),
        "item_limit": 2,
    }
    request = benchmark_request(data, suite, warehouse=warehouse, **asked)
    summary = run_small(suite, request)
    assert (summary.published, summary.head.incomplete_reason, summary.failed_expectations) == (
        True,
        None,
        (),
    )
    own = f"run_id = '{summary.head.run_id}'"
    steps = {
        step
        for (step,) in rows_of(
            request, f"select distinct step from llm_calls where status = 'ok' and {own}"
        )
    }
    assert steps == {step.name for step in suite.steps}
    assert (
        rows_of(
            request,
            "select * from benchmark_items where answer is null and unscored_reason <>"
            f" 'nothing_to_judge' and {own}",
        )
        == []
    )
    measured = rows_of(
        request,
        "select metric, engine, coalesce(value::varchar, undefined_reason) from benchmark_scores"
        f" where origin = 'measured' and {own}",
    )
    assert all(
        engine == ENGINE and told and meaning_of(metric) is not None
        for metric, engine, told in measured
    )
    text = summary.report_paths[1].read_text()
    assert summary.report_paths[0].exists()
    assert "Extractive engine" not in text
    assert f"What the metrics of {name}" in text
    assert ("answered by `loopback-2026-11`" in text) == bool(suite.steps)


@pytest.mark.parametrize("name", [name for name, suite in SUITES.items() if suite.steps])
@pytest.mark.long
def test_a_model_that_refuses_everything_has_no_score_of_its_own_and_never_a_zero(
    name: str, data: Path, tmp_path: Path
) -> None:
    with start_openai_server("refusal") as server:
        found, given = tried_on(name, data, tmp_path, engine=ENGINE, api_base=server.url)
        scores = [
            score
            for score in given
            if score.system in OWN_SYSTEMS and not score.metric.startswith(NEEDS_NO_ANSWER)
        ]
    assert scores
    assert all(score.value is None and score.undefined_reason for score in scores)
    assert all(item.answer is None and item.unscored_reason is not None for item in found.items)


@pytest.mark.parametrize("name", sorted(each.name for each in SUITES.values() if each.reads_data))
def test_files_without_a_row_are_one_clear_line(name: str, nothing: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="holds nothing"):
        tried_on(name, nothing, tmp_path)


def tried_on(
    name: str, data: Path, warehouse: Path, **changes: Any
) -> tuple[suite_module.Trial, Any]:
    asked = {"literature": "live", **changes}  # which none of them comes to ask
    request = benchmark_request(data, SUITES[name], warehouse=warehouse, **asked)
    return tried(SUITES[name], request)
