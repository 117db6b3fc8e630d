"""arXiv. API: https://export.arxiv.org/api/query, an Atom feed (reference 5.2).

Its terms allow one request per three seconds and one connection. The limit is shared by all
processes of the machine.
"""

from typing import Any
from xml.etree.ElementTree import Element

from schemas.errors import RequestRejectedError
from schemas.literature.knowledge import KnowledgeItem, SourceKind, SourceQuery
from schemas.literature.paper_state import state_of
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.text.patterns import bounded
from tasks.sources.fields import Row, UnreadableAnswer, dated, one_line, stated_day
from tasks.sources.http_source import HttpSource, Page, SearchState, Wording, shortened
from tasks.sources.requests import Question, Reply, Upstream
from tasks.web.decoding import UnreadableXmlError, xml_of
from tasks.web.headers import whole_number

_ATOM, _ARXIV = "{http://www.w3.org/2005/Atom}", "{http://arxiv.org/schemas/atom}"
_SEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
_ABSTRACT_PAGE = bounded(r"https?://(?:export\.)?arxiv\.org/abs/(.+?)(?:v\d+)?")
_PATH = "/api/query"
_LARGEST_PAGE = 100
_EARLIEST_TIME, _LATEST_TIME = "199101010000", "209912312359"
_COMMON_TEXT = """
a an and are as at based be by can do does for from how in into is it its of on or our that the
their this to using via we what when which with not andnot
"""
_COMMON = frozenset(_COMMON_TEXT.split())
_WORDS = bounded(r"\w+")


class ArxivSource(HttpSource):
    """Papers with all words of the query, else with any of them.

    The answer notes the wider search.
    """

    name = "arxiv"
    kind = SourceKind.PAPERS
    maximum_characters = 300
    maximum_words = 12

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        del settings
        return Upstream(cls.name, "https://export.arxiv.org", per_minute=20, one_at_a_time=True)

    def worded(self, text: str) -> Wording:
        """Return plain words.

        A hyphen means NOT, and common words joined by AND lose papers.
        """
        words = _WORDS.findall(text.replace("_", " ").lower())
        return shortened(
            " ".join(word for word in words if word not in _COMMON),
            self.maximum_characters,
            self.maximum_words,
        )

    async def ask(
        self, question: Question, query: SourceQuery, search_state: SearchState
    ) -> Page | None:
        """Fetch a page.

        An empty page is fetched a second time, because arXiv returns some by mistake.
        """
        page = await super().ask(question, query, search_state)
        if page is None or page.items or page.unreadable_count:
            return page
        words = self.worded(query.text).text
        if not page.gaps and " " in words:
            question = self.question(words, query, " OR ")
            note = "arXiv has no paper with all words: asked again for any of them"
        else:
            note = "arXiv gave an empty page, which it does by mistake: asked again"
        search_state.notes.append(note)
        return await super().ask(question, query, search_state)

    def read(self, reply: Reply) -> Page:
        try:
            feed = xml_of(reply.content)
        except UnreadableXmlError as error:
            raise UnreadableAnswer(f"the body is no Atom feed ({error})") from error
        if feed.tag != f"{_ATOM}feed":
            raise UnreadableAnswer("the body is no Atom feed")
        return self.page(feed)

    def page(self, body: Any) -> Page:
        entries = body.findall(f"{_ATOM}entry")
        if entries and "/api/errors" in _text(entries[0], f"{_ATOM}id"):
            raise RequestRejectedError(
                f"arXiv refused the query: {_text(entries[0], f'{_ATOM}summary')}"
            )
        total = whole_number(_text(body, f"{_SEARCH}totalResults"))
        if total is None:
            raise UnreadableAnswer("the feed does not say how many results there are")
        missing = (Reason.MALFORMED_ANSWER, f"an empty page of {total} results to {_PATH}")
        gaps = () if entries or total == 0 else (missing,)
        return self.page_of(({"entry": entry} for entry in entries), gaps)

    def worth_keeping(self, page: Page) -> bool:
        """Return whether to cache the page.

        An empty page may be a mistake of arXiv and is not cached.
        """
        return bool(page.items) and super().worth_keeping(page)

    def item(self, row: Row) -> KnowledgeItem:
        entry: Element = row["entry"]
        match = _ABSTRACT_PAGE.fullmatch(_text(entry, f"{_ATOM}id"))
        if match is None:
            raise ValueError("the entry has no address")
        links = {link.get("title"): link.get("href") for link in entry.findall(f"{_ATOM}link")}
        category = entry.find(f"{_ARXIV}primary_category")
        title, summary = _text(entry, f"{_ATOM}title"), _text(entry, f"{_ATOM}summary")
        state = state_of("", _text(entry, f"{_ARXIV}comment"))
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=title,
            url=f"https://arxiv.org/abs/{match[1]}",
            text=summary,
            **dated(_text(entry, f"{_ATOM}published")),
            updated=stated_day(_text(entry, f"{_ATOM}updated")),
            authors=tuple(
                _text(author, f"{_ATOM}name") for author in entry.findall(f"{_ATOM}author")
            ),
            venue=_text(entry, f"{_ARXIV}journal_ref"),
            doi=_text(entry, f"{_ARXIV}doi") or None,
            arxiv_id=match[1],
            pdf_url=links.get("pdf"),
            state=state or state_of(title, summary),
            topics=(category.get("term", ""),) if category is not None else (),
        )

    def question(self, words: str, query: SourceQuery, joint: str = " AND ") -> Question:
        expression = f"({joint.join(f'all:{word}' for word in words.split())})"
        if query.published_after or query.published_before:
            first = (
                f"{query.published_after:%Y%m%d}0000" if query.published_after else _EARLIEST_TIME
            )
            last = (
                f"{query.published_before:%Y%m%d}2359" if query.published_before else _LATEST_TIME
            )
            expression += f" AND submittedDate:[{first} TO {last}]"
        window = (("start", "0"), ("max_results", str(min(query.limit, _LARGEST_PAGE))))
        return Question(_PATH, (("search_query", expression), *window, ("sortBy", "relevance")))


def _text(element: Element, name: str) -> str:
    return one_line(element.findtext(name) or "")
