"""Columns under any name: judged, mapped, or remarked on."""

import json
from pathlib import Path

import openpyxl
import pytest

from schemas.errors import IdeaFileError
from tasks.ideas.read import read_ideas
from tests.support.idea_files import LONG, OTHER, read_content, read_lines
from tests.support.idea_files import read_rows as read

"""Whatever a file calls the parts of an idea, they are judged, or the file's column is named."""


@pytest.mark.parametrize(
    "name",
    [
        *("Proposed Method", "proposedMethod", "proposed-method", "Methods", "METHODOLOGY"),
        *("Method (max. 300 words)", "Our approach", "solution_approach", "Proposed Solution"),
        *("2. Method", "What is your method?", "content.method.value", "Scientific Method"),
    ],
)
def test_a_method_is_known_by_its_usual_names(name: str, tmp_path: Path) -> None:
    (idea,) = read(tmp_path, {"problem": OTHER, name: LONG}).ideas
    assert (idea.problem, idea.method, idea.metadata) == (OTHER, LONG, {})


@pytest.mark.parametrize(
    "name", ["cutoffDate", "Cut-off", "Knowledge cutoff (YYYY-MM-DD)", "Literature cutoff date"]
)
def test_a_cutoff_is_known_by_its_usual_names(name: str, tmp_path: Path) -> None:
    (idea,) = read(tmp_path, {"text": LONG, name: "2024-05-17"}).ideas
    assert str(idea.cutoff_date) == "2024-05-17"


def test_the_project_of_an_idea_is_not_its_identifier(tmp_path: Path) -> None:
    batch = read(tmp_path, {"project_id": "p", "text": LONG}, {"project_id": "p", "text": OTHER})
    assert [idea.metadata for idea in batch.ideas] == [{"project_id": "p"}] * 2


def test_labels_and_scores_are_no_sections_of_the_text(tmp_path: Path) -> None:
    labels = {"dataset": "ScholarIdeas", "contribution": 3, "Risk": "high", "context": "3 good"}
    (idea,) = read(tmp_path, {"text": LONG, **labels}).ideas
    assert (idea.text, set(idea.metadata)) == (LONG, set(labels))


PRODUCED = {
    "AI-Scientist": {
        "Name": "moth_echoes",
        "Title": "Echoes of moths",
        "Short Hypothesis": "ONE moths are heard.",
        "Related Work": "TWO earlier work listens to bats.",
        "Abstract": "THREE we listen to moths.",
        "Experiments": ["FOUR record moths.", {"name": "Leaves", "steps": ["FIVE", "SIX"]}],
        "Risk Factors and Limitations": ["SEVEN it may rain.", "EIGHT few moths."],
        "Interestingness": 8,
    },
    "Si et al.": {
        "Problem": "ONE prompts are biased.",
        "Existing Methods": "TWO methods calibrate.",
        "Motivation": "THREE people swap groups.",
        "Proposed Method": "FOUR we swap groups.",
        "Experiment Plan": "FIVE we compare on BBQ.",
        "Test Case Examples": {"input": "SIX", "output": "SEVEN"},
        "Fallback Plan": "EIGHT we analyse errors.",
    },
    "RINoBench": {
        "research_idea": {
            "objective": "ONE predict interactions. THREE FOUR",
            "problem_statement": "TWO negatives are random. FIVE SIX",
            "solution_approach": "SEVEN draw them by degree. EIGHT",
        }
    },
    "co-scientist": {
        "hypothesis": "ONE TWO moths are heard by bats.",
        "rationale": "THREE FOUR echoes are loud.",
        "experimental design": {"setup": "FIVE", "controls": ["SIX", "SEVEN", "EIGHT"]},
    },
    "OpenReview": {
        "id": "forum1",
        "content": {
            "title": {"value": "Echoes of moths"},
            "abstract": {"value": "ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT"},
            "authors": {"value": ["Ada Lovelace"], "readers": ["everyone"]},
        },
    },
    "Airtable": {
        "id": "rec1",
        "createdTime": "2024-05-01T10:00:00Z",
        "fields": {"Idea": "Moths and bats", "Description": "ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT"},
    },
    "Google Forms": {
        "Timestamp": "2024/05/01 10:00:00",
        "What is your idea?": "ONE TWO THREE FOUR and so on.",
        "Which problem does it solve?": "FIVE SIX SEVEN EIGHT.",
    },
}  # fmt: skip


WORDS = ("ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT")


@pytest.mark.parametrize("producer", PRODUCED)
def test_every_part_of_an_idea_of_a_known_producer_is_judged(producer: str, tmp_path: Path) -> None:
    batch = read(tmp_path, PRODUCED[producer])
    (idea,) = batch.ideas
    assert [word for word in WORDS if word not in idea.text] == []


