"""Tables a person can read, and a terminal that hostile text cannot steer."""

import pytest

from flows.cli.output import number, print_ranking, print_table
from schemas.base import replace
from schemas.identifiers import IdeaId
from schemas.standing import IdeaState
from tests.support.lakes import made
from warehouse.row_models import IdeaScore, RankedIdea

LONG_ID = "an-identifier-" + "x" * 60


def ranked(
    idea_id: str, score: float | None, title: str = "A title"
) -> tuple[RankedIdea, IdeaScore]:
    """An idea that is judged by its soundness alone, one method of three unscored."""
    shared = {"idea_id": IdeaId(idea_id), "title": title, "score": score}
    scores = {"soundness_0_to_10": score, "contribution_0_to_10": None}
    modules = ("contribution", "committee", "novelty", "assessment")
    row = made(
        IdeaScore,
        method_count=3,
        unscored_method_count=1,
        state=IdeaState.PARTLY_SCORED,
        incomplete_reason=None,
        duplicate_of=None,
        **dict.fromkeys((f"{name}_requested" for name in modules), False),
        **shared,
        **scores,
    )
    return made(RankedIdea, rank=None if score is None else 1, **shared, **scores), row


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
