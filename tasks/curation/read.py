"""Reading of papers with their reviews from files and forums."""

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
from tasks.curation.collect import PARSED_SUFFIX
from tasks.curation.openreview import PAGE, OpenReview
from tasks.curation.review_files import (
    TEXT_SUFFIXES,
    ReviewFile,
    content_of,
    json_object,
    read_reviews,
)
from tasks.curation.submission import Rejection, Submission
from tasks.documents.document import HeadedSection, ParsedDocument
from tasks.documents.grobid import read_with_grobid
from tasks.documents.headings import number_depth
from tasks.documents.latex import read_latex
from tasks.documents.pdf import read_pdf
from tasks.text.words import sections_of_markdown

Parsed = tuple[ParsedDocument, tuple[Failure, ...]] | Rejection
"""A paper, with the failure of a better parser if another one was used instead."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reader of papers for one shard. `slots` limits concurrent parsing."""

    documents: DocumentSettings
    grobid_url: str | None
    slots: asyncio.Semaphore

    async def read(
        self, source: PaperSource, ledger: Ledger, openreview: OpenReview | None
    ) -> Submission | Rejection:
        """Return the paper and its reviews, or why they are unavailable."""
        if source.reviewed_at is ReviewedAt.OPENREVIEW:
            assert openreview is not None
            return await self._read_forum(source, ledger, openreview)
        assert source.paper is not None
        reviews = await asyncio.to_thread(read_reviews, source.reviews)
        if isinstance(reviews, Rejection):
            return reviews
        parse_result = await self._paper(source.paper, ledger)
        if isinstance(parse_result, Rejection):
            return parse_result
        return _submission(source, reviews, *parse_result)

    async def _read_forum(
        self, source: PaperSource, ledger: Ledger, openreview: OpenReview
    ) -> Submission | Rejection:
        forum = await openreview.forum(source.paper_id)
        if isinstance(forum, Rejection):
            return forum
        parse_result = await self._pdf(forum.pdf, f"{source.paper_id}.pdf", ledger)
        if isinstance(parse_result, Rejection):
            return parse_result
        paper, failures = parse_result
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
                document = await read_latex(path, self.documents)
            return (
                Rejection(document.reason, document.detail)
                if isinstance(document, SourceFailure)
                else (document, ())
            )
        content = await asyncio.to_thread(content_of, path)
        if isinstance(content, Rejection):
            return content
        if name.endswith(PARSED_SUFFIX):
            return _peerread_paper(content, path.name)
        if name.endswith(TEXT_SUFFIXES):
            return _plain(content, path.name)
        return await self._pdf(content, path.name, ledger)

    async def _pdf(self, content: bytes, name: str, ledger: Ledger) -> Parsed:
        """Parse with GROBID if configured; if it fails, with the embedded parser."""
        if b"%PDF-" not in content[:1024]:
            return Rejection(Reason.NOT_A_PDF, f"{name} is not a PDF")
        grobid_failures: tuple[Failure, ...] = ()
        async with self.slots:
            if self.grobid_url is not None:
                document = await read_with_grobid(
                    content, name, self.grobid_url, self.documents, ledger
                )
                if isinstance(document, ParsedDocument):
                    return document, ()
                detail = f"{document.detail}; read without GROBID"
                grobid_failures = (
                    Failure(stage="documents", subject=name, reason=document.reason, detail=detail),
                )
            document = await read_pdf(content, name, self.documents)
        if isinstance(document, SourceFailure):
            return Rejection(document.reason, document.detail)
        return document, grobid_failures


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


def _peerread_paper(content: bytes, name: str) -> Parsed:
    """Read PeerRead's parser output: `{"metadata": {"sections": [{"heading", "text"}]}}`."""
    whole = json_object(content)
    metadata = whole.get("metadata") if isinstance(whole, Mapping) else None
    section_list = metadata.get("sections") if isinstance(metadata, Mapping) else None
    if not isinstance(metadata, Mapping) or not isinstance(section_list, list):
        return Rejection(
            Reason.DAMAGED,
            f"{name} contains no parsed paper in the format of PeerRead's parsed_pdfs",
        )
    rows = [each for each in section_list if isinstance(each, Mapping)]
    # A heading without text still gives the role of the sections below it.
    sections = [_section(_text(each, "heading"), _text(each, "text")) for each in rows]
    if not any(section.text for section in sections):
        return Rejection(Reason.NO_TEXT, f"{name} contains no text")
    return ParsedDocument(
        title=_text(metadata, "title") or None,
        abstract=_text(metadata, "abstractText") or None,
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
        return Rejection(Reason.DAMAGED, f"{name} is no UTF-8 text: save it as UTF-8")
    headed_texts = sections_of_markdown(text)
    if not any(body for _, body in headed_texts):
        return Rejection(Reason.NO_TEXT, f"{name} contains no text")
    title = next((line.strip("# ").strip() for line in text.splitlines() if line.strip("# ")), "")
    sections = tuple(
        HeadedSection(level=0, heading=heading, text=body) for heading, body in headed_texts if body
    )
    return ParsedDocument(title=title[:300], abstract=None, sections=sections, parser="text"), ()
