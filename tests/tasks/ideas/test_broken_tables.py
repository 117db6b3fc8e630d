"""Tables as people export them: the header is found, and a broken row stays one row."""

from pathlib import Path

import pytest

from schemas.errors import IdeaFileError
from schemas.idea import IdeaBatch
from tests.support.idea_files import BEES, FISH, MOTHS
from tests.support.idea_files import read_content as read


def texts(batch: IdeaBatch) -> dict[str, str]:
    return {idea.idea_id: idea.text for idea in batch.ideas}


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
@pytest.mark.parametrize(
    ("first", "third"),
    [(f'"{MOTHS}', FISH), (f'"{MOTHS}', f'"{FISH}"'), (f'"{MOTHS}”', FISH), (f'"{MOTHS}', f'{FISH}"')],
    ids=["to the end", "to the next one", "closed by another mark", "closed by a later row"],
)  # fmt: skip
def test_a_quotation_mark_left_open_costs_its_own_row_alone(
    first: str, third: str, name: str, tmp_path: Path
) -> None:
    mark = "\t" if name.endswith("tsv") else ","
    bees, third = BEES, third.replace(", ", " ")
    rows = [["idea_id", "title", "text"], ["a", "A", first], ["b", "B", bees], ["c", "C", third]]
    batch = read(tmp_path, "\n".join(mark.join(row) for row in rows) + "\n", name)
    (rejected,) = batch.rejected
    assert rejected.location == f"{name} line 2"
    assert "opened on this line, in column 'text', is not closed" in rejected.detail
    assert texts(batch)["b"] == BEES
    assert texts(batch)["c"].strip('"') == FISH


