import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from schemas.errors import SnapshotError
from tasks.literature.gateway.messages import LEFT_OUT_HEADER
from tasks.literature.gateway.snapshot_upstream import SnapshotUpstream
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.records import (
    canonical_url,
    compress,
    decompress,
    key_of_identifier,
    paper_of,
    record_of,
)
from tasks.literature.snapshot.snapshot import Snapshot, open_snapshot
from tasks.literature.snapshot.text_index import DayRange
from tests.support.gateways import gateway_to
from tests.support.paper_files import paper_rows, write_parquet

reusing_fixtures = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
syntax = st.text(st.sampled_from('ab +-|"*()~:^[]{}\\/ANDORNOT é漢\x00\ud800'), max_size=40)

words = st.text(max_size=20)
cell = st.one_of(st.none(), words, st.integers(), st.floats(), st.lists(words, max_size=3))


class WordEmbedder:
    """Unit vectors by word: texts that share words are close."""

    def __init__(self, fail_after: int | None = None) -> None:
        self.left = fail_after

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
        rows = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[sum(word.encode()) % 64] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@reusing_fixtures
@given(query=st.one_of(st.text(max_size=60), syntax))
def test_any_text_is_a_query(snapshot: Snapshot, query: str) -> None:
    for found in (
        snapshot.search(query, 5),
        snapshot.search_bulk(query, 5),
        snapshot.match_title(query),
    ):
        assert len(found.papers) == len(found.scores) <= max(found.total, 5)


@reusing_fixtures
@given(
    identifier=st.one_of(
        st.text(max_size=40),
        st.from_regex(r"(CorpusId|DOI|ARXIV|URL|PMID):.{0,20}", fullmatch=True),
    )
)
def test_any_text_may_be_looked_up(snapshot: Snapshot, identifier: str) -> None:
    assert snapshot.papers([identifier]) in ([None], snapshot.papers([identifier]))
    key_of_identifier(identifier)
    canonical_url(identifier)


@given(st.fixed_dictionaries(dict.fromkeys(paper_rows(1)[0], cell)))
def test_a_record_survives_being_written_and_read(row: dict[str, Any]) -> None:
    record = record_of(row)
    assert (
        record is None or paper_of(orjson.loads(decompress(compress(record.to_json())))) == record
    )


def test_equal_scores_are_ordered_by_identifier_wherever_the_limit_cuts(tmp_path: Path) -> None:
    alike = {"abstract": "same words here", "keywords": []}
    rows = [
        {**row, **alike, "title": f"Alike number {chr(97 + place)}{place}"}
        for place, row in enumerate(paper_rows(25))
    ]
    snapshot = build_snapshot(write_parquet(tmp_path / "p.parquet", rows), tmp_path / "i")
    ranked = [paper.paper_id for paper in snapshot.search("same words", 25).papers]
    assert ranked == sorted(ranked)
    assert [paper.paper_id for paper in snapshot.search("same words", 4).papers] == ranked[:4]


def test_recommendations_are_like_the_seed_and_never_the_seed(snapshot: Snapshot) -> None:
    seed = snapshot.search("protein folding attention", 1).papers[0]
    found = snapshot.recommend([seed.paper_id], 5)
    assert found is not None
    assert seed not in found.papers
    assert any("protein folding" in paper.title for paper in found.papers)
    assert snapshot.recommend(["CorpusId:1"], 5) is None
    assert snapshot.recommend([seed.paper_id], 5) == found


def test_bulk_queries_combine_words_phrases_and_exclusions(snapshot: Snapshot) -> None:
    def titles(query: str) -> set[str]:
        return {paper.title.split(":")[0] for paper in snapshot.search_bulk(query, 100).papers}

    assert titles('"robot grasping" | "protein folding"') == titles('"robot grasping"') | titles(
        '"protein folding"'
    )
    assert titles('"grasping robot"') == set()
    assert titles('("robot grasping" | "protein folding") + diffusion') == {
        "Diffusion for robot grasping",
        "Diffusion for protein folding",
    }
    assert "Diffusion for robot grasping" not in titles('"robot grasping" -diffusion')
    assert snapshot.search_bulk("", 100).total == 60


def test_embeddings_are_used_only_once_they_are_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.literature.snapshot.vectors._TEXTS_PER_BATCH", 25)
    source = write_parquet(tmp_path / "p.parquet", paper_rows(70))
    with pytest.raises(KeyboardInterrupt):
        build_snapshot(source, tmp_path / "i", embedder=WordEmbedder(fail_after=2))
    assert not open_snapshot(tmp_path / "i").has_vectors
    steps: list[int] = []
    snapshot = build_snapshot(
        source,
        tmp_path / "i",
        embedder=WordEmbedder(),
        progress=lambda done, total, stage: steps.append(done),
    )
    assert snapshot.has_vectors
    assert steps == [0, 70], "the 50 papers embedded before are not embedded again"
    whole = build_snapshot(source, tmp_path / "other", embedder=WordEmbedder())
    plain = build_snapshot(source, tmp_path / "plain")
    assert whole.fingerprint == snapshot.fingerprint != plain.fingerprint


def test_with_embeddings_searches_are_hybrid_and_neighbours_are_nearest(tmp_path: Path) -> None:
    source = write_parquet(tmp_path / "p.parquet", paper_rows(60))
    snapshot = build_snapshot(source, tmp_path / "i", embedder=WordEmbedder())
    wanted = "Diffusion for robot grasping: report 33"
    vector = asyncio.run(
        WordEmbedder().embed([f"{wanted}. We study robot grasping with diffusion. Experiment 33"])
    )[0]
    by_words, by_both = (
        snapshot.search("robot grasping", 10),
        snapshot.search("robot grasping", 10, vector=vector),
    )
    places = [
        [paper.title for paper in found.papers].index(wanted) for found in (by_words, by_both)
    ]
    assert places[0] > places[1] == 0
    near = snapshot.recommend([by_both.papers[0].paper_id], 3, DayRange(last=20151231))
    assert near is not None
    assert len(near.papers) == 3
    assert all((paper.year or 0) <= 2015 for paper in near.papers)


async def test_a_cutoff_names_the_later_papers_of_the_hybrid_ranking(tmp_path: Path) -> None:
    source = write_parquet(tmp_path / "p.parquet", paper_rows(60))
    embedder = WordEmbedder()
    snapshot = await asyncio.to_thread(build_snapshot, source, tmp_path / "i", embedder=embedder)
    asked: dict[str, Any] = {"query": "robot grasping diffusion report 33", "limit": 4}
    asked["fields"] = "title,year"
    async with gateway_to(SnapshotUpstream(snapshot, embedder)) as client:
        undated = await client.get("/graph/v1/paper/search", params=asked)
        asked["publicationDateOrYear"] = ":2015-12-31"
        reply = await client.get("/graph/v1/paper/search", params=asked)
    late = [each["paperId"][:12] for each in undated.json()["data"] if each["year"] > 2015]
    assert late
    assert reply.headers[LEFT_OUT_HEADER].split() == late
    assert [each["year"] <= 2015 for each in reply.json()["data"]] == [True] * 4


def test_cut_off_embeddings_are_refused(tmp_path: Path) -> None:
    snapshot = build_snapshot(
        write_parquet(tmp_path / "p.parquet", paper_rows(20)),
        tmp_path / "i",
        embedder=WordEmbedder(),
    )
    matrix = snapshot.folder / "embeddings.f16"
    matrix.write_bytes(matrix.read_bytes()[:-2])
    with pytest.raises(SnapshotError, match="cut off"):
        open_snapshot(snapshot.folder)
