"""Ideas that a model prepares before they are judged: manuscripts, and other languages."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.cli.answer import EXIT_FAILURES
from flows.cli.works import run
from flows.run.estimate import estimate
from flows.run.requests import request_of
from schemas.errors import IdeaFileError
from schemas.identifiers import RunId
from schemas.options.commands import EvaluateOptions
from schemas.reasons import Reason
from schemas.run import Module
from schemas.settings import Settings
from schemas.standing import IdeaState
from schemas.works.survey_run import AskOptions
from tasks.evaluation.work import EVALUATE
from tasks.survey.work import ASK
from tests.support.openai_server import Messages, OpenAIServer, start_openai_server
from tests.support.reviewed_papers import TITLE, paper_pdf
from tests.support.schema_answers import Schema, answer_from_schema
from warehouse.warehouse import Warehouse

GERMAN = (
    "Problem: Fledermäuse werden von Motten gehört, und niemand weiß, wie weit. Methode: Wir nehmen"
    " Echos von Motten auf und vergleichen sie mit denen von Blättern."
)
ENGLISH = "We record the echoes of moths in the field, and compare them with those of leaves."
TRANSLATION = "Moths hear bats, and nobody knows how far. We record the echoes of moths and leaves."
QUESTION = "Wie finden Fledermäuse in der Nacht ihre Motten?"
PLAN = {
    "problem": "Every token costs the same. The model achieves 87.31 on translation.",
    "method": "We will train a router that skips layers for easy tokens.",
    "experiment": "We will compare it with the full model.",
}
LATEX = r"""\documentclass{article}
\title{Routers of tokens}
\author{Ada Bird\thanks{Paid by none.} \\ University of X \and Ben~Cave$^1$}
\begin{document}
\section{Introduction} Every token costs the same. We ask whether easy tokens can skip layers.
\section{Method} We train a small router beside the model, which predicts the difficulty of each
token from its embedding. We use a threshold of the predicted difficulty to skip layers for easy
tokens. The router is trained jointly with the model by a loss on the number of layers, and hard
tokens keep all layers.
\section{Results} The router achieves an accuracy of 87.31.
\end{document}
"""


def answer(messages: Messages, schema: Schema | None) -> Any:
    prompt = messages[0]["content"]
    if "into English" in prompt:
        return {"text": TRANSLATION}
    if "back into the research idea" in prompt:
        return PLAN
    return answer_from_schema(messages, schema or {})


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-of-yours-1234")
    with start_openai_server(answer=answer) as running:
        yield running


def asked(folder: Path, model: OpenAIServer | None, **more: Any) -> dict[str, Any]:
    engine = {} if model is None else {"engine": "litellm:openai/small", "api_base": model.url}
    return {"warehouse": folder / "warehouse", **engine, **more}


def evaluated(
    path: Path, folder: Path, model: OpenAIServer | None, capsys: pytest.CaptureFixture[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The landed ideas, and their states."""
    options = EvaluateOptions(**asked(folder, model, modules=(Module.NOVELTY,)))
    run("evaluate", (path,), options, None, as_json=True)
    run_id = RunId(json.loads(capsys.readouterr().out)["run"]["run_id"])
    warehouse = Warehouse(folder / "warehouse")
    with warehouse.queries() as queries:
        ideas = {row["idea_id"]: row for row in queries.rows("stored_ideas", run_id=run_id)}
        states = {
            row["idea_id"]: row
            for row in queries.connection.execute(
                "select * from idea_scores where run_id = ?", [run_id]
            )
            .pl()
            .to_dicts()
        }
    return ideas, states


def mixed_file(folder: Path) -> Path:
    path = folder / "ideas.jsonl"
    rows = ({"idea_id": "de", "text": GERMAN}, {"idea_id": "en", "text": ENGLISH})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_an_idea_in_another_language_is_translated_and_the_others_are_not(
    tmp_path: Path, model: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    ideas, _ = evaluated(mixed_file(tmp_path), tmp_path, model, capsys)
    assert (ideas["de"]["text"], ideas["de"]["translation"]) == (GERMAN, TRANSLATION)
    assert ideas["en"]["translation"] is None
    prompts = [json.dumps(each.body, ensure_ascii=False) for each in model.requests]
    assert sum("Fledermäuse" in each for each in prompts) == 1, "only the translation reads it"
    warehouse = Warehouse(tmp_path / "warehouse")
    report = next((warehouse.root / "reports").rglob("full/*.md")).parent
    texts = "".join(path.read_text("utf-8") for path in report.glob("*.md"))
    assert "Fledermäuse werden" in texts
    assert "nobody knows how far" in texts


def test_without_a_model_it_is_unscored_for_its_language_and_the_rest_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    _, states = evaluated(mixed_file(tmp_path), tmp_path, None, capsys)
    assert states["de"]["state"] == IdeaState.UNSCORED
    assert states["de"]["state_reason"] == Reason.OTHER_LANGUAGE
    assert states["en"]["state_reason"] != Reason.OTHER_LANGUAGE


def test_a_question_in_another_language_is_translated_and_searched_for(
    tmp_path: Path, model: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    options = AskOptions(**asked(tmp_path, model))
    planned = estimate(ASK, request_of(ASK, (QUESTION,), options, Settings()), Settings())
    assert "translate" in {step.step for step in planned.steps}
    run("ask", (QUESTION,), options, None, as_json=True)
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["question"], row["translation"]) == (QUESTION, TRANSLATION)
    offline = AskOptions(**asked(tmp_path, None))
    assert run("ask", (QUESTION,), offline, None, as_json=True) == EXIT_FAILURES
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["unscored_reason"] == Reason.OTHER_LANGUAGE


def test_manuscripts_of_a_folder_become_the_plans_in_them(
    tmp_path: Path, model: OpenAIServer, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "routing.pdf").write_bytes(paper_pdf())
    (folder / "routers.tex").write_text(LATEX)
    (folder / "moths.md").write_text(ENGLISH)
    options = EvaluateOptions(**asked(tmp_path, model, modules=(Module.NOVELTY,)))
    request = request_of(EVALUATE, (folder,), options, Settings())
    steps = {step.step: step for step in estimate(EVALUATE, request, Settings()).steps}
    assert steps["curate_idea"].calls == 2
    ideas, _ = evaluated(folder, tmp_path, model, capsys)
    plans = {row["manuscript"]: row for row in ideas.values()}
    assert set(plans) == {None, "routers.tex", "routing.pdf"}
    assert plans["routing.pdf"]["title"] == TITLE
    assert plans["routing.pdf"]["method"] == PLAN["method"]
    assert json.loads(plans["routers.tex"]["metadata"])["authors"] == "Ada Bird; Ben Cave"
    assert not [row for row in ideas.values() if "87.31" in row["text"]]


def test_a_manuscript_without_a_model_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "routing.pdf"
    path.write_bytes(paper_pdf())
    options = EvaluateOptions(**asked(tmp_path, None))
    request = request_of(EVALUATE, (path,), options, Settings())
    with pytest.raises(IdeaFileError, match="a manuscript: `assay evaluate` with a model") as error:
        estimate(EVALUATE, request, Settings())
    assert "\n" not in str(error.value)
