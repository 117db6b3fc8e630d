import asyncio
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import numpy as np
import pytest

from flows.run.indexing import build_index, embed_for_evaluations, update_index
from schemas.literature.paper import Paper
from schemas.settings import Settings
from tasks.embeddings.local_model import LocalModel
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.embeddings.similarity import paper_text
from tasks.literature.snapshot.build import build_snapshot
from tests.support.dataset_files import release_records, write_release
from tests.support.paper_files import paper_rows, write_parquet
from warehouse.stores.keyed_store import KeyedStore
from warehouse.warehouse import Warehouse


def test_an_index_is_built_and_updated_in_words_a_person_understands(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    built = build_index(
        write_parquet(tmp_path / "old.parquet", paper_rows(20)), tmp_path / "i", False, settings
    )
    assert re.fullmatch(r"snapshot [0-9a-f]{12}: 20 papers", built)
    new = write_parquet(tmp_path / "new.parquet", paper_rows(23))
    assert update_index(new, tmp_path / "i", False, settings).endswith(
        ": 23 papers; 3 added, 20 unchanged"
    )
    assert update_index(new, tmp_path / "i", False, settings).endswith("nothing new")


def test_vectors_made_beforehand_are_the_ones_an_evaluation_looks_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=tmp_path / "home")
    index = build_snapshot(write_parquet(tmp_path / "p.parquet", paper_rows(12)), tmp_path / "i")
    papers = [
        Paper(paper_id=each.paper_id, title=each.title, abstract=each.abstract)
        for each in index.search("report", 12).papers
    ]
    texts = [paper_text(paper.title, paper.abstract) for paper in papers]
    assert embed_for_evaluations(tmp_path / "i", tmp_path / "warehouse", settings).startswith(
        "12 vectors"
    )
    afresh = asyncio.run(SentenceEmbedder(settings.embeddings, None).embed(texts))

    def refused(*_: object) -> None:
        raise AssertionError("a text was embedded again")

    monkeypatch.setattr(LocalModel, "encode", refused)
    cached = SentenceEmbedder(
        settings.embeddings,
        KeyedStore(Warehouse(tmp_path / "warehouse").cache / "embeddings.sqlite"),
    )
    assert np.array_equal(asyncio.run(cached.embed(texts)), afresh)


def test_serve_says_where_it_answers_and_stops_cleanly(tmp_path: Path) -> None:
    index = build_snapshot(
        write_release(tmp_path / "2025-01-07", release_records(20)), tmp_path / "i"
    ).folder
    told = [f"--literature=snapshot:{index}", "--port=0", f"--cache={tmp_path / 'cache'}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "flows", "literature", "serve", *told],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "ASSAY_HOME": str(tmp_path / "home")},
    )
    try:
        assert process.stderr is not None
        address = re.search(r"http://127\.0\.0\.1:\d+/graph/v1", process.stderr.readline())
        assert address is not None
        with httpx.Client(transport=httpx.HTTPTransport(retries=50), timeout=120) as http:
            asked = {"fields": "title,tldr,references.corpusId,openAccessPdf"}
            paper = http.get(f"{address.group()}/paper/CorpusId:12", params=asked).json()
            found = http.get(
                f"{address.group()}/paper/search", params={"query": "zebra11 machine translation"}
            ).json()
        assert (paper["tldr"], paper["openAccessPdf"]["url"]) == (
            {"model": "tldr@v2.0.0", "text": "Summary of zebra12."},
            "https://example.org/12.pdf",
        )
        assert [each["corpusId"] for each in paper["references"]] == [11, 10]
        assert found["total"] > 0
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.wait()
