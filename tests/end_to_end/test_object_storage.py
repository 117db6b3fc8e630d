"""Two machines that have nothing but a bucket in common."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.assay_command import LITERATURE, assay, some_ideas
from tests.support.object_server import BUCKET, SECRET, ObjectServer, object_server
from tests.support.postgres_server import PostgresServer, needs_postgres
from warehouse.objects.object_storage import forget_client

pytestmark = [pytest.mark.end_to_end, needs_postgres]

ADDRESS = f"s3://{BUCKET}/assay"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectServer]:
    with object_server() as running:
        for name, value in running.environment.items():
            monkeypatch.setenv(name, value)
        forget_client()
        yield running
        forget_client()


@pytest.mark.long
def test_two_machines_evaluate_rank_and_publish_into_one_lake_and_pay_for_nothing_twice(
    server: ObjectServer, postgres: PostgresServer, bare_env: dict[str, str], tmp_path: Path
) -> None:
    shared = {"ASSAY_CATALOGUE_URL": postgres.new_database("objects"), "ASSAY_WAREHOUSE": ADDRESS}
    env = bare_env | server.environment | shared
    some_ideas(tmp_path / "ideas.jsonl", 2)
    some_ideas(tmp_path / "others.jsonl", 2, first=1)
    evaluated = ["--modules", "soundness", "--literature", LITERATURE]

    def on(machine: str, *words: str) -> dict[str, Any]:
        home = {"ASSAY_HOME": str(tmp_path / machine)}
        done = assay(*words, "--json", env=env | home, cwd=tmp_path)
        assert done.returncode == 0, done
        assert SECRET not in done.stdout + done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    first = on("first", "evaluate", "ideas.jsonl", *evaluated)
    again = on("second", "evaluate", "ideas.jsonl", *evaluated)
    assert again["unchanged"], "the first machine might have been lost: nothing is left to do"
    landed = {name for name in server.objects if name.startswith("assay/landing/run=")}
    assert len(landed) == 3, "two ideas, and what the run consists of"
    others = on("second", "evaluate", "others.jsonl", *evaluated)
    asked = "select run_id, reused_from_run_id from ideas where reused_from_run_id is not null"
    run, other = (each["run"]["run_id"] for each in (first, others))
    home = {"ASSAY_HOME": str(tmp_path / "first")}
    taken_over = assay("sql", asked, "--json", env=env | home, cwd=tmp_path)
    assert json.loads(taken_over.stdout) == [{"run_id": other, "reused_from_run_id": run}]

    assert on("first", "rank", other)["rows"]
    assert run in json.dumps(on("second", "report", run))
    assert f"warehouse: {ADDRESS}/" in json.dumps(on("second", "doctor"))
    assert on("second", "warehouse", "verify")["runs"] == 2
    on("second", "runs", "delete", run, "--yes")
    left = [name for name in server.objects if not name.startswith("assay/lake/main/")]
    assert not [name for name in left if run in name]
    assert [name for name in left if name.startswith(f"assay/reports/{other}/ranking.html")]
    assert not list(tmp_path.rglob("lake/data/**/*.parquet"))
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]
    assert not [name for name, held in server.objects.items() if SECRET.encode() in held]