def test_the_name_of_an_idea_of_ai_scientist_is_its_identifier(tmp_path: Path) -> None:
    (idea,) = read(tmp_path, PRODUCED["AI-Scientist"]).ideas
    assert (idea.idea_id, idea.title) == ("moth_echoes", "Echoes of moths")
    assert idea.metadata == {"Interestingness": "8"}
    (page,) = read(tmp_path, {"Name": "A page of Notion", "Text": LONG}).ideas
    assert page.title == "A page of Notion"


def test_several_columns_of_one_part_are_joined(tmp_path: Path) -> None:
    (idea,) = read(tmp_path, {"method": LONG, "approach": OTHER}).ideas
    assert idea.method == f"{LONG}\n\n{OTHER}"
    (idea,) = read_content(tmp_path, f'id,text,text\na,"{LONG}","{OTHER}"\n').ideas
    assert idea.text == f"{LONG}\n\n{OTHER}"


def test_a_long_text_that_is_not_judged_is_named_once_for_its_column(tmp_path: Path) -> None:
    batch = read(
        tmp_path,
        {"text": LONG, "Grand Scheme": OTHER, "venue": f"{OTHER} Proceedings of it"},
        {"text": OTHER, "Grand Scheme": LONG},
    )
    assert batch.remarks == (
        "ideas.json: column 'Grand Scheme' is metadata, and not judged (up to 87 characters): if it"
        " is part of the idea, add --field text='Grand Scheme'",
    )


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    batch = read(tmp_path, {"text": LONG, "rubrics": [{"criterion": OTHER}]})
    assert batch.remarks == ("ideas.json: lists or objects of column 'rubrics' are left out",)


def test_a_date_that_is_no_cutoff_is_named_where_an_idea_has_none(tmp_path: Path) -> None:
    rows = ({"text": LONG, "published": "2024-05-01"}, {"text": OTHER, "published": "01/02/2024"})
    (line,) = read(tmp_path, *rows).remarks
    assert "'published' looks like a date and is no cutoff, which 2 of its ideas lack" in line
    dated = [{**row, "cutoff": "2024-06"} for row in rows]
    assert read(tmp_path, *dated).remarks == ()
    (line,) = read(tmp_path, {"text": LONG}, dated[1]).remarks
    assert line.endswith("ideas without a cutoff date, while others have one: 1, the first at"
                         " ideas.json entry 1")  # fmt: skip


def test_a_column_is_read_as_the_user_says(tmp_path: Path) -> None:
    row = {"text": LONG, "Grand Scheme": OTHER, "when": "2024-05-01", "remarks": OTHER}
    mapped = ("method=grand scheme", "cutoff_date=when", "metadata=remarks")
    batch = read(tmp_path, row, fields=mapped)
    (idea,) = batch.ideas
    assert (idea.method, str(idea.cutoff_date), idea.metadata) == (
        OTHER,
        "2024-05-01",
        {"remarks": OTHER},
    )
    assert batch.remarks == ()
    assert {each.column: each.read_as for each in batch.fields} == {
        "text": "text",
        "Grand Scheme": "method",
        "when": "cutoff_date",
        "remarks": "metadata",
    }


def test_a_table_of_unknown_columns_can_be_mapped(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f'nr;Gedanke\n1;"{LONG}"\n')
    (idea,) = read_ideas(
        tmp_path / "a.csv", default_cutoff=None, fields=("text=Gedanke", "idea_id=nr")
    ).ideas
    assert (idea.idea_id, idea.text) == ("1", LONG)


def test_ideas_under_their_identifiers_or_names_are_one_entry_each(tmp_path: Path) -> None:
    for document, part, values in (
        ({"a": {"text": LONG}, "b": {"text": OTHER}}, "idea_id", ["a", "b"]),
        ({"ideas": {"A": {"Problem": LONG}, "B": {"Problem": OTHER}}}, "title", ["A", "B"]),
        ({"ideas": [LONG, OTHER]}, "text", [LONG, OTHER]),
    ):
        batch = read_content(tmp_path, json.dumps(document), "a.json")
        assert [getattr(idea, part) for idea in batch.ideas] == values


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("<p>We &amp; <b>bats</b> fly<br>at night</p><ul><li>far</li></ul>", "We & bats fly\nat night\n\n- far"),
        ("where a &lt; b&nbsp;holds for bats", "where a < b holds for bats"),
        ("if a <b and c> d & so on", "if a <b and c> d & so on"),
        ("the bats_x000D_\nfly at night", "the bats\nfly at night"),
    ],
)  # fmt: skip
def test_markup_of_a_cell_is_read_as_text(written: str, text: str, tmp_path: Path) -> None:
    (idea,) = read(tmp_path, {"text": f"{LONG} {written}"}).ideas
    assert idea.text == f"{LONG} {text}" or idea.text == f"{LONG} \n{text}"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        *(("30.06.2024", "2024-06-30"), ("1.2.2024", "2024-02-01"), ("2024/06", "2024-06-30")),
        *(("June 30, 2024", "2024-06-30"), ("30 June 2024", "2024-06-30")),
        *(("30-Jun-2024", "2024-06-30"), ("Jun. 2024", "2024-06-30"), ("2024/6/3", "2024-06-03")),
        *(("2024-06-30T23:00:00Z", "2024-06-30"), ("2024-06-30 00:00:00", "2024-06-30")),
    ],
)
def test_a_cutoff_is_read_however_people_write_dates(
    given: str, expected: str, tmp_path: Path
) -> None:
    (idea,) = read(tmp_path, {"text": LONG, "cutoff": given}).ideas
    assert str(idea.cutoff_date) == expected


