"""The quality checker's Tables 2 and 3 from its released outputs: what they give, and where they
differ from what is printed.
"""

from pathlib import Path

import duckdb
import pytest

from schemas.errors import ConfigurationError
from schemas.works.check_run import CHECKS
from tasks.metrics.hit_rate import Ballot, CheckedPaper, Rule, checked_papers, hit_rate
from warehouse.kinds.quality_checker import (
    RELEASE_TABLES,
    Price,
    checker_costs,
    checker_usage,
    import_release,
    joint_hits,
    judge_hits,
    release_views,
)
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_heads, published_units
from warehouse.warehouse import Warehouse

RELEASE = Path(__file__).parents[4] / "shared" / "data" / "withdrarxiv"
needs_release = pytest.mark.skipif(
    not RELEASE.is_dir(),
    reason="the released outputs of the quality checker are not beside this checkout",
)
TABLE_2 = {
    "gemini-2.5-pro": "3.3 3 4 4,678 14,228 881 0.157",
    "gemini-2.5-flash": "3.8 3 5 4,678 8,713 644 0.033",
    "o3": "4.8 5 5 16,594 3,152 729 0.321",
    "o4-mini": "4.7 5 5 17,760 3,582 701 0.038",
    "claude-3.7-sonnet": "1.6 0 4 43,357 1,630 311 0.159",
}
"""PDF approach: problems (mean, Q1, Q3), input, thinking and output tokens, dollars per paper."""
PRICES = {
    "gemini-2.5-pro": Price(1.25, 10.0),
    "gemini-2.5-flash": Price(0.15, 3.5),
    "o3": Price(10.0, 40.0),
    "o4-mini": Price(1.1, 4.4),
    "claude-3.7-sonnet": Price(3.0, 15.0),
}
"""Providers' list prices of May 2025, in dollars per million tokens; the article says "early May
2025" and prints none.
"""
TABLE_3 = {
    "gemini-2.5-pro": (64.9, 62.4, 55.1),
    "gemini-2.5-flash": (62.0, 64.1, 53.5),
    "o3": (72.7, 75.5, 64.9),
    "o4-mini": (69.0, 68.2, 59.6),
    "claude-3.7-sonnet": (21.6, 19.2, 16.3),
}
"""PDF approach: % of papers hit by judge Gemini 2.5 Pro, by judge o3 (Table 3), by both (Table 2).
"""
RELEASED = {
    "gemini-2.5-pro": (68.2, 41.2, 39.2),
    "gemini-2.5-flash": (66.5, 40.4, 38.4),
    "o3": (80.4, 50.2, 48.2),
    "o4-mini": (72.7, 40.4, 38.0),
    "claude-3.7-sonnet": (24.1, 12.2, 11.0),
}


@needs_release
def test_table_2_problems_input_and_thinking_tokens_of_the_pdf_approach_exactly() -> None:
    rows = {row.model: row for row in checker_usage(RELEASE)}
    assert set(rows) == set(TABLE_2)
    for model, line in TABLE_2.items():
        row, printed = rows[model], line.split()
        assert row.paper_count == 245
        assert [
            f"{row.mean_problems:.1f}",
            f"{row.first_quartile_problems:.0f}",
            f"{row.third_quartile_problems:.0f}",
        ] == printed[:3], model
        assert [f"{row.mean_input_tokens:,.0f}", f"{row.mean_thinking_tokens:,.0f}"] == printed[
            3:5
        ], model


@needs_release
def test_table_2_output_tokens_differ_for_gemini_flash_whose_three_empty_answers_it_counts_as_zero() -> (
    None
):
    rows = {row.model: row for row in checker_usage(RELEASE)}
    differing = {
        model
        for model, line in TABLE_2.items()
        if f"{rows[model].mean_output_tokens:,.0f}" != line.split()[5]
    }
    assert differing == {"gemini-2.5-flash"}
    row = rows["gemini-2.5-flash"]
    assert (f"{row.mean_output_tokens:.0f}", row.without_tokens_count) == ("652", 3)
    assert f"{row.mean_output_tokens * 242 / 245:.0f}" == "644"


@needs_release
def test_claude_found_no_problem_in_64_9_percent_of_papers_as_section_3_says() -> None:
    row = next(row for row in checker_usage(RELEASE) if row.model == "claude-3.7-sonnet")
    assert f"{100 * row.nothing_found_share:.1f}" == "64.9"


@needs_release
def test_table_2_cost_per_paper_at_stated_prices() -> None:
    found = {row.model: f"{row.mean_cost_usd:.3f}" for row in checker_costs(RELEASE, PRICES)}
    assert found == {model: line.split()[6] for model, line in TABLE_2.items()}


@needs_release
def test_a_model_without_a_price_has_no_cost() -> None:
    found = {
        row.model: row.mean_cost_usd for row in checker_costs(RELEASE, {"o3": Price(10.0, 40.0)})
    }
    assert found["o3"] == pytest.approx(0.3212, abs=1e-4)
    assert {cost for model, cost in found.items() if model != "o3"} == {None}


