"""Manuscripts as ideas: their sections are read here, and a model takes the plan out of them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schemas.idea import IdeaBatch, RejectedIdea
from schemas.identifiers import IdeaId
from schemas.judgement.run_request import RunRequest
from schemas.settings import DocumentSettings, Settings
from schemas.text.patterns import bounded
from tasks.accounting.ledger import Ledger
from tasks.curation.curate import reject_parts
from tasks.curation.paper_parts import PaperParts, parts_of_paper
from tasks.curation.read import Reader
from tasks.documents.document import Refusal, read_content
from tasks.ideas.fields import Entry
from tasks.ideas.read import read_batch
from tasks.ideas.text_files import is_manuscript
from tasks.manuscripts.collect import papers_inside

_AUTHOR = bounded(
    r"\\author(?:\[[^\]\n]{0,200}\])?\s{0,9}\{((?:[^{}]{1,200}+|\{[^{}]{0,200}\}){0,100})\}"
)
_AND = bounded(r"\\(?:and|And|AND)\b|\band\b|[,;]")
_LINE = bounded(r"\\\\|\n\s{0,99}\n")
_COMMAND = bounded(r"\\[a-zA-Z]{1,30}(?:\{[^{}]{0,200}\})?|[{}~*]")
_MATHEMATICS = bounded(r"\$[^$]{0,99}\$")


@dataclass(frozen=True, slots=True)
class ManuscriptReader:
    """Reads manuscripts as entries of idea files, and keeps their parts by location."""

    documents: DocumentSettings
    papers: dict[str, PaperParts] = field(default_factory=dict)

    def inside(self, folder: Path) -> Sequence[Path]:
        """Return the manuscripts of a folder; figures and parts of LaTeX papers are not."""
        papers = papers_inside(folder, self.documents.maximum_bytes)
        return [path for path in papers if is_manuscript(path)]

    def read(self, path: Path, location: str) -> Entry | RejectedIdea:
        """Return the title, and the sections on background, method and experiments."""
        reader = Reader(self.documents, None, asyncio.Semaphore(1))
        parsed = asyncio.run(reader.paper(path, Ledger(IdeaId(location))))
        refusal = parsed if isinstance(parsed, Refusal) else None
        if not isinstance(parsed, Refusal):
            paper, _ = parsed
            parts = parts_of_paper(paper)
            refusal = reject_parts(parts)
        if refusal is not None:
            return RejectedIdea(
                idea_id=None,
                location=location,
                reason=refusal.reason,
                detail=f"{refusal.detail}: write its idea as text",
            )
        self.papers[location] = parts
        sections = (f"## {each.heading}\n\n{each.text}" for each in parts.planned)
        fields = {"file": location, "title": paper.title, "text": "\n\n".join(sections)}
        if path.suffix.lower() == ".tex" and (authors := _latex_authors(path, self.documents)):
            fields["authors"] = "; ".join(authors)
        return Entry(location, fields, is_text_file=True, is_manuscript=True)


def _latex_authors(path: Path, documents: DocumentSettings) -> list[str]:
    """Return the names in the author commands of a LaTeX file."""
    content = read_content(path, documents.maximum_bytes)
    text = "" if isinstance(content, Refusal) else content.decode("utf-8", "replace")
    names = (
        " ".join(_COMMAND.sub(" ", _LINE.split(author)[0]).split())
        for match in _AUTHOR.finditer(text)
        for author in _AND.split(_MATHEMATICS.sub(" ", match[1]))
    )
    return [name for name in names if any(map(str.isalpha, name))]


def read_given_ideas(
    request: RunRequest, settings: Settings
) -> tuple[IdeaBatch, dict[str, PaperParts]]:
    """Read the ideas of a request, and the parts of its manuscripts by location.

    Raises:
        IdeaFileError: as `read_batch`; without a model, every manuscript is rejected.
    """
    reader = ManuscriptReader(settings.documents)
    batch = read_batch(
        request.ideas.path,
        default_cutoff=request.cutoff_date,
        fields=request.ideas.fields,
        manuscripts=None if request.engine.is_baseline else reader,
    )
    return batch, reader.papers
