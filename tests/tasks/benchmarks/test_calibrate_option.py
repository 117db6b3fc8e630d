"""`--calibrate OUT` and `novelty.calibrator`: wrong usage is one clear line before anything is paid
for.
"""

from pathlib import Path

import pytest

from flows.cli.quality.benchmark import _calibrator
from flows.profiles import load_profile
from flows.run.requests import request_of
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.judgement.run_request import RunRequest
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.options.commands import RunOptions
from schemas.run import Module
from schemas.settings import Settings
from tasks.benchmarks.suites import SUITES
from tasks.benchmarks.work import _check_calibrate
from tasks.calibration.applying import write_fitted
from tasks.calibration.examples import Example, LabelScale, item_sha256
from tasks.calibration.fitting import fit_calibrator
from tasks.evaluation.planned import conditions
from tasks.evaluation.work import EVALUATE
from tasks.novelty.calibration import NOVELTY, judged_by
from tests.support.benchmark_sets import benchmark_request, never_evaluate, run_small
from tests.support.novelty_sets import write_novelty


def stored(path: Path, slope: float = 1.0) -> Path:
    examples = [
        Example(
            item_sha256(str(n)),
            ("not novel", "novel")[n % 2],
            "novel",
            {"x": slope * (n % 2) + n / 100},
        )
        for n in range(30)
    ]
    scale = LabelScale(("not novel", "novel"), (2.5, 4.5))
    write_fitted(
        fit_calibrator(
            examples,
            scale,
            target=NOVELTY,
            engine="extractive",
            judged_by=judged_by(),
            source="made up",
        ),
        path,
    )
    return path


@pytest.fixture
def ideas(tmp_path: Path) -> Path:
    path = tmp_path / "ideas.jsonl"
    path.write_text('{"text": "We propose a recorder for bats."}')
    return path


def profile_file(tmp_path: Path, calibrator: str) -> str:
    text = (
        Path("flows/profiles/economy.toml")
        if Path("flows/profiles/economy.toml").exists()
        else None
    )
    source = (text or Path(__file__).parents[3] / "flows/profiles/economy.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(source.replace("[novelty]\n", f'[novelty]\ncalibrator = "{calibrator}"\n'))
    return str(path)


def resolved(
    ideas: Path, tmp_path: Path, calibrator: Path, engine: str = "extractive"
) -> RunRequest:
    options = RunOptions(
        warehouse=tmp_path / "w",
        profile=profile_file(tmp_path, str(calibrator)),
        modules="novelty",
        engine=engine,
    )
    return request_of(EVALUATE, (ideas,), options, Settings())


def test_a_calibrator_is_checked_before_the_run_and_counts_by_its_content(
    ideas: Path, tmp_path: Path
) -> None:
    request = resolved(ideas, tmp_path, stored(tmp_path / "c.json"))
    assert request.parameters.modules == (Module.NOVELTY,)
    before = conditions(request, Settings())
    stored(tmp_path / "c.json", slope=-3.0)
    assert conditions(request, Settings()) != before
    without = replace(request, profile=load_profile("economy"))
    assert not [one for one in conditions(without, Settings()) if one.startswith("calibrator")]


def test_a_missing_or_foreign_calibrator_is_refused(ideas: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        resolved(ideas, tmp_path, tmp_path / "nowhere.json")
    with pytest.raises(ConfigurationError, match="fitted on judgements of extractive"):
        resolved(ideas, tmp_path, stored(tmp_path / "c.json"), engine="litellm:openai/gpt")


def test_only_the_novelty_suite_fits_and_only_without_a_calibrator(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="only suite novelty"):
        _check_calibrate([SUITES["coverage"]], load_profile("economy"))
    with pytest.raises(ConfigurationError, match="names a calibrator already"):
        _check_calibrate(
            [SUITES["novelty"]],
            load_profile(profile_file(tmp_path, str(stored(tmp_path / "c.json")))),
        )
    _check_calibrate([SUITES["novelty"]], load_profile("economy"))


def test_nothing_is_written_when_nothing_was_fitted(tmp_path: Path) -> None:
    out, options = tmp_path / "out.json", BenchmarkOptions(calibrate=tmp_path / "out.json")
    sets = write_novelty(tmp_path / "few", 4, gold=False)
    request = benchmark_request(sets, SUITES["novelty"], literature="live")
    summary = run_small(SUITES["novelty"], request, never_evaluate)
    with pytest.raises(ConfigurationError, match="no calibrator was fitted"):
        _calibrator(request, summary, options)
    assert not out.exists()
    folder = request.warehouse / "state" / "benchmarks" / summary.head.run_id
    stored(folder / "novelty-calibrator.json")
    assert _calibrator(request, summary, options) == out
    assert out.read_bytes() == (folder / "novelty-calibrator.json").read_bytes()
