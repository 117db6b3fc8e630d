"""The records of a snapshot as DuckDB tables for the SQL rules of an audit."""

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
"""Windows-1252 characters that differ from Latin-1, with their bytes."""
_SEQUENCE = bounded(r"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
"""A UTF-8 sequence, each of its bytes read as one character."""
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
    """The tables of one audit. Use `open_stage`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, workplace: Path) -> None:
        self.connection = connection
        self._workplace = workplace

    def put_others(self, source: str, records: Iterable[tuple[int, PaperRecord]]) -> None:
        """Insert records of another source, with the numbers of the papers in the store."""
        self._put_papers("insert into others select ?, * from rows", records, [source])

    def find(self, folder: str) -> None:
        """Run the rules of a folder of `sql` and store their findings."""
        for name in rule_names(folder):
            rule = sql(f"{folder}/{name}")
            defect = rule.partition("\n")[0].rpartition(" ")[2]
            # The name is that of a file of this package, the rest its content.
            self.connection.execute(
                "insert into found select $rule, $defect, number, field, action, old,"  # noqa: S608
                f" new, evidence, confidence from ({rule})",
                {"rule": name, "defect": defect},
            )

    def export_findings(self) -> Path:
        """Write the findings as a Parquet file of proposals.

        It is deleted with the stage.
        """
        path = self._workplace / "found.parquet"
        self.connection.execute(f"copy ({sql('collect')}) to {quoted(path)} (format parquet)")
        return path

    def doubtful(self, most: int) -> list[int]:
        """Return the numbers of the papers with the least certain findings."""
        rows = self.connection.execute(sql("doubtful"), {"most": most}).fetchall()
        return [number for (number,) in rows]

    def put_store(self, store: PaperStore) -> None:
        """Insert the papers of a store and the entries of their reference lists."""
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
def open_stage(folder: Path, store: PaperStore) -> Iterator[Stage]:
    """Yield the papers of a store as tables, in a temporary folder below `folder`.

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
                "mended", repair_encoding, ["varchar"], "varchar", null_handling=SPECIAL
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
    words = (word for word in plain.split() if len(word) > 2 and word not in STOP_WORDS)
    return list(dict.fromkeys(word[:_STEM_LETTERS] for word in words))


def repair_encoding(text: str | None) -> str | None:
    """Repair UTF-8 text that was decoded as Windows-1252 (`MÃ¼ller`, `itâ€™s`).

    Returns None if no character looks garbled. Takes time linear in the text.
    """
    if text is None or text.isascii():
        return None
    repaired_text = _decode_once(_decode_once(text))  # some texts were garbled twice
    return repaired_text if repaired_text != text else None


def _decode_once(text: str) -> str:
    parts: list[str] = []
    position = 0
    for match in _SEQUENCE.finditer(text.translate(_BYTES)):
        try:
            decoded_text = match[0].encode("latin-1").decode()
        except UnicodeDecodeError:
            continue
        parts += text[position : match.start()], decoded_text
        position = match.end()
    return "".join(parts) + text[position:]
