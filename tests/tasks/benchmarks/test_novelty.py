"""Suite `novelty`: small made-up sets by the extractive engine, RINoBench's released files and paper,
and its grading of justifications.
"""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from flows.profiles import load_profile
from flows.run.requests import request_of
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.judgement.benchmark import BenchmarkScore
from schemas.judging import Wording
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.benchmarks.novelty_sets import (
    SCORES,
    TEST_LABELS,
    read_gold,
    read_predictions,
    read_scores,
)
from tasks.benchmarks.steps.grade_justifications import AlignmentReply, AspectsReply, CheckReply
from tasks.benchmarks.submissions import CUTOFF, read_points
from tasks.benchmarks.suite import Trial
from tasks.benchmarks.suites.justifications import (
    AspectCounts,
    Grade,
    JustificationPair,
    grade,
    justification_metrics,
)
from tasks.benchmarks.suites.novelty import FILE, SUITE
from tasks.benchmarks.suites.rinobench import PUBLISHED_GOLD, baselines
from tasks.benchmarks.work import BENCHMARK, data_sha256
from tasks.calibration.calibrator_files import load_calibrator
from tasks.metrics.chance import CONSTANT, STRATIFIED_RANDOM
from tests.support.benchmark_sets import benchmark_request, never_evaluate, tried
from tests.support.contribution_fakes import FakeEngine, WordEmbedder
from tests.support.novelty_sets import write_novelty

DATA = Path(__file__).parents[4] / "shared" / "data"
released = pytest.mark.skipif(
    not (DATA / "rinobench").is_dir(), reason="the shared data are not at hand"
)
BINARY, FIVE = "novelty checker", "rinobench test"

# The suite.


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_novelty(tmp_path_factory.mktemp("data"))


def tried_on(data: Path, warehouse: Path, **changes: Any) -> tuple[Trial, list[BenchmarkScore]]:
    asked = {"warehouse": warehouse, "literature": "live", "seed": 3, **changes}
    return tried(SUITE, benchmark_request(data, SUITE, **asked), never_evaluate)


def find(scores: list[BenchmarkScore], metric: str, system: str, part: str) -> Any:
    (found,) = [
        one for one in scores if (one.metric, one.system, one.slice) == (metric, system, part)
    ]
    return found


@pytest.fixture(scope="module")
def extractive(
    data: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Trial, list[BenchmarkScore]]:
    return tried_on(data, tmp_path_factory.mktemp("warehouse"))


def test_verdicts_and_scores_are_held_against_the_experts(
    extractive: tuple[Trial, list[BenchmarkScore]],
) -> None:
    trial, scores = extractive
    accuracy = find(scores, "accuracy", "assay", BINARY)
    assert accuracy.value > 0.6
    assert accuracy.lower is not None
    assert find(scores, "cohen_kappa", "assay", BINARY).value > 0.2
    assert find(scores, "accuracy", "constant", BINARY).value == 0.5
    golds = {item.gold for item in trial.items if item.task == BINARY}
    assert golds == {"novel", "not novel"}
    metrics = {
        one.metric
        for one in scores
        if (one.system, one.slice) == ("assay", FIVE) and one.value is not None
    }
    assert {"macro_f1", "f1_2", "f1_4", "mean_absolute_error", "alignment"} <= metrics
    for kind in ("known", "novelty"):
        of_kind = f"{kind}_aspects_"
        ratio = f"additional_{of_kind}ratio"
        assert {f"{of_kind}recall", ratio, f"{of_kind}hallucination_rate"} <= metrics
    assert find(scores, "mean_absolute_error", "assay", FIVE).count == 24
    # A user's own predictions are scored; what is too many is ignored.
    error, alignment = (
        find(scores, metric, "mine", FIVE) for metric in ("mean_absolute_error", "alignment")
    )
    assert (error.value, error.count) == (1.0, 24)
    assert alignment.value > 0.8, "these are the experts' own reasons"


