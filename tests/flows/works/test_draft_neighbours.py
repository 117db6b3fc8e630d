"""`assay write` takes its outline from stored full texts, and fetches none that it was not asked to."""

import asyncio
import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from flows.cli.answer import EXIT_DONE
from schemas.base import replace
from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.literature.survey import Survey
from schemas.settings import DocumentSettings
from tasks.documents import pdf
from tasks.documents.document import HeadedSection, ParsedDocument
from tasks.documents.full_text import DocumentCache, FullTextLibrary
from tasks.sources.unpaywall import open_full_texts
from tasks.writing import neighbours
from tests.support.assay_here import run
from tests.support.document_server import Reply, document_server
from tests.support.small_pdf import pdf_of
from tests.support.survey_lake import make_survey, published_surveys
from warehouse.stores.keyed_store import KeyedStore
from warehouse.warehouse import Warehouse

IDEA = {"idea_id": "bats", "title": "Bats and steps", "problem": "Bats choose badly among steps."}
HEADINGS = {"Introduction": 40, "Approach": 90, "Results": 60, "Related work": 30}


def survey_of_eight(address: str = "https://example.org") -> Survey:
    """A survey of eight papers, of each of which it is said where its PDF lies."""
    survey = make_survey()
    texts = tuple(
        Paper(
            paper_id=PaperId(f"paper-{number}"),
            title=f"Bats and moths, part {number}",
            open_access_pdf_url=f"{address}/{number}.pdf",
        )
        for number in range(8)
    )
    papers = tuple(replace(survey.papers[0], paper_id=text.paper_id, text=text) for text in texts)
    names = tuple(text.paper_id for text in texts)
    cluster = replace(survey.clusters[0], paper_count=8, key_paper_ids=names[:3])
    return replace(
        survey, papers=papers, judged_count=8, kept_count=8, clusters=(cluster,), quotes=(),
        links=(),
    )  # fmt: skip


async def store_documents(path: Path, count: int) -> None:
    """What reading the first `count` PDFs left behind."""
    cache = DocumentCache(KeyedStore(path), DocumentSettings())
    sections = tuple(
        HeadedSection(level=0, heading=heading, text="We saw that bats were fast there. " * times)
        for heading, times in HEADINGS.items()
    )
    document = ParsedDocument(title=None, abstract=None, sections=sections, parser="pdf")
    for number in range(count):
        await cache.put_content_hash(f"https://example.org/{number}.pdf", f"sha-{number}")
        await cache.put_document("pdf", pdf.VERSION, f"sha-{number}", document)


def long_paper() -> bytes:
    """A paper that is built like those of `store_documents`, as PDF."""
    line = (
        "We saw that bats were fast there, and that moths were slower than they were.",
        10.0,
        False,
    )
    pages = []
    for heading, times in HEADINGS.items():
        pages.append([(heading, 14.0, True), *[line] * (times // 2)])
    return pdf_of(pages)


def outline(*more: str) -> None:
    words = ["write", "idea.jsonl", "--warehouse", "w", "--survey", "survey-a", "--outline-only"]
    assert run(*words, *more) == EXIT_DONE


@pytest.fixture(scope="module")
def surveyed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with the survey, to be copied."""
    warehouse = Warehouse(tmp_path_factory.mktemp("surveyed"))
    published_surveys(warehouse, survey_of_eight())
    return warehouse.root


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    (tmp_path / "idea.jsonl").write_text(json.dumps(IDEA))
    return tmp_path


def test_an_outline_follows_stored_full_texts_and_can_be_had_before_anything_is_written(
    surveyed: Path,
    here: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(surveyed, here / "w")
    asyncio.run(store_documents(Warehouse(here / "w").cache / "documents.sqlite", 6))
    outline()
    planned = yaml.safe_load(capsys.readouterr().out)
    assert [each["heading"] for each in planned] == [
        "Introduction", "Plan", "Related work", "Limits and gaps", "Declaration",
    ]  # fmt: skip
    assert [each["planned_words"] for each in planned] == [280, 630, 210, 220, 300]
    assert planned[1]["style"] == "past tense, first person"
    assert "median of 6 neighbours, 630 words" in planned[1]["planned_from"]
    assert list((here / "w" / "landing").glob("draft=*")) == []


def test_too_few_full_texts_leave_the_fixed_outline_and_say_so(
    surveyed: Path,
    here: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(surveyed, here / "w")
    asyncio.run(store_documents(Warehouse(here / "w").cache / "documents.sqlite", 4))
    outline()
    answer = capsys.readouterr()
    assert [each["planned_words"] for each in yaml.safe_load(answer.out)][:3] == [280, 350, 400]
    assert "the outline is fixed: 4 of 8 nearby papers could be measured" in answer.err
    assert "--full-text" in answer.err


def test_full_texts_are_fetched_where_asked_once_and_what_cannot_be_had_is_left_out(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def on_loopback(*given: Any) -> FullTextLibrary:
        return dataclasses.replace(open_full_texts(*given), allow_private_addresses=True)

    monkeypatch.setattr(neighbours, "open_full_texts", on_loopback)
    with document_server() as server:
        server.replies = {f"/{number}.pdf": [Reply(body=long_paper())] for number in range(6)}
        server.replies["/6.pdf"] = [Reply(body=b"<html>log in to read this</html>")]
        published_surveys(Warehouse(here / "w"), survey_of_eight(server.url))
        outline()
        assert "0 of 8 nearby papers could be measured" in capsys.readouterr().err
        assert server.asked == []
        outline("--full-text", "--dry-run")
        capsys.readouterr()
        assert server.asked == [], "a dry run asks nothing"
        outline("--full-text")
        answer = capsys.readouterr()
        asked = {each.path for each in server.asked}
        assert asked == {f"/{number}.pdf" for number in range(8)}
        planned = yaml.safe_load(answer.out)
        assert planned[1]["style"] == "past tense, first person"
        assert "median of 6 neighbours" in planned[1]["planned_from"]
        server.asked.clear()
        outline()
        assert yaml.safe_load(capsys.readouterr().out) == planned
        assert server.asked == []
