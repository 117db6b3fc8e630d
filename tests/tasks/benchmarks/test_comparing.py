"""Two benchmarks held against each other, answer by answer."""

from pathlib import Path
from typing import Any

import pytest

from flows.cli.quality.benchmark import _comparison
from flows.run.declared_campaign import published_page
from schemas.base import replace
from tasks.benchmarks.differences import Items, _estimates
from tasks.benchmarks.registry import SUITES
from tasks.benchmarks.work import BENCHMARK
from tests.support.benchmark_sets import (
    benchmark_request,
    never_evaluate,
    run_small,
    write_expert_reviews,
    write_pairs,
)
from warehouse.warehouse import Warehouse


def items(answers: dict[str, tuple[str | None, str | None]], value: float | None = None) -> Items:
    """(right answer, answer) by item."""
    rows: dict[str, dict[str, Any]] = {}
    for name, (gold, answer) in answers.items():
        number = float(answer) if answer is not None and answer.isdigit() else value
        rows[name] = {"gold": gold, "answer": answer, "value": number}
    return rows


def test_where_there_are_right_answers_rightness_is_compared_not_the_answers() -> None:
    labels = {str(n): ("novel" if n % 2 else "known") for n in range(40)}
    good = items({name: (label, label) for name, label in labels.items()})
    poor = items(
        {name: (label, "novel") for name, label in labels.items()} | {"0": ("known", None)}
    )
    found = _estimates(good, poor, 0)
    assert set(found) == {"accuracy", "macro_f1"}
    assert found["accuracy"].value == pytest.approx(19 / 39)
    assert (found["accuracy"].count, found["accuracy"].unscored_count) == (39, 1)
    assert 0 < found["accuracy"].interval.lower < found["accuracy"].value
    assert found["macro_f1"].interval.lower > 0


def test_of_numbers_the_error_is_compared_too_and_of_many_right_answers_no_f1() -> None:
    ours = items({str(n): (str(1 + n % 5), str(1 + n % 5)) for n in range(20)})
    theirs = items({str(n): (str(1 + n % 5), "3") for n in range(20)})
    assert _estimates(ours, theirs, 0)["mean_absolute_error"].value == pytest.approx(-1.2)
    groups = {f"g{n}": (f"a{n}, b{n}", f"b{n}") for n in range(8)}
    assert {
        metric: found.value for metric, found in _estimates(items(groups), items(groups), 0).items()
    } == {"accuracy": 0.0}


def test_without_right_answers_the_values_are_compared_and_other_right_answers_are_told() -> None:
    ours, theirs = (
        items({"a": (None, "4"), "b": (None, "5")}),
        items({"a": (None, "2"), "b": (None, None)}),
    )
    found = _estimates(ours, theirs, 0)["mean_value"]
    assert (found.value, found.count, found.unscored_count) == (2.0, 1, 1)
    other = _estimates(items({"a": ("x", "x")}), items({"a": ("y", "x")}), 0)["accuracy"]
    assert other.undefined_reason == "the two were compared with different gold answers"


def test_several_suites_share_a_page_and_one_without_a_shared_task_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_expert_reviews(write_pairs(tmp_path, 2))
    both = [
        benchmark_request(tmp_path, SUITES[name], modules=()) for name in ("pairs", "agreement")
    ]
    request = replace(both[0], units=tuple(unit for each in both for unit in each.units))
    whole = run_small(SUITES["pairs"], request, never_evaluate)
    limited = benchmark_request(tmp_path, SUITES["pairs"], modules=(), item_limit=1)
    alone = [run_small(SUITES[each.units[0].suite], each, never_evaluate) for each in both]
    other = run_small(SUITES["pairs"], limited, never_evaluate)
    assert [each.unchanged for each in (*alone, other)] == [True, True, False]
    assert (whole.head.run_id, whole.faults) == (alone[0].head.run_id, ())
    compared = (alone[1].head.run_id, other.head.run_id)
    shown = replace(request, units=(replace(request.units[0], compared=compared),))
    warehouse = Warehouse(request.warehouse)
    page: Any = published_page(BENCHMARK, warehouse, whole.head.run_id, shown)
    assert [part.suite for part in page.suites] == ["pairs", "agreement"]
    assert {row.benchmark for row in page.units} == {whole.head.run_id, *compared, None}
    assert {(each.first, each.second) for each in page.differences} == {(1, 3)}
    assert "Differences, paired by items" in page.short()
    assert page.run is None  # `--json` names several under `benchmarks`
    single: Any = published_page(BENCHMARK, warehouse, whole.head.run_id, request)
    assert single.run == single.head
    assert _comparison(shown, whole, compared[:1])
    assert f"--compare {compared[0]}: it shares no task" in capsys.readouterr().err
