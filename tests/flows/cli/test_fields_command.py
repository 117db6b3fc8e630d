"""`--fields` and `--field`: what the columns of an idea file are read as, before anything is paid."""

import json
from pathlib import Path

import pytest

from flows.run.requests import request_of
from flows.works.evaluate.evaluate import Evaluation
from schemas.errors import ConfigurationError
from schemas.options.commands import EvaluateOptions, PlanOptions, RankOptions
from schemas.settings import Settings
from tasks.evaluation.work import EVALUATE
from tests.flows.conftest import Assay

TEXT = "We record the echoes of moths in the field, and compare them with those of leaves."
SCHEME = "Ten moths fly through a tunnel, and a microphone records what a bat would hear of them."
REMARK = "ideas.csv: column 'Grand Scheme' is metadata, and not judged"


@pytest.fixture
def ideas(tmp_path: Path) -> Path:
    path = tmp_path / "ideas.csv"
    path.write_text(f'id,text,Grand Scheme\na,"{TEXT}","{SCHEME}"\n')
    return path


@pytest.fixture
def run(assay: Assay, ideas: Path) -> Assay:
    """Run a command on the ideas."""
    return lambda command, *words: assay(command, ideas, *words, ASSAY_WAREHOUSE=ideas.parent / "w")


@pytest.mark.parametrize("command", ["plan", "evaluate"])
def test_the_columns_are_shown_and_nothing_is_done(command: str, ideas: Path, run: Assay) -> None:
    shown = run(command, "--fields")
    assert shown.returncode == 0
    assert all(word in shown.stdout for word in ("Grand Scheme", "metadata", "idea_id"))
    assert REMARK in shown.stderr
    answer = json.loads(run(command, "--fields", "--json").stdout)
    assert [(row["column"], row["read_as"]) for row in answer["rows"]] == [
        ("id", "idea_id"),
        ("text", "text"),
        ("Grand Scheme", "metadata"),
    ]
    assert [line.startswith(REMARK) for line in answer["warnings"]] == [True]
    assert not (ideas.parent / "w").exists()


def test_all_remarks_are_shown_with_the_columns(ideas: Path, run: Assay) -> None:
    names = [f"Scheme {number}" for number in range(20)]
    row = ",".join([f'"{TEXT}"', *(f'"{SCHEME}"' for _ in names)])
    ideas.write_text(f"text,{','.join(names)}\n{row}\n")
    shown = run("plan", "--fields")
    assert [f"'{name}' is metadata" in shown.stderr for name in names] == [True] * 20
    assert "--fields" not in shown.stderr
    assert "and 8 more: `assay plan --fields` lists them" in run("plan").stderr


def test_columns_of_a_file_without_an_idea_are_shown_and_the_command_fails(
    ideas: Path, run: Assay
) -> None:
    ideas.write_text("id,text\na,short\n")
    for more in ((), ("--json",)):
        shown = run("plan", "--fields", *more)
        assert (shown.returncode, "idea_id" in shown.stdout) == (2, True)
    assert "fewer than 5 words" in shown.stdout


def test_a_plan_says_what_is_not_judged_until_its_column_is_mapped(ideas: Path, run: Assay) -> None:
    told = run("plan")
    assert told.stderr.count(REMARK) == 1
    answer = json.loads(run("plan", "--json").stdout)
    assert [line.startswith(REMARK) for line in answer["reading_remarks"]] == [True]
    assert answer["warnings"] == answer["reading_remarks"]
    assert {row["column"]: row["read_as"] for row in answer["fields"]}["id"] == "idea_id"
    mapped = run("plan", "--field", "method=Grand Scheme", "--json")
    answer = json.loads(mapped.stdout)
    assert (answer["warnings"], answer["fields"][2]["read_as"]) == ([], "method")


def test_an_unknown_part_or_column_is_one_line(ideas: Path, run: Assay) -> None:
    for given, line in (
        ("method=Great Scheme", "ideas.csv has no such column; it has id, text, Grand Scheme"),
        ("scheme=Grand Scheme", "where PART is one of idea_id, title, text"),
        ("method", "write it as PART=COLUMN"),
    ):
        ended = run("plan", "--field", given)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert line in ended.stderr
        assert len(ended.stderr.strip().splitlines()) == 1


def test_a_run_records_what_of_its_file_is_not_judged(ideas: Path, run: Assay) -> None:
    ran = run("evaluate", "--modules", "novelty", "--json")
    answer = json.loads(ran.stdout)
    assert ran.stderr.index(REMARK) < ran.stderr.index("evaluated ")
    assert [line.startswith(REMARK) for line in answer["run"]["reading_remarks"]] == [True]
    assert answer["warnings"][-1].startswith(REMARK)
    report = next((ideas.parent / "w" / "reports").glob("*/index.md"))
    assert "Not read or not judged of the idea file" in report.read_text()


def test_mapped_columns_reach_the_run_however_it_is_asked_for(ideas: Path) -> None:
    for options in (
        EvaluateOptions(field=["method=Grand Scheme"]),
        PlanOptions(field="method = Grand Scheme"),
        RankOptions(field=("method=Grand Scheme",)).evaluation,
    ):
        request = request_of(EVALUATE, (ideas,), options, Settings())
        (idea,) = Evaluation(request).batch.ideas
        assert idea.method == SCHEME


def test_mapping_is_for_files(assay: Assay) -> None:
    ended = assay("rank", "some-run", "--field", "method=x")
    assert (ended.returncode, "name the file" in ended.stderr) == (2, True)
    ended = assay("evaluate", "--again", "some-run", "--fields")
    assert (ended.returncode, "--fields is about columns of a file" in ended.stderr) == (2, True)
    with pytest.raises(ConfigurationError, match="--field 'x=y'"):
        EvaluateOptions(field="x=y")