def test_the_gain_of_calibration_is_reported_and_the_calibrator_kept(
    extractive: tuple[Trial, list[BenchmarkScore]], data: Path, tmp_path: Path
) -> None:
    trial, scores = extractive
    part = f"calibration: {BINARY}"
    calibrated, constant = (
        find(scores, "log_loss", system, part) for system in ("assay, calibrated", "constant")
    )
    assert calibrated.value < constant.value
    assert find(scores, "log_loss", "assay", part).undefined_reason
    assert [one for one in scores if one.metric == "reliability_observed"]
    calibrator = load_calibrator(trial.folder / FILE)
    assert len(calibrator.training_items) == 24
    gains = {one.metric for one in calibrator.gain}
    assert gains >= {"error_rate", "log_loss", "macro_f1"}
    # It is never scored on its training items.
    profile = load_profile("economy")
    changed = replace(profile.novelty, calibrator=str(trial.folder / FILE))
    named = replace(profile, novelty=changed)
    with pytest.raises(ConfigurationError, match="24 of the items to be scored are among the 24"):
        tried_on(data, tmp_path / "a", profile=named)
    others = write_novelty(tmp_path / "others", 8, gold=False)
    lines = (others / "novelty_checker.jsonl").read_text().replace("We propose", "We now propose")
    (others / "novelty_checker.jsonl").write_text(lines)
    _, scores = tried_on(others, tmp_path / "b", profile=named)
    assert find(scores, "accuracy", "assay, calibrated", BINARY).count == 8
    assert not [one for one in scores if one.slice.startswith("calibration")]


def test_the_published_question_has_one_score_and_nothing_to_calibrate(
    data: Path, tmp_path: Path
) -> None:
    trial, scores = tried_on(data, tmp_path, judge=Wording.PUBLISHED)
    assert find(scores, "macro_f1", "assay", FIVE).count == 24
    judged = [item for item in trial.items if item.task in (BINARY, FIVE) and item.provenance]
    assert {item.provenance.step for item in judged if item.provenance} >= {"prompted_novelty"}
    assert "judge_novelty" not in {item.provenance.step for item in judged if item.provenance}
    assert not [one for one in scores if one.slice.startswith("calibration")]
    with pytest.raises(ConfigurationError, match="one score, which no calibrator fits"):
        options = BenchmarkOptions(judge="published", data=data, calibrate=tmp_path / "c.json")
        request_of(BENCHMARK, ("novelty",), options, Settings())


def test_new_gold_labels_make_another_benchmark(tmp_path: Path) -> None:
    folder = write_novelty(tmp_path, 4)
    before = data_sha256(SUITE, folder)
    (folder / "rinobench" / "test.json").unlink()
    assert data_sha256(SUITE, folder) != before


# RINoBench's files.

TABLE_3 = {
    "Llama-3.1-8B-Instruct": (14.6, 0.0, 0.0, 26.2, 41.3, 5.4, 1.00),
    "Llama-3.3-70B-Instruct": (9.5, 0.0, 0.0, 2.2, 45.0, 0.0, 1.04),
    "Llama-4-Scout-17B-16E-Instruct": (13.0, 0.0, 0.0, 17.1, 42.7, 5.1, 1.01),
    "gpt-oss-120b": (14.8, 0.0, 3.0, 30.1, 40.7, 0.0, 0.96),
    "DeepSeek-R1": (12.3, 0.0, 0.0, 16.1, 45.6, 0.0, 0.99),
    "o3-2025-04-16": (16.2, 0.0, 5.6, 35.6, 39.7, 0.0, 0.93),
    "gpt-5-2025-08-07": (17.2, 0.0, 16.7, 32.2, 37.3, 0.0, 0.93),
}
"""Novelty score metrics as printed, F1 in percent.

GPT-OSS-120B's macro F1 is printed as 14.6; its release says 14.76.
"""


@released
def test_released_scores_are_those_of_table_3_and_follow_from_the_predictions() -> None:
    """2 TP = F1 × (predicted + gold): whole numbers, bounded by both."""
    names = ("macro_f1", "f1_1", "f1_2", "f1_3", "f1_4", "f1_5")
    everything, released_predictions = read_scores(DATA), read_predictions(DATA)
    for model, figures in TABLE_3.items():
        published, predictions = everything[model], released_predictions[model]
        printed = dict(zip(names, figures, strict=False))
        assert {name: published[name] * 100 for name in names} == pytest.approx(printed, abs=0.11)
        assert published["mean_absolute_error"] == pytest.approx(figures[-1], abs=0.006)
        assert len(predictions) == sum(TEST_LABELS.values()) == 277
        for label, gold in TEST_LABELS.items():
            predicted = sum(one.score == label for one in predictions)
            hits = published[f"f1_{label}"] * (predicted + gold) / 2
            assert hits == pytest.approx(round(hits), abs=1e-9)
            assert 0 <= round(hits) <= min(predicted, gold)
        mean_f1 = sum(published[f"f1_{label}"] for label in TEST_LABELS) / 5
        assert published["macro_f1"] == pytest.approx(mean_f1)


