import csv
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from schemas.errors import SnapshotError
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.contexts import CitationContexts
from tasks.literature.snapshot.folder import read_manifest
from tasks.literature.snapshot.snapshot import Edges, Snapshot, open_snapshot
from tasks.literature.snapshot.update import update_snapshot
from tests.support.dataset_files import Record, release_records, work, write_part, write_release
from tests.support.killed_builds import killed_at
from tests.support.paper_files import paper_rows, with_references, write_jsonl, write_parquet


def pairs_of(edges: Edges | None) -> list[tuple[str, CitationContexts]]:
    if edges is None:
        return []
    names = [paper.paper_id for paper in edges.papers]
    return list(zip(names, edges.contexts, strict=True))


def same(one: Snapshot, other: Snapshot) -> None:
    """The two hold the same papers and answer alike."""
    assert one.paper_count == other.paper_count
    for query in ("attention", "protein folding report", "zebra8", "experiment 17"):
        assert one.search(query, 20) == other.search(query, 20)
    for paper in other.search_bulk("", 1000).papers:
        cited = [pairs_of(each.references(paper.paper_id)) for each in (one, other)]
        assert cited[0] == cited[1]
        citing = [pairs_of(each.citations(paper.paper_id)) for each in (one, other)]
        assert dict(citing[0]) == dict(citing[1])
    assert one.fingerprint == other.fingerprint


def test_new_and_changed_rows_give_what_a_build_from_all_of_them_gives(tmp_path: Path) -> None:
    rows = with_references(paper_rows(50))
    changed = [{**row, "abstract": "Quite another abstract about zebras."} for row in rows[5:12]]
    build_snapshot(write_parquet(tmp_path / "old.parquet", rows[:40]), tmp_path / "i")
    new = write_jsonl(tmp_path / "new.jsonl", [*changed, *rows[38:]])
    updated = update_snapshot(new, tmp_path / "i")
    assert updated.counts == {"added": 10, "replaced": 7, "unchanged": 2}
    whole = write_parquet(tmp_path / "all.parquet", [*rows[:5], *changed, *rows[12:]])
    same(updated.snapshot, build_snapshot(whole, tmp_path / "anew"))


def test_an_update_from_another_source_wipes_nothing(tmp_path: Path) -> None:
    row = paper_rows(2)[1]
    build_snapshot(write_jsonl(tmp_path / "old.jsonl", [row]), tmp_path / "i")
    poorer = {**row, "abstract": "No abstract available", "venue": "", "authors": []}
    updated = update_snapshot(write_jsonl(tmp_path / "new.jsonl", [poorer]), tmp_path / "i")
    (found,) = updated.snapshot.papers([f"URL:{row['url']}"])
    assert found is not None
    assert (found.abstract, found.venue) == (row["abstract"], row["venue"])
    assert found.authors == tuple(row["authors"])


def test_the_same_update_twice_changes_nothing_and_the_first_source_still_names_the_snapshot(
    tmp_path: Path,
) -> None:
    source = write_parquet(tmp_path / "old.parquet", paper_rows(20))
    build_snapshot(source, tmp_path / "i")
    new = write_parquet(tmp_path / "new.parquet", paper_rows(25))
    once = update_snapshot(new, tmp_path / "i").snapshot
    again = update_snapshot(new, tmp_path / "i")
    assert (again.counts, again.snapshot.fingerprint) == ({}, once.fingerprint)
    assert build_snapshot(source, tmp_path / "i").fingerprint == once.fingerprint
    files = sorted(path.name for path in (tmp_path / "i").iterdir())
    assert files == ["build.lock", "manifest.json", "papers-1.sqlite", "text-1"]


def diffs(
    folder: Path, updates: dict[str, list[Record]], deletes: dict[str, list[Record]], step: str
) -> Path:
    for kind, datasets in (("updates", updates), ("deletes", deletes)):
        for name, records in datasets.items():
            write_part(folder / kind / step / name / "20241018_1.gz", records)
    return folder


def test_diffs_of_a_release_give_what_the_next_release_gives(tmp_path: Path) -> None:
    old, new = release_records(40), release_records(30, first=9)
    for paper in new["papers"]:
        paper["citationcount"] += paper["corpusid"] % 2
    new["abstracts"] = [each for each in new["abstracts"] if each["corpusid"] != 21]
    for each in new["abstracts"]:
        each["abstract"] += " Rewritten." if each["corpusid"] == 20 else ""
    ended = (250, 255, 260)
    new["citations"] = [each for each in new["citations"] if each["citationid"] not in ended]
    build_snapshot(write_release(tmp_path / "2025-01-07", old), tmp_path / "i")
    gone = [paper for paper in old["papers"] if not 9 <= paper["corpusid"] < 39]
    folder = diffs(
        tmp_path / "diffs",
        {name: new[name] for name in ("papers", "abstracts", "citations", "tldrs")},
        {
            "papers": [{"corpusid": paper["corpusid"]} for paper in gone],
            "abstracts": [{"corpusid": 21}],
            "citations": [{"citationid": each} for each in ended],
            "tldrs": [],
        },
        "2025-01-07-to-2025-01-14",
    )
    updated = update_snapshot(folder, tmp_path / "i").snapshot
    assert updated.manifest.through == "2025-01-14"
    same(updated, build_snapshot(write_release(tmp_path / "2025-01-14", new), tmp_path / "anew"))


