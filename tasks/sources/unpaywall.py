"""Unpaywall: open copies by DOI, and full texts that use it.

API: GET https://api.unpaywall.org/v2/{doi} (reference 5.1).
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from pydantic import SecretStr

from schemas.errors import RequestRejectedError
from schemas.failure import SourceFailure
from schemas.literature.knowledge import KnowledgeItem, SourceKind, SourceQuery
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.documents.full_text import FullTextLibrary
from tasks.sources.fields import (
    Row,
    UnreadableAnswer,
    clean_doi,
    dated,
    json_of,
    names_of,
    text_of,
)
from tasks.sources.http_source import HttpSource, Page
from tasks.sources.requests import Question, Reply, SourceContext, Upstream
from tasks.web.client import Secrets, ascii_lower, stays_in_place
from tasks.web.decoding import mappings
from warehouse.stores.keyed_store import KeyedStore


class UnpaywallSource(HttpSource):
    """One DOI per request.

    An unknown DOI, also a valid one outside Crossref, is a failure `not_found`.
    """

    name = "unpaywall"
    kind = SourceKind.PAPERS
    searches_text = False
    looks_up_dois = True
    required = ("unpaywall_email",)
    advice = "set UNPAYWALL_EMAIL to a real address"

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        email = settings.unpaywall_email
        return Upstream(
            source=cls.name,
            base_url="https://api.unpaywall.org",
            per_minute=600,
            kept_seconds=7 * 86_400.0,
            secrets=Secrets(parameters={"email": SecretStr(email)} if email else {}),
            mend={Reason.FORBIDDEN: cls.advice},
            refuses_with=((422, b""),),  # the e-mail address
        )

    def question(self, words: str, query: SourceQuery) -> Question:
        raise RequestRejectedError(
            f"unpaywall looks up DOIs only, not {words[:40]!r} (limit {query.limit})"
        )

    def look_up(self, dois: Sequence[str]) -> Question:
        return Question(f"/v2/{quote(dois[0], safe='/')}")

    async def pdf_links(self, doi: str) -> tuple[str, ...] | SourceFailure:
        """Return the PDF addresses of the open copies of `doi`, best first."""
        if not stays_in_place(doi):
            detail = f"{doi[:100]!r} is no DOI that can be asked for"
            return self.requests.failure(Question("/v2"), Reason.BAD_REQUEST, detail)
        result = await self.requests.fetch(self.look_up([ascii_lower(doi)]), _links_in)
        return result.failure or result.page or ()

    def page(self, body: Any) -> Page:
        if not isinstance(body, dict) or "oa_locations" not in body:
            raise UnreadableAnswer("the body is no record of a DOI")
        return self.page_of([body])

    def item(self, row: Row) -> KnowledgeItem:
        doi = clean_doi(text_of(row, "doi"))
        links = pdf_links(row)
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=text_of(row, "title"),
            url=f"https://doi.org/{doi}" if doi else text_of(row, "doi_url"),
            **dated(row.get("published_date"), row.get("year"), doi),
            authors=names_of(row, "z_authors"),
            venue=text_of(row, "journal_name"),
            doi=doi,
            pdf_url=links[0] if links else None,
        )


def _links_in(reply: Reply) -> tuple[str, ...]:
    body = json_of(reply.content)
    if not isinstance(body, dict):
        raise UnreadableAnswer("the answer is no JSON object")
    return pdf_links(body)


def pdf_links(content: Mapping[str, object]) -> tuple[str, ...]:
    """Return `url_for_pdf` of the locations, best first, then `url`s that end in `.pdf`."""
    locations = [
        *mappings([content.get("best_oa_location")]),
        *mappings(content.get("oa_locations")),
    ]
    direct_urls = [location.get("url_for_pdf") for location in locations]
    pages = (location.get("url") for location in locations)
    pdf_urls = [url for url in pages if isinstance(url, str) and url.lower().endswith(".pdf")]
    urls = (url for url in (*direct_urls, *pdf_urls) if isinstance(url, str) and url)
    return tuple(dict.fromkeys(urls))


def open_full_texts(
    settings: Settings, context: SourceContext, store: KeyedStore, slots: asyncio.Semaphore
) -> FullTextLibrary:
    """Open full texts for the ledger of `context`, with Unpaywall if it is configured.

    Args:
        store: shared cache.
        slots: limits the documents in work; shared by the ideas of a worker.
    """
    has_email = settings.unpaywall_email is not None
    links = UnpaywallSource(settings, context).pdf_links if has_email else None
    documents, grobid = settings.documents, settings.grobid_url
    return FullTextLibrary(documents, grobid, links, store, context.ledger, slots)