@needs_release
def test_hit_rates_of_the_release_are_not_those_of_tables_2_and_3() -> None:
    """Judge Gemini hits 2 to 8 points more often than printed, judge o3 7 to 28 less, and both
    together 5 to 22 less.
    """
    single = {(row.model, row.judge): row for row in judge_hits(RELEASE)}
    joint = {row.model: row for row in joint_hits(RELEASE)}
    for model, (gemini, o3, both) in RELEASED.items():
        found = [
            100 * row.hit_count / row.paper_count
            for row in (single[model, "gemini-2.5-pro"], single[model, "o3"])
        ]
        found.append(100 * joint[model].all_hit_count / joint[model].paper_count)
        assert [round(value, 1) for value in found] == [gemini, o3, both]
        assert found[0] > TABLE_3[model][0]
        assert found[1] < TABLE_3[model][1]
        assert found[2] < TABLE_3[model][2]
    assert sorted(RELEASED, key=lambda model: RELEASED[model][2])[-1] == "o3"


@needs_release
def test_sql_and_python_count_the_same_hits() -> None:
    papers = released_papers()
    judges = ("gemini-2.5-pro", "o3")
    for row in joint_hits(RELEASE):
        found = hit_rate(papers[row.model], judges, Rule.ALL)
        assert (found.value, found.unscored_count) == (
            pytest.approx(row.all_hit_count / 245),
            row.undecided_count,
        )
        assert hit_rate(papers[row.model], judges, Rule.ANY).value == pytest.approx(
            row.any_hit_count / 245
        )
        assert hit_rate(papers[row.model], judges, Rule.MAJORITY).value == pytest.approx(
            row.majority_hit_count / 245
        )
        assert row.same_problem_hit_count <= row.all_hit_count <= row.any_hit_count
    for row in judge_hits(RELEASE):
        assert hit_rate(papers[row.model], (row.judge,), Rule.ALL).value == pytest.approx(
            row.hit_count / row.paper_count
        )


@needs_release
def test_the_release_s_figures_come_from_the_lake_as_from_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "release"
    folder.mkdir()
    with duckdb.connect() as connection:
        for name in RELEASE_TABLES:
            where = "" if name == "papers" else "where model = 'o3'"
            rows = f"select * from '{RELEASE}/{name}.parquet' {where}"
            connection.execute(f"copy ({rows}) to '{folder}/{name}.parquet'")
    warehouse = Warehouse(tmp_path / "wh")
    (publication,) = import_release(folder, warehouse)
    assert publication.published, publication.validation
    assert (publication.rows["manuscripts"], publication.rows["problems"]) == (245, 1178)
    assert import_release(folder, warehouse)[0].unchanged
    with release_views(warehouse, [publication.run_id]) as lake:
        (usage,) = checker_usage(lake)
        assert usage == checker_usage(folder)[0]
        assert judge_hits(lake) == judge_hits(folder)
        (joint,) = joint_hits(lake)
        assert joint == joint_hits(folder)[0]
    with warehouse.reader() as connection:
        (head,) = published_heads(connection, kind_of(CHECKS))
        assert head.dataset == "withdrarxiv-check"
        checks = published_units(connection, kind_of(CHECKS), head.run_id)
        by_mart = connection.execute(
            "select judge, count(*) filter (where hit) from attempt_hits group by judge order by"
            " judge"
        ).fetchall()
    papers = [paper for check in checks for paper in checked_papers(check)]
    assert hit_rate(papers, head.judges, Rule.ALL).value == pytest.approx(joint.all_hit_count / 245)
    assert by_mart == [
        (row.judge, row.hit_count) for row in sorted(judge_hits(folder), key=lambda row: row.judge)
    ]


def released_papers() -> dict[str, list[CheckedPaper]]:
    with duckdb.connect() as connection:
        checks = connection.execute(
            f"select model, entry_id, problem_count from '{RELEASE}/checks.parquet'"
        ).fetchall()
        votes = connection.execute(
            f"select model, entry_id, problem_id, judge, hit from '{RELEASE}/votes.parquet'"
        ).fetchall()
    ballots: dict[tuple[str, int], list[Ballot]] = {}
    for model, entry, problem, judge, hit in votes:
        ballots.setdefault((model, entry), []).append(Ballot(str(problem), judge, hit))
    found: dict[str, list[CheckedPaper]] = {}
    for model, entry, count in checks:
        names = tuple(str(number) for number in range(count))
        found.setdefault(model, []).append(
            CheckedPaper(str(entry), 1, names, tuple(ballots.get((model, entry), ())))
        )
    return found


def test_a_folder_that_is_not_the_release_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"lacks checks\.parquet, papers\.parquet"):
        checker_usage(tmp_path)
    with duckdb.connect() as connection:
        for name in RELEASE_TABLES:
            connection.execute(f"copy (select 1 as other) to '{tmp_path}/{name}.parquet'")
    with pytest.raises(ConfigurationError, match="not the release of the quality checker") as error:
        judge_hits(tmp_path)
    assert "\n" not in str(error.value)
