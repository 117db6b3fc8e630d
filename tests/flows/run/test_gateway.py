"""What a run says of the literature it is given, and when the gateway to it starts."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from flows.run.gateway import OpenGateway, missing_citations, open_gateway
from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.settings import LiteratureSettings, Settings
from tasks.literature.gateway.process import LOG_NAME, literature_identity
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.folder import read_manifest, write_manifest
from tests.support.paper_files import paper_rows, with_references, write_jsonl
from warehouse.warehouse import Warehouse

Opened = Callable[[LiteratureChoice], AbstractContextManager[OpenGateway]]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("nothing", "The snapshot knows no references: papers are found by search alone."),
        (
            "references",
            "The snapshot does not know how papers cite each other, only that they do.",
        ),
        ("passages", ""),
    ],
)
def test_a_snapshot_that_knows_no_passages_or_no_references_says_so(
    known: str, said: str, tmp_path: Path
) -> None:
    rows = paper_rows(6)
    if known != "nothing":
        rows = with_references(rows)
    if known == "passages":
        for row in rows:
            named = row.get("references") or []
            row["reference_contexts"] = [["We follow them."] for _ in named]
    build_snapshot(write_jsonl(tmp_path / "papers.jsonl", rows), tmp_path / "index")
    alone = LiteratureChoice(tmp_path / "index")
    assert missing_citations(alone) == said
    assert missing_citations(LiteratureChoice(tmp_path / "index", then_live=True)) == ""
    assert missing_citations(LiteratureChoice()) == ""


@pytest.fixture
def index(tmp_path: Path) -> Path:
    build_snapshot(write_jsonl(tmp_path / "papers.jsonl", paper_rows(6)), tmp_path / "index")
    return tmp_path / "index"


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "warehouse", Settings(home=tmp_path))


@pytest.fixture
def opened(warehouse: Warehouse) -> Opened:
    return lambda literature: open_gateway(literature, warehouse)


@pytest.mark.parametrize("text", ["live", "snapshot:index+live"])
def test_a_gateway_starts_when_its_address_is_first_asked_for(
    text: str, index: Path, opened: Opened, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(index.parent)
    log = warehouse.cache / LOG_NAME
    with opened(LiteratureChoice.parse(text)) as gateway:
        assert not log.exists()
        url = gateway.url
        assert literature_identity(url) == gateway.literature
        assert gateway.url == url
    assert log.exists()
    with pytest.raises(ConfigurationError, match="no literature gateway answers"):
        literature_identity(url)


def test_an_upstream_without_a_readable_host_is_refused_before_a_gateway_starts(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    section = LiteratureSettings(upstream_url="http://xn--a.invalid")
    settings = Settings(home=tmp_path, literature=section)
    with (
        pytest.raises(ConfigurationError, match="UPSTREAM_URL=http://xn--a"),
        open_gateway(LiteratureChoice(), Warehouse(warehouse.root, settings)),
    ):
        pass


def test_a_snapshot_that_changes_before_its_gateway_starts_is_not_taken_for_the_old_one(
    index: Path, opened: Opened
) -> None:
    with opened(LiteratureChoice(index)) as gateway:
        manifest = read_manifest(index)
        write_manifest(index, manifest.model_copy(update={"fingerprint": "0" * 64}))
        with pytest.raises(ConfigurationError, match="the snapshot was updated meanwhile"):
            _ = gateway.url


def test_an_index_of_another_version_is_named_with_the_remedy(
    index: Path, opened: Opened, capsys: pytest.CaptureFixture[str]
) -> None:
    choice = LiteratureChoice(index)
    with opened(choice):
        assert capsys.readouterr().err == ""
    write_manifest(index, read_manifest(index).model_copy(update={"rules": ""}))
    with opened(choice):
        lines = " ".join(capsys.readouterr().err.split())
    assert lines.count("was built by another version") == 1
    assert "build it again with `assay literature build`" in lines
