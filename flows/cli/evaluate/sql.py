"""`assay sql`: read-only SQL queries to the lake."""

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from dashboards.spreadsheet_cells import csv_line
from flows.cli.answer import write_content
from flows.cli.options import Json, Output
from flows.cli.terminal import print_note, safe_json
from schemas.errors import ConfigurationError
from schemas.options.commands import LakeOptions
from warehouse.warehouse import Warehouse

STDIN = "-"


class AnswerFormat(StrEnum):
    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    PARQUET = "parquet"
    ARROW = "arrow"


_BINARY = (AnswerFormat.PARQUET, AnswerFormat.ARROW)


def sql(
    lake: LakeOptions,
    query: Annotated[
        str | None,
        typer.Argument(
            metavar='"select ..."',
            help="One SELECT, or - for standard input; tables: `assay warehouse docs`.",
        ),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="Read the SELECT from here.")
    ] = None,
    output_format: Annotated[
        AnswerFormat | None,
        typer.Option(
            "--format",
            metavar="|".join(AnswerFormat),
            help="Default: as --output ends, else a table.",
        ),
    ] = None,
    output: Output = None,
    beside: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="NAME=FILE",
            help="A file of yours as a table: CSV, TSV, JSON, JSONL, Parquet; repeatable.",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Ask the lake a question in SQL. Read-only: no files but those of --with, no network."""
    warehouse = Warehouse(lake.warehouse.resolve())
    answer_format = AnswerFormat.JSON if json else output_format or _format_of(output)
    statement, files = _statement(query, file), _files(beside or ())
    if answer_format in _BINARY:
        content = _binary(warehouse, statement, answer_format, files)
        write_content(content, output, answer_format, is_text=False)
        return 0
    from warehouse.console.console import run_sql_with_names

    columns, rows = run_sql_with_names(warehouse, statement, files=files)
    if answer_format is AnswerFormat.TABLE and output is None:
        from flows.cli.output import print_table  # late: scripts ask for other formats

        print_table(columns, [[_short(value) for value in row.values()] for row in rows])
        if not rows:
            print_note("no rows")
        return 0
    if answer_format is AnswerFormat.TABLE:
        raise ConfigurationError(f"a table is for reading: choose --format for {output}")
    text = _text(columns, rows, answer_format)
    write_content(text.encode(), output, answer_format, is_text=True)
    return 0


def _statement(query: str | None, file: Path | None) -> str:
    if (query is None) == (file is None):
        raise ConfigurationError("say one SELECT: as the argument, as - for stdin, or with --file")
    if file is not None:
        try:
            return file.read_text("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ConfigurationError(f"--file {file} is not UTF-8: save it as UTF-8") from error
    return sys.stdin.read() if query == STDIN else str(query)


def _format_of(output: Path | None) -> AnswerFormat:
    if output is None:
        return AnswerFormat.TABLE
    ending = output.suffix.lower().lstrip(".")
    if ending not in set(AnswerFormat) - {AnswerFormat.TABLE}:
        raise ConfigurationError(
            f"--output {output}: its ending says no format; end it in .csv, .json, .jsonl,"
            " .parquet or .arrow, or add --format"
        )
    return AnswerFormat(ending)


def _files(arguments: Sequence[str]) -> Mapping[str, Path]:
    pairs = [each.partition("=") for each in arguments]
    for name, equals, path in pairs:
        if not (name and equals and path):
            raise ConfigurationError(f"--with {name!r}: write it as NAME=FILE")
        if not Path(path).is_file():
            raise ConfigurationError(f"--with {name}={path}: there is no such file")
    return {name: Path(path) for name, _, path in pairs}


def _short(value: object) -> object:
    """Round a number for readers: 4.86, not 4.859999999999999."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _text(
    columns: Sequence[str], rows: Sequence[Mapping[str, Any]], answer_format: AnswerFormat
) -> str:
    if answer_format is AnswerFormat.CSV:
        cells = [[_cell(value) for value in row.values()] for row in rows]
        return "".join(map(csv_line, (columns, *cells)))
    if answer_format is AnswerFormat.JSONL:
        return "".join(f"{safe_json(orjson.dumps(row, default=str).decode())}\n" for row in rows)
    document = orjson.dumps(rows, default=str, option=orjson.OPT_INDENT_2).decode()
    return f"{safe_json(document)}\n"


def _cell(value: object) -> object:
    return orjson.dumps(value, default=str).decode() if isinstance(value, list | dict) else value


def _binary(
    warehouse: Warehouse, statement: str, answer_format: AnswerFormat, files: Mapping[str, Path]
) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from warehouse.console.console import run_sql_to_arrow

    table = run_sql_to_arrow(warehouse, statement, files=files)
    sink = pa.BufferOutputStream()
    if answer_format is AnswerFormat.PARQUET:
        try:
            pq.write_table(table, sink)
        except pa.ArrowNotImplementedError as error:
            line = str(error).partition("\n")[0]
            raise ConfigurationError(
                f"Parquet cannot hold a column of the answer ({line}): cast it to varchar, or"
                " choose --format arrow"
            ) from error
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return bytes(sink.getvalue())
