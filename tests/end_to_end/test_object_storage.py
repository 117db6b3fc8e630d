"""Two machines that have nothing but a bucket in common."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.request import bundled
from tests.support.assay_command import assay
from tests.support.object_server import BUCKET, SECRET, ObjectServer, object_server
from warehouse.object_storage import forget_client

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
    server: ObjectServer, bare_env: dict[str, str], tmp_path: Path
) -> None:
    env = bare_env | server.environment | {"ASSAY_SHARED_LANDING": ADDRESS}
    ideas = tmp_path / "ideas.jsonl"
    ideas.write_text("".join(bundled("ideas.jsonl").read_text().splitlines(keepends=True)[:2]))
    evaluate = [
        *("evaluate", str(ideas), "--modules", "soundness", "--json"),
        *("--literature", f"snapshot:{bundled('papers.jsonl')}"),
    ]
    first, second = tmp_path / "first", tmp_path / "second"
    done = {}
    for name, warehouse, words in (
        ("move", first, ["warehouse", "move-data", ADDRESS, "--json"]),
        ("evaluate", first, evaluate),
        ("doctor", first, ["doctor", "--json"]),
        ("again", second, evaluate),
        ("report", first, ["report"]),
        ("verify", first, ["warehouse", "verify"]),
    ):
        home = {"ASSAY_HOME": str(tmp_path / f"home-{warehouse.name}")}
        words = [*words, "--warehouse", str(warehouse)]
        done[name] = assay(*words, env=env | home, cwd=tmp_path)
    assert {name: each.returncode for name, each in done.items()} == dict.fromkeys(done, 0), done
    assert json.loads(done["move"].stdout)["rows"][0]["place"] == f"{ADDRESS}/"
    assert f"shared landing: {ADDRESS}/" in done["doctor"].stdout
    assert not list(first.glob("lake/data/**/*.parquet"))
    assert [name for name in server.objects if name.startswith("assay/main/")]
    landed = [name for name in server.objects if name.startswith("assay/landing/")]
    assert len(landed) == 2

    receipts = [
        sorted(path.read_text() for path in warehouse.glob("landing/run=*/idea=*/receipt.json"))
        for warehouse in (first, second)
    ]
    assert receipts[0] == receipts[1], "evaluated once"
    assert SECRET not in "".join(each.stdout + each.stderr for each in done.values())
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]
    assert not [name for name, held in server.objects.items() if SECRET.encode() in held]
