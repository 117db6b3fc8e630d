from datetime import date

import pytest

from schemas.literature.knowledge import SourceQuery
from tasks.sources.arxiv import ArxivSource
from tests.support.web_servers import SHAPES, Find, ShapedServer

WITH_TWO = SHAPES["arxiv"]([Find("One"), Find("Two", number=2)])
EMPTY_OF_TWO = WITH_TWO[: WITH_TWO.index("<entry>")] + "</feed>"
FEED = '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:s="http://a9.com/-/spec/opensearch/1.1/">'


def answers(server: ShapedServer, *bodies: str) -> None:
    """Each request takes the next body; the last one stays."""
    waiting = list(bodies)
    server.shape = lambda _: waiting.pop(0) if len(waiting) > 1 else waiting[0]


async def test_the_recorded_feed_is_read(ask, sample) -> None:
    (item,) = (await ask(ArxivSource, "electron", sample("other_arxiv_atom_feed.xml"))).items
    title = "Multi-Electron Production at High Transverse Momenta in ep Collisions at HERA"
    assert (item.title, item.published) == (title, date(2003, 7, 7))
    assert (item.arxiv_id, item.url) == ("hep-ex/0307015", "https://arxiv.org/abs/hep-ex/0307015")
    assert (item.authors, item.topics) == (("H1 Collaboration",), ("hep-ex",))
    assert item.venue == "Eur.Phys.J. C31 (2003) 17-29"
    assert item.pdf_url == "http://arxiv.org/pdf/hep-ex/0307015v1"
    assert item.text.startswith("Multi-electron production is studied")


async def test_an_error_feed_with_status_200_is_a_refusal_not_a_paper(
    server: ShapedServer, ask, sample
) -> None:
    answer = await ask(ArxivSource, "electron", sample("other_arxiv_atom_error.xml"))
    assert (answer.items, [failure.reason for failure in answer.failures]) == ((), ["bad_request"])
    assert "incorrect id format" in answer.failures[0].detail
    assert len(server.asked) == 1


async def test_a_spurious_empty_page_is_asked_for_again_and_noted(
    server: ShapedServer, ask
) -> None:
    answers(server, EMPTY_OF_TWO, WITH_TWO)
    answer = await ask(ArxivSource, "sparse attention")
    assert [item.title for item in answer.items] == ["One", "Two"]
    assert answer.complete
    assert "asked again" in answer.notes[0]
    assert server.asked[0].parameters == server.asked[1].parameters


async def test_a_page_that_stays_empty_is_a_failure_not_nothing_found(
    server: ShapedServer, ask
) -> None:
    answer = await ask(ArxivSource, "sparse attention", EMPTY_OF_TWO)
    assert [failure.reason for failure in answer.failures] == ["malformed_answer"]
    assert len(server.asked) == 2


async def test_words_are_asked_for_together_and_only_then_singly(server: ShapedServer, ask) -> None:
    answers(server, SHAPES["arxiv"]([]), WITH_TWO)
    text = "Is the self-attention NOT sparse? (all:x)"
    answer = await ask(ArxivSource, SourceQuery(text=text, published_before=date(2023, 6, 30)))
    first, second = (request.parameters["search_query"][0] for request in server.asked)
    dates = " AND submittedDate:[199101010000 TO 202306302359]"
    assert first == "(all:self AND all:attention AND all:sparse AND all:all AND all:x)" + dates
    assert second == first.replace(" AND all", " OR all")
    assert "any of them" in answer.notes[0]
    assert len(answer.items) == 2


@pytest.mark.parametrize(
    "body",
    [
        '<!DOCTYPE feed [<!ENTITY a "aaaa">]><feed xmlns="http://www.w3.org/2005/Atom">&a;</feed>',
        *(
            f"{FEED}<s:totalResults>{total}</s:totalResults></feed>"
            for total in ("9" * 5000, "²", "-1", "")
        ),
    ],
)
async def test_entities_and_totals_that_are_no_numbers_are_not_as_documented(ask, body) -> None:
    answer = await ask(ArxivSource, "electron", body)
    assert [failure.reason for failure in answer.failures] == ["malformed_answer"]
