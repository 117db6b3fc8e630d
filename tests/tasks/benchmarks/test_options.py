"""Options of `assay benchmark`: wrong usage is one clear line before anything is paid for; published
figures; what is known of a judge's training data; ideas from full papers.
"""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from dashboards.views.write_benchmark import BenchmarkPage
from flows.cli.quality.benchmark import _calibrator
from flows.profiles import load_profile
from flows.run.estimate import estimate
from flows.run.requests import request_of
from schemas.base import replace
from schemas.choices import EngineChoice, LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.judgement.benchmark import BenchmarkHead, SubmissionText
from schemas.judgement.run_request import RunRequest
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.options.commands import RunOptions
from schemas.run import Module, Run
from schemas.settings import Settings
from tasks.benchmarks.published import published_scores, training_until
from tasks.benchmarks.registry import SUITES
from tasks.benchmarks.submissions import MOST_WORDS, submission_conditions
from tasks.benchmarks.suites.decisions import SUITE as DECISIONS
from tasks.benchmarks.suites.matches import PAIRS
from tasks.benchmarks.work import BENCHMARK, _check_calibrate, profile_without
from tasks.calibration.calibrator_files import write_fitted
from tasks.calibration.examples import Example, LabelScale, item_sha256
from tasks.calibration.fitting import fit_calibrator
from tasks.evaluation.shard_job import conditions
from tasks.evaluation.work import EVALUATE
from tasks.ideas.read import read_ideas
from tasks.novelty.profile_files import NOVELTY, judged_by
from tests.support.benchmark_sets import (
    benchmark_request,
    never_evaluate,
    run_small,
    write_pairs,
    write_points,
)
from tests.support.novelty_sets import write_novelty
from tests.support.small_pdf import pdf_of
from warehouse.warehouse import Warehouse


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
        ({"training_until": "lately"}, "lately"),
    ],
)
def test_an_option_that_cannot_be_meant_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], line: str
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


def test_a_profile_without_a_part_says_so_in_its_name() -> None:
    profile = profile_without(load_profile("economy"), "mre, -PA")
    assert profile.name == "economy-without-mre-pa"
    soundness, contribution = profile.soundness, profile.contribution
    assert not soundness.extract_methods_and_results
    assert (contribution.augment_papers, contribution.compare_papers) == (False, True)
    assert profile_without(load_profile("economy"), "") == load_profile("economy")


def test_published_figures_name_paper_table_and_row_and_stand_once() -> None:
    for suite in SUITES:
        scores = published_scores(suite)
        assert all(score.published and score.published_source.count(",") >= 2 for score in scores)
        keys = [(score.metric, score.slice, score.system) for score in scores]
        assert len(keys) == len(set(keys))


def test_overall_coverage_of_the_paper_is_the_mean_of_its_disciplines() -> None:
    scores = [score for score in published_scores("coverage") if score.metric == "coverage"]
    parts: dict[str, list[Any]] = {}
    for score in scores:
        if score.slice.startswith("discipline="):
            parts.setdefault(score.system, []).append(score)
    whole = {score.system: score.value for score in scores if score.slice == "all"}
    divided = {score.system for score in scores if score.slice == "discipline=eco"}
    assert len(divided) == 11
    for system in divided:
        of_system = parts[system]
        mean = sum(part.value * part.count for part in of_system)
        mean /= sum(part.count for part in of_system)
        assert whole[system] == pytest.approx(mean, abs=0.06), system


# A judge that may have read the right answers while it was trained is flagged.


@pytest.mark.parametrize(
    ("engine", "until"),
    [
        ("litellm:openai/gpt-4o-2024-08-06", date(2023, 10, 31)),
        ("litellm:anthropic/claude-sonnet-4-20250514", date(2025, 3, 31)),
        ("litellm:gpt-5", date(2024, 9, 30)),
        ("litellm:anthropic/claude-sonnet-4-9", None),
        ("litellm:ollama/own-model", None),
        ("extractive", None),
    ],
)
def test_a_model_is_known_by_its_name_and_a_variant_is_not(engine: str, until: date | None) -> None:
    assert training_until(EngineChoice.parse(engine), None) == until
    stated = date(2026, 1, 1)
    counts = None if engine == "extractive" else stated
    assert training_until(EngineChoice.parse(engine), stated) == counts


def test_a_judge_trained_past_the_decisions_is_flagged_and_an_unknown_one_too() -> None:
    head = BenchmarkHead(
        run_id=RunId("benchmark-a"),
        suite="decisions",
        engine="litellm:openai/gpt-4o",
        profile="economy",
        seed=0,
        data_sha256="ab",
        prompt_sha256="cd",
        llm_calls=4,
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        finished_at=datetime(2026, 1, 1, tzinfo=UTC),
        labels_public_since=DECISIONS.labels_public_since,
    )

    def notes(**changes: object) -> tuple[str, ...]:
        return BenchmarkPage(Warehouse(Path("nowhere")), replace(head, **changes), ()).notes

    assert notes(judge_training_until=date(2023, 10, 31)) == notes(engine="extractive") == ()
    (flagged,) = notes(judge_training_until=date(2025, 3, 31))
    assert "reach to 2025-03-31" in flagged
    assert "from 2025-01-22 on: it may know them" in flagged
    (unknown,) = notes()
    assert "is not known" in unknown
    (undated,) = notes(judge_training_until=date(2025, 3, 31), labels_public_since=None)
    assert undated.endswith("could be read is not known.")


# --calibrate OUT and `novelty.calibrator`.