def test_lines_of_a_text_that_is_not_closed_are_no_ideas(tmp_path: Path) -> None:
    batch = read(tmp_path, f'text,id\n"{MOTHS}\nAnd we go on about these moths here,a\n{BEES},b\n')
    assert texts(batch) == {"b": BEES} or texts(batch) == {"a": "And we go on about these moths here", "b": BEES}  # fmt: skip
    batch = read(tmp_path, f'text\n"{MOTHS}\nAnd we go on about these moths here\n{BEES}\n')
    assert batch.ideas == ()
    assert [each.location for each in batch.rejected] == [f"a.csv line {n}" for n in (2, 3, 4)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_cell_of_several_lines_stays_whole(delimiter: str, tmp_path: Path) -> None:
    text = (
        "Problem: moths, bats and owls.\n\nWe record, compare, and measure.\nWe use 10,000 echoes;"
        " leaves; and | bars."
    )
    rows = [["id", "title", "text"], ["a", "A", f'"{text}"'], ["b", "B", f'"{BEES}"']]
    batch = read(tmp_path, "\r\n".join(delimiter.join(row) for row in rows))
    assert (texts(batch), batch.rejected) == ({"a": text, "b": BEES}, ())


@pytest.mark.parametrize(
    "lines",
    [
        "precision,recall\nf1,auc",
        "precision,recall",
        "1,2\n3,4",
        "2,we count the bats of this cave\nand stop",
        "bats,we count them in this cave at night",
    ],
)
def test_lines_with_as_many_delimiters_as_the_header_stay_in_their_cell(
    lines: str, tmp_path: Path
) -> None:
    batch = read(tmp_path, f'id,text\n1,"{MOTHS} Metrics:\n{lines}"\n2,"{BEES}"\n')
    assert (texts(batch), batch.rejected) == ({"1": f"{MOTHS} Metrics:\n{lines}", "2": BEES}, ())


@pytest.mark.parametrize("ids", ["123", "abc", ("moths", "bees", "fish"), ("i-1", "i-2", "i-3")])
@pytest.mark.parametrize("more", ["", "\nand so on"])
def test_rows_inside_a_text_that_is_not_closed_are_no_part_of_it(
    ids: tuple[str, str, str], more: str, tmp_path: Path
) -> None:
    rows = f'{ids[0]},"{MOTHS}{more}\n{ids[1]},{BEES}\n{ids[2]},{FISH}"\n'
    batch = read(tmp_path, f"id,text\n{rows}")
    assert MOTHS not in "".join(texts(batch).values())
    assert texts(batch)[ids[1]] == BEES


def test_quotation_marks_of_a_text_are_its_own(tmp_path: Path) -> None:
    batch = read(
        tmp_path,
        'id\ttext\na\t"Deep" learning of moths and bats.\nb\tA 5" pipe is what the bats avoid.\n',
        "a.tsv",
    )
    assert texts(batch) == {
        "a": '"Deep" learning of moths and bats.',
        "b": 'A 5" pipe is what the bats avoid.',
    }
    batch = read(
        tmp_path,
        'id,text\na,"He said \\"hi, moths\\" and recorded them."\nb,"He said "hi, you" and left."\n',
    )
    assert texts(batch) == {"a": 'He said "hi, moths" and recorded them.'}
    assert [each.location for each in batch.rejected] == ["a.csv line 3"]


@pytest.mark.parametrize(
    ("above", "delimiter", "line"),
    [
        *(("sep=;\n", ";", 0), ("Ideas of our group 2026\n", ",", 2), ("# of 2026\n\n# v1\n", ";", 4)),
        *(("Ideas,,Meta\n", ",", 2), ("Our idea\n", "|", 2), ("", "\t", 0)),
    ],
)  # fmt: skip
def test_the_header_is_looked_for(above: str, delimiter: str, line: int, tmp_path: Path) -> None:
    rows = [["idea_id", "title", "text"], ["a", "Moths", f'"{MOTHS}"']]
    batch = read(tmp_path, above + "\n".join(delimiter.join(row) for row in rows))
    assert texts(batch) == {"a": MOTHS}
    told = [f"a.csv: the header is line {line}, and what is above it is not read"]
    assert list(batch.remarks) == (told if line else [])


def test_a_header_between_rows_and_empty_columns_are_no_ideas(tmp_path: Path) -> None:
    batch = read(
        tmp_path, f'id,,text,\na,,"{MOTHS}",,\nid,,text,\nb,See the notes of Monday for more.,{BEES}\n'
    )  # fmt: skip
    assert texts(batch) == {"a": MOTHS, "b": BEES}
    assert batch.ideas[1].metadata == {"column 2": "See the notes of Monday for more."}
    assert [line.split(": ")[1].split(",")[0] for line in batch.remarks] == [
        "the header is repeated between rows",
        "column 'column 2' is metadata",
    ]


def test_encodings_are_read_or_their_rows_rejected(tmp_path: Path) -> None:
    content = f"id\ttext\na\tFür Fledermäuse: {MOTHS}\n"
    for encoding in ("utf-16", "utf-8-sig"):
        assert texts(read(tmp_path, content, encoding=encoding)) == {
            "a": f"Für Fledermäuse: {MOTHS}"
        }
    for encoding in ("cp1252", "latin-1"):
        (rejected,) = read(tmp_path, content, encoding=encoding).rejected
        assert "not UTF-8" in rejected.detail
    with pytest.raises(IdeaFileError, match="UTF-32"):
        read(tmp_path, content, encoding="utf-32")


def test_a_table_of_too_many_columns_is_refused(tmp_path: Path) -> None:
    header = ",".join(["text", *["a"] * 1_000])
    with pytest.raises(IdeaFileError, match=r"a\.csv has 1,001 columns, the limit is 1,000"):
        read(tmp_path, f"{header}\n{MOTHS}\n")


def test_columns_of_one_name_keep_their_values(tmp_path: Path) -> None:
    batch = read(tmp_path, f"id,text,a (2),a,a\n1,{BEES},x,y,z\n")
    assert batch.ideas[0].metadata == {"a (2)": "x", "a": "y", "a (3)": "z"}


def test_many_quotation_marks_that_are_not_closed_end_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.ideas.delimited.MOST_BROKEN", 50)
    with pytest.raises(IdeaFileError, match="more than 50 rows with a quotation mark"):
        read(tmp_path, "id,text\n" + 'q",",\n' * 150)
