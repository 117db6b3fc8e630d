"""A user's BibTeX bibliography as papers by citation key."""

import logging
from collections.abc import Mapping
from pathlib import Path

from bibtexparser.entrypoint import parse_string
from bibtexparser.model import Entry
from pylatexenc.latex2text import LatexNodes2Text

from schemas.errors import ConfigurationError
from schemas.identifiers import PaperId, arxiv_id_of
from schemas.literature.paper import Paper
from schemas.literature.paper_state import state_of
from schemas.literature.publication import Publication, preprint_month, publication_of
from schemas.text.patterns import bounded

MOST_BYTES, MOST_ENTRIES = 5_000_000, 2_000
logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)  # what it skips is refused by line
_KEY = bounded(r"[A-Za-z0-9][A-Za-z0-9_:.-]{0,119}")
_YEAR = bounded(r"\d{4}")


def read_bib(path: Path) -> list[tuple[str, Paper]]:
    """Read the entries of a `.bib` file, in order.

    Raises:
        ConfigurationError: it cannot be read, holds no entry, or one with a broken or repeated key.
    """
    if not path.is_file():
        raise ConfigurationError(f"--bib {path}: there is no such file")
    if path.stat().st_size > MOST_BYTES:
        raise ConfigurationError(f"--bib {path} is larger than {MOST_BYTES:,} bytes")
    try:
        library = parse_string(path.read_text("utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"--bib {path} is not UTF-8") from error
    for block in library.failed_blocks:
        line = (block.start_line or 0) + 1
        raise ConfigurationError(f"--bib {path} line {line}: the entry cannot be read")
    if not library.entries:
        raise ConfigurationError(f"--bib {path} holds no entry")
    if len(library.entries) > MOST_ENTRIES:
        raise ConfigurationError(f"--bib {path} holds more than {MOST_ENTRIES:,} entries")
    for entry in library.entries:
        if not _KEY.fullmatch(entry.key):
            raise ConfigurationError(
                f"--bib {path}: the key {entry.key!r} holds more than letters, digits and _:.-"
            )
    try:
        return [(entry.key, _paper(entry)) for entry in library.entries]
    except RecursionError:
        raise ConfigurationError(f"--bib {path}: braces are nested too deeply") from None


def _paper(entry: Entry) -> Paper:
    fields = {name.lower(): field.value for name, field in entry.fields_dict.items()}
    publication = _publication(fields)
    names = " ".join(str(fields.get("author") or "").split()).split(" and ")
    return Paper(
        paper_id=PaperId(f"bib:{entry.key}"),
        title=_plain(fields.get("title")) or "Untitled",
        authors=tuple(name for name in map(_plain, names) if name and name != "others"),
        venue=_plain(fields.get("journal") or fields.get("booktitle")),
        year=publication.year,
        publication_date=publication.day,
        date_precision=publication.precision,
        state=state_of(_plain(fields.get("title")), None, _plain(fields.get("note"))),
        url=_plain(fields.get("url")),
        doi=_plain(fields.get("doi")) or None,
        arxiv_id=_arxiv_id(fields),
    )


def _arxiv_id(fields: Mapping[str, object]) -> str | None:
    """Return the arXiv number of `eprint` or of the address.

    Both BibTeX and BibLaTeX spellings are read.
    """
    archive = _plain(fields.get("archiveprefix")) or _plain(fields.get("eprinttype")) or "arXiv"
    number = _plain(fields.get("eprint")).rpartition(":")[2]
    arxiv_id = arxiv_id_of(f"{archive}:{number}")
    return arxiv_id or arxiv_id_of(_plain(fields.get("url")))


def _publication(fields: Mapping[str, object]) -> Publication:
    """Return an entry's date, by BibTeX's year and month or BibLaTeX's date."""
    date, month = _plain(fields.get("date")), _plain(fields.get("month"))
    year = _YEAR.search(_plain(fields.get("year")) or date)
    year_and_month = f"{year.group()}-{month}" if year and month else ""
    preprint = preprint_month(f"arxiv:{_arxiv_id(fields) or ''}", _plain(fields.get("doi")))
    return publication_of(date or year_and_month, year.group() if year else None, preprint=preprint)


def _plain(value: object) -> str:
    """Convert a field from LaTeX to plain text."""
    text = LatexNodes2Text(math_mode="verbatim").latex_to_text(str(value or ""))
    return " ".join(str(text).replace("{", "").replace("}", "").split())
