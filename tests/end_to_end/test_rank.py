"""`assay rank` from a file of groups to a published ranking, and with a model server, killed in the
middle.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from flows.works.evaluate.request import bundled_file
from tests.support.assay_command import LITERATURE, assay, rows

pytestmark = pytest.mark.end_to_end

DECISION = "Accept (Poster)"


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    """Two groups of two: a query with one match each, made of the bundled ideas."""
    ideas = [json.loads(line) for line in bundled_file("ideas.jsonl").read_text().splitlines()[:4]]
    papers = [
        {
            "paper_id": f"p{number}",
            "title": idea["title"],
            "abstract": idea.get("text") or idea["method"],
            "decision": DECISION,
        }
        for number, idea in enumerate(ideas)
    ]
    entries = [
        {"query": papers[at], "matches": {"reject": {"paper": papers[at + 1]}}} for at in (0, 2)
    ]
    path = tmp_path / "groups.json"
    path.write_text(json.dumps(entries))
    return path


@pytest.mark.long
def test_a_file_of_groups_is_evaluated_ranked_and_reported_and_then_printed_for_nothing(
    groups: Path, env: dict[str, str], tmp_path: Path
) -> None:
    warehouse = tmp_path / "warehouse"
    command = ["rank", str(groups), "--warehouse", str(warehouse), "--json"]
    done = assay(
        *command,
        "--literature",
        LITERATURE,
        "--modules",
        "contribution",
        "--cutoff",
        "2025-01-01",
        env=env,
    )
    assert done.returncode == 0, done.stderr
    ranking = json.loads(done.stdout)["rows"]
    assert Counter(entry["group"] for entry in ranking) == {"p0": 2, "p2": 2}
    assert {entry["basis"] for entry in ranking} == {"scores"}  # offline matches tell nobody apart
    assert all(entry["strength"] is not None for entry in ranking)
    # An idea whose contribution too few works address has no rank, but a range.
    places = [(entry["best_rank"], entry["rank"], entry["worst_rank"]) for entry in ranking]
    assert all(best <= (best if rank is None else rank) <= worst for best, rank, worst in places)
    (report,) = warehouse.glob("reports/*/ranking.html")
    assert "<svg" in report.read_text()
    assert rows(
        warehouse, "select count(*) as n, count(distinct judge) as judges from matches"
    ) == [{"n": 24, "judges": 1}]
    again = assay(*command, env=env)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["rows"] == ranking
    assert "evaluated" not in again.stderr
