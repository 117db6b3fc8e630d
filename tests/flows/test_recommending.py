"""Where recommendations take what was read before from."""

from pathlib import Path

from flows.recommending import _read_before
from schemas.identifiers import PaperId
from schemas.settings import Settings


def test_without_a_lake_nothing_was_read_before_and_none_is_made(tmp_path: Path) -> None:
    with _read_before(tmp_path / "lake", Settings()) as known:
        assert known([PaperId("a")]) == ()
    assert not (tmp_path / "lake").exists()
