"""Reviews: coverage of rubrics with whole ideas resampled, dead links, and preferences in both orders."""

import json
from pathlib import Path

import numpy as np
import pytest

from tasks.metrics.means import mean
from tasks.metrics.reviews import (
    Answer,
    Rubric,
    coverage,
    coverage_difference,
    coverage_tests,
    is_invalid,
    reference_invalidity,
    win_rates,
)

IDEAS = Path(__file__).parents[4] / "shared" / "data" / "scholarideas.jsonl"


def rubric(idea: str, number: int, discipline: str = "ai") -> Rubric:
    told = ("It is so.", "weakness", "soundness", "major")
    return Rubric(f"{idea}:{number}", idea, discipline, *told)


@pytest.mark.skipif(not IDEAS.is_file(), reason="ScholarIdeas is not beside this checkout")
def test_parts_of_scholarideas_add_up_to_all_723_rubrics() -> None:
    draw = np.random.default_rng(0)
    ideas = [json.loads(line) for line in IDEAS.read_text("utf-8").splitlines()]
    fields = ("statement", "type", "axis", "severity")
    marks = {
        Rubric(
            f"{idea['idea_id']}:{number}",
            idea["idea_id"],
            idea["discipline"],
            *(one[name] for name in fields),
        ): float(draw.integers(1, 6))
        for idea in ideas
        for number, one in enumerate(idea["rubrics"])
    }
    found = coverage(marks)
    counts: dict[str, int] = {}
    for name, one in found.items():
        counts[name.split("=")[0]] = counts.get(name.split("=")[0], 0) + one.count
        assert one.interval.method == "clustered bootstrap"
    assert counts == dict.fromkeys(("all", "discipline", "type", "axis", "severity"), 723)
    same = coverage_difference(marks, dict(reversed(marks.items())))
    assert (same.value, same.count, same.unscored_count) == (0.0, 723, 0)


def test_the_mean_is_over_rubrics_and_what_has_no_mark_is_unscored() -> None:
    a, *b = rubric("a", 1), rubric("b", 1), rubric("b", 2), rubric("b", 3)
    assert coverage({a: 5.0, **dict.fromkeys(b, 1.0)})["all"].value == 2.0
    found = coverage({a: 4.0, rubric("a", 2): None, rubric("c", 1, "eco"): None})
    assert (found["all"].value, found["all"].count, found["all"].unscored_count) == (4.0, 1, 2)
    assert found["discipline=eco"].undefined_reason
    assert coverage({})["all"].undefined_reason
    difference = coverage_difference({a: 4.0, rubric("a", 2): 2.0}, {a: 3.0, b[0]: 2.0})
    assert (difference.value, difference.count, difference.unscored_count) == (1.0, 1, 2)


def test_systems_are_compared_over_all_rubrics_and_by_discipline() -> None:
    rubrics = [rubric(f"i{place}", 1, "ai" if place < 3 else "eco") for place in range(6)]
    ours, theirs = (
        dict(zip(rubrics, marks, strict=True))
        for marks in ((4.0, 5.0, 5.0, 2.0, 1.0, 3.0), (1.0, 2.0, 1.0, 2.0, 1.0, 2.0))
    )
    found = {(metric, part): one.value for metric, part, one in coverage_tests(ours, theirs)}
    differences = {"all": 11 / 6, "discipline=ai": 10 / 3, "discipline=eco": 1 / 3}
    for part, difference in differences.items():
        assert found["coverage_difference", part] == pytest.approx(difference)
        both = found["welch_p_value", part]
        assert found["welch_p_value_one_sided", part] == pytest.approx(both / 2)


def test_resampling_ideas_gives_wider_intervals_where_ideas_differ() -> None:
    marks = {rubric(f"i{n}", place): float(1 + n % 5) for n in range(30) for place in range(10)}
    clustered, single = coverage(marks)["all"].interval, mean(list(marks.values())).interval
    assert clustered.upper - clustered.lower > 2 * (single.upper - single.lower)


def test_a_link_without_an_answer_is_between_the_bounds() -> None:
    invalid = {code for code in (200, 301, 400, 403, 404, 410, 429, 500, 599) if is_invalid(code)}
    assert invalid == {404, 410, 500, 599}, "ScholarEval E.2"
    found = reference_invalidity([404, 200, None, 403])
    values = [one.value for one in found.values()]
    assert (list(found), values) == (
        ["lower_bound", "of_answered", "upper_bound"],
        [0.25, pytest.approx(1 / 3), 0.5],
    )
    assert (found["of_answered"].count, found["of_answered"].unscored_count) == (3, 1)
    assert all(one.undefined_reason for one in reference_invalidity([]).values())
    assert reference_invalidity([None])["of_answered"].undefined_reason


def test_a_win_must_survive_the_swap() -> None:
    answers: list[tuple[Answer | None, Answer | None]] = [
        ("A", "B"),
        ("A", "A"),
        ("B", "B"),
        ("B", "A"),
        ("tie", "tie"),
        ("A", "tie"),
        ("A", None),
        (None, None),
    ]
    found = win_rates(answers)
    assert {name: one.value for name, one in found.items()} == pytest.approx(
        {
            "win": 1 / 6,
            "loss": 1 / 6,
            "tie": 4 / 6,
            "win_of_decided": 0.5,
            "consistency": 0.5,
            "first_shown": 6 / 10,
        }
    )
    assert (found["win"].count, found["win"].unscored_count) == (6, 2)
    first = win_rates([("A", "A")] * 5)
    assert (first["tie"].value, first["first_shown"].value) == (1.0, 1.0)
    assert first["win_of_decided"].undefined_reason
    assert win_rates([])["win"].undefined_reason
