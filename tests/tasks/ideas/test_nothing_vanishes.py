"""Of any table, every idea is read whole, its row is rejected, or what is lost of it is said."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given

from schemas.idea import Idea, IdeaBatch
from tasks.ideas.read import read_ideas
from tests.support.idea_tables import JUDGED, IdeaTable, Row, idea_tables


def read(table: IdeaTable) -> IdeaBatch:
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
    batch = read(table)
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
    batch = read(table)
    for row in table.rows if not any(row.fault for row in table.rows) else ():
        if "/" not in row.values.get("cutoff_date", "")[:4]:
            assert idea_of(row, batch) is not None
