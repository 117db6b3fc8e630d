"""The page Decide: for deciders alone, each request answered once, about the version shown."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from dashboards.app.site import idea_path
from schemas.people.decisions import Decision, Request, Stage, Verdict
from schemas.people.role import Role
from tests.support.site import Page, copied, opened, pressed, signed_in
from tests.warehouse.conftest import publish_ideas
from warehouse.app.database import ServiceDatabase
from warehouse.app.decisions import decide_by_rule, decisions, request_all
from warehouse.app.people import add_participant, participant_with, reason_of
from warehouse.app.records import records_of
from warehouse.ledger import parts_of
from warehouse.warehouse import Warehouse

MARKUP = "<script>alert(1)</script> :smile: $x$"


@pytest.fixture(scope="module")
def two_ideas(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    found = Warehouse(tmp_path_factory.mktemp("decide"))
    publish_ideas(found, "run-a", range(2))
    return found


@pytest.fixture
def own(two_ideas: Warehouse, tmp_path: Path) -> Warehouse:
    return copied(two_ideas, tmp_path)


def asked(
    own: Warehouse, *options: str, key: str = "decider", name: str = "r1", idea: int = 0
) -> Request:
    """A request of the participant who signs in with `key`."""
    with own.queries() as queries, ServiceDatabase(own) as database:
        run_id = queries.latest_run().run_id
        idea_id = queries.idea_scores(run_id)[idea].idea_id
        who = participant_with(database, key) or add_participant(database, "Ada Byron", key=key)
        request = Request(
            request_id=name,
            run_id=run_id,
            unit_id=idea_id,
            stage=None,
            criteria=MARKUP,
            options=options,
            parts=parts_of(queries.connection, run_id, idea_id),
            asked_by=None,
            asked_of=(who.participant_id,),
            requested_at=datetime.now(UTC),
        )
        request_all(database, [request])
        return request


def made(own: Warehouse) -> list[Decision]:
    with ServiceDatabase(own) as database:
        return list(records_of(database, "decisions", Decision))


def test_requests_are_listed_with_title_score_why_and_since_when_beside_the_review(
    own: Warehouse,
) -> None:
    asked(own)
    site = signed_in(own, Role.DECIDER)
    today = opened(site, "/")
    assert "1 request waits for your answer" in today.words
    assert "/decide" in today.links("Decide")
    assert today.tree.xpath("//header//*[@class='count']/text()") == ["1"]
    assert opened(signed_in(own, Role.OWNER), "/").tree.xpath("//header//*[@class='count']") == []
    asked(own, name="r2", idea=1)
    page = opened(site, "/decide")
    first, second = page.tree.xpath("//section[@class='requests']//li")
    told = " ".join(first.text_content().split())
    assert told.startswith("Idea 0 ")
    assert "score" in told
    assert "asked by hand · since 20" in told
    (review,) = page.tree.xpath("//section[@class='review']")
    assert "Idea 0" in review.text_content()
    assert "Closest prior work" in review.text_content()
    assert MARKUP in " ".join(review.text_content().split())
    assert page.unsafe == []
    other = opened(site, second.xpath(".//a/@href")[0])
    assert other.tree.xpath("//section[@class='review']/h2/text()") == ["Idea 1"]
    assert other.buttons == ["Approve", "Reject", "Comment only"]
    assert other.tree.xpath("//button/@data-key") == ["a", "r", "c"]


def test_an_answer_without_script_is_confirmed_and_then_nothing_waits(own: Warehouse) -> None:
    asked(own)
    site = signed_in(own, Role.DECIDER)
    asks = Page(pressed(site, opened(site, "/decide"), "Reject", reason=MARKUP))
    assert made(own) == []
    assert "Reject?" in asks.words
    assert asks.unsafe == []
    assert "/decide?request=r1" in asks.links("Take it back")
    assert pressed(site, asks, "Reject").headers["location"] == "/decide"
    page = opened(site, "/decide")
    assert "Nothing waits for your answer" in page.words
    (row,) = page.table("Decision")
    assert (row["What"], row["Decision"], row["Who"]) == ("Idea 0", "Rejected", "you")
    assert row["Why"] == MARKUP
    assert page.unsafe == []
    with ServiceDatabase(own) as database:
        decision = decisions(database)["r1"]
        assert (decision.verdict, reason_of(database, decision.reason_sha256)) == (
            "rejected",
            MARKUP,
        )


def test_alternatives_stand_side_by_side_and_one_is_chosen(own: Warehouse) -> None:
    asked(own, "two reactors", "one reactor")
    site = signed_in(own, Role.DECIDER)
    page = opened(site, "/decide")
    assert page.buttons == ["Choose 1", "Choose 2", "Return for change", "Comment only"]
    assert "one reactor" in page.words
    pressed(site, page, "Choose 2", confirmed="1")
    assert [each.choice for each in made(own)] == [2]
    assert "Chosen 2" in opened(site, "/decide").words


def test_an_answer_sent_twice_is_one_decision_and_leads_to_its_state(own: Warehouse) -> None:
    asked(own)
    site = signed_in(own, Role.DECIDER)
    page = opened(site, "/decide")
    for _ in range(2):
        assert pressed(site, page, "Approve", confirmed="1").status_code == 303
    again = pressed(site, page, "Approve")
    assert "Approved by you on" in opened(site, again.headers["location"]).words
    assert [each.verdict for each in made(own)] == [Verdict.APPROVED]
    for _ in range(2):
        refused = Page(pressed(site, page, "Reject", confirmed="1"))
        assert "Your answer was not taken" in refused.words
        assert "Approved by you on" in refused.words
        assert refused.buttons == []
    assert [each.verdict for each in made(own)] == [Verdict.APPROVED]


def test_a_comment_needs_words_is_kept_once_and_ends_nothing(own: Warehouse) -> None:
    asked(own)
    site = signed_in(own, Role.DECIDER)
    page = opened(site, "/decide")
    empty = Page(pressed(site, page, "Comment only", confirmed="1"))
    assert "write the comment" in empty.words
    for _ in range(2):
        pressed(site, page, "Comment only", confirmed="1", reason="Which bats?")
    pressed(site, page, "Comment only", confirmed="1", reason="And which moths?")
    assert [each.verdict for each in made(own)] == [Verdict.COMMENTED] * 2
    assert "Waiting: 1" in opened(site, "/decide").words


def test_what_is_asked_of_others_can_be_read_and_takes_no_answer(own: Warehouse) -> None:
    asked(own, key="somebody else")
    request = asked(own, name="r2", idea=1)
    site = signed_in(own, Role.DECIDER)
    page = opened(site, "/decide?request=r1")
    assert "It is asked of others" in page.words
    assert page.buttons == []
    place, sent = opened(site, "/decide").form("Approve")
    assert sent["request"] == request.request_id
    assert site.post(place, data=sent | {"request": "r1", "confirmed": "1"}).status_code == 403
    assert site.post(place, data=sent | {"request": "no-such"}).status_code == 404
    assert opened(site, "/decide?request=no-such").status == 404
    for wrong in ("", "chosen", "chosen x", "chosen 1", "sent_back", "no-such"):
        sent = sent | {"answer": wrong, "confirmed": "1"}
        assert site.post(place, data=sent).status_code == 400
    sent |= {"answer": "approved", "reason": "x" * 2_001}
    assert site.post(place, data=sent).status_code == 400
    assert made(own) == []


def test_an_answer_about_an_evaluation_that_changed_is_refused_with_what_changed(
    own: Warehouse,
) -> None:
    request = asked(own)
    other = request.model_copy(update={"request_id": "r0", "parts": ("score=0",)})
    with ServiceDatabase(own) as database:
        request_all(database, [other])
    site = signed_in(own, Role.DECIDER)
    page = opened(site, "/decide?request=r0")
    refused = Page(pressed(site, page, "Approve", confirmed="1", reason="It is sound."))
    assert "has changed since it was asked" in refused.words
    assert refused.form("Approve")[1]["reason"] == "It is sound."
    assert made(own) == []


def test_who_is_no_participant_is_told_what_to_do(own: Warehouse) -> None:
    asked(own, key="somebody else")
    site = signed_in(own, Role.DECIDER)
    page = opened(site, "/decide")
    assert "Nothing can be asked of the account decider yet" in page.words
    assert 'assay people add "Your Name" --key decider' in page.words
    assert page.buttons == []
    sent = {"request": "r1", "answer": "approved", "confirmed": "1"}
    assert site.post("/decide", data=sent).status_code == 403


def test_what_was_decided_stands_on_the_page_of_the_idea_without_names_for_readers(
    own: Warehouse,
) -> None:
    request = asked(own)
    by_rule = asked(own, name="r2", idea=1).model_copy(update={"stage": Stage.RANK})
    with ServiceDatabase(own) as database:
        told = (by_rule, Verdict.APPROVED, "score 8.10 is at least 8")
        decide_by_rule(database, {by_rule.request_id: told})
    site = signed_in(own, Role.DECIDER)
    pressed(site, opened(site, "/decide"), "Approve", confirmed="1", reason="We can do it.")
    place = idea_path(request.run_id, request.unit_id)
    (row,) = opened(signed_in(own, Role.OWNER), place).table("Decision")
    assert (row["Decision"], row["Who"], row["Why"]) == ("Approved", "Ada Byron", "We can do it.")
    (row,) = opened(signed_in(own, Role.READER), place).table("Decision")
    assert row["Who"].startswith("p-")
    assert row["Why"] == ""
    other = opened(site, idea_path(by_rule.run_id, by_rule.unit_id))
    assert other.table("Decision")[0]["Who"] == "a rule of the project"
    assert "score 8.10 is at least 8" in other.words


def test_work_of_another_kind_and_a_whole_run_can_be_decided_on(own: Warehouse) -> None:
    request = asked(own)
    with own.queries() as queries, ServiceDatabase(own) as database:
        whole = {"request_id": "whole", "unit_id": "", "stage": None}
        parts = {"parts": parts_of(queries.connection, request.run_id, "")}
        gone = {"request_id": "gone", "run_id": "no-such", "unit_id": "x"}
        request_all(
            database,
            [request.model_copy(update=whole | parts), request.model_copy(update=gone)],
        )
    site = signed_in(own, Role.DECIDER)
    page = opened(site, "/decide?request=whole")
    assert "Run run-a" in page.words
    assert page.links("The report") == ["/runs/run-a"]
    pressed(site, page, "Approve", confirmed="1")
    assert [each.request_id for each in made(own)] == ["whole"]
    assert "not published here" in opened(site, "/decide?request=gone").words.lower()