def test_diffs_are_applied_in_order_once_and_without_a_gap(tmp_path: Path) -> None:
    build_snapshot(write_release(tmp_path / "2025-01-07", release_records(10)), tmp_path / "i")
    paper = release_records(10)["papers"][4]
    for step, title in (
        ("2024-12-31-to-2025-01-07", "Too old"),
        ("2025-01-14-to-2025-01-21", "Last"),
        ("2025-01-07-to-2025-01-14", "First"),
    ):
        told = {"papers": [{**paper, "title": f"{title} title of the paper"}]}
        diffs(tmp_path / "d", told, {}, step)
    updated = update_snapshot(tmp_path / "d", tmp_path / "i").snapshot
    (found,) = updated.papers(["CorpusId:5"])
    assert found is not None
    assert (found.title, updated.manifest.through) == ("Last title of the paper", "2025-01-21")
    assert found.abstract is not None
    assert update_snapshot(tmp_path / "d", tmp_path / "i").counts == {}
    diffs(tmp_path / "gap", {"papers": [paper]}, {}, "2025-02-04-to-2025-02-11")
    with pytest.raises(SnapshotError, match="lacks the diffs from 2025-01-21 to 2025-02-04"):
        update_snapshot(tmp_path / "gap", tmp_path / "i")


def test_openalex_parts_of_later_days_and_merged_works_are_applied(tmp_path: Path) -> None:
    folder = tmp_path / "openalex"
    works = [work(number, cites=[number - 1] if number else []) for number in range(20)]
    write_part(folder / "works" / "updated_date=2026-01-02" / "part_000.gz", works[:15])
    build_snapshot(folder, tmp_path / "i")
    changed = work(3, cites=[1, 0], title="A new title for an old work")
    write_part(folder / "works" / "updated_date=2026-02-03" / "part_000.gz", [changed, *works[15:]])
    merged = folder / "merged_ids" / "works" / "2026-02-03.csv"
    merged.parent.mkdir(parents=True)
    merged.write_text("merge_date,id,merge_into_id\n2026-02-03,W7,W8\n2025-01-01,W8,W9\n")
    updated = update_snapshot(folder, tmp_path / "i")
    assert updated.counts == {"added": 5, "replaced": 1, "removed": 1}
    assert update_snapshot(folder, tmp_path / "i").counts == {}
    shutil.rmtree(folder / "merged_ids")
    left = [changed if number == 3 else each for number, each in enumerate(works) if number != 7]
    whole = write_part(tmp_path / "all.jsonl.gz", left)
    same(updated.snapshot, build_snapshot(whole, tmp_path / "anew"))


def test_a_list_of_merged_works_that_is_no_csv_is_one_clear_line(tmp_path: Path) -> None:
    folder = tmp_path / "openalex"
    write_part(folder / "works" / "updated_date=2026-01-02" / "part_000.gz", [work(0), work(1)])
    build_snapshot(folder, tmp_path / "i")
    merged = folder / "merged_ids" / "works" / "2026-02-03.csv"
    merged.parent.mkdir(parents=True)
    merged.write_text(f"merge_date,id,merge_into_id\n2026-02-03,{'W' * 200_000},W8\n")
    csv.field_size_limit(131_072)  # readers of idea files raise it for the process
    told = r"2026-02-03\.csv is no CSV after line 1 \(field larger than field limit"
    with pytest.raises(SnapshotError, match=told) as caught:
        update_snapshot(folder, tmp_path / "i")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "place",
    [
        "updates",
        f"updates/{(STEP := '2025-01-07-to-2025-01-14')}",
        f"updates/{STEP}/papers",
        "deletes",
    ],
)
def test_a_linked_folder_in_diffs_is_not_read(tmp_path: Path, place: str) -> None:
    build_snapshot(write_release(tmp_path / "2025-01-07", release_records(5)), tmp_path / "i")
    papers = {"papers": release_records(3, first=9)["papers"]}
    folder = diffs(tmp_path / "diffs", papers, papers, STEP)
    (folder / place).rename(tmp_path / "elsewhere")
    (folder / place).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SnapshotError, match=f"{place} is a link"):
        update_snapshot(folder, tmp_path / "i")


@pytest.mark.parametrize("place", ["merged_ids", "merged_ids/works"])
def test_a_linked_folder_of_merged_works_is_not_read(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "openalex"
    write_part(folder / "works" / "updated_date=2026-01-02" / "part_000.gz", [work(0), work(1)])
    build_snapshot(folder, tmp_path / "i")
    (folder / "merged_ids" / "works").mkdir(parents=True)
    (folder / place).rename(tmp_path / "elsewhere")
    (folder / place).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SnapshotError, match=f"{place} is a link"):
        update_snapshot(folder, tmp_path / "i")


