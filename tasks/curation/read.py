"""Reads a paper with its reviews, wherever they come from, through the parsers of `documents`."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.base import encodable
from schemas.failure import Failure, SourceFailure
from schemas.identifiers import content_hash
from schemas.reasons import Reason
from schemas.settings import DocumentSettings
from schemas.works.curation import ReviewedAt
from schemas.works.curation_run import PaperSource
from tasks.accounting.ledger import Ledger
from tasks.curation.collect import PARSED
from tasks.curation.openreview import PAGE, OpenReview
from tasks.curation.review_files import (
    TEXT_SUFFIXES,
    ReviewFile,
    content_of,
    json_object,
    read_reviews,
)
from tasks.curation.submission import Submission, Unread
from tasks.documents.document import HeadedSection, ParsedDocument
from tasks.documents.grobid import read_with_grobid
from tasks.documents.headings import number_depth
from tasks.documents.latex import read_latex
from tasks.documents.pdf import read_pdf
from tasks.text.words import sections_of_markdown

Parsed = tuple[ParsedDocument, tuple[Failure, ...]] | Unread
"""A paper, and the failure of a better reader that another stood in for."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads papers for one shard. `slots` bounds how many documents are parsed at once."""

    documents: DocumentSettings
    grobid_url: str | None
    slots: asyncio.Semaphore

    async def read(
        self, source: PaperSource, ledger: Ledger, openreview: OpenReview | None
    ) -> Submission | Unread:
        """The paper and its reviews, or why they cannot be had. `openreview` reads forums."""
        if source.reviewed_at is ReviewedAt.OPENREVIEW:
            assert openreview is not None
            return await self._of_forum(source, ledger, openreview)
        assert source.paper is not None
        reviews = await asyncio.to_thread(read_reviews, source.reviews)
        if isinstance(reviews, Unread):
            return reviews
        parsed = await self._paper(source.paper, ledger)
        if isinstance(parsed, Unread):
            return parsed
        return _submission(source, reviews, *parsed)

    async def _of_forum(
        self, source: PaperSource, ledger: Ledger, openreview: OpenReview
    ) -> Submission | Unread:
        forum = await openreview.forum(source.paper_id)
        if isinstance(forum, Unread):
            return forum
        parsed = await self._pdf(forum.pdf, f"{source.paper_id}.pdf", ledger)
        if isinstance(parsed, Unread):
            return parsed
        paper, failures = parsed
        texts = (review.text for review in forum.reviews)
        return Submission(
            title=forum.title or paper.title or "",
            paper=paper,
            reviews=forum.reviews,
            content_sha256=content_hash(forum.pdf.hex(), *texts),
            url=PAGE.format(forum=source.paper_id),
            licence=forum.licence,
            submitted=forum.submitted,
            decision=forum.decision,
            is_first_version=forum.is_first_version,
            failures=(*forum.failures, *failures),
        )

    async def _paper(self, path: Path, ledger: Ledger) -> Parsed:
        name = path.name.lower()
        if name.endswith((".tex", ".tar.gz", ".zip")):
            async with self.slots:
                read = await read_latex(path, self.documents)
            return (
                Unread(read.reason, read.detail) if isinstance(read, SourceFailure) else (read, ())
            )
        content = await asyncio.to_thread(content_of, path)
        if isinstance(content, Unread):
            return content
        if name.endswith(PARSED):
            return _parsed_before(content, path.name)
        if name.endswith(TEXT_SUFFIXES):
            return _plain(content, path.name)
        return await self._pdf(content, path.name, ledger)

    async def _pdf(self, content: bytes, name: str, ledger: Ledger) -> Parsed:
        """By GROBID where it is set; where it fails, by the embedded reader."""
        if b"%PDF-" not in content[:1024]:
            return Unread(Reason.NOT_A_PDF, f"{name} is not a PDF")
        passed_over: tuple[Failure, ...] = ()
        async with self.slots:
            if self.grobid_url is not None:
                read = await read_with_grobid(
                    content, name, self.grobid_url, self.documents, ledger
                )
                if isinstance(read, ParsedDocument):
                    return read, ()
                told = f"{read.detail}; read without GROBID"
                passed_over = (
                    Failure(stage="documents", subject=name, reason=read.reason, detail=told),
                )
            read = await read_pdf(content, name, self.documents)
        if isinstance(read, SourceFailure):
            return Unread(read.reason, read.detail)
        return read, passed_over


def _submission(
    source: PaperSource, reviews: ReviewFile, paper: ParsedDocument, failures: tuple[Failure, ...]
) -> Submission:
    return Submission(
        title=reviews.title or paper.title or "",
        paper=paper,
        reviews=reviews.reviews,
        content_sha256=source.content_sha256,
        url=reviews.url,
        licence=reviews.licence,
        discipline=reviews.discipline,
        submitted=reviews.submitted,
        decision=reviews.decision,
        is_first_version=reviews.is_first_version,
        failures=failures,
    )


def _parsed_before(content: bytes, name: str) -> Parsed:
    """Return what PeerRead's own parser made of a PDF: `{"metadata": {"sections": [{"heading",
    "text"}]}}`.
    """
    whole = json_object(content)
    told = whole.get("metadata") if isinstance(whole, Mapping) else None
    listed = told.get("sections") if isinstance(told, Mapping) else None
    if not isinstance(told, Mapping) or not isinstance(listed, list):
        return Unread(
            Reason.DAMAGED, f"{name} holds no parsed paper, as parsed_pdfs of PeerRead do"
        )
    rows = [each for each in listed if isinstance(each, Mapping)]
    # A heading without text of its own still says what the sections below it are about.
    sections = [_section(_text(each, "heading"), _text(each, "text")) for each in rows]
    if not any(section.text for section in sections):
        return Unread(Reason.NO_TEXT, f"{name} holds no text")
    return ParsedDocument(
        title=_text(told, "title") or None,
        abstract=_text(told, "abstractText") or None,
        sections=tuple(sections),
        parser="peerread",
    ), ()


def _section(heading: str, text: str) -> HeadedSection:
    return HeadedSection(level=(number_depth(heading) or 1) - 1, heading=heading, text=text)


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return value.strip() if isinstance(value, str) and encodable(value) else ""


def _plain(content: bytes, name: str) -> Parsed:
    try:
        text = content.decode("utf-8-sig").replace("\x00", "")
    except UnicodeDecodeError:
        return Unread(Reason.DAMAGED, f"{name} is no UTF-8 text: save it as UTF-8")
    found = sections_of_markdown(text)
    if not any(body for _, body in found):
        return Unread(Reason.NO_TEXT, f"{name} holds no text")
    title = next((line.strip("# ").strip() for line in text.splitlines() if line.strip("# ")), "")
    sections = tuple(
        HeadedSection(level=0, heading=heading, text=body) for heading, body in found if body
    )
    return ParsedDocument(title=title[:300], abstract=None, sections=sections, parser="text"), ()
