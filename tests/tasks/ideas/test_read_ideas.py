"""Idea files of every format: whole ideas, and rejections with a place and a remedy."""

import io
import json
from datetime import date
from pathlib import Path

import polars as pl
import pytest

from schemas.errors import IdeaFileError
from schemas.idea import IdeaBatch
from tasks.ideas.limits import MAXIMUM_CHARACTERS, keep_standard_input
from tasks.ideas.read import read_batch, read_ideas
from tests.support.idea_files import GOOD, read_content, read_lines

REAL_IDEAS = Path(__file__).parents[4] / "shared" / "data" / "scholarideas.jsonl"


def read(path: Path) -> IdeaBatch:
    return read_ideas(path, default_cutoff=None)


def rejections(batch: IdeaBatch) -> list[tuple[str, str]]:
    return [(item.reason, item.location) for item in batch.rejected]


def test_a_line_of_json_becomes_an_idea_with_everything_given(tmp_path: Path) -> None:
    row = {"id": 7, "text": GOOD, "title": "T", "cutoff_date": "2024-09-24", "group": "g"}
    more = {"difficulty": 3, "rubrics": [1], "ok": True}
    (idea,) = read_lines(tmp_path, row | more).ideas
    assert (idea.idea_id, idea.title, idea.text) == ("7", "T", GOOD)
    assert (idea.cutoff_date, idea.group) == (date(2024, 9, 24), "g")
    assert idea.metadata == {"difficulty": "3", "ok": "true"}


def test_parts_become_one_text_and_stay_parts(tmp_path: Path) -> None:
    parts = ("Nobody knows why it fails.", "We look closely.", "Ten runs.")
    names = ("Problem", "methods", "Experiment Design")
    row = {"Title": "Short", **dict(zip(names, parts, strict=True))}
    (idea,) = read_lines(tmp_path, row).ideas
    assert idea.text == (
        "# Short\n\n## Problem\n\nNobody knows why it fails.\n\n## Method\n\nWe look closely.\n\n"
        "## Experiment Design\n\nTen runs."
    )
    assert (idea.problem, idea.method, idea.experiment) == parts
    (added,) = read_lines(tmp_path, {"text": GOOD, "method": "With care."}).ideas
    assert added.text == f"{GOOD}\n\n## Method\n\nWith care."


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
    (idea,) = read_lines(tmp_path, {"text": text}).ideas
    assert (idea.problem, idea.experiment) == ("It is slow.", "We time it.")
    assert (idea.method or "").startswith("We make it fast.")


def test_discipline_is_the_group_where_no_group_is_given(tmp_path: Path) -> None:
    one = {"text": GOOD, "discipline": "eco"}
    batch = read_lines(tmp_path, one, one | {"text": f"{GOOD} Again.", "group": "g"})
    assert [idea.group for idea in batch.ideas] == ["eco", "g"]
    assert [idea.metadata for idea in batch.ideas] == [{"discipline": "eco"}] * 2


def test_the_default_cutoff_holds_where_none_is_given_and_leaves_identifiers_alone(
    tmp_path: Path,
) -> None:
    without = read_lines(tmp_path, {"text": GOOD}, {"text": GOOD, "cutoff_date": "2020-01-01"})
    ideas = read_ideas(tmp_path / "ideas.jsonl", default_cutoff=date(2023, 1, 1)).ideas
    assert [idea.cutoff_date for idea in ideas] == [date(2023, 1, 1), date(2020, 1, 1)]
    assert [idea.idea_id for idea in ideas] == [idea.idea_id for idea in without.ideas]


