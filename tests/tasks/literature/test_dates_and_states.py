"""Dates and states of papers on their way from a source through the gateway to an idea."""

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

from schemas.failure import LEFT_OUT
from schemas.identifiers import IdeaId
from schemas.literature.paper import Paper
from schemas.literature.paper_state import PaperState
from schemas.literature.publication import DatePrecision
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.literature.api_shapes import parse_paper
from tasks.literature.client import LiteratureClient
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.snapshot import open_snapshot
from tests.support.gateways import GATEWAY, gateway_to
from tests.support.paper_files import write_jsonl

CUTOFF = date(2024, 6, 30)
TITLE = "Acoustic absorbers of moth scales on drones"


def paper(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "title": f"{TITLE}, part {number}",
        "abstract": "Absorbers of moth scales hide drones from bats.",
        "authors": ["Ann Lee"],
        "venue": "Journal of Bats",
        "year": 2020,
        "url": f"https://example.org/{number}",
        **fields,
    }


def work(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": f"https://openalex.org/W{number}",
        "title": f"{TITLE}, part {number}",
        "abstract_inverted_index": {"Absorbers": [0], "work": [1]},
        "authorships": [],
        "referenced_works": [],
        "publication_year": 2020,
        "publication_date": "2020-05-06",
        **fields,
    }


def found(
    tmp_path: Path, rows: list[dict[str, Any]], cutoff: date | None = CUTOFF, **options: Any
) -> tuple[dict[str, Paper], Ledger]:
    """What a search for the title finds in a snapshot, by title, and the ledger."""
    build_snapshot(write_jsonl(tmp_path / "papers.jsonl", rows), tmp_path / "index")
    ledger = Ledger(IdeaId("idea"))

    async def ask() -> dict[str, Paper]:
        async with gateway_to(open_snapshot(tmp_path / "index")) as http:
            client = LiteratureClient(
                GATEWAY, ledger, http, Settings().literature, unlimited=True, **options
            )
            papers = (await client.search_papers(TITLE, 50, cutoff)).items
            passages = (await client.search_snippets(TITLE, 50, cutoff)).items
            assert {one.paper_id for one in passages} == {one.paper_id for one in papers}
        return {one.title: one for one in papers}

    return asyncio.run(ask()), ledger


def left_out(ledger: Ledger) -> dict[Reason, str]:
    return {one.reason: one.detail for one in ledger.failures if one.stage == LEFT_OUT}


def test_placeholder_days_and_contradictions_do_not_pass_a_cutoff(tmp_path: Path) -> None:
    rows = [
        paper(1, year=2024, publication_date="2024-01-01"),
        paper(2, year=2024, publication_date="1970-01-01"),
        paper(3, year=2024, publication_date="2023-03-04"),
        paper(4, year=2023, publication_date="2024-08-01"),
        paper(5, year=2024, publication_date="2024-02-03"),
        paper(6, year=2023, publication_date="2023-01-01"),
        paper(7, year=None, publication_date="1900-01-01"),
    ]
    papers, ledger = found(tmp_path, rows)
    assert {title[-1] for title in papers} == {"5", "6"}
    told = left_out(ledger)
    assert told[Reason.AFTER_CUTOFF].startswith("4 papers may have appeared after")
    assert told[Reason.NO_DATE].startswith("1 paper without a date that can be read")


def test_dates_of_works_of_openalex_have_their_precision(tmp_path: Path) -> None:
    rows = [
        work(1, publication_year=2024, publication_date="2024-01-01"),
        work(2, publication_year=2023, publication_date="2023-01-01"),
        work(
            3, publication_year=2025, publication_date="2025-02-01", doi="10.48550/arXiv.2301.00004"
        ),
    ]
    papers, ledger = found(tmp_path, rows)
    precisions = {title[-1]: one.date_precision for title, one in papers.items()}
    assert precisions == {"2": DatePrecision.YEAR, "3": DatePrecision.MONTH}
    assert left_out(ledger)[Reason.AFTER_CUTOFF].startswith("1 paper may")


def test_a_preprint_counts_with_its_own_month(tmp_path: Path) -> None:
    rows = [
        paper(1, year=2025, publication_date="2025-02-01", arxiv_id="2301.00004"),
        paper(2, year=2025, url="https://arxiv.org/abs/2406.00001v2"),
        paper(3, year=2025, arxiv_id="2407.00001"),
    ]
    papers, ledger = found(tmp_path, rows)
    assert {title[-1]: one.date_in_words for title, one in papers.items()} == {
        "1": "2023-01",
        "2": "2024-06",
    }
    assert left_out(ledger)[Reason.AFTER_CUTOFF].startswith("1 paper may have appeared after")


