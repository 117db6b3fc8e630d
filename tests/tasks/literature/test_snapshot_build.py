import json
import os
import shutil
import sqlite3
import time
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import tantivy

from schemas.errors import SnapshotError
from schemas.literature.paper import LITERATURE_RULES
from tasks.literature.snapshot import parts, store
from tasks.literature.snapshot.build import build_snapshot, index_for_parquet
from tasks.literature.snapshot.folder import MANIFEST_NAME as MANIFEST
from tasks.literature.snapshot.folder import read_manifest, write_manifest
from tasks.literature.snapshot.opening import open_papers
from tasks.literature.snapshot.records import record_of
from tasks.literature.snapshot.snapshot import Snapshot, open_snapshot
from tasks.literature.snapshot.store import PaperStore
from tests.support.killed_builds import killed_at
from tests.support.paper_files import paper_rows, write_jsonl, write_parquet

Rows = list[dict[str, Any]]


def answers(snapshot: Snapshot) -> list[Any]:
    queries = (
        "graph networks attention",
        "protein folding report 17",
        "robot",
        "contrastive learning improves results",
    )
    found = [snapshot.search(query, 15) for query in queries]
    return [
        [(paper.paper_id, score) for paper, score in zip(each.papers, each.scores, strict=True)]
        for each in found
    ]


def test_every_row_becomes_one_paper_with_its_fields(snapshot: Snapshot) -> None:
    assert snapshot.paper_count == 60
    (paper,) = snapshot.papers(["URL:https://www.example.org/papers/5/"])
    assert paper is not None
    assert paper.title == "Attention for bandit algorithms: report 5"
    assert (paper.year, paper.doi) == (2015, "10.5555/paper.5")
    assert paper.authors == ("Ada Author5", "Bob Writer")
    assert paper.keywords == ("bandit algorithms", "attention")
    assert len(paper.paper_id) == 40
    names = [paper.paper_id, f"CorpusId:{paper.corpus_id}", "10.5555/PAPER.5", "no such thing"]
    assert snapshot.papers(names) == [paper] * 3 + [None]
    found = snapshot.search("diffusion report 18", 3).papers[0]
    assert (found.title, found.abstract) == ("Diffusion for graph networks: report 18", None)


def test_rows_that_name_the_same_paper_are_kept_once_and_counted(tmp_path: Path) -> None:
    rows = paper_rows(20)
    nameless = {"url": None, "doi": None}
    rows += [
        rows[5]
        | nameless
        | {"title": "Another title of words", "url": "http://www.example.org/papers/5/#top"},
        rows[5]
        | nameless
        | {"title": "Yet another title here", "doi": "https://doi.org/10.5555/PAPER.5"},
        rows[6] | nameless | {"title": rows[6]["title"].upper() + "!"},
        rows[6] | nameless | {"year": 1999},
        rows[7] | {"title": "  "},
    ]
    made = build_snapshot(write_parquet(tmp_path / "p.parquet", rows), tmp_path / "i").manifest
    assert (made.paper_count, made.duplicate_count, made.untitled_count) == (21, 3, 1)


def test_identifiers_and_fingerprint_do_not_depend_on_format_or_order_of_rows(
    tmp_path: Path, rows: Rows
) -> None:
    one = build_snapshot(write_parquet(tmp_path / "a.parquet", rows), tmp_path / "a")
    other = build_snapshot(write_jsonl(tmp_path / "b.jsonl", list(reversed(rows))), tmp_path / "b")
    changed = build_snapshot(
        write_jsonl(tmp_path / "c.jsonl", [{**rows[0], "abstract": "other"}, *rows[1:]]),
        tmp_path / "c",
    )
    assert one.fingerprint == other.fingerprint != changed.fingerprint
    assert answers(one) == answers(other)


@pytest.mark.long
def test_a_build_killed_at_any_moment_resumes_to_the_same_snapshot(
    tmp_path: Path, rows: Rows
) -> None:
    source = write_parquet(tmp_path / "p.parquet", paper_rows(21_000), row_group_size=7_000)
    target = tmp_path / "index"
    killed_in = []
    for stage, done in (("papers", 6_000), ("papers", 20_000), ("index", 0), ("index", 20_000)):
        killed_in.append(killed_at("build", source, target, stage, done))
        with pytest.raises(SnapshotError, match="run its build again"):
            open_snapshot(target)
    assert killed_in == [True] * 4
    resumed = build_snapshot(source, target)
    undisturbed = build_snapshot(source, tmp_path / "undisturbed")
    assert resumed.paper_count == undisturbed.paper_count == 21_000
    assert resumed.fingerprint == undisturbed.fingerprint
    assert answers(resumed) == answers(undisturbed)