@pytest.mark.parametrize(
    ("row", "reason", "mend"),
    [
        ({"text": "  "}, "empty", "fill text"),
        ({"motto": GOOD}, "empty", "fields: motto"),
        ({"title": "Only a title for this idea of mine"}, "empty", "only a title"),
        ({"text": "Transformers"}, "too_short", "fewer than 5 words"),
        ({"text": "word " * (MAXIMUM_CHARACTERS // 4)}, "too_long", "shorten"),
        ({"text": GOOD, "cutoff_date": "yesterday"}, "bad_cutoff_date", "YYYY-MM-DD"),
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
    batch = read_lines(tmp_path, {"text": GOOD}, row, {"text": GOOD + " And more."})
    assert len(batch.ideas) == 2
    assert rejections(batch) == [(reason, "ideas.jsonl line 2")]
    assert mend in batch.rejected[0].detail
    assert "\n" not in batch.rejected[0].detail


def test_a_broken_line_is_told_by_its_number_in_the_file(tmp_path: Path) -> None:
    good = json.dumps({"text": GOOD}).encode()
    foreign = '{"text": "Über alle Grenzen hinweg denken wir nach"}'.encode("latin-1")
    content = b'\xef\xbb\xbf{"text": \n' + good + b'\n\n{"text": \n' + foreign
    batch = read_content(tmp_path, content, "ideas.jsonl")
    assert len(batch.ideas) == 1
    assert rejections(batch) == [("unreadable", f"ideas.jsonl line {line}") for line in (1, 4, 5)]


def test_the_second_of_two_ideas_with_one_id_or_one_text_is_rejected(tmp_path: Path) -> None:
    again = {"id": "a", "text": GOOD + " But differently."}
    batch = read_lines(tmp_path, {"id": "a", "text": GOOD}, again)
    assert [idea.text for idea in batch.ideas] == [GOOD]
    assert [(item.idea_id, item.reason) for item in batch.rejected] == [("a", "duplicate_id")]
    assert "line 1" in batch.rejected[0].detail
    batch = read_lines(tmp_path, {"text": GOOD}, {"text": GOOD})
    assert (len(batch.ideas), batch.rejected[0].reason) == (1, "duplicate_text")


BOTH = [{"text": GOOD}, {"text": GOOD + " And more."}]


@pytest.mark.parametrize("name", ["a.json", "A.JSONL"])
@pytest.mark.parametrize(
    "content",
    [
        json.dumps(BOTH, indent=2),
        "\n" + json.dumps(BOTH),
        "".join(f"{json.dumps(each)}\n" for each in BOTH),
    ],
    ids=["indented list", "list on one line", "object per line"],
)
def test_what_is_in_a_json_file_decides_how_it_is_read_not_its_ending(
    name: str, content: str, tmp_path: Path
) -> None:
    batch = read_content(tmp_path, content, name)
    assert [{"text": idea.text} for idea in batch.ideas] == BOTH
    assert batch.rejected == ()
    assert len(read_content(tmp_path, json.dumps(BOTH[0], indent=2), name).ideas) == 1


def test_a_batch_without_a_single_idea_is_an_error_that_says_why(tmp_path: Path) -> None:
    read_lines(tmp_path, {"text": "Short"}, {"text": "Shorter"})
    with pytest.raises(IdeaFileError, match=r"none of 2 entries can .*; ideas\.jsonl line 1: "):
        read_batch(tmp_path / "ideas.jsonl", default_cutoff=None)


def test_yaml_holds_a_list_of_ideas_or_one(tmp_path: Path) -> None:
    several = f"- text: {GOOD}\n  cutoff_date: 2024-05-17\n- just words\n"
    batch = read_content(tmp_path, several, "ideas.yml")
    assert [idea.cutoff_date for idea in batch.ideas] == [date(2024, 5, 17)]
    assert [entry.location for entry in batch.rejected] == ["ideas.yml entry 2"]
    (one,) = read_content(tmp_path, f"title: One\ntext: {GOOD}\n", "ideas.yaml").ideas
    assert one.title == "One"


@pytest.mark.parametrize(
    "content", ["a: [", "a: &x [b]\nc: *x", "[" * 2000, "- !!python/object:os.system x"]
)
def test_yaml_that_cannot_be_read_or_would_grow_is_one_line(content: str, tmp_path: Path) -> None:
    (tmp_path / "ideas.yaml").write_text(content)
    with pytest.raises(IdeaFileError, match=r"ideas\.yaml") as error:
        read_batch(tmp_path / "ideas.yaml", default_cutoff=None)
    assert "\n" not in str(error.value)


def test_an_abstract_or_a_description_is_the_text_of_an_idea_that_has_no_other(
    tmp_path: Path,
) -> None:
    rows = (
        {"idea_id": "a", "abstract": GOOD, "description": "Short"},
        {"idea_id": "b", "Description": GOOD},
        {"idea_id": "c", "abstract": "Something else.", "text": GOOD},
    )
    ideas = read_lines(tmp_path, *rows).ideas
    assert [idea.text for idea in ideas] == [GOOD] * 3
    left = [{"description": "Short"}, {}, {"abstract": "Something else."}]
    assert [idea.metadata for idea in ideas] == left


def test_folders_are_read_with_their_sub_folders_and_without_readme_files(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / ".git").mkdir()
    for name in ("README.md", "a.md", "b/readme.txt", "b/c.txt", ".git/d.md"):
        (tmp_path / name).write_text(f"{GOOD} {name}")
    assert [idea.metadata["file"] for idea in read(tmp_path).ideas] == ["a.md", "b/c.txt"]


def test_a_folder_gives_one_idea_per_file_in_the_order_of_names(tmp_path: Path) -> None:
    matter = "---\nidea_id: first\ncutoff_date: 2024-01-02\ngroup: g\n---\n# A good title\n\n"
    for name, content in (
        ("b.txt", GOOD.encode()),
        ("a.md", f"{matter}{GOOD}".encode()),
        ("c.md", b"---\n: [\n---\ntext"),
        ("d.docx", b"PK"),
        ("e.txt", b"\xff\xfe\xfa"),
        (".hidden", b"x"),
    ):
        (tmp_path / name).write_bytes(content)
    batch = read(tmp_path)
    first, second = batch.ideas
    assert (first.idea_id, first.title, first.group) == ("first", "A good title", "g")
    assert (first.cutoff_date, first.metadata["file"]) == (date(2024, 1, 2), "a.md")
    assert (second.title, second.metadata["file"]) == (GOOD.rstrip("."), "b.txt")
    assert rejections(batch) == [
        ("bad_field", "c.md"),
        ("unreadable", "d.docx"),
        ("unreadable", "e.txt"),
    ]


def test_a_csv_row_with_too_many_cells_or_another_encoding_is_rejected(tmp_path: Path) -> None:
    content = f"id,text\na,one, two\nb,{GOOD}\nc,caf".encode() + b"\xe9\n"
    batch = read_content(tmp_path, content)
    assert [idea.idea_id for idea in batch.ideas] == ["b"]
    assert rejections(batch) == [("bad_field", "a.csv line 2"), ("unreadable", "a.csv line 4")]


def test_a_csv_cell_beyond_every_limit_is_one_rejection_not_the_end_of_the_file(
    tmp_path: Path,
) -> None:
    batch = read_content(tmp_path, f"text\n{'word ' * 50_000}\n{GOOD}\n")
    assert (len(batch.ideas), rejections(batch)) == (1, [("too_long", "a.csv line 2")])


def test_parquet_rows_keep_their_dates(tmp_path: Path) -> None:
    columns = {
        "idea_id": ["a", None],
        "text": [GOOD, None],
        "cutoff_date": [date(2024, 1, 2), None],
        "score": [1.5, None],
    }
    path = tmp_path / "a.parquet"
    pl.DataFrame(columns).write_parquet(path)
    batch = read(path)
    (idea,) = batch.ideas
    assert (idea.cutoff_date, idea.metadata) == (date(2024, 1, 2), {"score": "1.5"})
    assert rejections(batch) == [("empty", "a.parquet row 2")]
    pl.DataFrame({"name": ["a"]}).write_parquet(path)
    with pytest.raises(IdeaFileError, match="it has name"):
        read(path)


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
        ("paper.PDF", b"%PDF-1.7", "assay check"),
    ],
)
def test_a_file_that_cannot_be_read_at_all_is_one_clear_error(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(IdeaFileError, match=message):
        read_content(tmp_path, content, name)


def test_missing_files_and_empty_folders_are_errors(tmp_path: Path) -> None:
    with pytest.raises(IdeaFileError, match="there is no file"):
        read(tmp_path / "none.jsonl")
    with pytest.raises(IdeaFileError, match=r"no \.txt or \.md file"):
        read(tmp_path)


@pytest.mark.skipif(not REAL_IDEAS.exists(), reason="the shared data is not here")
def test_the_81_real_ideas_go_in_unchanged() -> None:
    batch = read(REAL_IDEAS)
    assert (len(batch.ideas), batch.rejected) == (81, ())
    rows = [json.loads(line) for line in REAL_IDEAS.read_text("utf-8").splitlines()]
    assert [(idea.idea_id, idea.text) for idea in batch.ideas] == [
        (row["idea_id"], row["text"].strip()) for row in rows
    ]
    for idea in batch.ideas:
        assert all((idea.problem, idea.method, idea.experiment, idea.cutoff_date, idea.group))
        assert 0 < len(idea.title) <= 120
        assert (idea.title != "Research Plan", idea.duplicate_of) == (True, None)


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
    (plain,) = read_lines(tmp_path, {"text": GOOD}).ideas
    for row in ({"authors": authors}, {"metadata": {"Authors": authors}}):
        (idea,) = read_lines(tmp_path, {"text": GOOD, **row}).ideas
        assert (idea.authors, idea.text) == (("Ada Lovelace", "Charles Babbage"), plain.text)
        assert idea.content_sha256 != plain.content_sha256, "other authors are judged again"


@pytest.mark.parametrize(
    ("content", "count"),
    [
        (f'{{"text": "{GOOD}"}}\n', 1),
        (f'\ufeff[{{"text": "{GOOD}"}},\n {{"text": "{GOOD} And more."}}]', 2),
        (f'id,text\n1,"{GOOD}"\n2,"{GOOD}"\n', 2),
        (f"id\tidea\n1\t{GOOD}\n", 1),
        (f"# A title\n\n{GOOD}\n", 1),
        (f"An idea, in prose: {GOOD}", 1),
    ],
)
def test_standard_input_is_json_a_table_or_prose(content: str, count: int, tmp_path: Path) -> None:
    path = keep_standard_input(io.BytesIO(content.encode()), tmp_path)
    assert len(read(path).ideas) == count


def test_nothing_on_standard_input_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IdeaFileError, match="standard input is empty"):
        keep_standard_input(io.BytesIO(b" \n"), tmp_path)
