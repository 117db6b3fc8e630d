"""What recommendations are asked for, and where they take what was read before from."""

from pathlib import Path

import pytest

from flows.works.literature.recommendation import _known_resources, recommend_for
from schemas.errors import ConfigurationError
from schemas.identifiers import PaperId
from schemas.options.commands import RecommendOptions
from schemas.settings import Settings
from warehouse.warehouse import Warehouse


def test_without_a_lake_nothing_was_read_before_and_none_is_made(tmp_path: Path) -> None:
    with _known_resources(Warehouse(tmp_path / "lake")) as known:
        assert known([PaperId("a")]) == ()
    assert not (tmp_path / "lake").exists()


@pytest.mark.parametrize(
    ("given", "idea", "line"),
    [
        ("", None, 'say an idea, as in `assay recommend "Parse'),
        ("two.csv", None, r"two.csv holds 2 ideas \(a, b\); name one by --idea"),
        ("two.csv", "c", r"two.csv holds no idea c \(a, b\); name one by --idea"),
        ("one.csv", None, "one.csv does not exist; name a file of ideas, or write the idea"),
    ],
)
def test_an_idea_that_is_not_said_is_one_line(
    given: str, idea: str | None, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "we parse rare languages with transfer from related ones"
    Path("two.csv").write_text(f"idea_id,text\na,{text}\nb,{text} and more\n")
    with pytest.raises(ConfigurationError, match=line):
        recommend_for(given, RecommendOptions(warehouse=tmp_path, idea=idea), Settings())
