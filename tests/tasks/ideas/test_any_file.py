"""Whatever is in a file, reading it gives ideas, rejections or `IdeaFileError`,
and nothing else.
"""

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
from schemas.idea import IdeaBatch
from tasks.ideas.json_lines import write_ideas
from tasks.ideas.read import FORMATS, read_ideas

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
    max_leaves=8,
)
NAMES = st.sampled_from(
    [
        "idea_id",
        "id",
        "text",
        "idea",
        "Problem",
        "method",
        "Experiment Design",
        "title",
        "cutoff_date",
        "group",
        "discipline",
        "metadata",
    ]
)
ROWS = st.lists(st.dictionaries(NAMES | st.text(max_size=6), VALUES, max_size=7), max_size=6)
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


@given(text=st.text(alphabet='text,;"\n\t éa1', max_size=200))
def test_any_table_is_read_or_refused(text: str) -> None:
    read_bytes("ideas.csv", ("text,id\n" + text).encode())


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