@pytest.mark.parametrize(
    "given",
    [
        "06/07/2024",
        "30-06-2024",
        "31.02.2024",
        "Juni 2024 oder so",
        "2024",
        45473,
        1719705600000,
        "Q2 2024",
    ],
)
def test_a_cutoff_that_is_not_sure_is_rejected_with_its_remedy(
    given: object, tmp_path: Path
) -> None:
    batch = read(tmp_path, {"text": LONG, "cutoff": given})
    (rejected,) = batch.rejected
    assert rejected.reason == "bad_cutoff_date"
    assert "write it as YYYY-MM-DD" in rejected.detail


def test_whole_numbers_that_arrive_as_floats_are_whole(tmp_path: Path) -> None:
    batch = read(
        tmp_path,
        {"id": 1.0, "group": 2.0, "score": 3.0, "text": LONG},
        {"id": None, "group": None, "text": OTHER},
        {"id": 1.5, "text": f"{OTHER} Once."},
    )
    first, second = batch.ideas
    assert (first.idea_id, first.group, first.metadata) == ("1", "2", {"score": "3"})
    assert second.idea_id.startswith("idea-")
    assert "neither a text nor a whole number" in batch.rejected[0].detail
    ideas = read_content(tmp_path, f'id,group,text\n1.0,2.0,"{LONG}"\n2.0,,"{OTHER}"\n').ideas
    assert [(idea.idea_id, idea.group) for idea in ideas] == [("1", "2"), ("2", None)]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("ideas.jsonl", f'{{"text": "{LONG}", "text": "{OTHER}"}}\n{{"text": "{OTHER}"}}\n'),
        ("ideas.json", f'[{{"text": "{LONG}", "text": "{OTHER}"}}, {{"text": "{OTHER}"}}]'),
        ("ideas.yaml", f"- text: {LONG!r}\n  text: {OTHER!r}\n- text: {OTHER!r}\n"),
    ],
)
def test_a_key_given_twice_rejects_its_entry_alone(name: str, content: str, tmp_path: Path) -> None:
    batch = read_content(tmp_path, content, name)
    assert [idea.text for idea in batch.ideas] == [OTHER]
    assert "the key 'text' is given twice" in batch.rejected[0].detail


INTERNAL = "Our rivals work on this too, so that we should hurry and tell nobody before June."
NOTES = {"id": "a", "text": LONG, "Notes (internal)": INTERNAL, "Notes (public)": OTHER}


def test_an_exact_name_maps_its_column_alone(tmp_path: Path) -> None:
    (idea,) = read(tmp_path, NOTES, fields=("text=Notes (public)",)).ideas
    assert idea.text == f"{OTHER}\n\n{LONG}"
    assert idea.metadata == {"Notes (internal)": INTERNAL}


def test_a_name_that_fits_several_columns_is_refused(tmp_path: Path) -> None:
    names = r"fits several columns: 'Notes \(internal\)', 'Notes \(public\)'"
    with pytest.raises(IdeaFileError, match=names):
        read(tmp_path, NOTES, fields=("text=notes",))
    (idea,) = read(tmp_path, NOTES, fields=("text=notes", "metadata=Notes (internal)")).ideas
    assert INTERNAL not in idea.text
    assert OTHER in idea.text


def test_an_exact_name_that_appears_after_a_similar_one_is_refused(tmp_path: Path) -> None:
    rows = ({"Notes (internal)": INTERNAL, "text": LONG}, {"Notes (public)": OTHER})
    with pytest.raises(IdeaFileError, match="fits several columns"):
        read_lines(tmp_path, *rows, fields=("text=Notes (public)",))


START = "We study how H<sub>2</sub>O moves in leaves,"


PLAIN = "We study how H2O moves in leaves,"


