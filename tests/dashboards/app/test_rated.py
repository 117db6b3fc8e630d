"""Rated ideas: what each paper gave; deciders edit it, and how much is counted."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from dashboards.views.write_curation import curation_page
from flows.run.declared_campaign import published_page
from schemas.base import replace
from schemas.people.role import Role
from schemas.works.curation import StatementSeverity
from schemas.works.curation_edit import EditedField
from tasks.curation.work import CURATE
from tests.support.curation_lake import CURATION, make_curation, publish_curation
from tests.support.site import Page, copied, opened, signed_in, site_of
from warehouse.warehouse import Warehouse

MARKUP = "<script>alert(1)</script> :smile: $x$"
PATH = "/operate/rated"
PAPER = {"paper": "paper-0"}
STATEMENT = "t1.statement"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(tmp_path_factory.mktemp("curated"))
    publish_curation(warehouse, make_curation(), replace(make_curation("paper-1"), title=MARKUP))
    return warehouse


@pytest.fixture
def own(published: Warehouse, tmp_path: Path) -> Warehouse:
    return copied(published, tmp_path)


def form_of(page: Page, button: str = "Save") -> dict[str, object]:
    return page.form(button)[1]


def sent(site: TestClient, fields: dict[str, object]) -> Page:
    """The page that a form leads to."""
    answer = site.post(PATH, data=fields)
    assert answer.status_code == 303, answer.text
    return opened(site, answer.headers["location"])


def test_readers_see_the_idea_with_the_sentences_of_each_statement(published: Warehouse) -> None:
    page = opened(site_of(published), PATH, PAPER)
    assert "We will record calls" in page.words
    assert "The calls are not recorded outdoors" in page.words
    assert "Left out" in page.words
    assert page.tree.xpath("//main//form[@method='post']") == []
    assert page.unsafe == opened(site_of(published), PATH, {"paper": "paper-1"}).unsafe == []


def test_what_a_decider_saves_is_in_the_set_and_counted_beside_published_shares(
    own: Warehouse,
) -> None:
    site = signed_in(own, Role.DECIDER)
    assert opened(site, PATH, {"paper": "paper-1"}).unsafe == []
    fields = form_of(opened(site, PATH, PAPER))
    changed = {STATEMENT: "Calls should be recorded outdoors too.", "t1.severity": "minor"}
    page = sent(site, fields | changed)
    assert "8 fields saved, 2 of them changed" in page.words
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
    rows = {row["Of"]: row for row in page.table("Published")}
    assert rows["lists of statements"]["Published"] == "79 %"


def test_a_field_that_holds_what_it_cannot_is_refused(own: Warehouse) -> None:
    site = signed_in(own, Role.DECIDER)
    fields = form_of(opened(site, PATH, PAPER))
    for wrong, told in (
        ({"t1.severity": "huge"}, "choose one of"),
        ({STATEMENT: "x" * 3000}, "at most"),
    ):
        refused = Page(site.post(PATH, data=fields | wrong))
        assert (refused.status, told in refused.words) == (400, True)
    assert curation_page(own, CURATION).edits == ()


def test_a_statement_that_is_taken_out_is_in_no_file_and_may_come_back(own: Warehouse) -> None:
    site = signed_in(own, Role.DECIDER)
    fields = form_of(opened(site, PATH, PAPER))
    page = sent(site, {name: value for name, value in fields.items() if name != "t1.kept"})
    assert curation_page(own, CURATION).curations[0].statements == ()
    sent(site, form_of(page) | {"t1.kept": "yes"})
    assert len(curation_page(own, CURATION).curations[0].statements) == 1


def test_a_second_reader_is_blind_to_the_first_and_leaves_the_set_as_it_is(own: Warehouse) -> None:
    first = signed_in(own, Role.DECIDER)
    sent(first, form_of(opened(first, PATH, PAPER)) | {STATEMENT: "Worded by the first."})
    second = signed_in(own, Role.OWNER)
    page = opened(second, PATH, PAPER | {"blind": "1"})
    assert "Worded by the first." not in page.words
    fields = form_of(page)
    assert str(fields[STATEMENT]).strip() == "The calls are not recorded outdoors."
    sent(second, fields | {STATEMENT: "Worded by the second."})
    found = published_page(CURATE, own, CURATION)
    assert found.curations[0].statements[0].statement == "Worded by the first."
    said = {each.field: (each.equal_count, each.pair_count) for each in found.agreement}
    assert said[EditedField.STATEMENT] == (0, 1)
    assert said[EditedField.TYPE] == (1, 1)


def test_a_missing_statement_is_added_with_a_sentence_that_the_engine_left_out(
    own: Warehouse,
) -> None:
    site = signed_in(own, Role.DECIDER)
    fields = form_of(opened(site, PATH, PAPER), "Add")
    refused = Page(site.post(PATH, data=fields))
    assert "the statement was not added" in refused.words
    new = {"new.statement": "The plan is hard to follow.", "new.sentences": ["d1"]}
    page = sent(site, fields | new)
    (_, added) = curation_page(own, CURATION).curations[0].statements
    assert (added.statement, added.sentence_ids) == ("The plan is hard to follow.", ("d1",))
    assert "Many typos in the text." in page.words
    kept = form_of(page)
    assert f"{added.statement_id}.statement" in kept
    del kept[f"{added.statement_id}.kept"]
    sent(site, kept)
    assert len(curation_page(own, CURATION).curations[0].statements) == 1
