"""Suite critical_problems on a small made-up release, and its figures on the real one."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from schemas.judgement.benchmark import BenchmarkRequest, BenchmarkScore
from tasks.benchmarks.published import published_scores
from tasks.benchmarks.suites.critical_problems import SUITE
from tasks.benchmarks.suites.release_scores import (
    DIFFERENCE,
    against_print,
    read_prices,
    score_release,
)
from tests.support.benchmark_sets import (
    BareTrial,
    benchmark_request,
    never_evaluate,
    rows_of,
    run_small,
    scores_of,
)
from tests.support.checker_release import JUDGES, PRICED, UNPRICED, write_release

DATA = Path(__file__).parents[4] / "shared" / "data"
PDF = "approach=pdf"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> BenchmarkRequest:
    request = benchmark_request(write_release(tmp_path_factory.mktemp("release")), SUITE)
    summary = run_small(SUITE, request, never_evaluate)
    assert (summary.published, summary.head.incomplete_reason, summary.failed_expectations) == (
        True,
        None,
        (),
    )
    assert all(path.exists() for path in summary.report_paths)
    return request


def test_the_release_becomes_check_runs_that_the_benchmark_names(done: BenchmarkRequest) -> None:
    assert rows_of(done, "select engine, manuscript_count from check_runs order by engine") == [
        (UNPRICED, 4),
        (PRICED, 4),
    ]
    ((named,),) = rows_of(done, "select evaluated_run_ids from benchmarks")
    assert sorted(named) == [
        run_id for (run_id,) in rows_of(done, "select run_id from check_runs order by run_id")
    ]


def test_problems_tokens_and_cost_are_means_of_what_is_there_and_the_rest_is_unscored(
    done: BenchmarkRequest,
) -> None:
    found = scores_of(done)
    assert found["mean_problems", PDF, PRICED] == (1.25, None, 0)
    assert found["mean_problems", PDF, UNPRICED] == (4 / 3, None, 1)
    assert found["mean_output_tokens", PDF, PRICED] == (200, None, 1)
    assert found["nothing_found_share", PDF, PRICED] == (0.25, None, 0)
    cost, _, unscored = found["mean_cost_usd", PDF, PRICED]
    assert cost == pytest.approx((2500 * 10 + (501.5 + 200) * 40) / 1e6)
    assert unscored == 1
    assert found["mean_cost_usd", PDF, UNPRICED] == (None, "no price is stated for the model", 4)
    ends = (
        "select lower < value and value < upper from benchmark_scores where metric in"
        " ('mean_input_tokens', 'mean_cost_usd')"
    )
    assert {row for (row,) in rows_of(done, f"{ends} and lower is not null")} == {True}


def test_hits_are_counted_per_judge_for_all_and_for_any(done: BenchmarkRequest) -> None:
    found = scores_of(done, "metric = 'hit_rate'")
    rates = {
        part.removeprefix(f"{PDF}, "): value
        for (_, part, system), (value, _, _) in found.items()
        if system == PRICED
    }
    assert rates == {
        f"judge={JUDGES[0]}": 0.75,
        f"judge={JUDGES[1]}": 0.5,
        "judges=all": 0.5,
        "judges=majority": 0.5,
        "judges=any": 0.75,
        "judges=all on one problem": 0.5,
    }
    assert found["hit_rate", f"{PDF}, judges=all", UNPRICED][2] == 1


def test_the_engine_is_held_against_the_judges_on_the_problems_they_voted_on(
    done: BenchmarkRequest,
) -> None:
    found = scores_of(done)
    assert found["recall", f"judge={JUDGES[0]}", "assay"] == (1, None, 0)
    assert found["precision", f"judge={JUDGES[1]}", "assay"] == (4 / 6, None, 0)
    assert found["accuracy", "judges=all", "assay"][0] == pytest.approx(5 / 7)
    assert found["accuracy", "judges=all", "always majority"][0] == pytest.approx(4 / 7)
    assert found["recall", "judges=all", "always majority"][0] == 1
    drawn, _, _ = found["accuracy", "judges=all", "stratified random"]
    assert drawn == pytest.approx((4 / 7) ** 2 + (3 / 7) ** 2, abs=0.02)
    assert found["cohen_kappa", f"judge={JUDGES[0]}", f"judge {JUDGES[1]}"] == (0, None, 0)
    assert found["hit_rate", "drawn checks", "assay"] == (6 / 7, None, 1)
    answers = rows_of(
        done,
        "select gold, answer, count(*), count(evaluated_run_id), count(step) from benchmark_items"
        " group by all order by all",
    )
    assert answers == [
        ("hit", "hit", 4, 4, 4),
        ("no hit", "hit", 2, 2, 2),
        ("no hit", "no hit", 1, 1, 1),
        (None, "no hit", 2, 2, 2),
    ]


def test_only_what_differs_at_the_printed_digits_is_named_as_a_difference() -> None:
    def measured(value: float | None) -> BenchmarkScore:
        return BenchmarkScore(
            suite=SUITE.name,
            metric="mean_problems",
            slice=PDF,
            system="o3",
            value=value,
            count=245,
            undefined_reason="nothing was checked" if value is None else None,
        )

    assert against_print(SUITE.name, [measured(4.84), measured(None)]) == []
    (difference,) = against_print(SUITE.name, [measured(4.9)])
    assert (difference.metric, difference.slice) == (DIFFERENCE, f"mean_problems, {PDF}")
    assert difference.value == pytest.approx(0.1)


@pytest.mark.skipif(
    not (DATA / "withdrarxiv").is_dir(),
    reason="the released outputs of the quality checker are not beside this checkout",
)
def test_the_release_differs_from_tables_2_and_3_in_hit_rates_and_one_column_of_output_tokens() -> (
    None
):
    with duckdb.connect() as connection:
        connection.execute(f"create view checks as from '{DATA}/withdrarxiv/checks.parquet'")
        connection.execute(f"create view votes as from '{DATA}/withdrarxiv/votes.parquet'")
        trial: Any = BareTrial(SUITE.name)
        score_release(trial, connection)
    scores = [one for one in trial.scores if one.metric != DIFFERENCE]
    differing = {(one.slice, one.system) for one in against_print(SUITE.name, scores)}
    assert {part for part, _ in differing if not part.startswith("hit_rate")} == {
        f"mean_output_tokens, {PDF}"
    }
    assert len(differing) == 16
    printed = {
        (one.metric, one.slice, one.system)
        for one in published_scores(SUITE.name)
        if one.slice.startswith(PDF)
    }
    assert printed <= {(one.metric, one.slice, one.system) for one in scores}
    assert {one.system for one in scores} == set(read_prices())
