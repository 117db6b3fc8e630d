"""Coverage of rubrics: by part, with whole ideas resampled."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tasks.metrics.means import mean
from tasks.metrics.reviews import RubricScore, coverage, coverage_difference, coverage_tests

IDEAS = Path(__file__).parents[4] / "shared" / "data" / "scholarideas.jsonl"


def score(idea: str, rubric: str, value: float | None, part: str = "ai") -> RubricScore:
    return RubricScore(idea, rubric, part, "weakness", "soundness", "major", value)


def rubrics(seed: int) -> list[RubricScore]:
    generator = np.random.default_rng(seed)
    return [
        RubricScore(
            idea["idea_id"],
            str(number),
            idea["discipline"],
            one["type"],
            one["axis"],
            one["severity"],
            float(generator.integers(1, 6)),
        )
        for idea in map(json.loads, IDEAS.read_text("utf-8").splitlines())
        for number, one in enumerate(idea["rubrics"])
    ]


@pytest.mark.skipif(not IDEAS.is_file(), reason="ScholarIdeas is not beside this checkout")
def test_every_part_of_scholarideas_is_there_and_parts_add_up_to_all_723_rubrics() -> None:
    found = coverage(rubrics(0))
    assert found["all"].count == 723
    parts: dict[str, int] = {}
    for name, one in found.items():
        parts[name.split("=")[0]] = parts.get(name.split("=")[0], 0) + one.count
    assert parts == {"all": 723, "discipline": 723, "type": 723, "axis": 723, "severity": 723}
    assert {
        "type=strength",
        "type=weakness",
        "axis=soundness",
        "axis=contribution",
        "severity=major",
        "severity=minor",
    } < set(found)
    assert all(one.interval.method == "clustered bootstrap" for one in found.values())


@pytest.mark.skipif(not IDEAS.is_file(), reason="ScholarIdeas is not beside this checkout")
def test_the_difference_of_a_system_to_itself_is_zero() -> None:
    found = coverage_difference(rubrics(0), list(reversed(rubrics(0))))
    assert (found.value, found.count, found.unscored_count) == (0.0, 723, 0)


def test_the_mean_is_over_rubrics_and_not_over_ideas() -> None:
    scores = [
        score("a", "1", 5.0),
        score("b", "1", 1.0),
        score("b", "2", 1.0),
        score("b", "3", 1.0),
    ]
    assert coverage(scores)["all"].value == 2.0


def test_a_rubric_without_a_judgement_is_unscored_and_a_part_without_any_is_undefined() -> None:
    found = coverage([score("a", "1", 4.0), score("a", "2", None), score("b", "1", None, "eco")])
    assert (found["all"].value, found["all"].count, found["all"].unscored_count) == (4.0, 1, 2)
    assert math.isnan(found["discipline=eco"].value)
    assert found["discipline=eco"].undefined_reason
    assert coverage([])["all"].undefined_reason


def test_rubrics_that_one_system_lacks_are_unscored_in_the_difference() -> None:
    found = coverage_difference(
        [score("a", "1", 4.0), score("a", "2", 2.0)], [score("a", "1", 3.0), score("b", "1", 2.0)]
    )
    assert (found.value, found.count, found.unscored_count) == (1.0, 1, 2)


def test_systems_are_compared_over_all_rubrics_and_by_discipline() -> None:
    def scored(*values: float) -> list[RubricScore]:
        return [
            score(f"i{place}", "1", value, "ai" if place < 3 else "eco")
            for place, value in enumerate(values)
        ]

    found = {
        (metric, part): one
        for metric, part, one in coverage_tests(scored(4, 5, 5, 2, 1, 3), scored(1, 2, 1, 2, 1, 2))
    }
    parts = ("all", "discipline=ai", "discipline=eco")
    assert [round(found["coverage_difference", part].value, 6) for part in parts] == [
        1.833333,
        3.333333,
        0.333333,
    ]
    for part in parts:
        both, one = found["welch_p_value", part], found["welch_p_value_one_sided", part]
        assert one.value == pytest.approx(both.value / 2)
    assert found["welch_p_value", "discipline=ai"].value < found["welch_p_value", "all"].value


def test_resampling_ideas_gives_wider_intervals_where_ideas_differ() -> None:
    scores = [
        score(f"i{idea}", str(number), float(1 + idea % 5))
        for idea in range(30)
        for number in range(10)
    ]
    clustered, single = (
        coverage(scores)["all"].interval,
        mean([one.score_1_to_5 for one in scores]).interval,
    )
    assert clustered.upper - clustered.lower > 2 * (single.upper - single.lower)


def test_a_score_off_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="from 1 to 5"):
        score("a", "1", 0.0)
