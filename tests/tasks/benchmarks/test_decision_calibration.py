"""Calibration of decisions: as many classes as their labels allow, and why not more."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from schemas.choices import EXTRACTIVE
from schemas.identifiers import RunId
from schemas.judgement.benchmark import BenchmarkScore
from tasks.benchmarks.suites import decisions
from tasks.benchmarks.suites.decisions import FILE
from tasks.calibration.calibrator_files import load_calibrator
from tests.support.benchmark_sets import BareTrial

GRADES = ("reject", "poster", "spotlight", "oral")


def calibrated(
    counts: tuple[int, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[BenchmarkScore]:
    """Of `counts` submissions per decision, whose scores follow their decisions."""
    labels = [grade for grade, count in zip(GRADES, counts, strict=True) for _ in range(count)]
    monkeypatch.setattr(decisions, "decision_features", lambda review: {"score": review.score})
    reviews = [
        SimpleNamespace(
            evaluation=SimpleNamespace(
                idea=SimpleNamespace(idea_id=f"p{n}", text=f"Idea {n}"), llm_calls=()
            ),
            score=GRADES.index(label) + n % 3,
        )
        for n, label in enumerate(labels)
    ]
    trial: Any = BareTrial(
        "decisions",
        reviews=lambda _: iter(reviews),
        request=SimpleNamespace(engine=EXTRACTIVE),
        folder=folder,
    )
    gold = {f"p{n}": label for n, label in enumerate(labels)}
    said = dict.fromkeys(gold, "poster")
    decisions.decision_calibration(trial, RunId("run-a"), gold, said, {})
    return list(trial.scores)


def test_a_decision_too_rare_is_merged_and_the_row_of_four_classes_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = calibrated((12, 12, 5, 1), tmp_path, monkeypatch)
    (four,) = [row for row in rows if row.slice == "calibration: decisions, classes=4"]
    assert four.undefined_reason == "every label needs 3 items: oral (1); merge labels or add items"
    errors = {
        row.slice: row
        for row in rows
        if row.metric in ("error_rate", "mean_absolute_error") and row.system == "assay, calibrated"
    }
    assert errors["calibration: decisions, classes=3"].value is not None
    assert errors["calibration: decisions, classes=2"].value is not None
    assert [one.label for one in load_calibrator(tmp_path / FILE).labels] == [
        "reject",
        "poster",
        "highlight",
    ]


@pytest.mark.long
def test_with_labels_enough_four_classes_and_two_are_fitted_and_three_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = calibrated((9, 9, 9, 9), tmp_path, monkeypatch)
    parts = {row.slice.partition(", bin")[0] for row in rows}
    assert parts == {
        "calibration: decisions, classes=4",
        "calibration: decisions, classes=2",
    }
    assert len(load_calibrator(tmp_path / FILE).labels) == 4
