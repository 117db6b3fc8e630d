"""OpenAlex works. API: https://developers.openalex.org, GET /works (reference 5.3)."""

from collections.abc import Sequence
from typing import Any

from schemas.identifiers import arxiv_id_of
from schemas.literature.knowledge import KnowledgeItem, SourceKind, SourceQuery
from schemas.literature.paper_state import state_of
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.sources.fields import (
    Row,
    clean_doi,
    date_filters,
    dated,
    mappings_of,
    number_of,
    rows_of,
    text_of,
)
from tasks.sources.http_source import HttpSource, Page
from tasks.sources.requests import Question, Upstream
from tasks.web.client import Secrets
from tasks.web.decoding import running_text

_LARGEST_PAGE = 100
_SELECT = (
    "id,doi,title,publication_date,publication_year,authorships,primary_location,best_oa_location,"
    "cited_by_count,abstract_inverted_index,is_retracted,type,locations"
)


class OpenAlexSource(HttpSource):
    """Works by words or by batches of DOIs.

    The API can be used without a key, within a small daily allowance.
    """

    name = "openalex"
    kind = SourceKind.PAPERS
    looks_up_dois = True
    largest_batch = 50
    maximum_characters = 1000

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        key = settings.openalex_api_key
        return Upstream(
            source=cls.name,
            base_url="https://api.openalex.org",
            per_minute=600,
            kept_seconds=7 * 86_400.0,
            secrets=Secrets(parameters={"api_key": key} if key else {}),
            mend={
                Reason.FORBIDDEN: "check OPENALEX_API_KEY",
                Reason.RATE_LIMITED: "raise the daily allowance with OPENALEX_API_KEY",
            },
        )

    def question(self, words: str, query: SourceQuery) -> Question:
        filters = date_filters(query, "from_publication_date", "to_publication_date")
        size = str(min(query.limit, _LARGEST_PAGE))
        return Question(
            "/works",
            (("search", words), *filters, ("select", _SELECT), ("per_page", size), ("cursor", "*")),
        )

    def look_up(self, dois: Sequence[str]) -> Question:
        size, filter_text = str(_LARGEST_PAGE), f"doi:{'|'.join(dois)}"
        parameters = (("filter", filter_text), ("select", _SELECT), ("per_page", size))
        return Question("/works", parameters, packed=len(dois))

    def page(self, body: Any) -> Page:
        return self.page_of(rows_of(body, "results"), cursor=text_of(body, "meta", "next_cursor"))

    def item(self, row: Row) -> KnowledgeItem:
        doi = clean_doi(text_of(row, "doi"))
        pages = [text_of(each, "landing_page_url") for each in mappings_of(row, "locations")]
        abstract, title = running_text(row.get("abstract_inverted_index")), text_of(row, "title")
        authors = (
            text_of(entry, "author", "display_name") for entry in mappings_of(row, "authorships")
        )
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=title,
            url=f"https://doi.org/{doi}" if doi else text_of(row, "id"),
            text=abstract,
            **dated(
                row.get("publication_date"),
                row.get("publication_year"),
                *(doi, text_of(row, "primary_location", "landing_page_url")),
            ),
            authors=tuple(author for author in authors if author),
            venue=text_of(row, "primary_location", "source", "display_name"),
            citation_count=number_of(row, "cited_by_count"),
            doi=doi,
            version_dois=tuple(other for other in map(clean_doi, pages) if other and other != doi),
            arxiv_id=next(filter(None, map(arxiv_id_of, pages)), None),
            pdf_url=text_of(row, "best_oa_location", "pdf_url") or None,
            state=state_of(title, abstract, row.get("is_retracted"), row.get("type")),
        )
