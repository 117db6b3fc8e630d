"""The page of curated sets: what each paper gave; deciders edit it, and how much is counted."""

import shutil
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import TextArea

from dashboards.views.write_curation import curation_page
from flows.run.declared import published_page
from schemas.base import replace
from schemas.people.role import Role
from schemas.works.curation import StatementSeverity
from schemas.works.curation_edit import EditedField
from tasks.curation.work import CURATE
from tests.support.curation_lake import CURATION, make_curation, publish_curation
from tests.support.dashboard import open_page, sign_in_as, unsafe_parts, words
from warehouse.warehouse import Warehouse

MARKUP = "<script>alert(1)</script> :smile: $x$"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(tmp_path_factory.mktemp("curated"))
    publish_curation(warehouse, make_curation(), replace(make_curation("paper-1"), title=MARKUP))
    return warehouse


@pytest.fixture
def own(published: Warehouse, tmp_path: Path) -> Warehouse:
    return Warehouse(shutil.copytree(published.root, tmp_path / "warehouse"))


def pressed(page: AppTest, label: str) -> AppTest:
    return next(each for each in page.button if each.label == label).click().run()


def saved(page: AppTest) -> AppTest:
    return pressed(page, "Save")


def statement_area(page: AppTest) -> TextArea:
    return next(each for each in page.text_area if each.label == "Statement t1")


def test_readers_see_the_idea_with_the_sentences_of_each_statement(published: Warehouse) -> None:
    page = open_page("curation", published, paper="paper-0")
    said = words(page)
    assert "We will record calls" in said
    assert "The calls are not recorded outdoors" in said
    assert "Left out" in str([each.label for each in page.expander])
    assert not page.button
    assert unsafe_parts(page) == []


def test_hostile_titles_stay_text(published: Warehouse) -> None:
    page = open_page("curation", published, paper="paper-1")
    assert unsafe_parts(page) == []


def test_what_a_decider_saves_is_in_the_set_and_counted_beside_published_shares(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in_as(Role.DECIDER, own, monkeypatch)
    page = open_page("curation", own, paper="paper-0")
    area = statement_area(page)
    area.set_value("Calls should be recorded outdoors too.")
    box = next(each for each in page.selectbox if each.label == "Severity of t1")
    box.set_value("minor")
    page = saved(page)
    assert not page.exception
    assert "8 fields saved, 2 of them changed" in words(page)
    found = curation_page(own, CURATION)
    (statement,) = found.curations[0].statements
    assert statement.statement == "Calls should be recorded outdoors too."
    assert statement.severity is StatementSeverity.MINOR
    assert not statement.is_verbatim
    shares = {share.name: share for share in found.shares}
    assert shares["ideas"].share_0_to_1 == 0
    assert shares["lists of statements"].share_0_to_1 == 1
    assert shares["lists of statements"].published_0_to_1 == 0.791
    assert shares[EditedField.TYPE.value].changed_count == 0
    assert "of ScholarIdeas 79 %" in words(open_page("curation", own, paper="paper-0"))


def test_a_statement_that_is_taken_out_is_in_no_file_and_may_come_back(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in_as(Role.DECIDER, own, monkeypatch)
    page = open_page("curation", own, paper="paper-0")
    page.checkbox[0].uncheck()
    page = saved(page)
    assert curation_page(own, CURATION).curations[0].statements == ()
    page.checkbox[0].check()
    saved(page)
    assert len(curation_page(own, CURATION).curations[0].statements) == 1


@pytest.mark.long
def test_a_second_reader_is_blind_to_the_first_and_leaves_the_set_as_it_is(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in_as(Role.DECIDER, own, monkeypatch)
    page = open_page("curation", own, paper="paper-0")
    statement_area(page).set_value("Worded by the first.")
    saved(page)
    sign_in_as(Role.OWNER, own, monkeypatch)
    page = open_page("curation", own, paper="paper-0")
    page = page.toggle[0].set_value(True).run()
    area = statement_area(page)
    assert area.value == "The calls are not recorded outdoors."
    area.set_value("Worded by the second.")
    page = saved(page)
    assert not page.exception
    found = published_page(CURATE, own, CURATION)
    assert found.curations[0].statements[0].statement == "Worded by the first."
    said = {each.field: (each.equal_count, each.pair_count) for each in found.agreement}
    assert said[EditedField.STATEMENT] == (0, 1)
    assert said[EditedField.TYPE] == (1, 1)


@pytest.mark.long
def test_a_missing_statement_is_added_with_a_sentence_that_the_engine_left_out(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in_as(Role.DECIDER, own, monkeypatch)
    page = open_page("curation", own, paper="paper-0")
    page = pressed(page, "Add")
    assert "was not added" in words(page)
    page.multiselect[0].select("d1")
    area = next(each for each in page.text_area if each.label == "New statement")
    area.set_value("The plan is hard to follow.")
    page = pressed(page, "Add")
    assert not page.exception
    (_, added) = curation_page(own, CURATION).curations[0].statements
    assert (added.statement, added.sentence_ids) == ("The plan is hard to follow.", ("d1",))
    page = open_page("curation", own, paper="paper-0")
    assert "Many typos in the text." in words(page)
    assert f"Statement {added.statement_id}" in [each.label for each in page.text_area]
    page.checkbox[1].uncheck()
    saved(page)
    assert len(curation_page(own, CURATION).curations[0].statements) == 1
