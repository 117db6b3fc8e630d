"""Tables a person can read, and a terminal that hostile text cannot steer."""

import pytest

from flows.cli.evaluate.rank_output import weights_not_acting
from flows.cli.make.experiment import print_checked
from flows.cli.output import number, print_ranking, print_table
from flows.profiles import load_profile
from schemas.base import replace
from schemas.identifiers import IdeaId, RunId
from schemas.profile import ScoreWeights
from schemas.standing import IdeaState
from tasks.experiments.checking import CheckedProgram, CheckedTask
from tests.support.evaluations import make_run
from warehouse.row_models import IdeaScore, RankedIdea

LONG_ID = "an-identifier-" + "x" * 60


def ranked(
    idea_id: str, score: float | None, title: str = "A title"
) -> tuple[RankedIdea, IdeaScore]:
    shared = {
        "run_id": RunId("run-a"),
        "idea_id": IdeaId(idea_id),
        "group": "g",
        "title": title,
        "score": score,
        "failure_count": 0,
    }
    entry = RankedIdea(
        rank=None if score is None else 1,
        soundness_0_to_10=score,
        contribution_0_to_10=None,
        unscored_count=0,
        **shared,
    )  # type: ignore[arg-type]
    row = IdeaScore(
        soundness_0_to_10=score,
        contribution_0_to_10=None,
        mean_comparison_score=None,
        method_count=3,
        scored_method_count=2,
        unscored_method_count=1,
        dimension_count=0,
        unscored_dimension_count=0,
        scored_comparison_count=0,
        unscored_comparison_count=0,
        soundness_requested=True,
        contribution_requested=False,
        committee_requested=False,
        novelty_requested=False,
        assessment_requested=False,
        state=IdeaState.PARTLY_SCORED,
        incomplete_reason=None,
        duplicate_of=None,
        **shared,  # type: ignore[arg-type]
    )
    return entry, row


@pytest.mark.parametrize("columns", ["80", "100", "140"])
def test_a_ranking_fits_the_width_and_keeps_identifiers_whole(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    entry, score = ranked(LONG_ID, 6.5, title="word " * 80)
    print_ranking([entry], [score])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= int(columns)
    assert sum(line.count("x") for line in lines) == 60
    assert any("6.50" in line and "1 of 3" in line for line in lines)


def test_an_unscored_idea_is_not_a_zero(capsys: pytest.CaptureFixture[str]) -> None:
    entry, score = ranked("a", None)
    print_ranking([entry], [score])
    out = capsys.readouterr().out
    assert "unscored" in next(line for line in out.splitlines() if "1 of 3" in line)
    assert "0.00" not in out
    assert number(None) == "unscored"


def test_an_idea_without_a_rank_says_which_places_are_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    entry, score = ranked("a", None)
    bounds = {"missing": "contribution", "best_rank": 2, "worst_rank": 7}
    print_ranking([replace(entry, **bounds)], [replace(score, **bounds)])
    out = capsys.readouterr().out
    assert "not ranked: contribution unscored, place between 2 and 7" in out


@pytest.mark.parametrize(
    ("modules", "told"),
    [
        ("soundness", "the run has no assessment, so that weights of new do not apply"),
        (
            "soundness,assessment",
            "the run is scored by its assessment, where weights of soundness, contribution do not"
            " apply",
        ),
    ],
)
def test_weights_that_do_not_apply_to_a_run_get_one_line(modules: str, told: str) -> None:
    shipped = load_profile("economy")
    weights = ScoreWeights(soundness=1, contribution=1, new=1)
    profile = replace(shipped, score_weights=weights)
    assert weights_not_acting(replace(make_run(), modules=modules), profile) == told


def test_text_from_outside_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    entry, score = ranked("a\x1b[31m", 5.0, title="\x1b]0;owned\x07 \u202etitle")
    print_ranking([entry], [score])
    print_table(["text"], [["\x1b[2Jgone"]])
    out = capsys.readouterr().out
    assert not {"\x1b", "\x07", "\u202e"} & set(out)


def test_a_table_of_too_many_columns_becomes_a_list_and_loses_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    print_table([f"column_{n}" for n in range(20)], [[f"value {n}" for n in range(20)]])
    out = capsys.readouterr().out
    assert all(f"column_{n}: value {n}" in out for n in range(20))


def test_a_metric_called_as_another_column_keeps_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parent = CheckedProgram(
        program_id="parent",
        mean=0.25,
        mean_low=0.125,
        mean_high=0.375,
        run_count=6,
        seconds=1,
        failure="",
    )
    checked = CheckedTask(
        task_id="sorting",
        metric="runs",
        least_difference=0.1,
        programs=(parent,),
        noise=None,
        detectable_when_chosen=None,
        detectable_when_confirmed=None,
    )
    print_checked(checked, as_json=False)
    shown = capsys.readouterr().out
    assert shown.count("runs") == 2
    assert "0.25" in shown
