"""Comments on the pages of a PDF, each at the sentence it quotes, written in a child process with
limits: the file may be hostile.
"""

import json
from collections.abc import Sequence

from pydantic import Field, ValidationError

from schemas.base import Noun
from schemas.failure import SourceFailure
from schemas.reasons import Reason
from schemas.settings import DocumentSettings
from tasks.documents.child import run_child
from tasks.documents.layout import PARSER
from tasks.documents.pdf import refusal
from tasks.web.calls import failure


class PdfComment(Noun):
    """One comment, and where it belongs."""

    text: str = Field(min_length=1, description="Shown where its quote was found.")
    elsewhere: str = Field(min_length=1, description="Shown at a page's top where it was not.")
    quote: str = Field(default="", description="Marked on the page; empty: there is nothing.")
    page: int = Field(default=1, ge=1, description="Whose top it goes to without its quote.")


class CommentedPdf(Noun):
    """The PDF with its comments.

    Attributes:
        at_quote: of each comment, whether its quote was found and marked.
    """

    content: bytes = Field(repr=False)
    at_quote: tuple[bool, ...]


async def with_comments(
    content: bytes, name: str, comments: Sequence[PdfComment], settings: DocumentSettings
) -> CommentedPdf | SourceFailure:
    """The PDF with `comments` added to those it has, or why it cannot have them; within the limits
    of `read_pdf`.

    A quote is looked for by its letters and digits alone, so that line ends, hyphens and ligatures
    make no difference; one that two pages share is marked on the page where it begins.
    """
    cpu_seconds = max(int(settings.parse_seconds), 1)
    limits = (cpu_seconds, settings.parse_memory_bytes, settings.maximum_pages)
    asked = json.dumps([comment.model_dump() for comment in comments]).encode()
    ended = await run_child(
        ("-B", "-m", "tasks.documents.pdf_comments_child", *map(str, limits)),
        asked + b"\n" + content,
        cpu_seconds,
    )
    if ended.code != 0:
        return failure(PARSER, name, *refusal(ended, settings))
    placed, _, commented = ended.output.partition(b"\n")
    try:
        return CommentedPdf(content=commented, at_quote=tuple(json.loads(placed)))
    except (ValueError, TypeError, ValidationError):
        return failure(PARSER, name, Reason.DAMAGED, "the PDF could not be written with comments")
