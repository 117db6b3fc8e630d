"""`assay experiment init --idea`: what is known of an idea becomes the draft of a task, which is
refused until a person has said the rest.
"""

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.cli.answer import EXIT_DONE, EXIT_USAGE
from flows.works.experiment import experiment_drafting
from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.literature.recommendation import ResourceKind
from schemas.works.experiment import KnownIdea
from tasks.experiments.drafting import known_of, write_draft
from tasks.experiments.task_folder import read_task
from tasks.recommendation.recommend import Recommended
from tests.support.answers import read_answer
from tests.support.assay_here import run
from tests.support.evaluations import make_evaluation, make_run
from tests.support.recommendations import make_recommendation
from tests.support.reviewed_ideas import make_assessed_evaluation, without_soundness
from tests.support.small_task import BASELINE, EVALUATE, PROGRAM, TASK
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

IDEA = "We adapt a speech recogniser to Alpine dialects by transfer from German."


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with one evaluated idea."""
    warehouse = Warehouse(tmp_path_factory.mktemp("evaluated"))
    land(warehouse, make_evaluation())
    assert publish(warehouse, RUNS, make_run()).published
    return warehouse.root


def test_an_evaluated_idea_brings_its_concerns_and_closest_works(
    evaluated: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluation = make_evaluation()
    idea = evaluation.idea
    command = ("experiment", "init", "mine", "--idea", idea.idea_id, "--json")
    assert run(*command, "--warehouse", str(evaluated)) == EXIT_DONE
    answer = read_answer(capsys.readouterr().out)
    assert {Path(row["path"]).name for row in answer["rows"]} >= {"task.toml", "idea.json"}
    known = json.loads((here / "mine" / "idea.json").read_text())
    assert (known["idea_id"], known["run_id"], known["text"]) == (
        idea.idea_id,
        "run-a",
        idea.text,
    )
    assert evaluation.soundness is not None
    graded = [each for each in evaluation.soundness.concerns if each.severity is not None]
    assert known["concerns"]
    assert all(any(said.startswith(each.point) for each in graded) for said in known["concerns"])
    titles = {paper.title for paper in evaluation.papers}
    assert known["works"]
    assert {work["title"] for work in known["works"]} <= titles

    for words in (("check", "mine"), ("run", "mine")):
        assert run("experiment", *words) == EXIT_USAGE
        err = capsys.readouterr().err
        assert "say what is marked 'FILL IN'" in err
        assert err.count("\n") == 1


def test_a_draft_is_a_task_once_it_is_filled_in_and_no_earlier(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    known = KnownIdea(idea_id="steps", text=IDEA)
    paths = write_draft(
        folder,
        known,
        ["It compares word error rates."],
        [
            make_recommendation(ResourceKind.DATA_SET, "Alpine Speech"),
            make_recommendation(ResourceKind.BASELINE, "A cascade: of recognisers"),
            make_recommendation(ResourceKind.METRIC, "word error rate"),
        ],
    )
    written = {path.relative_to(folder).as_posix(): path.read_text() for path in paths}
    heading, _, rest = written["task.toml"].partition("\n\n")
    assert ("FILL IN" in heading, rest.count("FILL IN")) == (False, 4)
    assert "Alpine Speech" in written["evaluate.py"]
    assert "word error rate" in written["task.toml"]
    baseline = "baselines/baseline_1_a_cascade_of_recognisers.py"
    assert "A work on A cascade" in written[baseline]
    filled = {
        "task.toml": TASK.format(candidates=3, seconds=30),
        "program.py": PROGRAM,
        "evaluate.py": EVALUATE,
        baseline: BASELINE,
    }
    for name, text in filled.items():
        with pytest.raises(ConfigurationError, match="FILL IN") as refused:
            read_task(folder)
        assert "\n" not in str(refused.value)
        (folder / name).write_text(text)
    assert read_task(folder).idea == known


@given(st.text(max_size=60), st.text(max_size=60))
def test_whatever_papers_and_ideas_say_stays_a_comment(
    tmp_path_factory: pytest.TempPathFactory, name: str, said: str
) -> None:
    folder = tmp_path_factory.mktemp("drafts") / "mine"
    hostile = f"{name}\n\"\"\"\nimport os\r{said}\x0cos.abort()\u2028'''"
    paths = write_draft(
        folder,
        KnownIdea(idea_id="a", text="b"),
        [hostile],
        [make_recommendation(kind, hostile or "x", hostile) for kind in ResourceKind],
    )
    for path in paths:
        if path.suffix == ".py":
            kinds = {type(node) for node in ast.parse(path.read_bytes()).body}
            assert kinds == {ast.Expr, ast.ImportFrom, ast.FunctionDef}
            assert "import os" not in ast.unparse(ast.parse(path.read_bytes()))
        assert re.fullmatch(r"[a-z0-9_]+\.(py|toml|json)", path.name)
    told = tomllib.loads((folder / "task.toml").read_text())
    assert set(told) == {
        *("question", "metric", "direction", "least_difference", "trials", "limits")
    }


def nothing_is_known(*_: object) -> Recommended:
    return Recommended(
        (), near_works=0, known_contexts=0, citations=0, known_resources=0, failures=()
    )


def test_a_file_that_holds_the_idea_will_do(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(experiment_drafting, "recommend_about", nothing_is_known)
    (here / "idea.txt").write_text(IDEA)
    command = ("experiment", "init", "mine", "--idea", "idea.txt", "--warehouse", "w")
    assert run(*command) == EXIT_DONE
    assert "say what is marked 'FILL IN'" in capsys.readouterr().err
    known = json.loads((here / "mine" / "idea.json").read_text())
    assert (known["text"], known["run_id"], known["concerns"]) == (IDEA, "", [])


def test_mistakes_are_one_line(
    evaluated: Path,
    here: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    there = ("--warehouse", str(evaluated))
    two = [{"text": IDEA}, {"text": f"{IDEA} Then we compare it with a cascade."}]
    (here / "two.jsonl").write_text("\n".join(map(json.dumps, two)))
    (here / "short.jsonl").write_text('{"text": "No."}')
    (here / "taken").mkdir()
    for words, said in {
        ("mine", "--idea", "none"): "evaluated an idea none",
        ("mine", "--idea", "two.jsonl"): "holds 2 ideas",
        ("mine", "--idea", "short.jsonl"): "is no idea",
        ("mine", "--idea", "two.jsonl", "--like", "laplacian"): "--like or --idea",
        ("mine", "--run", "run-a"): "add --idea ID",
        ("mine", "--idea", "none", "--run", "run-z"): "run-z",
        ("taken", "--idea", "none"): "is there already",
    }.items():
        assert run("experiment", "init", *words, *there) == EXIT_USAGE
        err = capsys.readouterr().err
        assert said in err
        assert err.count("\n") == 1
    assert not (here / "mine").exists()


def test_an_idea_too_long_for_a_task_is_one_line() -> None:
    idea = Idea(idea_id=IdeaId("a"), title="A", text="long " * 5_000)
    with pytest.raises(ConfigurationError, match="`text`") as refused:
        known_of(idea)
    assert "\n" not in str(refused.value)


def test_concerns_come_the_gravest_first_and_questions_not_at_all() -> None:
    evaluation = make_evaluation()
    assert evaluation.soundness is not None
    turned = tuple(reversed(evaluation.soundness.concerns))
    other = replace(evaluation, soundness=replace(evaluation.soundness, concerns=turned))
    assert known_of(evaluation.idea, evaluation).concerns == known_of(other.idea, other).concerns


def test_concerns_of_an_assessment_are_drafted_without_a_review_of_soundness() -> None:
    evaluation = make_assessed_evaluation()
    alone = without_soundness(evaluation)
    assert known_of(alone.idea, alone).concerns
    assert known_of(alone.idea, alone).concerns == known_of(evaluation.idea, evaluation).concerns
