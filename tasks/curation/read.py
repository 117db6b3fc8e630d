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
from tasks.curation.openreview import OpenReview
from tasks.curation.review_files import (
    LARGEST_FILE_BYTES,
    TEXT_SUFFIXES,
    json_object,
    read_reviews,
)
from tasks.curation.submission import Submission
from tasks.documents.document import (
    HeadedSection,
    ParsedDocument,
    Refusal,
    decode_text,
    is_pdf,
    read_content,
)
from tasks.documents.grobid import read_with_grobid, read_without_grobid
from tasks.documents.headings import number_depth
from tasks.documents.latex import read_latex
from tasks.documents.pdf import read_pdf
from tasks.text.words import sections_of_markdown

Parsed = tuple[ParsedDocument, tuple[Failure, ...]] | Refusal
"""A paper, with the failure of a better parser if another one was used instead."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reader of papers for one shard. `slots` limits concurrent parsing."""

    documents: DocumentSettings
    grobid_url: str | None
    slots: asyncio.Semaphore

    async def read(
        self, source: PaperSource, ledger: Ledger, openreview: OpenReview | None
    ) -> Submission | Refusal:
        """Return the paper and its reviews, or why they are unavailable."""
        if source.reviewed_at is ReviewedAt.OPENREVIEW:
            assert openreview is not None
            forum = await openreview.forum(source.paper_id)
            if isinstance(forum, Refusal):
                return forum
            content, reviewed_paper = forum
            sha256 = content_hash(
                content.hex(), *(review.text for review in reviewed_paper.reviews)
            )
            parse_result = await self._pdf(content, f"{source.paper_id}.pdf", ledger)
        else:
            assert source.paper is not None
            files = await asyncio.to_thread(read_reviews, source.reviews)
            if isinstance(files, Refusal):
                return files
            reviewed_paper, sha256 = files, source.content_sha256
            parse_result = await self.paper(source.paper, ledger)
        if isinstance(parse_result, Refusal):
            return parse_result
        paper, failures = parse_result
        return reviewed_paper.with_text(paper, sha256, failures)

    async def paper(self, path: Path, ledger: Ledger) -> Parsed:
        """Return the text of a paper by sections."""
        name = path.name.lower()
        if name.endswith((".tex", ".tar.gz", ".zip")):
            async with self.slots:
                document = await read_latex(path, self.documents)
            if isinstance(document, SourceFailure):
                return Refusal(document.reason, document.detail)
            return document, ()
        content = await asyncio.to_thread(read_content, path, LARGEST_FILE_BYTES)
        if isinstance(content, Refusal):
            return content
        if name.endswith(PARSED_SUFFIX):
            return _peerread_paper(content, path.name)
        if name.endswith(TEXT_SUFFIXES):
            return _plain(content, path.name)
        return await self._pdf(content, path.name, ledger)

    async def _pdf(self, content: bytes, name: str, ledger: Ledger) -> Parsed:
        """Parse with GROBID if configured; if it fails, with the embedded parser."""
        if not is_pdf(content):
            return Refusal(Reason.NOT_A_PDF, f"{name} is not a PDF")
        failures: tuple[Failure, ...] = ()
        async with self.slots:
            if self.grobid_url is not None:
                document = await read_with_grobid(
                    content, name, self.grobid_url, self.documents, ledger
                )
                if isinstance(document, ParsedDocument):
                    return document, ()
                failures = (read_without_grobid(name, document),)
            document = await read_pdf(content, name, self.documents)
        if isinstance(document, SourceFailure):
            return Refusal(document.reason, document.detail)
        return document, failures


def _peerread_paper(content: bytes, name: str) -> Parsed:
    """Read PeerRead's parser output: `{"metadata": {"sections": [{"heading", "text"}]}}`."""
    document = json_object(content)
    metadata = document.get("metadata") if isinstance(document, Mapping) else None
    section_list = metadata.get("sections") if isinstance(metadata, Mapping) else None
    if not isinstance(metadata, Mapping) or not isinstance(section_list, list):
        return Refusal(
            Reason.DAMAGED,
            f"{name} contains no parsed paper in the format of PeerRead's parsed_pdfs",
        )
    rows = [
        (_text(each, "heading"), _text(each, "text"))
        for each in section_list
        if isinstance(each, Mapping)
    ]
    if not any(text for _, text in rows):
        return Refusal(Reason.NO_TEXT, f"{name} contains no text")
    return ParsedDocument(
        title=_text(metadata, "title") or None,
        abstract=_text(metadata, "abstractText") or None,
        # A heading without text still gives the role of the sections below it.
        sections=tuple(
            HeadedSection(level=(number_depth(heading) or 1) - 1, heading=heading, text=text)
            for heading, text in rows
        ),
        parser="peerread",
    ), ()


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return value.strip() if isinstance(value, str) and encodable(value) else ""


def _plain(content: bytes, name: str) -> Parsed:
    text = decode_text(content, name)
    if isinstance(text, Refusal):
        return text
    headed_texts = sections_of_markdown(text)
    if not any(body for _, body in headed_texts):
        return Refusal(Reason.NO_TEXT, f"{name} contains no text")
    title = next((line.strip("# ").strip() for line in text.splitlines() if line.strip("# ")), "")
    sections = tuple(
        HeadedSection(level=0, heading=heading, text=body) for heading, body in headed_texts if body
    )
    return ParsedDocument(title=title[:300], abstract=None, sections=sections, parser="text"), ()