def test_the_baselines_of_the_test_split_follow_from_its_label_counts() -> None:
    found = {
        (system, metric): estimate.value
        for metric, system, _, estimate in baselines(PUBLISHED_GOLD, seed=0)
    }
    assert found[CONSTANT, "mean_absolute_error"] == pytest.approx(239 / 277)
    assert found[CONSTANT, "macro_f1"] == pytest.approx(2 * 87 / (277 + 87) / 5)
    assert found[STRATIFIED_RANDOM, "macro_f1"] == pytest.approx(0.2, abs=0.01)
    assert found[STRATIFIED_RANDOM, "mean_absolute_error"] == pytest.approx(1.2, abs=0.05)


def test_gold_ideas_may_come_as_text_or_in_parts_each_with_its_own_cutoff(tmp_path: Path) -> None:
    works = [{"title": "A", "abstract": "B", "year": 2020}]
    told = {"related_works": works, "novelty_reasoning": "Why.", "novelty_score": 3}
    parts = {"problem_statement": "P.", "objective": "O.", "solution_approach": "S."}
    rows = [
        {"research_idea": "One text.", "cutoff_date": "2021-10-05", **told},
        {"research_idea": parts, "related_works": works},
    ]
    path = tmp_path / "test.json"
    path.write_text(json.dumps(rows))
    whole, divided = read_gold(path)
    assert (whole.idea.text, whole.score, whole.reasoning) == ("One text.", 3, "Why.")
    assert (whole.idea.cutoff_date, whole.works[0].year) == (date(2021, 10, 5), 2020)
    text = "## Problem\n\nP.\n\n## Objective\n\nO.\n\n## Solution approach\n\nS."
    assert (divided.idea.text, divided.score, divided.reasoning) == (text, None, "")
    assert divided.idea.cutoff_date is None, "what comes with its works needs none"
    submission = {"paper_id": "a", "title": "T", "abstract": "B", "decision": "Reject"}
    points = tmp_path / "points.jsonl"
    dated = {**submission, "paper_id": "b", "cutoff_date": "2023-01-01"}
    points.write_text("\n".join(map(json.dumps, (submission, dated))))
    days = [one.idea.cutoff_date for one in read_points(points)]
    assert days == [CUTOFF, date(2023, 1, 1)]
    path.write_text(json.dumps([{**rows[0], "cutoff_date": "spring"}]))
    with pytest.raises(ConfigurationError, match="0 cutoff_date: Input should be a valid date"):
        read_gold(path)


@pytest.mark.parametrize(
    "content",
    [
        "{}",
        "[1]",
        "not json",
        '[{"research_idea": "x", "related_works": [], "novelty_score": 7}]',
        '[{"research_idea": {}, "related_works": []}]',
        '[{"research_idea": "x", "related_works": "none"}]',
        '[{"research_idea": "x", "related_works": [], "novelty_score": true}]',
    ],
)
def test_what_is_no_gold_file_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "test.json"
    path.write_text(content)
    with pytest.raises(ConfigurationError) as caught:
        read_gold(path)
    assert "\n" not in str(caught.value)


