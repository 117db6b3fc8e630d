"""Who grades what an engine wrote: another model, or the same one with a warning."""

from pathlib import Path
from typing import Any

import pytest

from flows.run.requests import request_of
from schemas.errors import ConfigurationError
from schemas.judgement.benchmark import BenchmarkRequest
from schemas.judging import Wording
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.settings import Settings
from tasks.benchmarks.work import BENCHMARK
from tests.support.benchmark_sets import write_scholarideas


def asked(folder: Path, engine: str, judge: str, suite: str = "coverage") -> BenchmarkRequest:
    write_scholarideas(folder)
    options: Any = {"engine": engine, "judge": judge, "data": folder, "warehouse": folder / "w"}
    return request_of(BENCHMARK, (suite,), BenchmarkOptions(**options), Settings())


def test_another_model_grades_where_the_command_names_one(tmp_path: Path) -> None:
    request = asked(tmp_path, "litellm:openai/a", "litellm:openai/b")
    steps = request.profile.judging.steps
    assert {steps[name].model for name in ("judge_coverage", "judge_preference")} == {"openai/b"}
    assert request.parameters.judge is Wording.OWN
    assert not any("grades its own texts" in line for line in request.remarks)


@pytest.mark.parametrize("judge", ["own", "published", "litellm:openai/a"])
def test_a_model_that_grades_what_it_wrote_is_named_once(judge: str, tmp_path: Path) -> None:
    (line,) = asked(tmp_path, "litellm:openai/a", judge).remarks
    assert line.startswith("openai/a grades its own texts, which biases the grades: name another")
    assert asked(tmp_path, "extractive", "own").remarks == ()


@pytest.mark.parametrize(
    ("engine", "judge", "suite"),
    [
        ("extractive", "litellm:openai/a", "coverage"),
        ("litellm:openai/a", "extractive", "coverage"),
        ("litellm:openai/a", "litellm:openai/b", "votes"),
    ],
)
def test_a_judge_of_nothing_or_that_is_none_is_refused(
    engine: str, judge: str, suite: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=f"--judge {judge}"):
        asked(tmp_path, engine, judge, suite)
