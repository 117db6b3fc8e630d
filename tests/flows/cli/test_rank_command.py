"""`assay rank` of ideas that no run has evaluated yet."""

from pathlib import Path

import orjson
import pytest

from flows.cli.answer import EXIT_DONE
from flows.cli.evaluate.rank import rank
from flows.works.evaluate.request import bundled_file
from schemas.errors import ConfigurationError
from schemas.judgement.ranking import RatingMethod
from schemas.options.commands import RankOptions
from warehouse.warehouse import Warehouse


@pytest.mark.parametrize("scores", [False, True])
def test_a_dry_run_evaluates_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], scores: bool
) -> None:
    options = RankOptions(warehouse=tmp_path / "warehouse", scores=scores, dry_run=True)
    assert rank(options, run=str(bundled_file("ideas.jsonl")), json=True) == EXIT_DONE
    assert orjson.loads(capsys.readouterr().out)["state"] == "expected"
    assert not Warehouse(options.warehouse).may_hold_a_lake()


def test_ideas_that_are_evaluated_first_are_written_as_a_table(tmp_path: Path) -> None:
    ideas, output = tmp_path / "ideas.jsonl", tmp_path / "ranking.csv"
    ideas.write_bytes(
        b"".join(bundled_file("ideas.jsonl").read_bytes().splitlines(keepends=True)[:2])
    )
    options = RankOptions(warehouse=tmp_path / "warehouse")
    assert rank(options, run=str(ideas), output=output) == EXIT_DONE
    assert len(output.read_text("utf-8").splitlines()) == 3


def test_elo_without_votes_is_refused(tmp_path: Path) -> None:
    options = RankOptions(warehouse=tmp_path / "warehouse", method=RatingMethod.ELO)
    with pytest.raises(ConfigurationError, match="--method elo needs people's votes"):
        rank(options, run=str(bundled_file("ideas.jsonl")))
