"""The manuscripts that errors are put into: listed by a folder of data, and read as `assay check`
reads them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.settings import DocumentSettings
from schemas.works.check_run import ManuscriptSource
from tasks.accounting.ledger import Ledger
from tasks.benchmarks.records import json_lines, text_of
from tasks.manuscripts.collect import TEX_SUFFIXES, TEXT_SUFFIXES
from tasks.manuscripts.read import Unreadable, read_manuscript

MANIFEST_FILE = "manuscripts/manifest.jsonl"
PDF_FILES = "pdf/*.pdf"
OTHER_FILES = (
    "manuscripts/*/src/*.tex",
    "manuscripts/*/src/*.md",
    "manuscripts/*/*.pdf",
    PDF_FILES,
)


@dataclass(frozen=True, slots=True)
class ManuscriptText:
    """A manuscript as a checker gets it; `form` is `latex`, `text` or `pdf`."""

    name: str
    title: str
    form: str
    text: str


def manuscript_places(data: Path) -> dict[str, Path]:
    """Where each manuscript lies, by its name, in order: those of the manifest, then the PDFs.

    Of LaTeX it is the folder of the main file, which includes others.

    Raises:
        ConfigurationError: an entry lacks a field or names no file that can be read.
    """
    path = data / MANIFEST_FILE
    found = {}
    for row in json_lines(path):
        name, folder = text_of(row, "id", path), path.parent
        main = folder / name / text_of(row, "main", path)
        if main.suffix.lower() in TEX_SUFFIXES:
            found[name] = main.parent
        elif main.suffix.lower() in TEXT_SUFFIXES:
            found[name] = main
        else:
            found[name] = folder / name / text_of(row, "pdf", path)
        if not found[name].exists():
            raise ConfigurationError(f"{path}: {name} lies at {found[name]}, which is not there")
    if not found:
        raise ConfigurationError(f"{path} holds nothing: name a manuscript on each line")
    return found | {one.stem: one for one in sorted(data.glob(PDF_FILES))}


async def manuscript_texts(
    places: Mapping[str, Path], settings: DocumentSettings
) -> tuple[ManuscriptText, ...]:
    """Each manuscript as text, in order.

    Raises:
        ConfigurationError: one cannot be read.
    """
    texts = []
    for name, path in places.items():
        source = ManuscriptSource(manuscript_id=name, path=path, content_sha256="")
        ledger = Ledger(IdeaId(name))
        read = await read_manuscript(source, "auto", settings, None, ledger, lambda: False)
        if isinstance(read, Unreadable):
            raise ConfigurationError(f"{path} cannot be read: {read.detail}")
        texts.append(ManuscriptText(name, read.title, read.shown_form, read.text))
    return tuple(texts)