class _StoppedError(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize("stage", ["changes", "index"])
def test_a_stopped_update_leaves_the_old_snapshot_and_goes_on(
    tmp_path: Path, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.literature.snapshot.parts.BATCH_ROWS", 50)
    rows = paper_rows(120)
    old = build_snapshot(write_parquet(tmp_path / "old.parquet", rows[:20]), tmp_path / "i")
    new = write_parquet(tmp_path / "new.parquet", rows)
    seen: list[int] = []

    def stop(done: int, total: int, name: str) -> None:
        if name == stage:
            raise _StoppedError

    with pytest.raises(_StoppedError):
        update_snapshot(new, tmp_path / "i", progress=stop)
    assert open_snapshot(tmp_path / "i").fingerprint == old.fingerprint
    note = lambda done, _, name: seen.append(done) if name == "changes" else None  # noqa: E731
    resumed = update_snapshot(new, tmp_path / "i", progress=note)
    assert resumed.counts == {"added": 100, "unchanged": 20}
    assert resumed.snapshot.fingerprint == build_snapshot(new, tmp_path / "anew").fingerprint
    assert 50 not in seen


@pytest.mark.long
def test_a_release_and_its_diffs_survive_kills_at_any_stage(tmp_path: Path) -> None:
    source = write_release(tmp_path / "2025-01-07", release_records(700))
    told = {"papers": release_records(700, first=20)["papers"]}
    folder = diffs(tmp_path / "d", told, {}, "2025-01-07-to-2025-01-14")
    disturbed, calm = tmp_path / "i", tmp_path / "undisturbed"
    for stage in ("join", "papers", "index"):
        assert killed_at("build", source, disturbed, stage)
    whole = build_snapshot(source, calm)
    assert build_snapshot(source, disturbed).fingerprint == whole.fingerprint
    for stage in ("changes", "index"):
        assert killed_at("update", folder, disturbed, stage)
    resumed, whole = update_snapshot(folder, disturbed), update_snapshot(folder, calm).snapshot
    assert resumed.counts == {"added": 19, "unchanged": 681}
    assert resumed.snapshot.fingerprint == whole.fingerprint


def test_a_reader_that_has_the_old_snapshot_open_keeps_it(tmp_path: Path) -> None:
    old = build_snapshot(write_parquet(tmp_path / "old.parquet", paper_rows(30)), tmp_path / "i")
    before = old.search("attention", 30)
    update_snapshot(write_parquet(tmp_path / "new.parquet", paper_rows(200)), tmp_path / "i")
    assert old.search("attention", 30) == before
    assert old.papers(["URL:https://example.org/papers/5"])[0] is not None
    assert open_snapshot(tmp_path / "i").paper_count == 200


class Counting:
    """An embedder that counts what it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def embed(self, texts: Any) -> NDArray[np.float32]:
        self.asked += len(texts)
        rows = np.array(
            [[len(text), sum(map(ord, text)) % 101, 7.0] for text in texts], dtype=np.float32
        )
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def test_an_update_embeds_only_what_is_new(tmp_path: Path) -> None:
    rows = paper_rows(40)
    old = write_parquet(tmp_path / "old.parquet", rows[:30])
    build_snapshot(old, tmp_path / "i", embedder=Counting())
    changed = {**rows[3], "abstract": "Other words."}
    new = write_parquet(tmp_path / "new.parquet", [changed, *rows[30:]])
    with pytest.raises(SnapshotError, match="--embeddings"):
        update_snapshot(new, tmp_path / "i")
    embedder = Counting()
    updated = update_snapshot(new, tmp_path / "i", embedder=embedder).snapshot
    assert embedder.asked == 11
    assert updated.has_vectors
    whole = write_parquet(tmp_path / "all.parquet", [*rows[:3], changed, *rows[4:]])
    anew = build_snapshot(whole, tmp_path / "anew", embedder=Counting())
    assert updated.fingerprint == anew.fingerprint


def test_what_cannot_be_an_update_is_one_clear_line(tmp_path: Path) -> None:
    source = write_parquet(tmp_path / "p.parquet", paper_rows(10))
    with pytest.raises(SnapshotError, match=r"no snapshot|empty folder|no finished"):
        update_snapshot(source, tmp_path / "nowhere")
    build_snapshot(source, tmp_path / "i")
    with pytest.raises(SnapshotError, match="whole release"):
        update_snapshot(write_release(tmp_path / "r", release_records(5)), tmp_path / "i")
    (tmp_path / "d" / "updates").mkdir(parents=True)
    with pytest.raises(SnapshotError, match="holds no diffs"):
        update_snapshot(tmp_path / "d", tmp_path / "i")
    assert read_manifest(tmp_path / "i").generation == 0
