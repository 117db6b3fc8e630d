"""The page Inbox: for deciders alone, each request once, about the version that was shown."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from schemas.people.decisions import Request, Verdict
from schemas.people.role import Role
from tests.support.dashboard import open_page, sign_in_as, words
from tests.warehouse.conftest import publish_ideas
from warehouse.app.database import ServiceDatabase
from warehouse.app.decisions import decisions, request_all
from warehouse.app.people import add_participant, reason_of
from warehouse.ledger import parts_of
from warehouse.warehouse import Warehouse

MARKUP = "<script>alert(1)</script> :smile: $x$"


@pytest.fixture(scope="module")
def two_ideas(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    found = Warehouse(tmp_path_factory.mktemp("inbox"))
    publish_ideas(found, "run-a", range(2))
    return found


@pytest.fixture
def own(two_ideas: Warehouse, tmp_path: Path) -> Warehouse:
    return Warehouse(shutil.copytree(two_ideas.root, tmp_path / "warehouse"))


def asked(own: Warehouse, key: str, *options: str, name: str = "r1") -> None:
    with own.queries() as queries, ServiceDatabase(own) as database:
        run_id = queries.latest_run().run_id
        idea_id = queries.idea_scores(run_id)[0].idea_id
        who = add_participant(database, "Ada Lovelace", key=key)
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


def buttons(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


def press(page: AppTest, label: str) -> AppTest:
    return next(each for each in page.button if each.label == label).click().run()


def test_a_decider_answers_with_a_reason_and_then_nothing_waits(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(own, sign_in_as(Role.DECIDER, own, monkeypatch))
    page = open_page("inbox", own)
    assert buttons(page) == ["Approve", "Reject", "Comment only"]
    assert "<script>" not in words(page)
    page.text_area[0].set_value("not safe").run()
    page = press(page, "Reject")
    assert not page.exception
    assert "Your answer is kept" in words(page)
    assert "Nothing waits for your answer" in words(page)
    with ServiceDatabase(own) as database:
        made = decisions(database)["r1"]
        assert (made.verdict, reason_of(database, made.reason_sha256)) == ("rejected", "not safe")


def test_alternatives_stand_side_by_side_and_one_is_chosen(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(own, sign_in_as(Role.DECIDER, own, monkeypatch), "two reactors", "one reactor")
    page = open_page("inbox", own)
    assert buttons(page) == ["Choose 1", "Choose 2", "Send back", "Comment only"]
    assert {"two reactors", "one reactor"} <= {each.value for each in page.markdown}
    press(page, "Choose 2")
    with ServiceDatabase(own) as database:
        assert decisions(database)["r1"].choice == 2


def test_a_second_answer_from_another_tab_is_refused_in_one_line(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(own, sign_in_as(Role.DECIDER, own, monkeypatch))
    one, other = open_page("inbox", own), open_page("inbox", own)
    press(one, "Approve")
    other = press(other, "Reject")
    assert not other.exception
    assert "answered before" in words(other)
    with ServiceDatabase(own) as database:
        assert decisions(database)["r1"].verdict is Verdict.APPROVED


@pytest.mark.parametrize("role", [None, Role.READER, Role.VOTER, Role.DECIDER, Role.OWNER])
def test_who_is_not_asked_is_shown_nothing_to_decide(
    own: Warehouse, monkeypatch: pytest.MonkeyPatch, role: Role | None
) -> None:
    asked(own, "somebody else")
    if role is None:
        monkeypatch.setattr("dashboards.app.access._secret", lambda _: None)
    else:
        sign_in_as(role, own, monkeypatch)
    page = open_page("inbox", own)
    assert buttons(page) == []