@pytest.mark.parametrize(
    "rest",
    [
        "and write the result between <answer> and <final> tokens, as <image> inputs",
        "with `<div>hello</div>` and `a &lt; b` as input",
        "with\n```html\n<p>one</p>\n<!-- two -->\n```\nas input",
        "where <script>alert(1)</script> is injected",
    ],
)
def test_words_in_angle_brackets_and_code_stay_in_the_idea(rest: str, tmp_path: Path) -> None:
    batch = read(tmp_path, {"text": f"{START} {rest}."})
    assert [idea.text for idea in batch.ideas] == [f"{PLAIN} {rest}."]


def test_markup_that_is_left_out_is_named_once_for_the_file(tmp_path: Path) -> None:
    batch = read(
        tmp_path,
        {"text": f"{START} <label>often</label> and far."},
        {"text": f"{START} and <!-- not --> back, with <b>bats</b>."},
    )
    assert [idea.text for idea in batch.ideas] == [
        f"{PLAIN} \noften\n and far.",
        f"{PLAIN} and  back, with bats.",
    ]
    assert batch.remarks == (
        "ideas.json: markup in texts was removed as formatting: <sub>, <label>, <!-- -->,"
        " <b>; put markup that belongs to an idea between backticks",
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("forum_link", "https://openreview.net/forum?id=a-b-c-d-e"), ("primary_area", OTHER)),
        *(("Code", "https://a.org/b-c/d-e-f-g https://a.org/b/c"), ("Year", 2023)),
        *(("Timestamp", "2024/05/01 10:00:00 AM GMT+2"), ("Created", "May 3, 2024 10:00 AM")),
        *(("Team members", "Ada Lovelace, Grace Hopper and Alan van der Turing"), ("year", "2023")),
        *(("Cut-off score", 3), ("cutoff scores", "3"), ("Topics", "a/b/c/d/e/f/g; h-i-j-k-l")),
        ("title", "Echoes of moths that bats hear at night " * 4),
    ],
)
def test_ordinary_columns_are_not_remarked(name: str, value: object, tmp_path: Path) -> None:
    batch = read(tmp_path, {"text": LONG, name: value})
    assert (len(batch.ideas), batch.remarks) == (1, ())


@pytest.mark.parametrize(
    "text",
    [
        *(OTHER, OTHER.upper(), f"https://a.org {OTHER}", "我们研究飞蛾的回声并与树叶比较"),
        *(
            "우리는 나방의 메아리를 나뭇잎의 메아리와 비교한다",
            "نقارن أصداء العث مع أصداء أوراق الشجر",
        ),
    ],
)
def test_a_column_of_sentences_is_named(text: str, tmp_path: Path) -> None:
    (line,) = read(tmp_path, {"text": LONG, "Grand Scheme": text}).remarks
    assert "add --field text='Grand Scheme'" in line


@pytest.mark.parametrize(
    ("first", "second", "part"),
    [
        *(({"id": "a"}, {"uuid": "b"}, "idea_id"), ({"title": "A"}, {"headline": "B"}, "title")),
        ({"cutoff": "2024-01"}, {"cutoff date": "2024-02"}, "cutoff_date"),
    ],
)
def test_a_second_column_of_one_part_can_be_taken_in_its_place(
    first: dict[str, str], second: dict[str, str], part: str, tmp_path: Path
) -> None:
    row = {"text": LONG, **first, **second}
    ((name, value),) = second.items()
    (line,) = read(tmp_path, row).remarks
    assert line.endswith(f"to take it instead, add --field {part}='{name}'")
    (idea,) = read(tmp_path, row, fields=(f"{part}={name}",)).ideas
    assert str(getattr(idea, part)).startswith(value)


def test_cells_of_a_column_without_a_value_are_counted(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["id", "text", "note"], *([n, f"{LONG} {n}", "#N/A"] for n in range(300))):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert read_ideas(tmp_path / "a.xlsx", default_cutoff=None).remarks == (
        "a.xlsx: cell C2 of the metadata 'note' is an error (#N/A): write the value; 299 more like"
        " it",
    )


def test_files_of_a_folder_are_counted(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number:02}.md").write_text(
            f"Of Monday.\n\n## Idea 1\n{LONG} {number}\n\n## Idea 2\n{OTHER} {number}\n"
        )
    assert read_ideas(tmp_path, default_cutoff=None).remarks == (
        f"{tmp_path.name}: what is above the first idea of 00.md is not read; 29 more like it",
    )


def test_remarks_have_a_bound(tmp_path: Path) -> None:
    names = (f"Scheme {number}" for number in range(500))
    batch = read(tmp_path, {"text": LONG, **dict.fromkeys(names, OTHER)})
    assert len(batch.remarks) == 101
    assert batch.remarks[-1] == "ideas.json: 400 more lines of this kind"
