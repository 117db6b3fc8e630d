"""Drafts have their page: the text beside its claims, and why one was refused."""

from pathlib import Path

import pytest

from schemas.base import replace
from schemas.failure import Failure
from schemas.reasons import Reason
from tasks.writing.figures import picture_svg
from tests.support.dashboard import open_page, unsafe_parts, words
from tests.support.draft_lake import make_draft, publish_draft
from tests.support.drawn_pictures import drawn
from warehouse.warehouse import Warehouse

MARKUP = "<script>alert(1)</script> ![x](http://example.org/x.png)"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(tmp_path_factory.mktemp("drafted"))
    publish_draft(warehouse, make_draft())
    return warehouse


def test_a_draft_stands_beside_what_carries_it(warehouse: Warehouse) -> None:
    page = open_page("drafts", warehouse)
    said = words(page)
    assert "Steps that bats take, 100 % of them" in said
    assert "supported within this task" in said
    claims, outline, habits = [table.value for table in page.dataframe]
    assert list(outline["heading"])[:2] == ["Introduction", "Related work"]
    assert list(habits["part"]) == ["introduction", "method", "results"]
    assert "1 of 2 papers nearby could be measured" in said
    assert "nobody looked for it" in said
    gain = claims[claims["claim_key"] == "task-0.c001.gain"].iloc[0]
    assert gain["shown"] == "0.2"
    assert gain["query"].startswith("select gain from programs")
    assert unsafe_parts(page) == []


def test_a_refused_draft_says_why_and_its_text_stays_text(tmp_path: Path) -> None:
    warehouse, draft = Warehouse(tmp_path), make_draft()
    line = Failure(stage="writing", subject=MARKUP, reason=Reason.UNTRACED, detail=MARKUP)
    refused = replace(
        draft,
        title=MARKUP,
        word_count=None,
        unscored_reason=Reason.UNTRACED,
        unscored_detail=MARKUP,
        failures=(line,),
    )
    publish_draft(warehouse, refused)
    page = open_page("drafts", warehouse)
    assert "its text says what nothing carries" in words(page)
    assert unsafe_parts(page) == []


def test_a_picture_says_which_model_drew_it(tmp_path: Path) -> None:
    warehouse, draft = Warehouse(tmp_path), make_draft()
    method, *charts = draft.figures
    svg = picture_svg(drawn("<box>\nCount bats"))
    picture = replace(method, svg=svg, drawn_by=MARKUP)
    publish_draft(warehouse, replace(draft, figures=(picture, *charts)))
    page = open_page("drafts", warehouse)
    said = words(page)
    assert "an image model, from boxes and arrows" in said
    assert "No model that sees has looked at it" in said
    assert unsafe_parts(page) == []
