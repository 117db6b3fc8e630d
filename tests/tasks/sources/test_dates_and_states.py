"""When finds of sources appeared, and whether they stand."""

from datetime import date

import pytest

from schemas.literature.knowledge import SourceQuery
from schemas.literature.paper_state import PaperState
from schemas.literature.publication import DatePrecision
from tasks.sources.arxiv import ArxivSource
from tasks.sources.crossref import CrossrefSource
from tasks.sources.openalex import OpenAlexSource
from tasks.sources.web_search import (
    BraveSource,
    SearxngSource,
    SerperScholarSource,
    SerperSource,
    TavilySource,
)
from tests.support.web_servers import SHAPES, Find

ASKED = SourceQuery(text="moths on drones", limit=50)


async def test_crossref_tells_the_state_by_notices_relations_and_titles(ask) -> None:
    told = {
        "plain": {},
        "retracted": {"updated-by": [{"type": "correction"}, {"type": "retraction"}]},
        "corrected": {"updated-by": [{"type": "correction"}, {"type": "erratum"}]},
        "of concern": {"updated-by": [{"type": "expression_of_concern"}]},
        "note": {"update-to": [{"type": "retraction", "DOI": "10.1/a"}]},
        "correction": {"update-to": [{"type": "correction", "DOI": "10.1/a"}]},
        "related": {"relation": {"is-retracted-by": [{"id": "10.1/a"}]}},
        "WITHDRAWN: Moths": {},
    }
    rows = [
        {"DOI": f"10.1000/{number}", "title": [title], "issued": {"date-parts": [[2020]]}} | fields
        for number, (title, fields) in enumerate(told.items())
    ]
    items = (await ask(CrossrefSource, ASKED, {"message": {"items": rows}})).items
    assert {item.title: item.state for item in items} == {
        "plain": None,
        "retracted": PaperState.RETRACTED,
        "corrected": None,
        "of concern": PaperState.OF_CONCERN,
        "note": PaperState.RETRACTED,
        "correction": PaperState.NOTICE,
        "related": PaperState.RETRACTED,
        "WITHDRAWN: Moths": PaperState.WITHDRAWN,
    }


async def test_arxiv_tells_by_its_comment_that_a_paper_was_withdrawn(ask) -> None:
    feed = SHAPES["arxiv"]([Find("One"), Find("Two", number=2)])
    comment = '<comment xmlns="http://arxiv.org/schemas/atom">This paper has been withdrawn by the'
    feed = feed.replace("</entry>", f"{comment} author due to an error</comment></entry>", 1)
    items = (await ask(ArxivSource, ASKED, feed)).items
    assert [item.state for item in items] == [PaperState.WITHDRAWN, None]


async def test_openalex_dates_have_their_precision_and_flags_their_state(ask) -> None:
    dates = [("2024-01-01", 2024), ("1970-01-01", 2023), ("2022-05-06", 2023), ("2023-05-06", 2023)]
    rows = [
        {
            "id": f"https://openalex.org/W{number}",
            "title": f"Work {number}",
            "publication_date": day,
            "publication_year": year,
            "is_retracted": number == 3,
            "type": "erratum" if number == 2 else "article",
        }
        for number, (day, year) in enumerate(dates)
    ]
    body = {"meta": {"next_cursor": None}, "results": rows}
    items = (await ask(OpenAlexSource, ASKED, body)).items
    assert [(item.published, item.precision) for item in items] == [
        (date(2024, 12, 31), DatePrecision.YEAR),
        (date(2023, 12, 31), DatePrecision.YEAR),
        (date(2023, 12, 31), DatePrecision.YEAR),
        (date(2023, 5, 6), DatePrecision.DAY),
    ]
    assert [item.state for item in items] == [
        None,
        None,
        PaperState.NOTICE,
        PaperState.RETRACTED,
    ]


@pytest.mark.parametrize(
    "source", [BraveSource, SearxngSource, SerperScholarSource, SerperSource, TavilySource]
)
async def test_titles_of_pages_tell_that_a_work_was_retracted(ask, source) -> None:
    body = SHAPES[source.name]([Find("RETRACTED: Moths on drones"), Find("Moths", number=2)])
    items = (await ask(source, ASKED, body)).items
    assert [item.state for item in items] == [PaperState.RETRACTED, None]
