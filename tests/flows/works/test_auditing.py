"""`assay literature audit` with a source that is asked over HTTP, and what it prints."""

import json
from pathlib import Path
from typing import Any

import pytest

from flows.cli.literature.literature import print_audit
from flows.works.literature.audit import audit_index
from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.options.commands import AuditOptions
from schemas.settings import Settings
from tasks.literature.gateway.process import GatewayProcess
from tasks.literature.snapshot.build import build_snapshot
from tests.support.paper_files import paper_rows, write_jsonl


def index_of(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    build_snapshot(write_jsonl(folder / f"{name}.jsonl", rows), folder / name)
    return folder / name


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


@pytest.mark.long
def test_a_gateway_is_asked_about_what_is_doubtful_and_its_failures_are_told(
    tmp_path: Path, settings: Settings
) -> None:
    whole = paper_rows(20)
    holes = [dict(row) for row in whole]
    holes[10]["abstract"] = None
    index = index_of(tmp_path, "index", holes)
    other = LiteratureChoice(index_of(tmp_path, "other", whole))
    with GatewayProcess(settings, other, tmp_path / "cache") as gateway:
        url = gateway.url
        audited = audit_index(index, AuditOptions(beside=(url,)), settings)
    proposed = {(each.rule, each.new) for each in audited.standing.proposals}
    assert ("filled_elsewhere", json.dumps(whole[10]["abstract"])) in proposed
    assert audited.warnings == ()
    write_jsonl(tmp_path / "more.jsonl", whole)
    gone = audit_index(index, AuditOptions(beside=(url,), most_papers=5), settings)
    assert [line for line in gone.warnings if line.startswith("could not look")]


def test_proposals_are_told_with_what_they_change(
    tmp_path: Path,
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "240")  # no cell is broken over lines
    rows = paper_rows(20)
    rows[3]["authors"] = ["Ada Author3", "Bob Writer", "Ada Author3", "Bob Writer"]
    audited = audit_index(index_of(tmp_path, "index", rows), AuditOptions(), settings)
    print_audit(audited, as_json=False)
    shown = " ".join(capsys.readouterr().out.split())
    assert "repeated_authors" in shown
    assert "→ Ada Author3, Bob" in shown
    done = audit_index(
        tmp_path / "index", AuditOptions(accept_rule=("repeated_authors",)), settings
    )
    assert len(done.decided.accepted) == 1
    undo = AuditOptions(undo=done.decided.accepted)
    assert audit_index(tmp_path / "index", undo, settings).decided.undone == done.decided.accepted
    with pytest.raises(ConfigurationError, match="is not in effect"):
        audit_index(tmp_path / "index", undo, settings)
