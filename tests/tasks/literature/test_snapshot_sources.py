import json
import os
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import SnapshotError
from tasks.literature.snapshot import release
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.opening import row_of_work
from tasks.literature.snapshot.records import PaperRecord, record_of
from tasks.literature.snapshot.snapshot import Edges, open_snapshot
from tasks.literature.snapshot.update import update_snapshot
from tasks.web.decoding import running_text
from tests.support.dataset_files import release_records, work, write_part, write_release


def papers_of(edges: Edges | None) -> tuple[PaperRecord, ...]:
    return edges.papers if edges is not None else ()


def test_a_release_is_joined_from_its_datasets(tmp_path: Path) -> None:
    source = write_release(tmp_path / "2025-08-19", release_records(40))
    snapshot = build_snapshot(source, tmp_path / "index")
    made = snapshot.manifest
    assert (made.paper_count, made.through, made.citation_count) == (40, "2025-08-19", 77)
    paper, undated = snapshot.papers(["CorpusId:9", "CorpusId:12"])
    assert paper is not None
    assert undated is not None
    assert (paper.paper_id, paper.corpus_id, paper.arxiv_id) == (f"{9:040x}", 9, "2101.00009")
    assert (paper.publication_date, paper.citation_count) == ("2019-03-05", 9)
    assert (paper.authors, paper.abstract) == (("Ada Author9", "Bob Writer"), None)
    assert (undated.publication_date, undated.year, undated.last_day) == (None, 2010, 20101231)
    assert (undated.pdf_url, undated.tldr) == ("https://example.org/12.pdf", "Summary of zebra12.")
    page = f"URL:https://www.semanticscholar.org/paper/{12:040x}"
    assert snapshot.papers(["ARXIV:2101.00012", f"{12:040x}", page]) == [undated] * 3
    assert not (tmp_path / "index" / "staging").exists()
    assert [paper.corpus_id for paper in papers_of(snapshot.references("CorpusId:12"))] == [11, 10]
    assert [paper.corpus_id for paper in papers_of(snapshot.citations("CorpusId:12"))] == [13, 14]
    assert snapshot.references("CorpusId:1") == Edges((), (), 0)
    counted = snapshot.papers(["CorpusId:1", "CorpusId:12"])
    assert [paper.reference_count for paper in counted if paper] == [0, 3]
    recommended = snapshot.recommend(["CorpusId:12"], 5)
    assert recommended is not None
    assert len(recommended.papers) == 5


@pytest.mark.parametrize("place", ["papers/part-9.jsonl", "tldrs", "abstracts/part-9.jsonl.gz"])
def test_links_in_a_release_are_refused(tmp_path: Path, place: str) -> None:
    folder = write_release(tmp_path / "2025-08-19", release_records(5))
    other = write_release(tmp_path / "2025-08-12", release_records(5))
    link = folder / place
    if link.is_dir():
        shutil.rmtree(link)
        link.symlink_to(other / place)
    else:
        link.symlink_to("/etc/hostname")
    with pytest.raises(SnapshotError, match=f"{link.name} is a link"):
        build_snapshot(folder, tmp_path / "index")


def test_a_snapshot_with_links_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build_snapshot(write_release(tmp_path / "2025-08-19", release_records(5)), folder)
    (folder / "manifest.json").rename(tmp_path / "manifest.json")
    (folder / "manifest.json").symlink_to("/dev/zero")
    with pytest.raises(SnapshotError, match="is a link"):
        open_snapshot(folder)
    (folder / "manifest.json").unlink()
    os.mkfifo(folder / "manifest.json")
    with pytest.raises(SnapshotError, match="is a pipe"):
        open_snapshot(folder)
    (folder / "manifest.json").unlink()
    (tmp_path / "manifest.json").rename(folder / "manifest.json")
    (tmp_path / "current").symlink_to("index")
    assert open_snapshot(tmp_path / "current").paper_count == 5


def test_a_release_without_citations_knows_no_references_and_without_abstracts_still_has_papers(
    tmp_path: Path,
) -> None:
    records = {
        name: rows for name, rows in release_records(12).items() if name in ("papers", "tldrs")
    }
    snapshot = build_snapshot(write_release(tmp_path / "r", records), tmp_path / "index")
    assert snapshot.paper_count == 12
    assert snapshot.references("CorpusId:5") is None
    assert [paper.corpus_id for paper in snapshot.search("zebra8", 3).papers] == [8]


