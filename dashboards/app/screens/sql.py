"""SQL: one read-only question to the lake, with the dictionary beside it and the answer to take
away.
"""

import io
from itertools import pairwise
from typing import Any

import orjson
import polars
import streamlit as st

from dashboards.app import cells, empty, state, tables, text
from dashboards.app.data import Lake
from dashboards.render import figures
from schemas.errors import SqlError
from schemas.tables import TABLE
from warehouse.queries import Queries
from warehouse.statements import MARTS, meaning, names, statement

MOST_ROWS, TIMEOUT_SECONDS = 100_000, 60.0
NAMES_OFFERED = 3
FIRST = "select * from runs order by started_at desc"


def show(lake: Lake) -> None:
    """The question of the address is answered at once: nothing it could say writes, reads other
    files or lasts.
    """
    if not lake.exists:
        empty.no_lake(lake.warehouse.address)
        return
    question, dictionary = st.columns([3, 2])
    with dictionary:
        _dictionary(lake)
    with question:
        asked = _question(_names(lake))
    if asked:
        with question:
            frame = _frame(lake, asked)
        if frame is not None:
            _answer(frame, _subject(asked))


def _question(known: dict[str, str]) -> str:
    st.selectbox(
        "Saved examples",
        list(_examples()),
        index=None,
        key="example",
        placeholder="Take one",
        on_change=_take_example,
    )
    asked = state.long_words(
        "One SELECT over tables and marts", key="sql", default=FIRST, height=240
    )
    st.selectbox(
        "Write a name",
        list(known),
        index=None,
        key="name",
        placeholder="Type a part of a table or column",
        help="It is written at the end of the statement.",
        format_func=lambda name: f"{name}: {known[name]}",
        on_change=_write_name,
    )
    st.button(
        "Run",
        key="run_sql",
        type="primary",
        help=f"At most {MOST_ROWS:,} rows and {TIMEOUT_SECONDS:.0f} seconds.",
    )
    return asked.strip()


def _examples() -> dict[str, str]:
    """Statements by what they answer, which is their comment."""
    found = (statement("examples", name) for name in names("examples"))
    return {
        meaning(sql): "\n".join(line for line in sql.splitlines() if not line.startswith("--"))
        for sql in found
    }


def _take_example() -> None:
    chosen = st.session_state["example"]
    if chosen is not None:
        st.session_state["sql"] = _examples()[chosen]


def _names(lake: Lake) -> dict[str, str]:
    """Every table, mart and column with its meaning."""
    told = {}
    for name, table in sorted(TABLE.items()):
        told[name] = table.meaning
        told |= {f"{name}.{column.name}": column.meaning for column in table.columns}
    for mart, columns in lake.ask(_columns_of_marts).items():
        told[mart] = meaning(statement("marts", mart))
        told |= {f"{mart}.{column}": kind for column, kind in columns}
    return told


def _write_name() -> None:
    """At the end: where the caret stands, a page is not told."""
    chosen = st.session_state["name"]
    if chosen is not None:
        st.session_state["sql"] = f"{st.session_state['sql'].rstrip()} {chosen}"
        st.session_state["name"] = None


def _frame(lake: Lake, asked: str) -> polars.DataFrame | None:
    """What is answered; None, with the wrong place shown, where the statement is wrong."""
    try:
        return cells.with_names_as_text(
            lake.sql(asked, timeout_seconds=TIMEOUT_SECONDS, maximum_rows=MOST_ROWS)
        )
    except SqlError as error:
        _show_wrong(asked, error)
        return None


def _show_wrong(asked: str, error: SqlError) -> None:
    """The line that is wrong with a mark below the place, and what may have been meant."""
    st.error(text.line(str(error)), icon=":material/error:")
    if error.place is None:
        return
    before = asked[: error.place]
    start = before.rfind("\n") + 1
    line = asked[start:].split("\n", 1)[0]
    column = error.place - start
    marks = "^" * max(1, len(error.word or _word_at(line, column)))
    st.code(f"{line}\n{' ' * column}{marks}", language=None)
    st.caption(f"Line {before.count(chr(10)) + 1}, column {column + 1}.")
    at = asked.lower().find(error.word.lower(), error.place) if error.word else -1
    if at < 0:
        return
    for place, name in enumerate(error.offered[:NAMES_OFFERED]):
        mended = asked[:at] + name + asked[at + len(error.word) :]
        st.button(
            f"Write {text.line(name)} instead", key=f"mend_{place}", on_click=_mend, args=(mended,)
        )


def _word_at(line: str, column: int) -> str:
    rest = line[column:]
    end = next(
        (n for n, letter in enumerate(rest) if not (letter.isalnum() or letter == "_")), None
    )
    return rest[:end]


def _mend(sql: str) -> None:
    st.session_state["sql"] = sql


def _subject(asked: str) -> str:
    """The first table or mart that a statement reads, which its downloads are named after."""
    words = "".join(each if each.isalnum() or each == "_" else " " for each in asked).split()
    read = (word for before, word in pairwise(words) if before.lower() == "from")
    return next((word for word in read if word in TABLE or word in MARTS), "answer")


def _answer(frame: polars.DataFrame, subject: str) -> None:
    st.caption(
        f"{figures.counted(len(frame), 'row')}, {figures.counted(len(frame.columns), 'column')}"
    )
    if frame.is_empty():
        st.info("No row answers this. The columns that it asks for:")
    tables.show(frame, {name: name for name in frame.columns}, key="answer")
    left, right = st.columns(2)
    left.download_button(
        "Download CSV", _csv(frame), f"{subject}.csv", "text/csv", key="csv", on_click="ignore"
    )
    right.download_button(
        "Download Parquet",
        _parquet(frame),
        f"{subject}.parquet",
        "application/vnd.apache.parquet",
        key="parquet",
        on_click="ignore",
    )


def _csv(frame: polars.DataFrame) -> bytes:
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    flat = frame.with_columns(
        polars.col(name).map_elements(_json, return_dtype=polars.String) for name in nested
    )
    return cells.as_csv(flat).encode()


def _json(value: Any) -> str:
    return orjson.dumps(
        value.to_list() if isinstance(value, polars.Series) else value, default=str
    ).decode()


def _parquet(frame: polars.DataFrame) -> bytes:
    target = io.BytesIO()
    frame.write_parquet(target)
    return target.getvalue()


def _dictionary(lake: Lake) -> None:
    with st.expander("Data dictionary", expanded=True, key="dictionary"):
        name = st.selectbox(
            "Table or mart", [*sorted(TABLE), *MARTS], key="table", bind=state.BOUND
        )
        if name in TABLE:
            table = TABLE[name]
            st.caption(table.meaning)
            rows = [
                (column.name, column.sql_type, column.unit, column.meaning)
                for column in table.columns
            ]
        else:
            st.caption(meaning(statement("marts", name)))
            rows = [(*column, "", "") for column in lake.ask(_columns_of_marts)[name]]
        frame = polars.DataFrame(rows, schema=["column", "type", "unit", "meaning"], orient="row")
        tables.show(
            frame,
            {"column": "Column", "type": "Type", "unit": "Unit", "meaning": "Meaning"},
            key="dictionary",
        )


def _columns_of_marts(queries: Queries) -> dict[str, list[tuple[str, str]]]:
    """Names and types of the columns, by mart."""
    return {
        name: [row[:2] for row in queries.connection.execute(f"describe {name}").fetchall()]
        for name in MARTS
    }