def test_works_that_do_not_stand_are_left_out_and_named(tmp_path: Path) -> None:
    rows = [
        paper(1),
        paper(2, title=f"RETRACTED: {TITLE}"),
        paper(3, title=f"Retraction Note to: {TITLE} by night"),
        paper(4, title=f"{TITLE} by night"),
        paper(5, is_retracted=True),
        paper(6, publication_types=["Journal Article", "Retracted Publication"]),
        paper(7, state="withdrawn"),
        paper(8, abstract="This paper has been withdrawn by the authors."),
        paper(9, title=f"Expression of Concern: {TITLE}"),
        paper(
            11, title="Acoustic absorbers of moth scales", abstract="Why do scales take up sound?"
        ),
        paper(10, title=f"{TITLE}, part 5", year=2018),
    ]
    papers, ledger = found(tmp_path, rows, None)
    assert set(papers) == {f"{TITLE}, part 1", "Acoustic absorbers of moth scales"}
    detail = left_out(ledger)[Reason.RETRACTED]
    assert detail.startswith("9 papers counted for nothing: retracted, withdrawn")
    assert "“Acoustic absorbers" in detail
    assert detail.count("“") == 5
    assert detail.endswith(" and 4 more)")


def test_the_preprint_of_a_retracted_article_counts_for_nothing_either(tmp_path: Path) -> None:
    rows = [
        paper(1, title=f"RETRACTED: {TITLE}", abstract="Scales of moths absorb ultrasound."),
        paper(2, title=TITLE, venue="arXiv", year=2019),
    ]
    papers, _ = found(tmp_path, rows, None)
    assert papers == {}


def test_who_shows_the_state_of_works_finds_all_of_them(tmp_path: Path) -> None:
    rows = [work(1), work(2, is_retracted=True), work(3, type="retraction")]
    papers, ledger = found(tmp_path, rows, None, with_retracted=True)
    states = {title[-1]: one.state for title, one in papers.items()}
    assert states == {"1": None, "2": PaperState.RETRACTED, "3": PaperState.RETRACTED}
    assert left_out(ledger) == {}


def test_papers_of_the_live_api_are_read_alike() -> None:
    row = {
        "paperId": "p",
        "title": "Retracted: Moths",
        "year": 2025,
        "publicationDate": "2025-02-01",
        "externalIds": {"ArXiv": "2301.00004", "DOI": "10.1000/a"},
    }
    read = parse_paper(row)
    assert read is not None
    assert read.state is PaperState.RETRACTED
    assert (read.publication_date, read.date_precision) == (date(2023, 1, 31), DatePrecision.MONTH)
    placeholder = parse_paper({"paperId": "p", "title": "T", "publicationDate": "2024-01-01"})
    assert placeholder is not None
    assert (placeholder.year, placeholder.publication_date) == (2024, None)


def test_dates_of_every_form_pass_a_cutoff_and_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    forms = ["2019/03/05", "5 March 2018", "2017-05", "2016-04-03T00:00:00Z", "Spring 2015"]
    rows = [paper(n, year=None, publication_date=form) for n, form in enumerate(forms)]
    rows += [
        paper(5, year="2014"),
        paper(6, year="2013.0"),
        paper(7, year=None, publication_date="soon"),
    ]
    rows += [paper(8, authors="Ann Lee, Bo Li"), paper(9, doi="none yet")]
    papers, ledger = found(tmp_path, rows, date(2020, 12, 31))
    assert {title[-1] for title in papers} == set("012345689")
    assert papers[f"{TITLE}, part 8"].authors == ("Ann Lee", "Bo Li")
    assert left_out(ledger)[Reason.NO_DATE].startswith("1 paper without a date")
    snapshot = build_snapshot(tmp_path / "papers.jsonl", tmp_path / "index")
    assert str(snapshot).endswith("could not be read: doi in 1, publication_date in 1")


def test_a_cutoff_on_the_last_of_december_takes_in_its_year(tmp_path: Path) -> None:
    papers, _ = found(
        tmp_path, [paper(1, year=2024, publication_date="2024-01-01")], date(2024, 12, 31)
    )
    assert len(papers) == 1