def test_papers_of_one_title_stay_apart_where_the_source_tells_them_apart(tmp_path: Path) -> None:
    records = release_records(10)
    for paper in records["papers"]:
        paper.update(title="One title for all of them", year=2020, externalids={"DOI": "10.1/same"})
    snapshot = build_snapshot(write_release(tmp_path / "r", records), tmp_path / "index")
    assert (snapshot.paper_count, snapshot.manifest.duplicate_count) == (10, 0)
    doubled = write_release(tmp_path / "d", {**records, "papers": records["papers"] * 2})
    assert build_snapshot(doubled, tmp_path / "other").manifest.duplicate_count == 10


def test_neither_buckets_nor_parts_nor_order_change_what_a_release_becomes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = release_records(60)
    whole = build_snapshot(write_release(tmp_path / "a", records, parts=1), tmp_path / "ia")
    for rows in records.values():
        random.Random(7).shuffle(rows)
    monkeypatch.setattr(release, "_PACKED_BYTES_PER_BUCKET", 500)
    split = build_snapshot(write_release(tmp_path / "b", records, parts=3), tmp_path / "ib")
    parts = [("papers", tuple((tmp_path / "b").rglob("*.gz")))]
    assert release.bucket_count(parts) > 3
    assert split.fingerprint == whole.fingerprint
    assert [paper.corpus_id for paper in papers_of(split.references("CorpusId:30"))] == [29, 28]


class _StoppedError(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize(
    ("stage", "done"), [("parts", 3), ("join", 2), ("papers", 20), ("index", 0)]
)
def test_a_stopped_build_of_a_release_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, done: int
) -> None:
    monkeypatch.setattr(release, "_PACKED_BYTES_PER_BUCKET", 2_000)
    source = write_release(tmp_path / "r", release_records(60))

    def stop(count: int, total: int, name: str) -> None:
        if (name, count) >= (stage, done) and name == stage:
            raise _StoppedError

    with pytest.raises(_StoppedError):
        build_snapshot(source, tmp_path / "index", progress=stop)
    with pytest.raises(SnapshotError, match="run its build again"):
        open_snapshot(tmp_path / "index")
    assert list((tmp_path / "index" / "staging").rglob("*.parquet"))
    resumed = build_snapshot(source, tmp_path / "index")
    assert resumed.fingerprint == build_snapshot(source, tmp_path / "undisturbed").fingerprint


def test_a_broken_part_is_one_clear_line(tmp_path: Path) -> None:
    source = write_release(tmp_path / "r", release_records(20))
    part = source / "abstracts" / "20241018_1.gz"
    part.write_bytes(part.read_bytes()[:-20])
    with pytest.raises(SnapshotError, match="cannot be joined") as caught:
        build_snapshot(source, tmp_path / "index")
    assert "\n" not in str(caught.value)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "readme.md").touch()
    with pytest.raises(SnapshotError, match="folder of something else"):
        build_snapshot(tmp_path / "other", tmp_path / "i")


def test_openalex_works_become_papers_in_one_file_or_in_dated_parts(tmp_path: Path) -> None:
    works = [
        work(number, cites=[number - 1, number - 2, 999_999] if number > 1 else [])
        for number in range(30)
    ]
    one = build_snapshot(write_part(tmp_path / "works.jsonl", works), tmp_path / "one")
    folder = tmp_path / "openalex" / "data" / "works"
    write_part(folder / "updated_date=2026-01-02" / "part_000.gz", works[:10])
    write_part(folder / "updated_date=2026-02-03" / "part_000.gz", works[10:20])
    write_part(folder / "updated_date=2026-02-03" / "part_001.gz", works[20:])
    parts = build_snapshot(tmp_path / "openalex", tmp_path / "parts")
    assert one.fingerprint == parts.fingerprint
    assert (parts.manifest.through, one.manifest.through) == ("2026-02-03", None)
    assert parts.paper_count == 30
    (paper,) = parts.papers(["10.5555/paper.5"])
    assert paper is not None
    assert (paper.given_id, paper.venue) == ("W5", "Conference")
    assert paper.publication_date == "2015-06-07"
    told = "We study bandit algorithms with attention. Experiment 5 improves results."
    assert paper.abstract == told
    assert [each.given_id for each in papers_of(parts.references(paper.paper_id))] == ["W4", "W3"]
    assert [each.given_id for each in papers_of(parts.citations(paper.paper_id))] == ["W6", "W7"]


