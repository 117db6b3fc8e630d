"""Two machines that have nothing but a bucket in common."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.request import bundled
from tests.support.assay_command import assay
from tests.support.object_server import BUCKET, SECRET, ObjectServer, object_server
from tests.support.postgres_server import PostgresServer, needs_postgres
from warehouse.object_storage import forget_client

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


def test_another_machine_goes_on_where_one_was_lost_and_pays_for_nothing_twice(
    server: ObjectServer, postgres: PostgresServer, bare_env: dict[str, str], tmp_path: Path
) -> None:
    catalogue = {"ASSAY_CATALOGUE_URL": postgres.new_database("objects")}
    env = bare_env | server.environment | {"ASSAY_WAREHOUSE": ADDRESS}
    ideas = tmp_path / "ideas.jsonl"
    ideas.write_text("".join(bundled("ideas.jsonl").read_text().splitlines(keepends=True)[:2]))
    evaluate = [
        *("evaluate", str(ideas), "--modules", "soundness", "--json"),
        *("--literature", f"snapshot:{bundled('papers.jsonl')}"),
    ]
    done = {}
    for name, home, words, more in (
        ("no catalogue", "first", evaluate, {}),
        ("evaluate", "first", evaluate, catalogue),
        ("doctor", "first", ["doctor", "--json"], catalogue),
        ("again", "second", evaluate, catalogue),
        ("report", "second", ["report"], catalogue),
        ("verify", "second", ["warehouse", "verify"], catalogue),
        ("accounts", "second", ["accounts", "list"], catalogue),
    ):
        own = {"ASSAY_HOME": str(tmp_path / home)}
        done[name] = assay(*words, env=env | own | more, cwd=tmp_path)
    ended = {name: each.returncode for name, each in done.items()}
    assert ended == dict.fromkeys(done, 0) | {"no catalogue": 2, "accounts": 2}, done
    for name, word in (("no catalogue", "ASSAY_CATALOGUE_URL"), ("accounts", "in a folder")):
        assert word in done[name].stderr
        assert len(done[name].stderr.splitlines()) == 1
    assert f"warehouse: {ADDRESS}/" in done["doctor"].stdout
    assert not list(tmp_path.rglob("lake/data/**/*.parquet"))
    assert [name for name in server.objects if name.startswith("assay/lake/main/")]
    landed = [name for name in server.objects if name.startswith("assay/landing/run=")]
    assert len(landed) == 2

    receipts = [
        sorted(path.read_text() for path in (tmp_path / home).rglob("landing/run=*/idea=*/*.json"))
        for home in ("first", "second")
    ]
    assert receipts[0] == receipts[1], "evaluated once"
    assert SECRET not in "".join(each.stdout + each.stderr for each in done.values())
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]
    assert not [name for name, held in server.objects.items() if SECRET.encode() in held]
