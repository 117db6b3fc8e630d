"""Published figures, ablations and options: what cannot be meant is refused in one line."""

from pathlib import Path

import pytest

from flows.profiles import load_profile
from flows.run.requests import request_of
from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.settings import Settings
from tasks.benchmarks.published import published_scores
from tasks.benchmarks.suites import SUITES
from tasks.benchmarks.work import ABLATIONS, BENCHMARK, profile_without
from tests.support.benchmark_sets import write_pairs


@pytest.mark.parametrize("suite", SUITES)
def test_published_figures_name_paper_table_and_row_and_stand_once(suite: str) -> None:
    scores = published_scores(suite)
    assert all(score.published and score.published_source.count(",") >= 2 for score in scores)
    keys = [(score.metric, score.slice, score.system) for score in scores]
    assert len(keys) == len(set(keys))


def test_an_f1_whose_average_is_not_published_says_so() -> None:
    sources = {
        score.published_source for score in published_scores("decisions") if "f1" in score.metric
    }
    assert sources
    assert all("which average over classes is not published" in source for source in sources)


def test_overall_coverage_of_the_paper_is_the_mean_of_its_disciplines() -> None:
    scores = [score for score in published_scores("coverage") if score.metric == "coverage"]
    systems = {score.system for score in scores if score.slice == "discipline=eco"}
    assert len(systems) == 11
    for system in systems:
        parts = [
            score
            for score in scores
            if score.system == system and score.slice.startswith("discipline=")
        ]
        whole = next(score for score in scores if score.system == system and score.slice == "all")
        mean = sum(part.value * part.count for part in parts if part.value is not None) / sum(
            part.count for part in parts
        )
        assert whole.value == pytest.approx(mean, abs=0.06), system


def test_a_profile_without_a_part_says_so_in_its_name() -> None:
    profile = profile_without(load_profile("economy"), "mre, -PA")
    assert profile.name == "economy-without-mre-pa"
    assert (profile.soundness.extract_methods_and_results, profile.contribution.augment_papers) == (
        False,
        False,
    )
    assert profile.contribution.compare_papers
    assert profile_without(load_profile("economy"), "") == load_profile("economy")
    assert set(ABLATIONS) == {"mre", "pa", "pc"}


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"data": None}, "--data DIR"),
        ({"data": Path("/nowhere/at/all")}, "is no folder"),
        ({"without": "everything"}, "choose from mre, pa, pc"),
        ({"baselines": "oracle"}, "choose from prompt_only"),
        ({"modules": "taste"}, "choose from soundness"),
        ({"engine": "gpt"}, "unknown engine"),
        ({"api_base": "http://127.0.0.1:1/v1"}, "asks no server"),
    ],
)
def test_an_option_that_cannot_be_meant_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict, line: str
) -> None:
    monkeypatch.delenv("ASSAY_DATA", raising=False)
    with pytest.raises(ConfigurationError, match=line) as raised:
        asked = BenchmarkOptions(**{"data": tmp_path, **options})
        request_of(BENCHMARK, ("pairs",), asked, Settings())
    assert "\n" not in str(raised.value)


def test_the_data_folder_may_be_a_setting_and_papers_beside_the_sets_are_the_literature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DATA", str(tmp_path))
    (tmp_path / "literature.parquet").touch()
    write_pairs(tmp_path)
    options = BenchmarkOptions(baselines="none", modules="none")
    request = request_of(BENCHMARK, ("pairs",), options, Settings())
    parameters = request.parameters
    assert request.units[0].data == tmp_path
    assert parameters.literature == LiteratureChoice(tmp_path / "literature.parquet")
    assert (parameters.baselines, parameters.modules, parameters.full_text) == ((), (), False)
