"""Unpaywall as a look-up: open copies by DOI. API: GET https://api.unpaywall.org/v2/{doi} (reference 5.1).

Full texts take their links from tasks/documents/unpaywall.py; which link is the best one is decided there for both.
"""

from collections.abc import Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from pydantic import SecretStr

from schemas.errors import RequestRejectedError
from schemas.knowledge import KnowledgeItem, SourceKind, SourceQuery
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.documents.unpaywall import BASE_URL, pdf_links
from tasks.sources.days import iso_day, last_day
from tasks.sources.dois import clean_doi
from tasks.sources.fields import Row, UnreadableAnswer, mappings_of, number_of, text_of
from tasks.sources.http_source import HttpSource, Page
from tasks.sources.transport import Secrets
from tasks.sources.upstream import Question, Reply, Upstream, usual_reason


class UnpaywallSource(HttpSource):
    """One DOI per request. A DOI it does not know, also a valid one outside Crossref, is a failure `not_found`."""

    name: ClassVar[str] = "unpaywall"
    kind: ClassVar[SourceKind] = SourceKind.PAPERS
    searches_text: ClassVar[bool] = False
    looks_up_dois: ClassVar[bool] = True

    @classmethod
    def upstream(cls, settings: Settings) -> Upstream:
        email = settings.unpaywall_email
        return Upstream(
            source=cls.name,
            base_url=BASE_URL,
            per_minute=600,
            limit_name=cls.name,
            kept_seconds=7 * 86_400.0,
            secrets=Secrets(parameters={"email": SecretStr(email)} if email else {}),
            mend={Reason.FORBIDDEN: "set UNPAYWALL_EMAIL to a real address"},
            reason=refusal_reason,
        )

    @classmethod
    def missing_setting(cls, settings: Settings) -> str | None:
        return None if settings.unpaywall_email else "set UNPAYWALL_EMAIL to a real address"

    def question(self, words: str, query: SourceQuery) -> Question:
        raise RequestRejectedError(f"unpaywall looks up DOIs only, not {words[:40]!r} (limit {query.limit})")

    def look_up(self, dois: Sequence[str]) -> Question:
        return Question(f"/v2/{quote(dois[0], safe='/')}")

    def page(self, body: Any, question: Question) -> Page:
        del question
        if not isinstance(body, dict) or "oa_locations" not in body:
            raise UnreadableAnswer("the body is no record of a DOI")
        return Page(*self.items_of([body]))

    def item(self, row: Row) -> KnowledgeItem:
        doi = clean_doi(text_of(row, "doi"))
        year = number_of(row, "year")
        links = pdf_links(row)
        authors = (" ".join(filter(None, (text_of(a, "given"), text_of(a, "family")))) for a in mappings_of(row, "z_authors"))
        return KnowledgeItem(
            kind=self.kind,
            source=self.name,
            title=text_of(row, "title"),
            url=f"https://doi.org/{doi}" if doi else text_of(row, "doi_url"),
            published=iso_day(text_of(row, "published_date")) or (last_day(year) if year else None),
            authors=tuple(author for author in authors if author),
            venue=text_of(row, "journal_name"),
            doi=doi,
            pdf_url=links[0] if links else None,
        )


def refusal_reason(reply: Reply) -> Reason:
    """422 means that the e-mail address was refused."""
    return Reason.FORBIDDEN if reply.status == 422 else usual_reason(reply)
