"""The suite over small made-up sets, by the extractive engine and by a model behind a server on
loopback.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.profiles import load_profile
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.judgement.benchmark import BenchmarkScore
from tasks.benchmarks.suite import Trial
from tasks.benchmarks.suites.novelty import FILE, SUITE
from tasks.benchmarks.work import data_sha256
from tasks.calibration.applying import load_calibrator
from tests.support.benchmark_sets import benchmark_request, never_evaluate, tried
from tests.support.novelty_sets import write_novelty
from tests.support.openai_server import start_openai_server


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_novelty(tmp_path_factory.mktemp("data"))


def tried_on(data: Path, warehouse: Path, **changes: Any) -> tuple[Trial, list[BenchmarkScore]]:
    asked = {"warehouse": warehouse, "literature": "live", "seed": 3, **changes}
    return tried(SUITE, benchmark_request(data, SUITE, **asked), never_evaluate)


def find(scores: list[BenchmarkScore], metric: str, system: str, part: str) -> BenchmarkScore:
    (found,) = [
        one for one in scores if (one.metric, one.system, one.slice) == (metric, system, part)
    ]
    return found


@pytest.fixture(scope="module")
def extractive(
    data: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Trial, list[BenchmarkScore]]:
    return tried_on(data, tmp_path_factory.mktemp("warehouse"))


def test_verdicts_are_held_against_the_experts_with_intervals(
    extractive: tuple[Trial, list[BenchmarkScore]],
) -> None:
    trial, scores = extractive
    accuracy, kappa = (
        find(scores, "accuracy", "assay", "novelty checker"),
        find(scores, "cohen_kappa", "assay", "novelty checker"),
    )
    assert accuracy.value > 0.6
    assert accuracy.lower is not None
    assert kappa.value > 0.2
    assert find(scores, "accuracy", "constant", "novelty checker").value == 0.5
    assert {item.gold for item in trial.items if item.task == "novelty checker"} == {
        "novel",
        "not novel",
    }


def test_with_gold_labels_all_nine_metrics_are_measured(
    extractive: tuple[Trial, list[BenchmarkScore]],
) -> None:
    _, scores = extractive
    metrics = {
        one.metric
        for one in scores
        if one.system == "assay" and one.slice == "rinobench test" and one.value is not None
    }
    assert {"macro_f1", "f1_2", "f1_4", "mean_absolute_error", "alignment"} <= metrics
    for kind in ("known", "novelty"):
        assert {
            f"{kind}_aspects_recall",
            f"additional_{kind}_aspects_ratio",
            f"{kind}_aspects_hallucination_rate",
        } <= metrics
    assert find(scores, "mean_absolute_error", "assay", "rinobench test").count == 24


def test_a_users_own_predictions_are_scored_and_what_is_too_many_is_ignored(
    extractive: tuple[Trial, list[BenchmarkScore]],
) -> None:
    _, scores = extractive
    error, alignment = (
        find(scores, metric, "mine", "rinobench test")
        for metric in ("mean_absolute_error", "alignment")
    )
    assert (error.value, error.count) == (1.0, 24)
    assert alignment.value > 0.8, "these are the experts' own reasons"


def test_the_gain_of_calibration_is_reported_and_the_calibrator_kept(
    extractive: tuple[Trial, list[BenchmarkScore]],
) -> None:
    trial, scores = extractive
    part = "calibration: novelty checker"
    assert (
        find(scores, "log_loss", "assay, calibrated", part).value
        < find(scores, "log_loss", "constant", part).value
    )
    assert find(scores, "log_loss", "assay", part).undefined_reason
    assert [one for one in scores if one.metric == "reliability_observed"]
    calibrator = load_calibrator(trial.folder / FILE)
    assert len(calibrator.training_items) == 24
    assert {one.metric for one in calibrator.gain} >= {
        "mean_absolute_error",
        "log_loss",
        "macro_f1",
    }


def test_a_calibrator_is_never_scored_on_its_training_items(
    extractive: tuple[Trial, list[BenchmarkScore]], data: Path, tmp_path: Path
) -> None:
    path = str(extractive[0].folder / FILE)
    profile = load_profile("economy")
    named = replace(profile, novelty=replace(profile.novelty, calibrator=path))
    with pytest.raises(ConfigurationError, match="24 of the items to be scored are among the 24"):
        tried_on(data, tmp_path / "a", profile=named)
    others = write_novelty(tmp_path / "others", 8, gold=False)
    lines = (others / "novelty_checker.jsonl").read_text().replace("We propose", "We now propose")
    (others / "novelty_checker.jsonl").write_text(lines)
    _, scores = tried_on(others, tmp_path / "b", profile=named)
    assert find(scores, "accuracy", "assay, calibrated", "novelty checker").count == 8
    assert not [one for one in scores if one.slice.startswith("calibration")]


def test_one_class_only_is_undefined_with_a_reason_not_zero(tmp_path: Path) -> None:
    trial, scores = tried_on(
        write_novelty(tmp_path / "data", 21, only=True, gold=False), tmp_path / "warehouse"
    )
    (row,) = [one for one in scores if one.slice.startswith("calibration")]
    assert row.value is None
    assert "all 21 items have novel" in row.undefined_reason
    assert not (trial.folder / FILE).exists()


def test_new_gold_labels_make_another_benchmark(tmp_path: Path) -> None:
    folder = write_novelty(tmp_path, 4)
    before = data_sha256(SUITE, folder)
    (folder / "rinobench" / "test.json").unlink()
    assert data_sha256(SUITE, folder) != before


def test_a_model_behind_a_server_is_asked_once_per_item_whatever_happens_in_between(
    data: Path, tmp_path: Path
) -> None:
    fails_at_first: Callable[[Any], str] = lambda request: (  # noqa: E731
        "no_quota" if request.number == 5 else "good"
    )
    with start_openai_server(fails_at_first) as server:
        options: dict[str, Any] = {
            "engine": "litellm:openai/loopback",
            "api_base": server.url,
            "item_limit": 6,
        }
        _, scores = tried_on(data, tmp_path, **options)
        asked = len(server.requests)
        again, _ = tried_on(data, tmp_path, **options)
        assert len(server.requests) - asked <= 3, "what has an answer is not asked again"
    assert (
        find(scores, "accuracy", "assay", "novelty checker").count
        + find(scores, "accuracy", "assay", "novelty checker").unscored_count
        == 6
    )
    assert all(one.value is not None or one.undefined_reason for one in scores)
    assert {call.step for call in again.calls} >= {
        "judge_novelty",
        "extract_aspects",
        "judge_alignment",
    }
