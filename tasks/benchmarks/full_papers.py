"""Ideas made from full papers, as InnoEval's published ideas are, by the parsers of `documents`."""

import asyncio
import hashlib
from collections.abc import Iterable
from pathlib import Path

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.failure import SourceFailure
from schemas.idea import Idea
from schemas.identifiers import content_hash
from schemas.settings import DocumentSettings
from tasks.documents.document import DOCUMENTS_AT_ONCE, ParsedDocument
from tasks.documents.headings import is_closing, kind_of
from tasks.documents.latex import read_latex
from tasks.documents.pdf import read_pdf
from tasks.judging.packing import side_by_side
from tasks.text.words import shorten_words

FOLDER = "papers"
SUFFIXES = (".pdf", ".tex", ".tar.gz", ".zip")
MOST_WORDS = 4_000
"""Of a paper as an idea: introduction, method and most of the experiments."""
CHARACTERS_PER_WORD = 7
_NAMED = 3


def paper_paths(ideas: Iterable[Idea], folder: Path) -> dict[str, Path]:
    """The file of every idea's paper, `papers/<id>` with one of `SUFFIXES`, by the idea's id.

    Raises:
        ConfigurationError: a paper is not there; the line says how many are lacking.
    """
    found: dict[str, Path] = {}
    lacking = []
    for idea in ideas:
        candidates = [folder / FOLDER / f"{idea.idea_id}{suffix}" for suffix in SUFFIXES]
        path = next((one for one in candidates if one.is_file()), None)
        if path is None:
            lacking.append(str(idea.idea_id))
        else:
            found[str(idea.idea_id)] = path
    if lacking:
        raise ConfigurationError(
            f"--text full: {len(lacking)} papers are not in {folder / FOLDER} (such as"
            f" {', '.join(lacking[:_NAMED])}): put each there as <id>.pdf, .tex, .tar.gz or .zip"
        )
    return found


def papers_sha256(folder: Path) -> str:
    """What the papers beside a data set are; they are read one at a time."""
    papers = sorted(path for path in (folder / FOLDER).glob("*") if path.is_file())
    return content_hash(
        *(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in papers)
    )


def as_long_as_a_paper(idea: Idea) -> Idea:
    """The idea with a text as long as that of a full paper at most, to plan by."""
    return replace(idea, text=idea.text.ljust(MOST_WORDS * CHARACTERS_PER_WORD, "."))


async def ideas_of_papers(
    ideas: Iterable[Idea], folder: Path, settings: DocumentSettings
) -> dict[str, Idea]:
    """Every idea with its paper's text in place of the abstract, by id.

    Acknowledgements and the like are left out; a paper is cut after `MOST_WORDS` words. Parsed in
    child processes within the limits of the settings.

    Raises:
        ConfigurationError: a paper is not there or cannot be read. A set of which some ideas are
            papers and some abstracts would compare what cannot be compared.
    """
    listed = {str(idea.idea_id): idea for idea in ideas}
    paths = paper_paths(listed.values(), folder)
    gate = asyncio.Semaphore(DOCUMENTS_AT_ONCE)

    async def read(name: str) -> ParsedDocument | SourceFailure:
        async with gate:
            path = paths[name]
            if path.suffix != ".pdf":
                return await read_latex(path.resolve(), settings)
            content = await asyncio.to_thread(path.read_bytes)
            return await read_pdf(content, path.name, settings)

    read_in_order = await side_by_side(read(name) for name in listed)
    documents = dict(zip(listed, read_in_order, strict=True))
    unread = {name: one for name, one in documents.items() if isinstance(one, SourceFailure)}
    if unread:
        told = "; ".join(
            f"{paths[name].name}: {one.detail}" for name, one in list(unread.items())[:_NAMED]
        )
        raise ConfigurationError(f"--text full: {len(unread)} papers cannot be read: {told}")
    return {
        name: replace(listed[name], text=text_of_paper(listed[name], document))
        for name, document in documents.items()
        if isinstance(document, ParsedDocument)
    }


def text_of_paper(idea: Idea, document: ParsedDocument) -> str:
    """The idea's title and abstract, then the paper's sections under their headings."""
    parts = [idea.text.strip()]
    for section in document.sections:
        closing = is_closing(section.heading) and kind_of(section.heading) is None
        if section.text.strip() and not closing:
            level = "#" * (2 + min(section.level, 3))
            parts.append(f"{level} {section.heading}\n\n{section.text.strip()}")
    return shorten_words("\n\n".join(parts), MOST_WORDS)[0]
