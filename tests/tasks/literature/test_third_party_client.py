"""A client of the Semantic Scholar API that knows nothing of the gateway: the `semanticscholar`
package, unmodified.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from semanticscholar import SemanticScholar
from semanticscholar.SemanticScholarException import (
    InternalServerErrorException,
    ObjectNotFoundException,
)

from schemas.choices import LIVE
from schemas.settings import Settings
from tasks.literature.gateway.process import GatewayProcess
from tests.support.semantic_scholar_server import SemanticScholarServer, corpus, paper_id


@pytest.fixture(scope="module")
def server() -> Iterator[SemanticScholarServer]:
    with SemanticScholarServer(
        corpus(250, references_each=130), requests_per_second=200
    ) as running:
        yield running


@pytest.fixture(scope="module")
def gateway(
    server: SemanticScholarServer,
    tmp_path_factory: pytest.TempPathFactory,
    settings_of: Callable[..., Settings],
) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("third-party")
    with GatewayProcess(
        settings_of(folder, server.url, maximum_attempts=2),
        LIVE,
        folder / "cache",
    ) as running:
        yield running.url


@pytest.fixture
def client(gateway: str) -> SemanticScholar:
    return SemanticScholar(api_url=gateway, retry=False)


def test_papers_come_alone_and_in_batches(client: SemanticScholar) -> None:
    fields = ["title", "year", "references.title", "authors"]
    paper = client.get_paper("CorpusId:1007", fields=fields)
    assert (paper.title, paper.year) == ("Study 7 of topic 7 in graphs", 2022)
    assert paper.paperId == paper_id("7")
    titles = [f"Study {number} of topic {number} in graphs" for number in range(7)]
    assert [each.title for each in paper.references] == titles
    assert client.get_paper("CorpusId:1012").citationCount == 12, "with the fields it asks for"
    asked = ["CorpusId:1003", "CorpusId:9", "DOI:10.1000/4"]
    found, missing = client.get_papers(asked, fields=["externalIds"], return_not_found=True)
    assert [each.paperId for each in found] == [paper_id("3"), paper_id("4")]
    assert missing == ["CorpusId:9"]
    with pytest.raises(ObjectNotFoundException, match="Paper with id CorpusId:77 not found"):
        client.get_paper("CorpusId:77")


def test_searches_and_lists_turn_their_pages(client: SemanticScholar) -> None:
    found = client.search_paper("study", fields=["title"], limit=60)
    assert found.total == len({paper.paperId for paper in found}) == 250
    nothing = client.search_paper("zeppelin")
    assert (nothing.total, nothing.items) == (0, [])
    assert len(list(client.search_paper("topic 3", bulk=True, fields=["title"]))) == 250
    references = client.get_paper_references(paper_id("240"), fields=["title"], limit=100)
    cited = [paper_id(str(number)) for number in range(110, 240)]
    assert [each.paper.paperId for each in references] == cited
    citations = client.get_paper_citations(paper_id("100"), fields=["title"], limit=40)
    assert len(list(citations)) == len([number for number in range(101, 231) if number % 7 != 6])


def test_recommendations_and_passages(client: SemanticScholar) -> None:
    five, eight, nine = map(paper_id, "589")
    assert len(client.get_recommended_papers(five, limit=5, pool_from="all-cs")) == 5
    pooled = client.get_recommended_papers_from_lists([five, eight], [nine], limit=7)
    assert len(pooled) == 7
    assert len(list(client.search_snippet("topic 4", limit=3))) >= 3


def test_what_could_not_be_looked_up_is_an_error_and_never_an_empty_answer(
    client: SemanticScholar, server: SemanticScholarServer, gateway: str
) -> None:
    """The client takes statuses it does not know, as 503, for an empty answer."""
    for fault, error in (
        ("503", InternalServerErrorException),
        ("truncated", InternalServerErrorException),
    ):
        server.fault = lambda number, path, fault=fault: fault  # type: ignore[misc]
        with pytest.raises(error):
            client.search_paper(f"topic 4 {fault}")
        with pytest.raises(error):
            client.get_paper("CorpusId:1100", fields=[fault])
    server.fault = lambda number, path: None
    assert httpx.get(f"{gateway}/stats").json()["upstream"]["given_up"] == {
        "server_error": 2,
        "malformed_answer": 2,
    }
