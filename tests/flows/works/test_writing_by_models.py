"""`assay write` where a model writes: what is carried stands, all else is taken out and said."""

import base64
import io
import json
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from flows.cli.answer import EXIT_BUDGET, EXIT_DONE
from schemas.base import replace
from schemas.failure import Failure
from schemas.identifiers import RunId
from schemas.literature.survey import SurveyQuote
from schemas.reasons import Reason
from schemas.works.draft_run import DRAFTS
from tasks.writing import drafting
from tasks.writing.checking import check
from tests.support.answers import read_answer
from tests.support.assay_here import run, settle
from tests.support.draft_lake import PASSAGES
from tests.support.draft_writer import (
    CAPTION,
    ENGINE,
    FOUND,
    HONEST,
    MET,
    POINT,
    REVISED,
    SEEN,
    TYPED,
    answer,
)
from tests.support.experiment_lake import make_experiment, publish_experiment
from tests.support.openai_server import MODEL_ANSWERED, OpenAIServer, start_openai_server
from tests.support.survey_lake import make_survey, published_surveys
from warehouse.units.kind import kind_of
from warehouse.units.published_work import published_units
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse

IDEA = {"idea_id": "bats", "title": "Bats and steps", "problem": "Bats choose badly among steps."}


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with start_openai_server(answer=answer) as running:
        yield running


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an idea, and a lake of a survey that quotes its papers and an experiment."""
    folder = tmp_path_factory.mktemp("lake")
    (folder / "idea.jsonl").write_text(json.dumps(IDEA))
    warehouse, survey = Warehouse(folder / "w"), make_survey()
    kept = [paper.paper_id for paper in survey.papers if paper.kept]
    quotes = tuple(
        SurveyQuote(paper_id=paper_id, said_in_paper_id=paper_id, quote=passage)
        for paper_id, passage in zip(kept, PASSAGES[:2], strict=True)
    )
    published_surveys(warehouse, replace(survey, quotes=quotes))
    publish_experiment(warehouse, make_experiment())
    return folder


@pytest.fixture
def here(tmp_path: Path, lake: Path, monkeypatch: pytest.MonkeyPatch, server: OpenAIServer) -> Path:
    shutil.copytree(lake, tmp_path, dirs_exist_ok=True)
    settle(tmp_path, monkeypatch)
    server.requests.clear()
    return tmp_path


def write(server: OpenAIServer, *more: str) -> int:
    words = ["write", "idea.jsonl", "--warehouse", "w", "-o", "draft", "--survey", "survey-a"]
    words += ["--experiment", "experiment-a", "--engine", ENGINE, "--api-base", server.url, *more]
    return run(*words)


class Written(NamedTuple):
    """A draft by a model that sees, what it was asked, and how much more when told again."""

    folder: Path
    draft: dict[str, Any]
    sent: list[Any]
    asked_again: int


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, lake: Path, server: OpenAIServer) -> Written:
    folder = Path(shutil.copytree(lake, tmp_path_factory.mktemp("written") / "here"))
    server.requests.clear()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
        settle(folder, patch)
        patch.setenv("ASSAY_LANGUAGE_MODEL__IMAGES", "yes")
        assert write(server, "--json") == EXIT_DONE
        sent = [request.messages[1]["content"] for request in server.requests]
        (draft,) = read_answer(out.getvalue())["rows"]
        assert write(server) == EXIT_DONE
    return Written(folder, draft, sent, len(server.requests) - len(sent))


def test_what_is_carried_stands_and_all_else_is_taken_out(written: Written) -> None:
    draft = written.draft
    markdown = (written.folder / "draft" / "draft.md").read_text()
    assert HONEST.partition("{{")[0] in markdown
    assert '[0.2]{.claim key="task-0.c001.gain"}' in markdown
    assert REVISED in markdown
    assert TYPED not in markdown
    assert "Wind makes bats of the study keep away from moths" in markdown
    for gone in ("Whales", "Some 77 bats", "Nobody has asked", "task-0.guess"):
        assert gone not in markdown
    taken = [each["detail"] for each in draft["failures"]]
    assert any("no stored passage carries it: Whales" in line for line in taken)
    assert any("there is no claim task-0.guess" in line for line in taken)
    assert any("[@nobody1999] is not in the bibliography" in line for line in taken)
    assert any("its passages hold no 77" in line for line in taken)
    statement = next(claim for claim in draft["claims"] if claim["kind"] == "statement")
    assert PASSAGES[0] in statement["passage"]
    assert statement["cited_keys"] == ["first2001"]
    assert CAPTION.split(". ")[0] in markdown
    assert "written by a language model, litellm" in markdown
    assert "| [parent]" in markdown
    assert verify(Warehouse(written.folder / "w")).problems == ()


def test_points_of_the_reader_and_of_the_check_go_into_one_revision(written: Written) -> None:
    told = [text for text in written.sent if isinstance(text, str)]
    revised = [text for text in told if "The section as it was:" in text]
    assert len(revised) == 5
    assert any(POINT in text for text in revised)
    assert all("the number 0.21 is no claim" in text for text in revised)
    assert any("no passage cited holds 77, in: Some 77 bats" in text for text in revised)
    assert any(f"of the figure gains, as it is seen: {SEEN}" in text for text in revised)
    assert written.asked_again <= 1  # whether the model is there


def test_every_figure_is_shown_to_a_model_that_sees(written: Written) -> None:
    figures = written.draft["figures"]
    assert {figure["seen_by"] for figure in figures} == {MODEL_ANSWERED}
    shown = [content for content in written.sent if not isinstance(content, str)]
    assert len(shown) == 3
    for (picture, words), figure in zip(shown, figures, strict=True):
        assert picture["type"] == "image_url"
        kind, _, data = picture["image_url"]["url"].partition(";base64,")
        assert kind == "data:image/png"
        content = base64.b64decode(data)
        assert content.startswith(b"\x89PNG")
        scale = 2
        png = (written.folder / "draft" / "figures" / f"{figure['figure_id']}.png").read_bytes()
        assert [int.from_bytes(content[at : at + 4]) / scale for at in (16, 20)] == pytest.approx(
            [int.from_bytes(png[at : at + 4]) / 3 for at in (16, 20)], abs=1
        )
        assert words["text"].startswith("<caption>")


@pytest.mark.long
def test_what_a_review_finds_goes_into_a_second_round(
    written: Written,
    tmp_path: Path,
    server: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    here = Path(shutil.copytree(written.folder, tmp_path, dirs_exist_ok=True))
    settle(here, monkeypatch)
    monkeypatch.setenv("ASSAY_LANGUAGE_MODEL__IMAGES", "yes")
    server.requests.clear()
    assert write(server, "--review", "--dry-run", "--json") == EXIT_DONE
    priced = read_answer(capsys.readouterr().out)
    assert {"read_section", "refute_problem"} < {row["step"] for row in priced["rows"]}
    assert server.requests == []

    assert write(server, "--review", "--json") == EXIT_DONE
    told = read_answer(capsys.readouterr().out)
    assert "found 1 problem, and this is the second round" in " ".join(told["warnings"])
    head = told["run"]
    assert head["revises"].startswith("write-")
    assert head["review_run_id"].startswith("check-")
    markdown = (here / "draft" / "draft.md").read_text()
    assert markdown.count(MET) == 1
    assert markdown.count(REVISED) == 4
    assert HONEST.partition("{{")[0] in markdown
    assert "Wind makes bats of the study keep away from moths" in markdown
    asked = [request.messages[1]["content"] for request in server.requests]
    (again,) = [text for text in asked if FOUND in text and "section as it was:" in text]
    assert "{{task-0.c001.gain}}" in again
    assert ".claim" not in again
    assert not any("<span" in text or "<figure" in text for text in asked)
    assert verify(Warehouse(here / "w")).problems == ()
    count = len(server.requests)
    assert write(server, "--review") == EXIT_DONE
    assert len(server.requests) <= count + 1


@pytest.mark.long
def test_a_second_round_that_is_refused_keeps_the_first(
    here: Path,
    server: OpenAIServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = Failure(stage="writing", subject="Text", reason=Reason.UNTRACED, detail="it says more")
    monkeypatch.setattr(
        drafting,
        "check",
        lambda draft, stored: (line,) if MET in draft.markdown else check(draft, stored),
    )
    assert write(server, "--review") == EXIT_DONE
    assert "is refused and the first stands: it says more" in capsys.readouterr().err
    assert MET not in (here / "draft" / "draft.md").read_text()


def test_swapped_and_changed_statements_are_refused(written: Written) -> None:
    warehouse = written.folder / "w"
    (folder,) = (warehouse / "reports").glob("write-*")
    with Warehouse(warehouse).reader() as connection:
        (draft,) = published_units(connection, kind_of(DRAFTS), RunId(folder.name))
    assert check(draft, ()) == ()
    place, section = next(
        (place, each) for place, each in enumerate(draft.sections) if "said.1" in each.text
    )
    for old, new, said in (
        ('key="said.1"} [@first2001]', 'key="said.1"} [@second2002]', "is not cited with it"),
        ("Wind makes bats", "Rain makes bats", "is not what said.1 says"),
    ):
        assert old in section.text
        sections = list(draft.sections)
        sections[place] = replace(section, text=section.text.replace(old, new))
        lines = [each.detail for each in check(replace(draft, sections=tuple(sections)), ())]
        assert any(said in line for line in lines)


def test_a_draft_that_meets_its_budget_is_no_draft_and_goes_on(
    here: Path, server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert write(server, "--max-tokens", "3000") == EXIT_BUDGET
    said = capsys.readouterr()
    assert "There is no draft" in said.out
    assert "stopped by --max-tokens 3000" in said.err
    assert not (here / "draft").exists()
    assert write(server, "--max-tokens", "9000000") == EXIT_DONE
    assert (here / "draft" / "draft.pdf").exists()


def test_what_it_will_ask_is_said_before(
    here: Path, server: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    del here
    assert write(server, "--dry-run", "--json") == EXIT_DONE
    told = read_answer(capsys.readouterr().out)
    assert told["state"] == "expected"
    assert {row["step"] for row in told["rows"]} == {
        "draft_section", "draft_reading", "draft_method_figure", "verify_citations",
    }  # fmt: skip
    assert server.requests == []
