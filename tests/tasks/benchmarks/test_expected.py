"""`assay benchmark SUITE --dry-run`: what would be asked, counted from the data,
and nothing asked.
"""

import json
from pathlib import Path

import pytest

from flows.cli.quality.benchmark import benchmark
from flows.run.estimate import WorkEstimate, estimate
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.settings import Settings
from tasks.benchmarks.registry import SUITES
from tasks.benchmarks.work import BENCHMARK
from tests.benchmarks.studies.registry import STUDIES
from tests.support.benchmark_sets import benchmark_request, write_all


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_all(tmp_path_factory.mktemp("data"))


def expected(name: str, data: Path, **changes: object) -> WorkEstimate:
    request = benchmark_request(
        data,
        SUITES[name],
        **{"engine": "litellm:openai/gpt-4.1", "baselines": ("prompt_only",), **changes},
    )
    return estimate(BENCHMARK, request, Settings())


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("coverage", 6 * 2 + 3 * 2 + 3 * 2),
        ("novelty", 6 + 6 + 6 * 2 * 3),
        ("pairs", 8 * 2),
        ("groups", 4 * 3 * 2),
        ("critical_problems", 9),
        ("injected_errors", 2 * 2 * (1 + 6 + 3 + 8 + 1)),
        ("agreement", 0),
        ("dataset_recommendation", 0),
        ("leaderboards", 0),
        ("concepts", 0),
        ("decisions", 0),
        ("ideation", 16 * 2),
    ],
)
def test_calls_are_counted_from_the_data(
    name: str, calls: int, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in STUDIES:
        monkeypatch.setitem(SUITES, name, STUDIES[name])
    found = expected(name, data, modules=())
    assert found.model_calls == calls
    assert (found.prompt_tokens > 0, found.completion_tokens > 0) == (calls > 0, calls > 0)
    assert found.cost_usd is not None
    assert (found.cost_usd > 0) == (calls > 0)


def test_a_survey_is_planned_and_judged_of_the_sets_that_are_there(data: Path) -> None:
    there = sum((data / name).is_file() for name in SUITES["survey"].optional)
    found = expected("survey", data, modules=())
    planned = 3 * 40 * (1 + there)
    judged = 3 * there * 40 * 200 // 20
    assert found.model_calls == planned + judged


def test_the_review_of_another_idea_is_judged_and_not_written(data: Path) -> None:
    plain, passed_on = (
        expected("coverage", data, modules=(), baselines=baselines)
        for baselines in ((), ("another_ideas_review",))
    )
    assert (plain.model_calls, passed_on.model_calls) == (6, 12)


def test_evaluations_are_part_of_the_bill_and_a_limit_lowers_it(data: Path) -> None:
    whole, limited, run = (
        expected("decisions", data),
        expected("decisions", data, item_limit=1),
        expected("decisions", data, evaluated_run="r"),
    )
    counts = [each.counts["evaluated_ideas"] for each in (whole, limited, run)]
    assert counts == [4, 1, 0]
    assert whole.model_calls == pytest.approx(4 * limited.model_calls, rel=0.1)
    assert run.model_calls == 0


def test_a_dry_run_prints_and_leaves_nothing_behind(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {
        "data": data,
        "warehouse": tmp_path / "warehouse",
        "engine": "litellm:openai/gpt-4.1",
        "literature": "live",
    }
    assert benchmark("all", BenchmarkOptions(**options, dry_run=True), json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["suite"] for one in told["rows"]] == list(SUITES)
    assert sum(one["evaluated_ideas"] for one in told["rows"]) == 7
    assert not (tmp_path / "warehouse").exists()
