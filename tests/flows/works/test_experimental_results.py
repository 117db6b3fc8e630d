"""What an experiment found of an idea comes back to its evaluation: as a kind of evidence of its
own, in the key, in the report and as a search where it surprises.
"""

import json
from pathlib import Path

import pytest

from dashboards.app.site import idea_path
from flows.cli.answer import EXIT_USAGE
from flows.works.experiment.experimental_results import results_by_idea
from schemas.base import replace
from schemas.idea import Idea
from schemas.identifiers import IdeaId, RunId
from schemas.reasons import Reason
from schemas.works.experiment import Experiment, Finding
from schemas.works.experimental_result import Surprise
from tasks.experiments.results import result_of
from tests.support.answers import read_answer
from tests.support.assay_here import run
from tests.support.evaluations import make_evaluation, make_run
from tests.support.experiment_lake import EXPERIMENT, make_experiment, publish_experiment
from tests.support.reports import idea_report
from tests.support.site import opened, site_of
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.lake import rows_in
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

TEXT = (
    "# Fewer steps of diffusion\n\nWe train a diffusion model for audio denoising in four steps"
    " instead of fifty, by distilling the sampler, and measure the error of the spectrum."
)
CONCERN = "Distilling a sampler to four steps loses the spectrum's error at high frequencies."
MARKUP = "<script>alert(1)</script>"


def of_the_idea(**changes: object) -> Experiment:
    told = {"idea_id": "steps", "idea_text": TEXT, "idea_concerns": (CONCERN,)}
    return replace(make_experiment(), **{**told, **changes})


def test_the_finding_stands_beside_the_review_and_its_figures_are_the_experiment_s() -> None:
    result = result_of(EXPERIMENT, of_the_idea())
    assert result is not None
    assert (result.parent_mean, result.best_mean, result.run_count) == (0.4, 0.2, 5)
    assert (result.gain, result.gain_low, result.gain_high) == (0.2, 0.1, 0.3)
    assert (result.baseline_id, result.baseline_gain) == ("known", 0.1)
    for said in ("Supported within this task", "0.2 (0.1 to 0.3)", "known: 0.1 (0.02 to 0.18)"):
        assert said in result.in_words
    assert "\n" not in result.in_words


def test_what_was_not_measured_is_no_result() -> None:
    reason = Reason.PROGRAM_FAILED
    lost = {"finding": None, "unscored_reason": reason, "unscored_detail": "it fails"}
    assert result_of(EXPERIMENT, of_the_idea(**lost)) is None


@pytest.mark.parametrize(
    ("finding", "question", "surprise"),
    [
        (Finding.NOT_SUPPORTED, "Is four steps better?", Surprise.NOT_SUPPORTED),
        (Finding.UNDECIDED, "Do four steps of the sampler keep the spectrum?", None),
        (
            Finding.SUPPORTED,
            "Do four steps of a distilled sampler keep the spectrum?",
            Surprise.AGAINST_A_CONCERN,
        ),
        (Finding.SUPPORTED, "Is it faster on a telephone?", None),
    ],
)
def test_a_surprise_proposes_a_search_in_words_of_the_idea(
    finding: Finding, question: str, surprise: Surprise | None
) -> None:
    result = result_of(EXPERIMENT, of_the_idea(finding=finding, question=question))
    assert result is not None
    assert result.surprise is surprise
    assert result.concern == (CONCERN if surprise is Surprise.AGAINST_A_CONCERN else "")
    assert bool(result.proposed_query) is (surprise is not None)
    known = f"{TEXT} {question} {CONCERN}".lower()
    assert all(word in known for word in result.proposed_query.split())


def test_an_evaluation_takes_it_as_evidence_of_its_own_kind_and_another_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    warehouse = Warehouse(tmp_path / "w")
    publish_experiment(warehouse, of_the_idea())
    lines = [
        {"idea_id": "steps", "text": TEXT},
        {"idea_id": "other", "text": "We let robots grasp pebbles in the dark by touch alone."},
    ]
    (tmp_path / "ideas.jsonl").write_text("\n".join(map(json.dumps, lines)))
    command = ("evaluate", "ideas.jsonl", "--warehouse", "w", "--modules", "soundness", "--json")
    keys = {}
    for asked in ((), ("--experiment", EXPERIMENT)):
        run(*command, *asked)
        out, err = capsys.readouterr()
        run_id = RunId(read_answer(out)["run"]["run_id"])
        with warehouse.reader() as connection:
            asking = f"select idea_id, evaluation_key from ideas where run_id = '{run_id}'"
            found = rows_in(connection, asking)
        keys[bool(asked)] = {row["idea_id"]: row["evaluation_key"] for row in found}
    assert "1 of 2 ideas bring results of experiments" in err
    assert keys[False]["other"] == keys[True]["other"]
    assert keys[False]["steps"] != keys[True]["steps"]

    report = idea_report(warehouse, run_id, IdeaId("steps"), "md", full=True)
    assert "What came of trying it" in report
    assert "says nothing of the literature" in report
    assert "assay report experiment-a" in report
    assert "What came of trying it" not in idea_report(
        warehouse, run_id, IdeaId("other"), "md", full=True
    )


def test_the_same_name_over_other_words_is_another_idea(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse = Warehouse(tmp_path / "w")
    publish_experiment(warehouse, of_the_idea(idea_text="We do something else altogether."))
    idea = Idea(idea_id=IdeaId("steps"), title="Fewer steps", text=TEXT)
    assert results_by_idea([EXPERIMENT], [idea], warehouse) == {}
    said = capsys.readouterr().err
    assert "no idea here was tried in experiment-a in the same words: it tried steps" in said


@pytest.mark.parametrize(
    ("name", "told"), [("run-a", "--experiment run-a is a run"), ("none", "under none")]
)
def test_what_is_no_experiment_is_one_line(
    name: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    warehouse = Warehouse(tmp_path / "w")
    land(warehouse, make_evaluation())
    assert publish(warehouse, RUNS, make_run()).published
    (tmp_path / "ideas.jsonl").write_text(json.dumps({"idea_id": "steps", "text": TEXT}))
    command = ("evaluate", "ideas.jsonl", "--warehouse", "w", "--experiment", name)
    assert run(*command) == EXIT_USAGE
    err = capsys.readouterr().err
    assert told in err
    assert err.count("\n") == 1


def test_the_page_of_the_idea_shows_it_as_text(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    result = result_of(EXPERIMENT, of_the_idea(question=MARKUP, finding=Finding.NOT_SUPPORTED))
    assert result is not None
    evaluation = make_evaluation()
    land(warehouse, replace(evaluation, experimental_results=(result,)))
    assert publish(warehouse, RUNS, make_run()).published
    page = opened(site_of(warehouse), idea_path("run-a", evaluation.idea.idea_id))
    assert "Not supported, within this task" in page.words
    assert "Surprising" in page.words
    assert "assay survey" in page.words
    assert page.unsafe == []
