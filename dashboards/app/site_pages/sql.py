"""Page “SQL”: a read-only query console with dictionary and downloads."""

import io
from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise, takewhile
from typing import Any

import orjson
import polars
from starlette.responses import Response

from dashboards.app.data import Answer
from dashboards.app.fields import option_in_address
from dashboards.app.site import PageContent, Visit, attachment, controls, with_query
from dashboards.app.site_pages.operate import operate_page
from dashboards.render import figures
from dashboards.render import page as pg
from dashboards.render.wording import shorten, whole_sentences
from dashboards.spreadsheet_cells import frame_as_csv
from schemas.errors import ConfigurationError, SqlError
from schemas.literature.naming import INVISIBLE, unturned
from schemas.tables import TABLE
from warehouse.queries import Queries
from warehouse.statements import MARTS, meaning, names, statement

PATH = "/operate/sql"
MOST_ROWS, TIMEOUT_SECONDS = 100_000, 60.0
ROWS_SHOWN, CELL_CHARACTERS, NAMES_OFFERED = 500, 300, 3
FIRST = "select * from runs order by started_at desc"
_MEDIA_TYPES = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}


def show(visit: Visit) -> PageContent:
    """Run the query in the URL and show its rows.

    This is safe without confirmation: queries are read-only, sandboxed and time-limited.
    """
    if not visit.lake.exists:
        return operate_page(visit, "SQL", (pg.text("Nothing has been published here yet."),))
    query = visit.query.get("sql", FIRST).strip() or FIRST
    table = option_in_address(visit, "table", [*TABLE, *MARTS], "")
    question = controls("sql", query=unturned(query), table=table, path=PATH,
                        examples=_examples(), bounds=f"At most {MOST_ROWS:,} rows and"
                        f" {TIMEOUT_SECONDS:.0f} seconds.")  # fmt: skip
    blocks = (*_answer_blocks(visit, query), *_dictionary(visit, table))
    return operate_page(visit, "SQL", blocks, form_below=question)


def _answer_blocks(visit: Visit, query: str) -> Iterator[pg.Block]:
    try:
        answer = _run(visit, query)
    except SqlError as error:
        yield from _error_blocks(query, error)
        return
    except ConfigurationError as error:
        yield pg.note(str(error))
        return
    frame, rows = answer.frame, len(answer.frame)
    files = [pg.report(name, with_query(f"{PATH}/file", sql=query, format=kind))
             for kind, name in (("csv", "CSV"), ("parquet", "Parquet"))]  # fmt: skip
    yield pg.facts(
        f"{figures.plural(rows, 'row')}, {figures.plural(len(frame.columns), 'column')}",
        figures.duration(answer.seconds),
        *(pg.line("Download ", each) for each in files),
    )
    if rows > ROWS_SHOWN:
        yield pg.text(f"The first {ROWS_SHOWN:,} rows; a file has all.")
    columns = [
        pg.Column(pg.line(name), pg.Align.NUMBER if kind.is_numeric() else pg.Align.TEXT)
        for name, kind in frame.schema.items()
    ]
    yield pg.table(columns, ([*map(_cell, row)] for row in frame.head(ROWS_SHOWN).iter_rows()))


def _run(visit: Visit, query: str) -> Answer:
    return visit.lake.sql(query, timeout_seconds=TIMEOUT_SECONDS, maximum_rows=MOST_ROWS)


def _cell(value: Any) -> str:
    """Format a value as stored: years get no thousands separator."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return shorten(_plain(value), CELL_CHARACTERS)


def _plain(value: Any) -> str:
    if isinstance(value, polars.Series):
        value = value.to_list()
    return (
        orjson.dumps(value, default=str).decode() if isinstance(value, list | dict) else str(value)
    )


def _error_blocks(query: str, error: SqlError) -> Iterator[pg.Block]:
    """Yield the error, the marked line, and links to corrected queries."""
    yield pg.note(str(error))
    if error.place is None:
        return
    before = query[: error.place]
    start = before.rfind("\n") + 1
    line = query[start:].split("\n", 1)[0]
    column = error.place - start
    word = "".join(takewhile(lambda sign: sign.isalnum() or sign == "_", line[column:]))
    marks = "^" * max(1, len(error.word or word))
    yield pg.Code(f"{INVISIBLE.sub(' ', line)}\n{' ' * column}{marks}")
    yield pg.text(f"Line {before.count(chr(10)) + 1}, column {column + 1}.")
    at = query.lower().find(error.word.lower(), error.place) if error.word else -1
    if at < 0:
        return
    corrections = (
        pg.report(f"Write {name} instead",
                  with_query(PATH, sql=query[:at] + name + query[at + len(error.word) :]))
        for name in error.offered[:NAMES_OFFERED]
    )  # fmt: skip
    yield from pg.bullets(corrections)


def _examples() -> list[tuple[str, str]]:
    """Return description and URL of each example; its comment is the description."""
    examples = []
    for sql in (statement("examples", name) for name in names("examples")):
        query = "\n".join(line for line in sql.splitlines() if not line.startswith("--"))
        examples.append((meaning(sql), with_query(PATH, sql=query)))
    return examples


def _dictionary(visit: Visit, table: str) -> Iterator[pg.Block]:
    query = visit.query.get("sql", "")
    if table:
        yield pg.heading("Columns of ", pg.code(table))
        yield pg.text(_meaning(table))
        if table in TABLE:
            rows = [(pg.code(each.name), each.sql_type, each.unit, each.meaning)
                    for each in TABLE[table].columns]  # fmt: skip
            yield pg.table(("Column", "Type", "Unit", "Meaning"), rows)
        else:
            kinds = visit.lake.ask(columns_of_mart, table)
            yield pg.table(("Column", "Type"), ((pg.code(name), kind) for name, kind in kinds))
    yield pg.heading("Tables and marts")
    entries = (
        (
            pg.report(name, with_query(PATH, sql=query, table=name)),
            whole_sentences(_meaning(name), 30),
        )
        for name in (*sorted(TABLE), *MARTS)
    )
    yield pg.table(("Name", "Meaning"), entries)


def _meaning(table: str) -> str:
    return TABLE[table].meaning if table in TABLE else meaning(statement("marts", table))


def columns_of_mart(queries: Queries, mart: str) -> list[tuple[str, str]]:
    """Return the names and types of a mart's columns."""
    return [row[:2] for row in queries.connection.execute(f"describe {mart}").fetchall()]


def send_file(visit: Visit) -> Response:
    """Send the rows of the query in the URL as a file.

    Raises:
        ConfigurationError: the format is unknown, or the query fails.
    """
    query, kind = visit.query.get("sql", FIRST), visit.query.get("format", "")
    if kind not in _MEDIA_TYPES:
        raise ConfigurationError(f"format: choose one of {', '.join(_MEDIA_TYPES)}")
    frame = _run(visit, query).frame
    if kind == "csv":
        nested_columns = [name for name, each in frame.schema.items() if each.is_nested()]
        flat = frame.with_columns(
            polars.col(name).map_elements(_plain, return_dtype=polars.String)
            for name in nested_columns
        )
        content = frame_as_csv(flat).encode()
    else:
        target = io.BytesIO()
        frame.write_parquet(target)
        content = target.getvalue()
    return attachment(content, _subject(query), kind, _MEDIA_TYPES[kind])


def _subject(query: str) -> str:
    """Return the first table or mart that a query reads, to name its file."""
    words = "".join(each if each.isalnum() or each == "_" else " " for each in query).split()
    tables = (word for before, word in pairwise(words) if before.lower() == "from")
    return next((word for word in tables if word in TABLE or word in MARTS), "answer")
