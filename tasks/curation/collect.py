"""Papers to curate, each with its review files."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from schemas.base import encodable
from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash
from schemas.text.plain_files import PlainFileError, read_file
from schemas.works.curation import ReviewedAt
from schemas.works.curation_run import PaperSource
from tasks.curation.review_files import LARGEST_FILE_BYTES, TEXT_SUFFIXES

OPENREVIEW = "openreview:"
PAPER_SUFFIXES = (".pdf", *TEXT_SUFFIXES, ".tex", ".tar.gz", ".zip")
PARSED_SUFFIX = ".pdf.json"
_MOST_PAPERS = 50_000
_JOINTS = str.maketrans("", "", "-_")
_PEERREAD_PAPERS = ("parsed_pdfs", "pdfs")


def collect_papers(papers: str, reviews: Path | None) -> tuple[PaperSource, ...]:
    """Return every paper with its review files, by name; papers without reviews are included.

    Args:
        papers: a folder of papers, a folder in PeerRead's layout, or `openreview:` and forum ids
            separated by commas.
        reviews: folder with `NAME.json`, `NAME/` with one text per review, or `NAME.1.txt`,
            `NAME.2.txt`, …; None if `papers` includes them.

    Raises:
        ConfigurationError: a folder is missing or contains no paper.
    """
    if papers.startswith(OPENREVIEW):
        if reviews is not None:
            raise ConfigurationError(f"{papers} brings its reviews: leave out {reviews}")
        return _forums(papers.removeprefix(OPENREVIEW))
    folder = _folder(Path(papers), "papers")
    if reviews is None:
        return _peerread_sources(folder)
    entries = list(_papers(folder))
    if not entries:
        raise ConfigurationError(
            f"the folder {folder} holds no paper: Assay reads {', '.join(PAPER_SUFFIXES)}"
        )
    review_folder = _Reviews(_folder(reviews, "reviews"))
    return _sources(entries, review_folder, ReviewedAt.FILES)


def _forums(names: str) -> tuple[PaperSource, ...]:
    forums = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if not forums:
        raise ConfigurationError(f"{OPENREVIEW} names no forum: write it as openreview:ID,ID")
    invalid = next(
        (
            name
            for name in forums
            if len(name) > 60 or not name.isascii() or not name.translate(_JOINTS).isalnum()
        ),
        None,
    )
    if invalid is not None:
        raise ConfigurationError(
            f"{OPENREVIEW}{invalid!r} is no forum: copy the text after `forum?id=` in its address"
        )
    return tuple(
        PaperSource(
            paper_id=forum,
            reviewed_at=ReviewedAt.OPENREVIEW,
            content_sha256=content_hash("openreview", forum),
        )
        for forum in forums
    )


def _folder(path: Path, word: str) -> Path:
    if not path.is_dir():
        raise ConfigurationError(f"{path} is no folder of {word}")
    return path.resolve()


def _peerread_sources(folder: Path) -> tuple[PaperSource, ...]:
    reviews = folder / "reviews"
    places = [place for name in _PEERREAD_PAPERS if (place := folder / name).is_dir()]
    if not reviews.is_dir() or not places:
        raise ConfigurationError(
            f"{folder} does not have PeerRead's layout (reviews/ and parsed_pdfs/ or pdfs/):"
            " name the folder of reviews too"
        )
    paths: dict[str, Path] = {}
    for place in places:
        for name, path in _papers(place):
            paths.setdefault(name, path)
    if not paths:
        raise ConfigurationError(f"{places[0]} holds no paper")
    return _sources(sorted(paths.items()), _Reviews(reviews), ReviewedAt.PEERREAD)


def _plain(folder: Path) -> Path:
    if folder.is_symlink():
        raise ConfigurationError(f"{folder} is a link: put the folder itself there")
    return folder


def _papers(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(_plain(folder).iterdir()):
        if path.name.startswith(".") or not path.is_file():
            continue
        name = path.name.lower()
        suffix = next(
            (each for each in (PARSED_SUFFIX, *PAPER_SUFFIXES) if name.endswith(each)), None
        )
        if suffix is not None and len(path.name) > len(suffix):
            if not encodable(path.name):
                printable = path.name.encode("utf-8", "replace").decode()
                raise ConfigurationError(f"the name of {folder}/{printable} is no UTF-8: rename it")
            yield path.name[: -len(suffix)], path


class _Reviews:
    """Index of a folder of reviews."""

    def __init__(self, folder: Path) -> None:
        self._texts: dict[str, list[Path]] = {}
        self._whole: dict[str, Path] = {}
        for path in sorted(_plain(folder).iterdir()):
            if path.is_dir() and not path.is_symlink():
                texts = (each for each in sorted(path.iterdir()) if _is_text(each))
                self._texts.setdefault(path.name, []).extend(texts)
            elif path.suffix.lower() == ".json":
                self._whole[path.stem] = path
            elif path.is_symlink() and path.is_dir():
                self._texts.setdefault(path.name, []).append(path)  # reading it fails with a reason
            elif _is_text(path):
                name, _, number = path.stem.rpartition(".")
                paper_name = name if name and number.isdecimal() else path.stem
                self._texts.setdefault(paper_name, []).append(path)

    def of(self, name: str) -> tuple[Path, ...]:
        """Return one JSON file, or texts in the order of the numbers in their names."""
        if name in self._whole:
            return (self._whole[name],)
        return tuple(sorted(self._texts.get(name, ()), key=_in_order))


def _in_order(path: Path) -> tuple[int, str]:
    digits = "".join(each for each in path.stem.rpartition(".")[2][-9:] if each.isdecimal())
    return (int(digits) if digits else 0, path.name)


def _is_text(path: Path) -> bool:
    return path.suffix.lower() in TEXT_SUFFIXES and not path.name.startswith(".")


def _sources(
    papers: Sequence[tuple[str, Path]], reviews: _Reviews, reviewed_at: ReviewedAt
) -> tuple[PaperSource, ...]:
    if len(papers) > _MOST_PAPERS:
        raise ConfigurationError(
            f"{len(papers):,} papers exceed the {_MOST_PAPERS:,} allowed in one set: name a part of"
            " them"
        )
    counts = Counter(name for name, _ in papers)
    duplicate = next((name for name, count in counts.items() if count > 1), None)
    if duplicate is not None:
        raise ConfigurationError(f"two papers are called {duplicate}: rename one of them")
    return tuple(
        PaperSource(
            paper_id=name,
            reviewed_at=reviewed_at,
            paper=path,
            reviews=reviews.of(name),
            content_sha256=_hash((path, *reviews.of(name))),
        )
        for name, path in papers
    )


def _hash(paths: Sequence[Path]) -> str:
    """Hash the files; a file that will not be read (too large, a link) is hashed by name."""
    parts = []
    for path in paths:
        try:
            parts.append(hashlib.sha256(read_file(path, LARGEST_FILE_BYTES)).hexdigest())
        except PlainFileError:
            parts.append(f"unread {path.name}")
        except OSError as error:
            raise ConfigurationError(f"{path} cannot be read: {error.strerror}") from error
    return content_hash(*parts)