def test_half_a_character_in_a_file_of_papers_is_left_out(
    tmp_path: Path,
) -> None:
    line = (
        r'{"title": "Half \ud800 of a title", "abstract": null, "authors": ["A \udfff"], "venue":'
        r' "", "year": 2020, "url": "https://a.example/1"}'
    )
    (tmp_path / "papers.jsonl").write_text(line + "\n")
    (found,) = build_snapshot(tmp_path / "papers.jsonl", tmp_path / "i").papers(
        ["URL:https://a.example/1"]
    )
    assert found is not None
    assert (found.title, found.authors) == ("Half of a title", ("A",))


def test_a_work_that_lacks_everything_but_a_title_is_a_paper() -> None:
    alone = {"id": "https://openalex.org/W1", "title": "Alone", "referenced_works": []}
    record = record_of(row_of_work(alone))
    assert record is not None
    assert (record.title, record.url) == ("Alone", "https://openalex.org/W1")
    assert (record.abstract, record.pdf_url) == (None, None)
    assert record_of(row_of_work({"id": "https://openalex.org/W1"})) is None
    odd = {
        "id": 3,
        "title": ["x"],
        "authorships": [None, {"author": None}],
        "primary_location": 1,
        "referenced_works": [None, "x"],
    }
    assert record_of(row_of_work(odd)) is None


@given(st.lists(st.text(alphabet="abcde.,", min_size=1, max_size=6), max_size=40))
def test_an_abstract_comes_back_from_its_inverted_index(words: list[str]) -> None:
    assert running_text({"far": [10**12], "word": [0], "bad": None, "worse": ["x"]}) == "word"
    assert running_text(None) == ""
    index: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        index.setdefault(word, []).append(place)
    assert running_text(json.loads(json.dumps(index))) == " ".join(words)


AUTHORS = [{"authorId": "7", "name": "Ada One"}, {"authorId": None, "name": "Bob Two"}]


def test_a_release_and_its_diffs_keep_authors_venues_and_fields_with_their_identifiers(
    tmp_path: Path,
) -> None:
    records = release_records(4)
    told = {
        "authors": AUTHORS,
        "publicationvenueid": "v-1",
        "s2fieldsofstudy": [{"category": "Biology", "source": "external"}] * 2,
    }
    records["papers"][1] |= told
    snapshot = build_snapshot(write_release(tmp_path / "2024-10-15", records), tmp_path / "index")
    unknown, known = snapshot.papers(["CorpusId:1", "CorpusId:2"])
    assert known is not None
    assert unknown is not None
    assert (known.authors, known.author_ids) == (("Ada One", "Bob Two"), ("7", ""))
    assert (known.venue_id, known.fields_of_study) == ("v-1", ("Biology",))
    assert (unknown.venue_id, unknown.fields_of_study, unknown.keywords) == (None, None, None)
    step = tmp_path / "diffs" / "updates" / "2024-10-15-to-2024-10-22" / "papers" / "0.gz"
    write_part(step, [records["papers"][0] | told])
    changed = update_snapshot(tmp_path / "diffs", tmp_path / "index").snapshot
    (paper,) = changed.papers(["CorpusId:1"])
    assert paper is not None
    assert (paper.author_ids, paper.venue_id) == (("7", ""), "v-1")
    assert paper.fields_of_study == ("Biology",)


def test_topics_of_openalex_are_concepts_and_fields_and_null_where_it_tells_none(
    tmp_path: Path,
) -> None:
    topic = {"display_name": "Graph walks", "field": {"display_name": "Mathematics"}}
    author = {"author": {"id": "https://openalex.org/A5", "display_name": "Ada One"}}
    told = work(1, keywords=[{"display_name": "Graphs"}], topics=[topic], authorships=[author])
    silent = work(2, keywords=None)
    file = write_part(tmp_path / "works.jsonl", [told, silent])
    known, unknown = build_snapshot(file, tmp_path / "index").papers(
        [f"URL:{each['primary_location']['landing_page_url']}" for each in (told, silent)]
    )
    assert known is not None
    assert unknown is not None
    assert (known.author_ids, known.keywords) == (("A5",), ("Graphs", "Graph walks"))
    assert known.fields_of_study == ("Mathematics",)
    assert (unknown.author_ids, unknown.keywords, unknown.fields_of_study) == (None, None, None)
