"""The records of a snapshot as tables that rules in SQL can read, in bounded memory."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import resources
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import duckdb
import pyarrow as pa
from duckdb.func import SPECIAL

from schemas.errors import SnapshotError
from schemas.literature.naming import surname
from schemas.text.patterns import bounded
from tasks.literature.snapshot.folder import STAGING_NAME
from tasks.literature.snapshot.parts import first_line
from tasks.literature.snapshot.records import PaperRecord
from tasks.literature.snapshot.release import bounded_connection, quoted
from tasks.literature.snapshot.store import PaperStore
from tasks.text.titles import plain_title
from tasks.text.vocabulary import STOP_WORDS

RowT = TypeVar("RowT")

_BATCH_ROWS = 5_000
_STEM_LETTERS = 6
_BYTES = {
    ord(sign): byte
    for byte in range(0x80, 0xA0)
    if (sign := bytes([byte]).decode("cp1252", "ignore"))
}
"""The byte that Windows-1252 reads as a sign, where it is not that of Latin-1."""
_SEQUENCE = bounded(r"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
"""Of UTF-8, a sign for each byte."""
_PAPERS = pa.schema(
    [
        ("number", pa.int64()),
        ("paper_id", pa.string()),
        ("title", pa.string()),
        ("plain_title", pa.string()),
        ("abstract", pa.string()),
        ("plain_abstract", pa.string()),
        ("authors", pa.list_(pa.string())),
        ("surnames", pa.list_(pa.string())),
        ("venue", pa.string()),
        ("year", pa.int32()),
        ("published", pa.string()),
        ("url", pa.string()),
        ("doi", pa.string()),
        ("citation_count", pa.int64()),
        ("title_stems", pa.list_(pa.string())),
        ("abstract_stems", pa.list_(pa.string())),
    ]
)
_ENTRIES = pa.schema([("citing", pa.int64()), ("position", pa.int64()), ("cited", pa.int64())])


class Stage:
    """The tables of one audit. Use `staged`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, workplace: Path) -> None:
        self.connection = connection
        self._workplace = workplace

    def put_others(self, source: str, records: Iterable[tuple[int, PaperRecord]]) -> None:
        """Records of another source, by the number of the paper here."""
        self._put_papers("insert into others select ?, * from rows", records, [source])

    def find(self, folder: str) -> None:
        """Let the rules of a folder of `sql` speak."""
        for name in rule_names(folder):
            rule = sql(f"{folder}/{name}")
            defect = rule.partition("\n")[0].rpartition(" ")[2]
            # The name is that of a file of this package, the rest its content.
            self.connection.execute(
                "insert into found select $rule, $defect, number, field, action, old,"  # noqa: S608
                f" new, evidence, confidence from ({rule})",
                {"rule": name, "defect": defect},
            )

    def collected(self) -> Path:
        """The findings, as a Parquet file of proposals that is there while the stage is."""
        path = self._workplace / "found.parquet"
        self.connection.execute(f"copy ({sql('collect')}) to {quoted(path)} (format parquet)")
        return path

    def doubtful(self, most: int) -> list[int]:
        """The papers about which the rules were least sure, by number."""
        rows = self.connection.execute(sql("doubtful"), {"most": most}).fetchall()
        return [number for (number,) in rows]

    def put_store(self, store: PaperStore) -> None:
        """The papers of a store and the entries of their reference lists."""
        self._put_papers("insert into papers select * from rows", store.records_from(0), [])
        for batch in _in_batches(store.entries_of_lists(), 10 * _BATCH_ROWS):
            columns = [pa.array(each, pa.int64()) for each in zip(*batch, strict=True)]
            self._insert("insert into entries from rows", pa.table(columns, schema=_ENTRIES), [])

    def _put_papers(
        self, statement: str, records: Iterable[tuple[int, PaperRecord]], values: list[str]
    ) -> None:
        for batch in _in_batches(records, _BATCH_ROWS):
            rows = pa.Table.from_pylist([_row(*each) for each in batch], schema=_PAPERS)
            self._insert(statement, rows, values)

    def _insert(self, statement: str, rows: pa.Table, values: list[str]) -> None:
        self.connection.register("rows", rows)
        self.connection.execute(statement, values)
        self.connection.unregister("rows")


@contextmanager
def staged(folder: Path, store: PaperStore) -> Iterator[Stage]:
    """The papers of a store as tables, on disk below `folder` while they are needed.

    Raises:
        SnapshotError: the store is damaged, or the disk is full.
    """
    (folder / STAGING_NAME).mkdir(exist_ok=True)
    with TemporaryDirectory(dir=folder / STAGING_NAME) as workplace:
        connection = bounded_connection(Path(workplace))
        try:
            connection.execute(f"attach {quoted(Path(workplace) / 'stage.duckdb')} as stage")
            connection.execute("use stage")
            connection.execute(sql("create"))
            connection.create_function(
                "mended", mended, ["varchar"], "varchar", null_handling=SPECIAL
            )
            stage = Stage(connection, Path(workplace))
            stage.put_store(store)
            yield stage
        except duckdb.Error as error:
            raise SnapshotError(f"{folder} cannot be audited: {first_line(error)}") from error
        finally:
            connection.close()


def sql(name: str) -> str:
    path = resources.files(__package__).joinpath("sql", f"{name}.sql")
    return path.read_text("utf-8").strip()


def rule_names(folder: str) -> list[str]:
    files = resources.files(__package__).joinpath("sql", folder).iterdir()
    return sorted(each.name.removesuffix(".sql") for each in files if each.name.endswith(".sql"))


def _in_batches(rows: Iterable[RowT], size: int) -> Iterator[list[RowT]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, size)):
        yield batch


def _row(number: int, record: PaperRecord) -> dict[str, object]:
    title, abstract = plain_title(record.title), plain_title(record.abstract or "")
    return {
        "number": number,
        "paper_id": record.paper_id,
        "title": record.title,
        "plain_title": title,
        "abstract": record.abstract,
        "plain_abstract": abstract or None,
        "authors": list(record.authors),
        "surnames": [each for each in (plain_title(surname(a)) for a in record.authors) if each],
        "venue": record.venue or None,
        "year": record.year,
        "published": record.publication_date,
        "url": record.url or None,
        "doi": record.doi,
        "citation_count": record.citation_count,
        "title_stems": _stems(title),
        "abstract_stems": _stems(abstract),
    }


def _stems(plain: str) -> list[str]:
    """The different words of a plain text, without common ones and endings."""
    words = (word for word in plain.split() if len(word) > 2 and word not in STOP_WORDS)
    return list(dict.fromkeys(word[:_STEM_LETTERS] for word in words))


def mended(text: str | None) -> str | None:
    """A text whose UTF-8 was read as Windows-1252 on its way (`MÃ¼ller`, `itâ€™s`), as it was written;
    None where nothing in it looks garbled. Linear in the text.
    """
    if text is None or text.isascii():
        return None
    best = _decode_once(_decode_once(text))  # some texts took the wrong way twice
    return best if best != text else None


def _decode_once(text: str) -> str:
    parts: list[str] = []
    position = 0
    for match in _SEQUENCE.finditer(text.translate(_BYTES)):
        try:
            decoded = match[0].encode("latin-1").decode()
        except UnicodeDecodeError:
            continue
        parts += text[position : match.start()], decoded
        position = match.end()
    return "".join(parts) + text[position:]
