import json
import zipfile
from datetime import date, datetime
from pathlib import Path

import openpyxl
import polars as pl
import pytest

from schemas.errors import IdeaFileError
from schemas.idea import IdeaBatch
from tasks.ideas.limits import MAXIMUM_CHARACTERS
from tasks.ideas.read import read_batch, read_ideas

GOOD = "Train a small model on curated data and compare it with a large one."
REAL_IDEAS = Path(__file__).parents[4] / "shared" / "data" / "scholarideas.jsonl"


def lines(path: Path, *rows: object) -> Path:
    path.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), "utf-8"
    )
    return path


def read(path: Path) -> IdeaBatch:
    return read_ideas(path, default_cutoff=None)


def test_a_line_of_json_becomes_an_idea_with_everything_given(tmp_path: Path) -> None:
    row = {
        "id": 7,
        "text": GOOD,
        "title": "T",
        "cutoff_date": "2024-09-24",
        "group": "g",
        "difficulty": 3,
        "rubrics": [1],
        "ok": True,
    }
    (idea,) = read(lines(tmp_path / "ideas.jsonl", row)).ideas
    assert (idea.idea_id, idea.title, idea.text, idea.cutoff_date, idea.group) == (
        "7",
        "T",
        GOOD,
        date(2024, 9, 24),
        "g",
    )
    assert idea.metadata == {"difficulty": "3", "ok": "true"}


def test_parts_become_one_text_and_stay_parts(tmp_path: Path) -> None:
    row = {
        "Title": "Short",
        "Problem": "Nobody knows why it fails.",
        "methods": "We look closely.",
        "Experiment Design": "Ten runs.",
    }
    (idea,) = read(lines(tmp_path / "ideas.jsonl", row)).ideas
    assert (
        idea.text == "# Short\n\n## Problem\n\nNobody knows why it fails.\n\n## Method\n\nWe look"
        " closely.\n\n## Experiment Design\n\nTen runs."
    )
    assert (idea.problem, idea.method, idea.experiment) == (
        "Nobody knows why it fails.",
        "We look closely.",
        "Ten runs.",
    )


def test_a_part_missing_from_the_text_is_added_to_it(tmp_path: Path) -> None:
    (idea,) = read(lines(tmp_path / "ideas.jsonl", {"text": GOOD, "method": "With care."})).ideas
    assert idea.text == f"{GOOD}\n\n## Method\n\nWith care."


@pytest.mark.parametrize(
    "heading",
    [
        "## Method",
        "**Method**",
        "**Method:**",
        "Method:",
        "### 2. Proposed Method",
        "# METHODOLOGY",
    ],
)
def test_parts_are_recognised_by_their_headings(tmp_path: Path, heading: str) -> None:
    text = (
        f"## Problem\nIt is slow.\n\n{heading}\nWe make it fast.\n\n### Detail\nSo much.\n\n##"
        " Experiment Design\nWe time it."
    )
    (idea,) = read(lines(tmp_path / "ideas.jsonl", {"text": text})).ideas
    assert idea.problem == "It is slow."
    assert idea.method is not None
    assert idea.method.startswith("We make it fast.")
    assert idea.experiment == "We time it."


def test_discipline_is_the_group_where_no_group_is_given(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "ideas.jsonl",
        {"text": GOOD, "discipline": "eco"},
        {"text": GOOD + " Again.", "discipline": "eco", "group": "g"},
    )
    assert [(idea.group, idea.metadata) for idea in read(path).ideas] == [
        ("eco", {"discipline": "eco"}),
        ("g", {"discipline": "eco"}),
    ]


def test_the_default_cutoff_holds_where_none_is_given_and_leaves_identifiers_alone(
    tmp_path: Path,
) -> None:
    path = lines(
        tmp_path / "ideas.jsonl", {"text": GOOD}, {"text": GOOD, "cutoff_date": "2020-01-01"}
    )
    with_default = read_ideas(path, default_cutoff=date(2023, 1, 1)).ideas
    assert [idea.cutoff_date for idea in with_default] == [date(2023, 1, 1), date(2020, 1, 1)]
    assert [idea.idea_id for idea in with_default] == [idea.idea_id for idea in read(path).ideas]