def test_an_index_of_other_rules_is_built_again(tmp_path: Path, rows: Rows) -> None:
    source = write_parquet(tmp_path / "p.parquet", rows)
    built = build_snapshot(source, tmp_path / "i")
    other = read_manifest(tmp_path / "i").model_copy(update={"rules": "other"})
    write_manifest(tmp_path / "i", other)
    stages: list[str] = []
    again = build_snapshot(source, tmp_path / "i", progress=lambda *each: stages.append(each[2]))
    assert set(stages) == {"papers", "index"}
    assert read_manifest(tmp_path / "i").rules == LITERATURE_RULES
    assert again.fingerprint == built.fingerprint


def test_progress_counts_to_the_end_of_each_stage(tmp_path: Path, rows: Rows) -> None:
    source, seen = write_parquet(tmp_path / "p.parquet", rows), []
    for _ in range(2):  # the second time it is only opened
        build_snapshot(source, tmp_path / "i", progress=lambda *each: seen.append(each))
    assert seen == [(0, 60, "papers"), (60, 60, "papers"), (0, 60, "index"), (60, 60, "index")]


def test_the_index_of_a_file_is_kept_and_built_anew_when_the_file_changes(
    tmp_path: Path, rows: Rows
) -> None:
    source = write_parquet(tmp_path / "p.parquet", rows)
    first = index_for_parquet(source, tmp_path / "home")
    built_at = (first / MANIFEST).stat().st_mtime_ns
    assert index_for_parquet(source, tmp_path / "home") == first
    assert (first / MANIFEST).stat().st_mtime_ns == built_at
    write_parquet(source, rows[:30])
    os.utime(source, (time.time() + 5, time.time() + 5))
    second = index_for_parquet(source, tmp_path / "home")
    assert second != first
    assert open_snapshot(second).paper_count == 30


def test_rebuilding_into_the_same_folder_after_the_file_changed_leaves_nothing_of_the_old(
    tmp_path: Path, rows: Rows
) -> None:
    source = write_parquet(tmp_path / "p.parquet", rows)
    build_snapshot(source, tmp_path / "i")
    write_parquet(source, rows[:10])
    os.utime(source, (time.time() + 5, time.time() + 5))
    snapshot = build_snapshot(source, tmp_path / "i")
    assert snapshot.paper_count == 10
    assert snapshot.search("report", 100).total == 10


def test_batches_start_at_any_row(
    tmp_path: Path, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "BATCH_ROWS", 7)
    for path in (
        write_parquet(tmp_path / "p.parquet", rows, row_group_size=13),
        write_jsonl(tmp_path / "p.jsonl", rows),
    ):
        file = open_papers(path)
        for first in (0, 1, 7, 13, 14, 59, 60):
            titles = [
                row["title"]
                for batch, _ in file.batches(tmp_path, parts.Place(0, first))
                for row in batch
            ]
            assert titles == [row["title"] for row in rows[first:]]


def test_what_cannot_become_a_snapshot_is_one_clear_line(tmp_path: Path, rows: Rows) -> None:
    lacking = [
        {name: value for name, value in row.items() if name not in ("abstract", "year")}
        for row in rows
    ]
    (tmp_path / "empty.parquet").touch()
    (tmp_path / "text.jsonl").write_text("this is no JSON\n")
    whole = write_parquet(tmp_path / "whole.parquet", rows)
    (tmp_path / "torn.parquet").write_bytes(whole.read_bytes()[:900])
    cases = {
        tmp_path / "missing.parquet": "is not a file",
        tmp_path / "empty.parquet": "is empty",
        write_parquet(tmp_path / "lacking.parquet", lacking): "lacks the columns abstract, year",
        tmp_path / "text.jsonl": "line 1 is no JSON",
        tmp_path / "torn.parquet": "no readable Parquet",
    }
    for source, words in cases.items():
        with pytest.raises(SnapshotError, match=words) as caught:
            build_snapshot(source, tmp_path / "target")
        assert "\n" not in str(caught.value)


def test_a_parquet_file_without_rows_is_refused(tmp_path: Path, rows: Rows) -> None:
    import pyarrow.parquet as pq

    table = pq.read_table(write_parquet(tmp_path / "p.parquet", rows))
    pq.write_table(table.slice(0, 0), tmp_path / "none.parquet")
    with pytest.raises(SnapshotError, match="holds no papers"):
        build_snapshot(tmp_path / "none.parquet", tmp_path / "i")


