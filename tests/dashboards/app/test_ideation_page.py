"""Ideas made in rounds have their page: lineage, rounds, what was dropped, findings and answers."""

from pathlib import Path

import pytest

from schemas.base import replace
from schemas.reasons import Reason
from schemas.works.ideation import IdeationRound
from tests.support.dashboard import open_page, unsafe_parts, words
from tests.support.ideation_lake import make_round, make_version, publish_ideation_lake
from warehouse.warehouse import Warehouse

MARKUP = "<script>alert(1)</script> ![x](http://example.org/x.png)"


def _hostile(number: int) -> IdeationRound:
    """As an engine may write it; of the first round one version was not made."""
    made = make_round(number)
    version = replace(made.versions[0], text=MARKUP, title=MARKUP, reason=MARKUP)
    versions = [version, *made.versions[1:]]
    if number == 1:
        lost = replace(
            make_version(1, 3),
            text=None,
            provenance=None,
            unscored_reason=Reason.REPLY_UNPARSABLE,
            unscored_detail=f"no JSON: {MARKUP}",
        )
        versions.append(lost)
    answers = [replace(each, finding=MARKUP, quote=MARKUP) for each in made.answers]
    return replace(made, versions=tuple(versions), answers=tuple(answers))


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(tmp_path_factory.mktemp("ideated"))
    publish_ideation_lake(warehouse)
    return warehouse


def test_an_idea_stands_with_its_lineage_rounds_findings_and_answers(warehouse: Warehouse) -> None:
    page = open_page("ideation", warehouse)
    said = words(page)
    assert "Judged scores are not outcomes" in said
    assert (
        "another version of the batch says nearly the same; nearly the same as bats-1-r1." in said
    )
    assert "F1 (concern), answered. Too few moths." in said
    assert "“Twenty moths.”" in said
    rounds, *relations = [table.value for table in page.dataframe]
    assert list(rounds["made_count"]) == [2, 1]
    assert list(rounds["dropped_count"]) == [1, 0]
    assert [list(each["neighbour"]) for each in relations] == [["moth ears"], ["moth ears"]]
    assert unsafe_parts(page) == []


def test_the_other_idea_says_why_it_went_no_further(warehouse: Warehouse) -> None:
    page = open_page("ideation", warehouse, made_idea="bats, idea 2")
    assert any("Went no further" in each.value for each in page.warning)


def test_what_an_engine_wrote_stays_text(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    publish_ideation_lake(warehouse, _hostile(1), _hostile(2))
    page = open_page("ideation", warehouse)
    assert "no JSON" in words(page)
    assert unsafe_parts(page) == []