def test_released_files_of_another_shape_are_refused_and_stray_predictions_unscored(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "rinobench"
    folder.mkdir()
    (folder / f"{SCORES}x.json").write_text('{"f1": 1}')
    with pytest.raises(ConfigurationError, match="holds no scores of RINoBench"):
        read_scores(tmp_path)
    told = (1, 5, 0, 6, "3", None, True, 2.0)
    rows = [{"novelty_score": score, "reasoning": "r"} for score in told]
    (folder / "novelty_predictions-x.json").write_text(json.dumps(rows))
    assert [one.score for one in read_predictions(tmp_path)["x"]] == [1, 5, *[None] * 6]


# Grading.

EXPECTED, ACTUAL = "Gold justification.", "Model justification."
JUSTIFIED = JustificationPair(
    idea="The idea.", works=(("A work", "Its abstract."),), expected=EXPECTED, actual=ACTUAL
)
BORNE_OUT = {
    "Expert's justification": {"k1", "n1"},
    "Related work 1": {"grounded"},
    "Idea": {"in the idea"},
}


def aspects(question: Any) -> AspectsReply:
    if question.justification == EXPECTED:
        return AspectsReply(known=["k1", "k2"], novel=["n1"])
    return AspectsReply(known=["k1", "grounded", "made up"], novel=["n1", "n1", "in the idea"])


def check(question: Any) -> CheckReply:
    true = BORNE_OUT[question.sources[0].name]
    arguments = [{"number": n, "supported": a in true} for n, a in enumerate(question.arguments, 1)]
    return CheckReply.model_validate({"arguments": arguments})


def engine(**answers: Any) -> FakeEngine:
    usual = {
        "extract_aspects": aspects,
        "check_aspect": check,
        "judge_alignment": lambda _: AlignmentReply(score=7),
    }
    return FakeEngine(WordEmbedder(), {**usual, **answers})


async def test_arguments_are_the_experts_or_grounded_or_made_up() -> None:
    found = await grade(JUSTIFIED, engine())
    assert (found.known_aspects, found.novel_aspects) == (
        AspectCounts(gold=2, generated=3, supported=1, additional=1, hallucinated=1),
        AspectCounts(gold=1, generated=2, supported=1, additional=1, hallucinated=0),
    )
    metrics = justification_metrics([found])
    assert {name: estimate.value for name, estimate in metrics.items()} == pytest.approx(
        {
            "alignment": 0.7,
            "known_aspects_recall": 0.5,
            "additional_known_aspects_ratio": 0.5,
            "known_aspects_hallucination_rate": 1 / 3,
            "novelty_aspects_recall": 1.0,
            "additional_novelty_aspects_ratio": 1.0,
            "novelty_aspects_hallucination_rate": 0.0,
        }
    )
    silent = engine(extract_aspects=lambda _: AspectsReply(known=[], novel=[]))
    found = await grade(JUSTIFIED, silent)
    nothing = AspectCounts(gold=0, generated=0, supported=0, additional=0, hallucinated=0)
    assert found.known_aspects == nothing
    assert "check_aspect" not in {name for name, _ in silent.asked}


def test_the_zeros_of_the_paper_count_and_what_is_not_judged_is_unscored() -> None:
    nothing = AspectCounts(gold=0, generated=0, supported=0, additional=0, hallucinated=0)
    full = AspectCounts(gold=2, generated=5, supported=5, additional=0, hallucinated=0)
    grades = [
        Grade(alignment_0_to_1=alignment, known_aspects=known, novel_aspects=novel)
        for alignment, known, novel in ((0.5, nothing, full), (0.7, full, full), (None, None, None))
    ]
    found = justification_metrics(grades)
    recalled = found["known_aspects_recall"]
    assert (recalled.value, recalled.unscored_count) == (0.5, 1)
    assert found["alignment"].value == pytest.approx(0.6)
    for none in (justification_metrics([]), justification_metrics(grades[2:])):
        assert all(one.undefined_reason for one in none.values())


def leaves_out(_: Any) -> CheckReply:
    return CheckReply.model_validate({"arguments": [{"number": 1, "supported": True}]})


@pytest.mark.parametrize(
    ("step", "answer", "missing", "reason"),
    [
        ("judge_alignment", lambda _: Reason.TIMED_OUT, {"alignment_0_to_1"}, Reason.TIMED_OUT),
        (
            "extract_aspects",
            lambda _: Reason.TIMED_OUT,
            {"known_aspects", "novel_aspects"},
            Reason.TIMED_OUT,
        ),
        (
            "check_aspect",
            lambda _: Reason.TIMED_OUT,
            {"known_aspects", "novel_aspects"},
            Reason.TIMED_OUT,
        ),
        ("check_aspect", leaves_out, {"known_aspects", "novel_aspects"}, Reason.REPLY_UNPARSABLE),
    ],
)
async def test_a_judge_without_a_whole_answer_leaves_no_zero(
    step: str, answer: Any, missing: set[str], reason: Reason
) -> None:
    found = await grade(JUSTIFIED, engine(**{step: answer}))
    graded = ("alignment_0_to_1", "known_aspects", "novel_aspects")
    assert {name for name in graded if getattr(found, name) is None} == missing
    assert found.reason is reason
    assert found.may_improve == (reason is Reason.TIMED_OUT)
