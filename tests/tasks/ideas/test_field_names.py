"""Whatever a file calls the parts of an idea, they are judged, or the file's column is named."""

import json
from pathlib import Path

import pytest

from schemas.errors import IdeaFileError
from schemas.idea import IdeaBatch
from tasks.ideas.read import read_ideas

LONG = "We record the echoes of moths in the field, and compare them with those of leaves."
OTHER = "Bees lose their way where landmarks are gone, and nobody has measured how far they fly."


def read(folder: Path, *rows: object, fields: tuple[str, ...] = ()) -> IdeaBatch:
    path = folder / "ideas.json"
    path.write_text(json.dumps(rows))
    return read_ideas(path, default_cutoff=None, fields=fields)


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
    (path := tmp_path / "ideas.csv").write_text(f'id,text,text\na,"{LONG}","{OTHER}"\n')
    (idea,) = read_ideas(path, default_cutoff=None).ideas
    assert idea.text == f"{LONG}\n\n{OTHER}"


def test_a_second_column_of_one_meaning_is_metadata_and_named(tmp_path: Path) -> None:
    batch = read(tmp_path, {"abstract": LONG, "summary": OTHER, "id": 1, "uuid": "b"})
    (idea,) = batch.ideas
    assert (idea.text, idea.idea_id) == (LONG, "1")
    assert idea.metadata == {"summary": OTHER, "uuid": "b"}
    assert [line.partition(" is metadata")[0] for line in batch.remarks] == [
        "ideas.json: column 'summary'",
        "ideas.json: column 'uuid'",
    ]


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


def test_a_column_that_the_file_does_not_have_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(IdeaFileError, match="has no such column; it has text"):
        read(tmp_path, {"text": LONG}, fields=("method=Grand Scheme",))


def test_a_table_of_unknown_columns_can_be_mapped(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f'nr;Gedanke\n1;"{LONG}"\n')
    (idea,) = read_ideas(
        tmp_path / "a.csv", default_cutoff=None, fields=("text=Gedanke", "idea_id=nr")
    ).ideas
    assert (idea.idea_id, idea.text) == ("1", LONG)


def test_ideas_under_their_identifiers_or_names_are_one_entry_each(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"a": {"text": LONG}, "b": {"text": OTHER}}))
    assert [idea.idea_id for idea in read_ideas(path, default_cutoff=None).ideas] == ["a", "b"]
    path.write_text(json.dumps({"ideas": {"Moths": {"Problem": LONG}, "Bees": {"Problem": OTHER}}}))
    assert [idea.title for idea in read_ideas(path, default_cutoff=None).ideas] == ["Moths", "Bees"]
    path.write_text(json.dumps({"ideas": [LONG, OTHER]}))
    assert [idea.text for idea in read_ideas(path, default_cutoff=None).ideas] == [LONG, OTHER]


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
    (tmp_path / "a.csv").write_text(f'id,group,text\n1.0,2.0,"{LONG}"\n2.0,,"{OTHER}"\n')
    ideas = read_ideas(tmp_path / "a.csv", default_cutoff=None).ideas
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
    (tmp_path / name).write_text(content)
    batch = read_ideas(tmp_path / name, default_cutoff=None)
    assert [idea.text for idea in batch.ideas] == [OTHER]
    assert "the key 'text' is given twice" in batch.rejected[0].detail
