"""`assay write` from the lake to a folder, once; and what it refuses, in one line."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from flows.cli.answer import EXIT_DONE, EXIT_FAILURES, EXIT_USAGE
from schemas.base import replace
from schemas.reasons import Reason
from schemas.works.draft import Draft
from tasks.writing import drafting
from tests.support.answers import read_answer
from tests.support.assay_here import run
from tests.support.experiment_lake import make_experiment, publish_experiment
from tests.support.survey_lake import make_survey, published_surveys
from warehouse.warehouse import Warehouse

IDEA = {
    "idea_id": "bats",
    "title": r"Do $\alpha$ bats & 100 % of \moths{} meet?",
    "problem": "Bats meet too few of 30 moths.",
    "method": "We play calls to moths and count which of them turn away from the sound.",
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an idea, and a lake with a survey and an experiment."""
    folder = tmp_path_factory.mktemp("sources")
    (folder / "idea.jsonl").write_text(json.dumps(IDEA))
    warehouse = Warehouse(folder / "w")
    published_surveys(warehouse, make_survey())
    publish_experiment(warehouse, make_experiment())
    return folder


@pytest.fixture
def here(sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(shutil.copytree(sources, tmp_path, dirs_exist_ok=True))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    return tmp_path


COMMAND = (
    *("write", "idea.jsonl", "--warehouse", "w", "--experiment", "experiment-a/task-0"),
    *("--survey", "survey-a", "-o", "draft"),
)


def test_a_draft_is_written_once_and_anew_by_an_edited_outline(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*COMMAND, "--json") == EXIT_DONE
    answer = read_answer(capsys.readouterr().out)
    assert answer["state"] == "written"
    (draft,) = answer["rows"]
    assert draft["form"] == "paper"
    assert {work["title"] for work in draft["works"]} == {
        "Echo calls of bats", "Moths that hear bats",
    }  # fmt: skip
    assert [Path(path).name for path in answer["reports"]][:4] == [
        "draft.pdf", "draft.docx", "draft.html", "draft.tex",
    ]  # fmt: skip
    markdown = (here / "draft" / "draft.md").read_text()
    assert "what first flights sound like" in markdown  # of the abstract that the survey keeps
    assert r"[“Bats \<b\>call\</b\> \| as \[1\] showed.”]" in markdown
    run_id = answer["run"]["run_id"]

    with monkeypatch.context() as again_alone:
        again_alone.setattr(drafting, "write_draft", None)  # nothing is written again
        assert run(*COMMAND, "--json") == EXIT_DONE
    again = read_answer(capsys.readouterr().out)
    assert (again["run"]["run_id"], again["rows"]) == (run_id, answer["rows"])
    for kind in ("md", "html", "json"):
        assert run("report", run_id, "--warehouse", "w", "--format", kind) == EXIT_DONE
        assert "supported within this task" in capsys.readouterr().out

    outline, text = here / "outline.yaml", (here / "draft" / "outline.yaml").read_text()
    outline.write_text(text.replace("heading: Results", "heading: What came of it"))
    assert run(*COMMAND, "--outline", "outline.yaml") == EXIT_DONE
    assert "# What came of it" in (here / "draft" / "draft.md").read_text()
    outline.write_text(text.replace("purpose: Say", "purpose: In 12 words say", 1))
    capsys.readouterr()
    assert run(*COMMAND, "--outline", "outline.yaml") == EXIT_FAILURES
    assert "Introduction: the number 12 is no claim" in capsys.readouterr().err


def test_a_failure_of_our_own_lands_as_a_draft_without_a_text(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fails(*_: Any, **__: Any) -> Draft:
        raise LookupError("nobody foresaw this")

    monkeypatch.setattr(drafting, "write_draft", fails)
    assert run(*COMMAND, "--json") == EXIT_FAILURES
    answer = read_answer(capsys.readouterr().out)
    (draft,) = answer["rows"]
    assert (draft["word_count"], draft["unscored_reason"]) == (None, Reason.INTERNAL_ERROR)
    assert "nobody foresaw this" in draft["unscored_detail"]
    run_id = answer["run"]["run_id"]
    assert run("report", run_id, "--warehouse", "w") == EXIT_DONE


def test_without_an_experiment_it_is_a_proposal_with_its_gaps(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("write", "idea.jsonl", "--warehouse", "empty", "-o", "draft")
    assert run(*command) == EXIT_DONE
    said = capsys.readouterr().err
    assert "nothing is cited: name a survey" in said
    assert "nothing was measured, so this is a proposal" in said
    markdown = (here / "draft" / "draft.md").read_text()
    assert "# Plan" in markdown
    assert r"\bibliography" not in (here / "draft" / "draft.tex").read_text()
    assert "# Results" not in markdown
    assert markdown.count("To be shown") == 2


def test_results_that_do_not_exist_are_not_written(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = replace(
        make_experiment(),
        finding=None,
        best_program_id=None,
        unscored_reason=Reason.PROGRAM_FAILED,
        unscored_detail="program.py fails",
    )
    publish_experiment(Warehouse(here / "lost"), lost)
    command = ("write", "idea.jsonl", "--warehouse", "lost", "--experiment", "experiment-a")
    assert run(*command, "--json") == EXIT_DONE
    (draft,) = read_answer(capsys.readouterr().out)["rows"]
    assert draft["form"] == "proposal"
    gaps = [claim["shown"] for claim in draft["claims"] if claim["kind"] == "gap"]
    assert any("program.py fails" in gap for gap in gaps)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody",), "nobody is neither a file nor an idea of the lake"),
        (("idea.jsonl", "--experiment", "experiment-b"), "experiment-b is not published"),
        (("idea.jsonl", "--experiment", "experiment-a/none"), "its tasks are task-0"),
        (("idea.jsonl", "--survey", "survey-b"), "survey-b is not published"),
        (("idea.jsonl", "--venue", "nature"), "there is no template for it"),
        (("idea.jsonl", "--bib", "none.bib"), "there is no such file"),
        (("idea.jsonl", "--bib", "empty.bib"), "holds no entry"),
        (("idea.jsonl", "--outline", "none.yaml"), "none.yaml"),
        (("idea.jsonl", "--review"), "--review reads with a model: add --engine"),
        (("two.jsonl",), "holds 2 ideas"),
        (("bad.jsonl",), "bad.jsonl line 1"),
    ],
)
def test_mistakes_are_one_line(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    said: str,
) -> None:
    (here / "empty.bib").write_text("")
    (here / "bad.jsonl").write_text("{}\n")
    (here / "two.jsonl").write_text(
        "".join(json.dumps(IDEA | {"idea_id": name, "problem": name * 40}) + "\n" for name in "ab")
    )
    assert run("write", *words, "--warehouse", "w") == EXIT_USAGE
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
