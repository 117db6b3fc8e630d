"""Any file gives ideas, rejections or `IdeaFileError`, and no loss goes unsaid."""

import json
import string
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import IdeaFileError
from schemas.idea import Idea, IdeaBatch
from tasks.ideas.json_lines import write_ideas
from tasks.ideas.read import FORMATS, read_ideas
from tests.support.idea_tables import JUDGED, IdeaTable, Row, idea_tables

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=40)
    | st.dates(date(1500, 1, 1), date(2100, 12, 31)).map(str)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=4,
)
NAMES = st.sampled_from(["id", "text", "Problem", "title", "cutoff_date", "group", "metadata"])
ROWS = st.lists(st.dictionaries(NAMES | st.text(max_size=6), VALUES, max_size=5), max_size=4)
PROSE = st.text(alphabet=string.ascii_letters + "   \n#*:.é-中", min_size=20, max_size=300)


def read_bytes(name: str, content: bytes) -> IdeaBatch | None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            return read_ideas(path, default_cutoff=None)
        except IdeaFileError as error:
            assert str(error)
            return None


@pytest.mark.parametrize("suffix", sorted(FORMATS))
@given(content=st.binary(max_size=300))
def test_any_bytes_give_ideas_or_rejections_or_one_error(suffix: str, content: bytes) -> None:
    read_bytes(f"ideas{suffix}", content)


@given(rows=ROWS)
def test_any_json_gives_an_outcome_for_every_line(rows: list[dict[str, object]]) -> None:
    content = "\n".join(json.dumps(row) for row in rows).encode()
    batch = read_bytes("ideas.jsonl", content)
    if rows:
        assert batch is not None
        assert len(batch.ideas) + len(batch.rejected) == len(rows)


@given(start=st.integers(0, 400), junk=st.binary(min_size=1, max_size=20))
def test_a_damaged_parquet_file_is_read_or_refused(start: int, junk: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.parquet"
        pl.DataFrame({"text": ["an idea of several plain words", "b"]}).write_parquet(path)
        content = path.read_bytes()
    read_bytes("b.parquet", content[:start] + junk + content[start + len(junk) :])


@given(matter=st.text(max_size=60), body=PROSE)
def test_any_front_matter_is_read_or_rejected(matter: str, body: str) -> None:
    batch = read_bytes("a.md", f"---\n{matter}\n---\n{body}".encode("utf-8", "replace"))
    assert batch is None or len(batch.ideas) + len(batch.rejected) == 1


@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {"text": PROSE},
            optional={
                "id": st.text(min_size=1, max_size=8),
                "title": PROSE,
                "method": PROSE,
                "cutoff_date": st.dates().map(date.isoformat),
                "note": st.text(max_size=9),
                "metadata": st.dictionaries(st.text(max_size=4), SCALARS, max_size=3),
            },
        ),
        max_size=5,
    )
)
def test_ideas_written_and_read_again_are_the_same_ideas(rows: list[dict[str, object]]) -> None:
    batch = read_bytes("ideas.jsonl", "\n".join(json.dumps(row) for row in rows).encode())
    if batch is None or not batch.ideas:
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "again.jsonl"
        write_ideas(batch.ideas, path)
        again = read_ideas(path, default_cutoff=None)
    assert (again.ideas, again.rejected) == (batch.ideas, ())


def read_table(table: IdeaTable) -> IdeaBatch:
    with TemporaryDirectory() as folder:
        path = Path(folder) / table.name
        path.write_bytes(table.content)
        return read_ideas(path, default_cutoff=None)


def idea_of(row: Row, batch: IdeaBatch) -> Idea | None:
    """The idea that holds anything of a row; none holds anything of two."""
    words = [row.values[part].split()[0] for part in row.values if part in JUDGED]
    ideas = [idea for idea in batch.ideas if any(f"{word} " in idea.text for word in words)]
    assert len(ideas) < 2
    return ideas[0] if ideas else None


@given(table=idea_tables())
def test_an_idea_of_a_table_is_read_whole_or_rejected_or_its_loss_is_said(table: IdeaTable) -> None:
    batch = read_table(table)
    assert len(batch.ideas) + len(batch.rejected) >= len(table.rows)
    rejected = {entry.location for entry in batch.rejected}
    said = "\n".join(batch.remarks)
    for row, location in zip(table.rows, table.locations, strict=True):
        idea = idea_of(row, batch)
        if idea is None:
            assert location in rejected
            continue
        assert location not in rejected
        assert idea.cutoff_date == row.cutoff
        for part, value in row.values.items():
            if part in JUDGED:
                assert " ".join(value.split()) in " ".join(idea.text.split())
            elif part == "title":
                assert idea.title == value
            elif part == "group":
                assert idea.group == value
            elif part == "idea_id":
                assert idea.idea_id in (value, value.removesuffix(".0"))
            elif part == "unknown":
                assert idea.metadata[table.columns[part]].split() == value.split()
                assert f"'{table.columns[part]}'" in said


@given(table=idea_tables())
def test_a_row_that_is_written_well_is_read(table: IdeaTable) -> None:
    batch = read_table(table)
    for row in table.rows if not any(row.fault for row in table.rows) else ():
        if "/" not in row.values.get("cutoff_date", "")[:4]:
            assert idea_of(row, batch) is not None
