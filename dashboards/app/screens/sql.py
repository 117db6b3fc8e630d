"""SQL: one read-only question to the lake, with the dictionary beside it and the answer to take
away.
"""

import io
from typing import Any

import orjson
import polars
import streamlit as st

from dashboards.app import cells, empty, state, tables
from dashboards.app.data import Lake
from dashboards.reports import figures
from schemas.tables import TABLE
from warehouse.queries import Queries
from warehouse.statements import MARTS, meaning, names, statement

MOST_ROWS, TIMEOUT_SECONDS = 100_000, 60.0
FIRST = "select * from runs order by started_at desc"


def show(lake: Lake) -> None:
    """The question of the address is answered at once: nothing it could say writes, reads other
    files or lasts.
    """
    if not lake.exists:
        empty.no_lake(str(lake.layout.root))
        return
    question, dictionary = st.columns([3, 2])
    with dictionary:
        _dictionary(lake)
    with question:
        asked = _question()
    if asked:
        _answer(lake, asked)


def _question() -> str:
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


def _answer(lake: Lake, asked: str) -> None:
    frame = cells.with_names_as_text(
        lake.sql(asked, timeout_seconds=TIMEOUT_SECONDS, maximum_rows=MOST_ROWS)
    )
    st.caption(
        f"{figures.counted(len(frame), 'row')}, {figures.counted(len(frame.columns), 'column')}"
    )
    if frame.is_empty() and not frame.columns:
        st.info("No rows.")
        return
    tables.show(frame, {name: name for name in frame.columns}, key="answer")
    left, right = st.columns(2)
    left.download_button(
        "Download CSV", _csv(frame), "answer.csv", "text/csv", key="csv", on_click="ignore"
    )
    right.download_button(
        "Download Parquet",
        _parquet(frame),
        "answer.parquet",
        "application/vnd.apache.parquet",
        key="parquet",
        on_click="ignore",
    )


def _csv(frame: polars.DataFrame) -> bytes:
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    flat = frame.with_columns(
        polars.col(name).map_elements(_json, return_dtype=polars.String) for name in nested
    )
    return cells.as_text(flat).write_csv().encode()


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
            rows = [(column, kind, "", "") for column, kind in lake.ask(_columns_of_mart, name)]
        frame = polars.DataFrame(rows, schema=["column", "type", "unit", "meaning"], orient="row")
        tables.show(
            frame,
            {"column": "Column", "type": "Type", "unit": "Unit", "meaning": "Meaning"},
            key="dictionary",
        )


def _columns_of_mart(queries: Queries, name: str) -> list[tuple[str, str]]:
    assert name in MARTS
    return [(row[0], row[1]) for row in queries.connection.execute(f"describe {name}").fetchall()]
