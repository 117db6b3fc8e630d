"""What a newcomer gets from one command."""

import json
from pathlib import Path

import pytest

from flows.works.evaluate.request import bundled_file
from tests.support.answers import read_answer
from tests.support.assay_command import assay, landed_count, rows
from tests.support.assay_here import assay_here
from tests.support.demo_run import DemoRun

pytestmark = pytest.mark.end_to_end


def test_every_bundled_idea_is_evaluated_published_and_ranked(demo: DemoRun) -> None:
    run = demo.answer["run"]
    assert run["idea_count"] == run["evaluated_count"] >= 12
    assert demo.answer["published"]
    ranking = demo.answer["rows"]
    assert len(ranking) == run["idea_count"]
    assert len({entry["group"] for entry in ranking}) == 4
    assert all(0 <= entry["score"] <= 10 for entry in ranking if entry["score"] is not None)
    scores = [entry["score"] for entry in ranking if entry["score"] is not None]
    assert len(scores) >= 12
    assert max(scores) - min(scores) > 1.0
    answer = read_answer(demo.stdout)
    assert (answer["state"], answer["warnings"]) == ("in_order", [])
    assert demo.answer["reports"]
    assert all(Path(path).is_file() for path in demo.answer["reports"])
    assert landed_count(demo.warehouse) == run["idea_count"]
    validations = rows(demo.warehouse, "select * from validations")
    assert len(validations) > 30
    assert [row for row in validations if not row["success"]] == []


def test_the_same_command_again_changes_nothing_and_makes_no_call(
    demo: DemoRun, env: dict[str, str]
) -> None:
    before = rows(demo.warehouse, "select * from runs")
    receipts = {
        path: path.stat().st_mtime_ns
        for path in demo.warehouse.glob("landing/run=*/idea=*/receipt.json")
    }
    again = assay("demo", "--warehouse", str(demo.warehouse), "--json", env=env)
    assert again.returncode == 0, again.stderr
    assert rows(demo.warehouse, "select * from runs") == before
    assert {
        path: path.stat().st_mtime_ns
        for path in demo.warehouse.glob("landing/run=*/idea=*/receipt.json")
    } == receipts


@pytest.mark.long
def test_a_plan_of_the_same_ideas_has_nothing_left_to_ask(
    demo: DemoRun, bare_env: dict[str, str]
) -> None:
    ideas = str(bundled_file("ideas.jsonl"))
    done = assay_here("plan", ideas, "--warehouse", str(demo.warehouse), "--json", env=bare_env)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["evaluated"], told["literature_requests"]) == (told["ideas"], 0)
    assert told["without_earlier_runs"]["literature_requests"] > 0


def test_every_citation_resolves_to_a_retrieved_paper_inside_the_cutoff(demo: DemoRun) -> None:
    query = """
        select c.idea_id, c.paper_id, p.paper_id as found, p.year, i.cutoff_date
        from citations c
        join ideas i using (run_id, idea_id)
        left join papers p using (run_id, idea_id, paper_id)
    """
    cited = rows(demo.warehouse, query)
    assert len(cited) > 50
    assert [row for row in cited if row["found"] is None] == []
    assert [row for row in cited if row["year"] > int(row["cutoff_date"][:4])] == []


def test_the_reports_name_the_baseline_and_the_bibliography(
    demo: DemoRun, bare_env: dict[str, str]
) -> None:
    idea = demo.answer["rows"][0]["idea_id"]
    asked = ("report", "--idea", idea, "--full", "--warehouse", str(demo.warehouse))
    done = assay_here(*asked, env=bare_env)
    assert done.returncode == 0, done.stderr
    assert "extractive" in done.stdout
    assert "https://" in done.stdout
    page = assay_here(
        "report", "--warehouse", str(demo.warehouse), "--format", "html", env=bare_env
    )
    assert page.stdout.lstrip().lower().startswith("<!doctype html>")


def test_the_lake_verifies_and_exports_to_a_plain_file(
    demo: DemoRun, bare_env: dict[str, str], tmp_path: Path
) -> None:
    import duckdb

    verified = assay_here("warehouse", "verify", "--warehouse", str(demo.warehouse), env=bare_env)
    assert verified.returncode == 0, verified.stderr
    exported = assay_here(
        "warehouse",
        "export",
        str(tmp_path / "lake.duckdb"),
        "--warehouse",
        str(demo.warehouse),
        env=bare_env,
    )
    assert exported.returncode == 0, exported.stderr
    with duckdb.connect(str(tmp_path / "lake.duckdb"), read_only=True) as connection:
        (count,) = connection.execute("select count(*) from idea_scores").fetchone() or (0,)
    assert count == demo.answer["run"]["idea_count"]


def test_nothing_a_run_writes_can_be_read_by_others(demo: DemoRun, home: Path) -> None:
    """Neither in the warehouse nor at home: texts, caches, databases of SQLite,
    DuckDB and Prefect.
    """
    written = [demo.warehouse, *demo.warehouse.rglob("*"), *home.rglob("*")]
    assert {path.suffix for path in written} >= {".parquet", ".sqlite", ".json", ".html"}
    assert [path for path in written if path.lstat().st_mode & 0o077] == []