@pytest.mark.parametrize(
    ("row", "reason", "mend"),
    [
        ({"text": "  "}, "empty", "fill text"),
        ({"motto": GOOD}, "empty", "fields: motto"),
        ({"title": "Only a title for this idea of mine"}, "empty", "only a title"),
        ({"text": "Transformers"}, "too_short", "fewer than 5 words"),
        ({"text": "word " * (MAXIMUM_CHARACTERS // 4)}, "too_long", "shorten"),
        ({"text": GOOD, "cutoff_date": "yesterday"}, "bad_cutoff_date", "YYYY-MM-DD"),
        ({"text": GOOD, "cutoff_date": "2024-02-30"}, "bad_cutoff_date", "YYYY-MM-DD"),
        ({"text": GOOD, "cutoff_date": 2024}, "bad_cutoff_date", "YYYY-MM-DD"),
        ({"text": True}, "bad_field", "one text"),
        ({"text": ["a", "b"]}, "too_short", "fewer than 5 words"),
        ({"text": GOOD, "idea_id": {"a": 1}}, "bad_field", "idea_id"),
        ({"text": GOOD, "idea_id": "x" * 201}, "bad_field", "short name"),
        ({"text": GOOD + "\x00"}, "bad_field", "zero bytes"),
        ('{"text": "cut', "unreadable", "not valid JSON"),
        ("[1, 2]", "unreadable", "no JSON object"),
    ],
)
def test_a_bad_entry_is_rejected_by_itself_with_its_line_and_the_way_to_mend_it(
    tmp_path: Path, row: object, reason: str, mend: str
) -> None:
    batch = read(
        lines(tmp_path / "ideas.jsonl", {"text": GOOD}, row, {"text": GOOD + " And more."})
    )
    assert len(batch.ideas) == 2
    (rejected,) = batch.rejected
    assert (rejected.location, rejected.reason) == ("ideas.jsonl line 2", reason)
    assert mend in rejected.detail
    assert "\n" not in rejected.detail


def test_a_broken_line_is_told_by_its_number_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "ideas.jsonl"
    path.write_text(f'\n{json.dumps({"text": GOOD})}\n\n{{"text": \n', encoding="utf-8")
    batch = read(path)
    assert (len(batch.ideas), batch.rejected[0].location) == (1, "ideas.jsonl line 4")


def test_a_line_in_another_encoding_is_rejected_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "ideas.jsonl"
    path.write_bytes(
        b"\xef\xbb\xbf"
        + json.dumps({"text": GOOD}).encode()
        + b"\n"
        + '{"text": "Über alle Grenzen hinweg denken wir nach"}'.encode("latin-1")
    )
    batch = read(path)
    assert len(batch.ideas) == 1
    assert [(item.reason, item.location) for item in batch.rejected] == [
        ("unreadable", "ideas.jsonl line 2")
    ]


def test_the_second_of_two_ideas_with_one_id_is_rejected(tmp_path: Path) -> None:
    batch = read(
        lines(
            tmp_path / "ideas.jsonl",
            {"id": "a", "text": GOOD},
            {"id": "a", "text": GOOD + " But differently."},
        )
    )
    assert [idea.text for idea in batch.ideas] == [GOOD]
    assert [(item.idea_id, item.reason) for item in batch.rejected] == [("a", "duplicate_id")]
    assert "line 1" in batch.rejected[0].detail


def test_the_same_text_twice_without_id_is_one_idea(tmp_path: Path) -> None:
    batch = read(lines(tmp_path / "ideas.jsonl", {"text": GOOD}, {"text": GOOD}))
    assert len(batch.ideas) == 1
    assert batch.rejected[0].reason == "duplicate_text"


INDENTED = json.dumps([{"text": GOOD}, {"text": GOOD + " And more."}], indent=2)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.ndjson", "A.JSONL"])
@pytest.mark.parametrize(
    "content",
    [
        INDENTED,
        "\n" + json.dumps(json.loads(INDENTED)),
        "".join(f"{json.dumps(each)}\n" for each in json.loads(INDENTED)),
    ],
    ids=["indented list", "list on one line", "object per line"],
)
def test_what_is_in_a_json_file_decides_how_it_is_read_not_its_ending(
    name: str, content: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    batch = read(tmp_path / name)
    assert [idea.text for idea in batch.ideas] == [GOOD, GOOD + " And more."]
    assert batch.rejected == ()


def test_an_indented_object_is_one_idea_whatever_its_ending(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": GOOD}, indent=2))
    assert len(read(tmp_path / "a.jsonl").ideas) == 1


def test_json_lines_with_a_broken_first_line_are_read_line_by_line(tmp_path: Path) -> None:
    batch = read(lines(tmp_path / "a.jsonl", '{"text": ', {"text": GOOD}))
    assert (len(batch.ideas), batch.rejected[0].location) == (1, "a.jsonl line 1")


def test_a_batch_without_a_single_idea_is_an_error_that_says_why(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {"text": "Short"}, {"text": "Shorter"})
    with pytest.raises(IdeaFileError, match=r"none of 2 entries can .*; a\.jsonl line 1: "):
        read_batch(path, default_cutoff=None)


@pytest.mark.parametrize("suffix", ["yaml", "yml"])
def test_yaml_holds_a_list_of_ideas_or_one(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"ideas.{suffix}"
    path.write_text(f"- text: {GOOD}\n  cutoff_date: 2024-05-17\n- just words\n")
    batch = read(path)
    assert [idea.cutoff_date for idea in batch.ideas] == [date(2024, 5, 17)]
    assert [entry.location for entry in batch.rejected] == [f"{path.name} entry 2"]
    path.write_text(f"title: One\ntext: {GOOD}\n")
    assert [idea.title for idea in read(path).ideas] == ["One"]


@pytest.mark.parametrize(
    "content", ["a: [", "a: &x [b]\nc: *x", "[" * 5000, "- !!python/object:os.system x"]
)
def test_yaml_that_cannot_be_read_or_would_grow_is_one_line(content: str, tmp_path: Path) -> None:
    (tmp_path / "ideas.yaml").write_text(content)
    with pytest.raises(IdeaFileError, match=r"ideas\.yaml") as error:
        read_batch(tmp_path / "ideas.yaml", default_cutoff=None)
    assert "\n" not in str(error.value)


def test_the_first_sheet_of_a_workbook_holds_ideas(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (
        ["ID", "Text", "Cutoff", None],
        [7, GOOD, datetime(2024, 5, 17), "x"],  # noqa: DTZ001 -- as Excel has it
        [],
        ["b", "Short"],
    ):
        book.active.append(row)
    book.save(tmp_path / "ideas.xlsx")
    batch = read(tmp_path / "ideas.xlsx")
    assert [(idea.idea_id, idea.cutoff_date) for idea in batch.ideas] == [("7", date(2024, 5, 17))]
    assert [entry.location for entry in batch.rejected] == ["ideas.xlsx row 4"]


def test_a_workbook_that_unpacks_to_too_much_is_refused_unread(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 201_000_000)
    with pytest.raises(IdeaFileError, match="unpacked, has 201,000,000 bytes"):
        read(tmp_path / "bomb.xlsx")


def test_an_abstract_or_a_description_is_the_text_of_an_idea_that_has_no_other(
    tmp_path: Path,
) -> None:
    rows = (
        {"idea_id": "a", "abstract": GOOD, "description": "Short"},
        {"idea_id": "b", "Description": GOOD},
        {"idea_id": "c", "abstract": "Something else.", "text": GOOD},
    )
    ideas = read(lines(tmp_path / "ideas.jsonl", *rows)).ideas
    assert [idea.text for idea in ideas] == [GOOD] * 3
    assert [idea.metadata for idea in ideas] == [
        {"description": "Short"},
        {},
        {"abstract": "Something else."},
    ]


@pytest.mark.parametrize(("given", "day"), [("2024-05", 31), ("2024-02", 29), ("2023-02", 28)])
def test_a_month_is_a_cutoff_at_its_last_day(given: str, day: int, tmp_path: Path) -> None:
    (idea,) = read(lines(tmp_path / "a.jsonl", {"text": GOOD, "cutoff_date": given})).ideas
    assert idea.cutoff_date == date(int(given[:4]), int(given[5:]), day)


def test_folders_are_read_with_their_sub_folders_and_without_readme_files(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / ".git").mkdir()
    for name in ("README.md", "a.md", "b/readme.txt", "b/c.txt", ".git/d.md"):
        (tmp_path / name).write_text(f"{GOOD} {name}")
    ideas = read(tmp_path).ideas
    assert [idea.metadata["file"] for idea in ideas] == ["a.md", "b/c.txt"]


def test_a_manuscript_given_as_an_idea_leads_to_the_check_of_manuscripts(tmp_path: Path) -> None:
    (tmp_path / "paper.PDF").write_bytes(b"%PDF-1.7")
    with pytest.raises(IdeaFileError, match="assay check"):
        read(tmp_path / "paper.PDF")


def test_csv_columns_are_found_whatever_their_case_and_delimiter(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        f'ID;Text;Cutoff Date\nx;"{GOOD}\nSecond; line";2024-01-02\n\ny;"{GOOD} More.";\n',
        "utf-8-sig",
    )
    first, second = read(tmp_path / "a.csv").ideas
    assert (first.idea_id, first.text, first.cutoff_date) == (
        "x",
        f"{GOOD}\nSecond; line",
        date(2024, 1, 2),
    )
    assert (second.idea_id, second.cutoff_date) == ("y", None)


def test_a_csv_row_with_too_many_cells_or_another_encoding_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(f"id,text\na,one, two\nb,{GOOD}\nc,caf".encode() + b"\xe9\n")
    batch = read(tmp_path / "a.csv")
    assert [idea.idea_id for idea in batch.ideas] == ["b"]
    assert [(item.reason, item.location) for item in batch.rejected] == [
        ("bad_field", "a.csv line 2"),
        ("unreadable", "a.csv line 4"),
    ]


def test_a_five_megabyte_csv_cell_is_one_rejection_not_the_end_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"text\n{'word ' * 1_000_000}\n{GOOD}\n", "utf-8")
    batch = read(tmp_path / "a.csv")
    assert (len(batch.ideas), [item.reason for item in batch.rejected]) == (1, ["too_long"])


def test_parquet_rows_keep_their_dates(tmp_path: Path) -> None:
    pl.DataFrame(
        {
            "idea_id": ["a", None],
            "text": [GOOD, None],
            "cutoff_date": [date(2024, 1, 2), None],
            "score": [1.5, None],
        }
    ).write_parquet(tmp_path / "a.parquet")
    batch = read(tmp_path / "a.parquet")
    assert [(idea.cutoff_date, idea.metadata) for idea in batch.ideas] == [
        (date(2024, 1, 2), {"score": "1.5"})
    ]
    assert [(item.location, item.reason) for item in batch.rejected] == [
        ("a.parquet row 2", "empty")
    ]


def test_a_folder_gives_one_idea_per_file_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text(GOOD, "utf-8")
    (tmp_path / "a.md").write_text(
        f"---\nidea_id: first\ncutoff_date: 2024-01-02\ngroup: g\n---\n# A good title\n\n{GOOD}",
        "utf-8",
    )
    (tmp_path / "c.md").write_text("---\n: [\n---\ntext", "utf-8")
    (tmp_path / "d.docx").write_bytes(b"PK")
    (tmp_path / "e.txt").write_bytes(b"\xff\xfe\xfa")
    (tmp_path / ".hidden").write_text("x", "utf-8")
    batch = read(tmp_path)
    assert [
        (idea.title, idea.group, idea.cutoff_date, idea.metadata["file"]) for idea in batch.ideas
    ] == [
        ("A good title", "g", date(2024, 1, 2), "a.md"),
        (GOOD.rstrip("."), None, None, "b.txt"),
    ]
    assert batch.ideas[0].idea_id == "first"
    assert [(item.location, item.reason) for item in batch.rejected] == [
        ("c.md", "bad_field"),
        ("d.docx", "unreadable"),
        ("e.txt", "unreadable"),
    ]


def test_a_single_markdown_file_is_one_idea(tmp_path: Path) -> None:
    (tmp_path / "idea.md").write_text(GOOD, "utf-8")
    assert len(read(tmp_path / "idea.md").ideas) == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("ideas.jsonl", b"", "is empty"),
        ("ideas.jsonl", b"\n \n", "holds no ideas"),
        ("ideas.jsonl", "x".encode("utf-16"), "UTF-16"),
        ("ideas.jsonl", b"\xe9\xe8\n\xe9", "not UTF-8"),
        ("ideas.json", b"{", "not valid JSON"),
        ("ideas.json", b"3", "neither a list"),
        ("ideas.csv", b"name,colour\na,b\n", "has name, colour; it needs text"),
        ("ideas.csv", b"\x00\x01\x02", "no text file"),
        ("ideas.parquet", b"PAR1 nonsense", "cannot be read as Parquet"),
        ("ideas.docx", b"PK", "no known format"),
        ("ideas.md", b"\xff\xfa", "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_at_all_is_one_clear_error(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(IdeaFileError, match=message):
        read(tmp_path / name)


def test_missing_files_and_empty_folders_are_errors(tmp_path: Path) -> None:
    with pytest.raises(IdeaFileError, match="there is no file"):
        read(tmp_path / "none.jsonl")
    with pytest.raises(IdeaFileError, match=r"no \.txt or \.md file"):
        read(tmp_path)


def test_parquet_without_a_text_column_names_what_is_there(tmp_path: Path) -> None:
    pl.DataFrame({"name": ["a"]}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(IdeaFileError, match="it has name"):
        read(tmp_path / "a.parquet")


@pytest.mark.skipif(not REAL_IDEAS.exists(), reason="the shared data is not here")
def test_the_81_real_ideas_go_in_unchanged() -> None:
    batch = read(REAL_IDEAS)
    assert (len(batch.ideas), batch.rejected) == (81, ())
    assert all(
        idea.problem and idea.method and idea.experiment and idea.cutoff_date and idea.group
        for idea in batch.ideas
    )
    rows = [json.loads(line) for line in REAL_IDEAS.read_text("utf-8").splitlines()]
    assert [(idea.idea_id, idea.text) for idea in batch.ideas] == [
        (row["idea_id"], row["text"].strip()) for row in rows
    ]
    assert all(0 < len(idea.title) <= 120 and idea.title != "Research Plan" for idea in batch.ideas)
    assert not any(idea.duplicate_of for idea in batch.ideas)


@pytest.mark.parametrize(
    "authors",
    [
        ["Ada Lovelace", "Charles Babbage"],
        [{"name": "Ada Lovelace"}, {"name": "Charles Babbage"}],
        "Ada Lovelace; Charles Babbage",
        "Ada Lovelace, Charles Babbage",
        "Ada Lovelace and Charles Babbage",
    ],
)
def test_authors_are_names_however_a_file_lists_them(authors: object, tmp_path: Path) -> None:
    for row in ({"authors": authors}, {"metadata": {"Authors": authors}}):
        (idea,) = read(lines(tmp_path / "ideas.jsonl", {"text": GOOD, **row})).ideas
        assert idea.authors == ("Ada Lovelace", "Charles Babbage")


def test_an_idea_with_other_authors_is_judged_anew(tmp_path: Path) -> None:
    (first,) = read(lines(tmp_path / "a.jsonl", {"text": GOOD})).ideas
    (second,) = read(lines(tmp_path / "b.jsonl", {"text": GOOD, "authors": ["A. Turing"]})).ideas
    assert (first.authors, first.text) == ((), second.text)
    assert first.content_sha256 != second.content_sha256
