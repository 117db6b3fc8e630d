"""`--literature live`: what a manuscript cites and what is near it, from the live API through the
gateway, and what OpenAlex and Crossref list as taken back.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from flows.run.declared_campaign import DeclaredCampaign
from schemas.tables import TABLE
from schemas.works.check_run import CHECKS
from tasks.manuscripts.work import CHECK
from tests.support.checks import check_here, check_request
from tests.support.semantic_scholar_server import SemanticScholarServer, corpus
from tests.support.source_contexts import quick, quick_settings
from tests.support.web_servers import Find, shaped_server
from warehouse.parquet import read_landed
from warehouse.units.kind import kind_of
from warehouse.units.landing import landed_files
from warehouse.warehouse import Warehouse

TEXT = """# Studies of topics in graphs

## Abstract
We study topic 3 with method 1 and find an effect in graphs.

## 1 Introduction
Earlier work found another effect of the same topic [1, 2, 3].

## References
[1] Author 3. Study 3 of topic 3 in graphs. 2018. https://doi.org/10.1000/3
[2] Author 4. Study 4 of topic 4 in graphs. 2019. https://doi.org/10.1000/4
[3] Author 5. Study 5 of topic 5 in graphs. 2020. https://doi.org/10.1000/5
"""


def taken_back(_: Sequence[Find]) -> str:
    rows = [
        {
            "id": f"https://openalex.org/W{number}",
            "doi": f"https://doi.org/10.1000/{number}",
            "title": f"Study {number} of topic {number} in graphs",
            "is_retracted": number == 3,
        }
        for number in (3, 4, 5)
    ]
    return json.dumps({"meta": {"count": 3, "next_cursor": None}, "results": rows})


def with_notices(_: Sequence[Find]) -> str:
    notices = {4: ["correction", "retraction"], 5: ["correction"]}
    rows = [
        {
            "DOI": f"10.1000/{number}",
            "title": [f"Study {number} of topic {number} in graphs"],
            "updated-by": [{"type": kind, "DOI": "10.1000/notice"} for kind in kinds],
        }
        for number, kinds in notices.items()
    ]
    return json.dumps({"message": {"items": rows}})


def test_cited_works_that_either_list_has_as_retracted_are_raised_and_every_request_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "paper.md").write_text(TEXT)
    with (
        SemanticScholarServer(corpus(12)) as scholar,
        shaped_server(taken_back) as openalex,
        shaped_server(with_notices) as crossref,
    ):
        monkeypatch.setenv("ASSAY_LITERATURE__UPSTREAM_URL", scholar.url)
        monkeypatch.setenv("ASSAY_LITERATURE__REQUESTS_PER_SECOND", "100")
        urls = {"openalex": openalex.url, "crossref": crossref.url}
        quick(monkeypatch)
        sources = quick_settings("openalex", openalex.url, base_urls=urls)
        monkeypatch.setenv("ASSAY_SOURCES", sources.model_dump_json())
        monkeypatch.setenv("SEMANTIC_SCHOLAR_API_KEY", "key")
        request = check_request(
            [tmp_path / "paper.md"], warehouse=tmp_path / "wh", review=True, literature="live"
        )
        check = DeclaredCampaign(CHECK, request)
        with check.open():
            assert check.gateway is not None
            receipts = check_here(request, check.run_id, check.gateway.url)
    landed = {
        name: read_landed(
            TABLE[name],
            landed_files(Warehouse(request.warehouse), kind_of(CHECKS), TABLE[name], receipts),
        ).to_pylist()
        for name in ("manuscript_evidence", "problems", "api_calls")
    }
    cited = {
        row["doi"]: row["retracted"] for row in landed["manuscript_evidence"] if row["cited_as"]
    }
    assert cited == {"10.1000/3": True, "10.1000/4": True, "10.1000/5": False}
    assert all(row["abstract"] for row in landed["manuscript_evidence"])
    (raised,) = landed["problems"]
    assert raised["problem"] == "The manuscript cites a work that has been retracted."
    told = "OpenAlex or Crossref lists “Study 3 of topic 3 in graphs” (2018) as retracted."
    assert told in raised["explanation"]
    assert "Study 4 of topic 4" in raised["explanation"], "the second is not lost"
    sources = {row["source"] for row in landed["api_calls"]}
    assert sources == {"semantic_scholar", "openalex", "crossref"}
    for source in ("openalex", "crossref"):
        packed = [row["packed"] for row in landed["api_calls"] if row["source"] == source]
        assert packed == [len(landed["manuscript_evidence"])], "one request for all DOIs"
