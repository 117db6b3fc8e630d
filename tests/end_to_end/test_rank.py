"""`assay rank` from a file of groups to a published ranking, and with a model server, killed in the
middle.
"""

import json
import shutil
import threading
from collections import Counter
from pathlib import Path

import pytest

from flows.works.evaluate.request import bundled
from tests.end_to_end.conftest import DemoRun
from tests.support.assay_command import assay, kill_hard, rows, start_assay, wait_until
from tests.support.openai_server import Messages, Recorded, start_openai_server
from tests.support.schema_answers import Schema, answer_from_schema

pytestmark = pytest.mark.end_to_end

LITERATURE = f"snapshot:{bundled('papers.jsonl')}"
ANSWERED_BEFORE_THE_KILL = 12
DECISION = "Accept (Poster)"


def answer(messages: Messages, schema: Schema | None) -> object:
    """The idea with the longer text wins along every dimension; any other question is answered by
    its schema.
    """
    assert schema is not None
    if "verdicts" not in schema["properties"]:
        return answer_from_schema(messages, schema)
    names = ("clarity", "novelty", "feasibility", "validity", "significance", "overall")
    first, _, second = messages[-1]["content"].partition("Idea B")
    percent = 90 if len(first) > len(second) else 10
    return {
        "verdicts": [
            {"dimension": name, "reason": "It says more.", "a_better_percent": percent}
            for name in names
        ]
    }


@pytest.fixture
def groups(tmp_path: Path) -> Path:
    """Two groups of two: a query with one match each, made of the bundled ideas."""
    ideas = [json.loads(line) for line in bundled("ideas.jsonl").read_text().splitlines()[:4]]
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


@pytest.mark.long
def test_a_ranking_by_a_model_killed_in_the_middle_goes_on_and_asks_nothing_paid_for_again(
    demo: DemoRun, env: dict[str, str], tmp_path: Path
) -> None:
    warehouse = Path(shutil.copytree(demo.untouched, tmp_path / "warehouse"))
    paid = {**env, "OPENAI_API_KEY": "sk-test", "ASSAY_LANGUAGE_MODEL__MAXIMUM_CONCURRENCY": "2"}
    started_again = threading.Event()

    def behaviour(request: Recorded) -> str:
        return (
            "late"
            if started_again.is_set() or request.number <= ANSWERED_BEFORE_THE_KILL
            else "hangs"
        )

    with start_openai_server(behaviour, answer, late_seconds=0.02) as server:
        engine = ["--engine", "litellm:openai/judge", "--api-base", server.url]
        command = ["rank", "--warehouse", str(warehouse), *engine, "--json"]
        process = start_assay(*command, env=paid, log=tmp_path / "log")
        wait_until(
            lambda: len(server.requests) > ANSWERED_BEFORE_THE_KILL + 1, 300, "two calls in flight"
        )
        kill_hard(process)
        process.wait()
        started_again.set()
        done = assay(*command, env=paid)
        assert done.returncode == 0, (done.stderr, (tmp_path / "log").read_text())
        asked = Counter(
            json.dumps(request.messages)
            for request in server.requests
            if "idea" in json.dumps(request.messages).lower()
        )
        before = len(server.requests)
        assert assay(*command, env=paid).returncode == 0
        assert len(server.requests) - before <= 1, "only the question asked before a run may be new"
    assert len(asked) >= 48, "four groups of four: six pairs each, in both orders"
    assert sum(count - 1 for count in asked.values()) <= 6, "only what was in flight is asked again"
    engines = rows(warehouse, "select judge, count(*) as n from matches group by all")
    assert engines == [{"judge": "litellm:openai/judge", "n": 288}]
    shown = rows(warehouse, "select distinct ranking_engine from group_rankings")
    assert shown == [{"ranking_engine": "litellm:openai/judge"}]