def test_a_folder_that_is_no_finished_snapshot_is_refused(
    tmp_path: Path, own_snapshot: Path
) -> None:
    (tmp_path / "bare").mkdir()
    for folder, words in (
        (tmp_path / "nowhere", "no snapshot at"),
        (tmp_path / "bare", "empty folder"),
    ):
        with pytest.raises(SnapshotError, match=words):
            open_snapshot(folder)
    (own_snapshot / "papers.sqlite").write_bytes(b"not a database at all, not at all")
    with pytest.raises(SnapshotError, match="is damaged"):
        open_snapshot(own_snapshot)
    (own_snapshot / MANIFEST).write_text("{")
    with pytest.raises(SnapshotError, match=r"manifest\.json cannot be read"):
        open_snapshot(own_snapshot)


@pytest.fixture(scope="module")
def cited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty papers that cite the first one, each by a passage of 100 bytes."""
    folder = tmp_path_factory.mktemp("cited")
    rows, address = paper_rows(31), "https://example.org/papers/0"
    rows[0]["url"] = address
    for row in rows[1:]:
        row |= {"references": [address], "reference_contexts": [["x" * 100]]}
    build_snapshot(write_jsonl(folder / "cited.jsonl", rows), folder / "index")
    return folder / "index"


RECORD = json.loads(record_of(paper_rows(1)[0]).to_json())  # type: ignore[union-attr]
TOO_LONG = zlib.compress(b" " * 2_000_001 + b"[]")
OF_RECORD = "update papers set record = ?"
OF_CONTEXTS = "update named_references set contexts = ?"
OF_HASH = "update named_references set hash = ?"


def read_passages(store: PaperStore) -> object:
    return store.contexts([(1, 0)])


DAMAGE: dict[str, tuple[str, Any, Callable[[PaperStore], object]]] = {
    "a record beyond its bound": (OF_RECORD, TOO_LONG, lambda store: store.records([0])),
    "a fingerprint beyond its bound": (OF_RECORD, TOO_LONG, PaperStore.fingerprint),
    "values of other kinds": (
        OF_RECORD,
        zlib.compress(json.dumps([*RECORD[:4], "Ada", *RECORD[5:]]).encode()),
        lambda store: list(store.records_from(0)),
    ),
    **{
        name: (OF_CONTEXTS, zlib.compress(content), read_passages)
        for name, content in {
            "passages beyond their bound": b" " * 2_000_001 + b"[null,[]]",
            "too many passages": b"[null,[" + b",".join([b'["x",null,[]]'] * 1_001) + b"]]",
            "passages that are no text": b"[null,[[[],null,[]]]]",
            "a section that is no text": b'[null,[["a",{},[]]]]',
        }.items()
    },
    "a hash below zero": (OF_HASH, -1, PaperStore.fingerprint),
    "a hash that is a text": (OF_HASH, "x", PaperStore.fingerprint),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_what_a_stranger_wrote_into_the_file_is_one_line(
    what: str, cited: Path, tmp_path: Path
) -> None:
    statement, value, read = DAMAGE[what]
    path = Path(shutil.copy(cited / "papers.sqlite", tmp_path))
    with closing(sqlite3.connect(path, isolation_level=None)) as papers:
        papers.execute(statement, (value,))
    with (
        closing(PaperStore(tmp_path)) as papers,
        pytest.raises(SnapshotError, match=r"papers\.sqlite is damaged") as refused,
    ):
        read(papers)
    assert "\n" not in str(refused.value)


def test_an_answer_that_unpacks_beyond_its_bound_is_one_line(
    cited: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_MOST_ANSWER_BYTES", 3_000)
    edges = [(citing, 0) for citing in range(1, 31)]
    with closing(PaperStore(cited)) as papers:
        assert papers.records([0])
        assert len(papers.contexts(edges[:20])) == 20
        with pytest.raises(SnapshotError, match="31 papers take more than 3,000") as refused:
            papers.records(range(31))
        assert "\n" not in str(refused.value)
        with pytest.raises(SnapshotError, match="30 citations take more than 3,000") as refused:
            papers.contexts(edges)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("ending", [".idx", ".term", ".fast"])
def test_a_text_index_that_was_falsified_is_one_line(ending: str, own_snapshot: Path) -> None:
    (path,) = (own_snapshot / "text").glob(f"*{ending}")
    content = path.read_bytes()
    path.write_bytes(b"\xff" * (len(content) - 150) + content[-150:])
    with pytest.raises(SnapshotError, match="text is no readable index") as refused:
        open_snapshot(own_snapshot).search("report", 3)
    assert "\n" not in str(refused.value)


def test_an_index_of_something_else_is_one_line(own_snapshot: Path) -> None:
    text = own_snapshot / "text"
    shutil.rmtree(text)
    text.mkdir()
    fields = tantivy.SchemaBuilder()
    fields.add_text_field("title")
    tantivy.Index(fields.build(), path=str(text))
    with pytest.raises(SnapshotError, match="it has other fields"):
        open_snapshot(own_snapshot)


def test_a_text_too_long_for_an_abstract_counts_as_unknown() -> None:
    row = {"title": "Graph networks for report 1", "abstract": "word " * 50_001}
    record = record_of(row)
    assert record is not None
    assert record.abstract is None


def test_a_folder_with_other_peoples_files_is_left_alone(tmp_path: Path, rows: Rows) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.docx").write_text("years of work")
    with pytest.raises(SnapshotError, match="holds other files"):
        build_snapshot(write_parquet(tmp_path / "p.parquet", rows), tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.docx").read_text() == "years of work"


@pytest.mark.parametrize(
    "name",
    ["build.lock", "papers.sqlite", "manifest.json.new", "audit.jsonl.new", "staging", "text"],
)
def test_a_folder_where_a_file_belongs_and_a_file_where_a_folder_does_are_left_alone(
    name: str, tmp_path: Path, rows: Rows
) -> None:
    source, theirs = write_parquet(tmp_path / "p.parquet", rows), tmp_path / "index" / name
    if name in ("staging", "text"):
        theirs.parent.mkdir()
        theirs.touch()
    else:
        theirs.mkdir(parents=True)
    with pytest.raises(SnapshotError, match=rf"holds other files \({name}\)"):
        build_snapshot(source, tmp_path / "index")
    assert [path.name for path in (tmp_path / "index").iterdir()] == [name]


@pytest.mark.parametrize(
    "name", ["papers.sqlite", "build.lock", "text", "staging/joined/00000.unfinished"]
)
def test_a_build_writes_nothing_behind_a_link(name: str, tmp_path: Path, rows: Rows) -> None:
    source = write_parquet(tmp_path / "p.parquet", rows)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.sqlite").touch()
    link = tmp_path / "index" / name
    link.parent.mkdir(parents=True)
    link.symlink_to(mine if name == "text" else mine / "thesis.sqlite")
    with pytest.raises(SnapshotError, match=f"{name} is a link"):
        build_snapshot(source, tmp_path / "index")
    assert [(path.name, path.stat().st_size) for path in mine.iterdir()] == [("thesis.sqlite", 0)]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("name", ["build.lock", "manifest.json.new"])
def test_a_build_writes_nothing_into_the_file_of_another_user(
    name: str, tmp_path: Path, rows: Rows
) -> None:
    source = write_parquet(tmp_path / "p.parquet", rows)
    theirs = tmp_path / "theirs"
    theirs.write_text("years of work")
    os.chown(theirs, 1234, 1234)
    (tmp_path / "index").mkdir()
    os.link(theirs, tmp_path / "index" / name)
    with pytest.raises(SnapshotError, match=f"{name} is another name of a file of another owner"):
        build_snapshot(source, tmp_path / "index")
    assert theirs.read_text() == "years of work"


def test_a_build_waits_for_no_pipe(tmp_path: Path, rows: Rows) -> None:
    (tmp_path / "index").mkdir()
    os.mkfifo(tmp_path / "index" / "audit.jsonl")
    source = write_parquet(tmp_path / "p.parquet", rows)
    with pytest.raises(SnapshotError, match=r"audit\.jsonl is a pipe, socket or device"):
        build_snapshot(source, tmp_path / "index")


def test_a_second_row_fills_what_the_first_lacks_and_wipes_nothing(tmp_path: Path) -> None:
    (row,) = paper_rows(2)[1:]
    first = {**row, "abstract": "n/a", "doi": "10.5555/A", "citation_count": None}
    second = {**row, "doi": None, "venue": "", "authors": [], "citation_count": 7}
    (found,) = build_snapshot(
        write_jsonl(tmp_path / "p.jsonl", [first, second]), tmp_path / "i"
    ).papers(["DOI:10.5555/a"])
    assert found is not None
    assert (found.abstract, found.citation_count) == (row["abstract"], 7)
    assert (found.venue, found.authors) == (row["venue"], tuple(row["authors"]))


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({"authors": ["Somebody Else"], "abstract": "Another text."}, 2),
        ({"authors": ["Somebody Else"]}, 1),
        ({"authors": ["Author1, A."], "abstract": "Another text."}, 1),
        ({"doi": "10.5555/other"}, 2),
    ],
)
def test_title_and_year_join_rows_only_with_an_author_or_the_abstract(
    tmp_path: Path, changes: dict[str, Any], count: int
) -> None:
    row = {**paper_rows(2)[1], "doi": "10.5555/one"}
    other = {**row, "doi": None, "url": "https://example.org/other", **changes}
    snapshot = build_snapshot(write_jsonl(tmp_path / "p.jsonl", [row, other]), tmp_path / "i")
    assert snapshot.paper_count == count