def stored(path: Path, slope: float = 1.0) -> Path:
    labels = ("not novel", "novel")
    examples = [
        Example(item_sha256(str(n)), labels[n % 2], "novel", {"x": slope * (n % 2) + n / 100})
        for n in range(30)
    ]
    calibrator = fit_calibrator(
        examples,
        LabelScale(labels, (2.5, 4.5)),
        target=NOVELTY,
        engine="extractive",
        judged_by=judged_by(),
        source="made up",
    )
    write_fitted(calibrator, path)
    return path


def profile_file(tmp_path: Path, calibrator: Path) -> str:
    source = (Path(__file__).parents[3] / "flows/profiles/economy.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(source.replace("[novelty]\n", f'[novelty]\ncalibrator = "{calibrator}"\n'))
    return str(path)


def test_a_calibrator_is_checked_before_the_run_and_counts_by_its_content(tmp_path: Path) -> None:
    ideas = tmp_path / "ideas.jsonl"
    ideas.write_text('{"text": "We propose a recorder for bats."}')

    def resolved(calibrator: Path, engine: str = "extractive") -> RunRequest:
        profile, place = profile_file(tmp_path, calibrator), tmp_path / "w"
        options = RunOptions(warehouse=place, profile=profile, modules="novelty", engine=engine)
        return request_of(EVALUATE, (ideas,), options, Settings())

    request = resolved(stored(tmp_path / "c.json"))
    assert request.parameters.modules == (Module.NOVELTY,)
    before = conditions(request, Settings())
    stored(tmp_path / "c.json", slope=-3.0)
    assert conditions(request, Settings()) != before
    without = replace(request, profile=load_profile("economy"))
    assert not [one for one in conditions(without, Settings()) if one.startswith("calibrator")]
    with pytest.raises(ConfigurationError, match="cannot be read"):
        resolved(tmp_path / "nowhere.json")
    with pytest.raises(ConfigurationError, match="fitted on judgements of extractive"):
        resolved(tmp_path / "c.json", engine="litellm:openai/gpt")


def test_only_the_novelty_suite_fits_and_only_without_a_calibrator(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="only suite novelty"):
        _check_calibrate([SUITES["coverage"]], load_profile("economy"))
    named = load_profile(profile_file(tmp_path, stored(tmp_path / "c.json")))
    with pytest.raises(ConfigurationError, match="names a calibrator already"):
        _check_calibrate([SUITES["novelty"]], named)
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


# --text full.

LATEX = r"""\documentclass{article}\begin{document}
\section{Method} A lattice of owls is trained by hand.
\section{Acknowledgements} We thank the owls.
\end{document}"""


def write_paper(folder: Path, name: str, text: str = "A spline of otters is fitted.") -> Path:
    lines = [("3 Method", 14.0, True), *((f"{text} Line {n}.", 10.0, False) for n in range(8))]
    (folder / "papers").mkdir(exist_ok=True)
    (folder / "papers" / f"{name}.pdf").write_bytes(pdf_of([lines]))
    return folder


def test_ideas_are_made_from_papers_and_one_that_lacks_or_is_unreadable_is_one_clear_line(
    tmp_path: Path,
) -> None:
    folder = write_paper(write_points(tmp_path, ("Reject", "Accept (Oral)")), "p0")
    request = benchmark_request(folder, DECISIONS, text=SubmissionText.FULL)
    with pytest.raises(ConfigurationError, match=r"1 papers are not in .*such as p1"):
        run_small(DECISIONS, request, never_evaluate)
    (folder / "papers" / "p1.pdf").write_bytes(b"%PDF-1.4 and nothing else")
    with pytest.raises(ConfigurationError, match=r"1 papers cannot be read: p1\.pdf"):
        run_small(DECISIONS, request, never_evaluate)
    (folder / "papers" / "p1.pdf").unlink()
    (folder / "papers" / "p1.tex").write_text(LATEX)
    evaluated: list[str] = []

    def evaluate(run: RunRequest) -> Run:
        ideas = read_ideas(run.ideas.path, default_cutoff=None).ideas
        evaluated.extend(idea.text for idea in ideas)
        raise ConfigurationError("enough seen")

    with pytest.raises(ConfigurationError, match="enough seen"):
        run_small(DECISIONS, request, evaluate)
    otters, owls = evaluated
    assert otters.startswith("# On sparse attention")
    assert "A spline of otters is fitted." in otters
    assert "A lattice of owls is trained by hand." in owls
    assert "thank" not in owls


def test_other_papers_make_another_benchmark_and_abstracts_need_none(tmp_path: Path) -> None:
    folder = write_paper(write_points(tmp_path, ("Reject",)), "p0")
    full = {"text": SubmissionText.FULL}
    before = benchmark_request(folder, DECISIONS, **full).units[0].conditions
    write_paper(folder, "p0", "Another one.")
    assert benchmark_request(folder, DECISIONS, **full).units[0].conditions != before
    abstracts = benchmark_request(folder, DECISIONS)
    assert submission_conditions(abstracts.profile, abstracts.parameters, folder) == ()


def test_full_papers_are_planned_as_long_as_they_may_be(tmp_path: Path) -> None:
    folder = write_pairs(tmp_path, 2)
    model = {"modules": (), "engine": "litellm:openai/gpt-4o-mini"}
    abstracts, papers = (
        estimate(BENCHMARK, benchmark_request(folder, PAIRS, text=text, **model), Settings())
        for text in SubmissionText
    )
    assert papers.prompt_tokens > abstracts.prompt_tokens + MOST_WORDS
