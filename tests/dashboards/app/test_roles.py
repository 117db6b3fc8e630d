"""What readers see and may do by their role; on an open dashboard it is what it was."""

from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from dashboards.app.access import check_may, may, signed_in
from schemas.errors import NotAllowedError
from schemas.people.role import Action, Role
from tests.support.dashboard import open_app, sign_in_as, words
from warehouse.app.accounts import remove_account, set_role
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    found = Warehouse(tmp_path / "warehouse")
    found.root.mkdir()
    return found


def titles(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    app = open_app(warehouse, monkeypatch)
    assert not app.exception
    return {link.proto.label for link in app.sidebar.get("page_link")}


def test_a_page_that_a_role_may_not_use_is_not_there(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role, there in ((Role.READER, True), (Role.VOTER, False)):
        sign_in_as(role, warehouse, monkeypatch)
        found = titles(warehouse, monkeypatch)
        assert ("Inbox" in found) is there
        assert "Vote" in found


def test_a_voter_reaches_no_page_of_streamlit(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in_as(Role.VOTER, warehouse, monkeypatch)
    offered: list[str] = []

    def navigation(pages: list[Any], **options: Any) -> Any:
        offered.extend(page.url_path for page in pages)
        return known_navigation(pages, **options)

    known_navigation = st.navigation
    monkeypatch.setattr(st, "navigation", navigation)
    assert titles(warehouse, monkeypatch) == set()
    assert offered == [""], "the page of no address"


def test_the_menu_says_who_is_signed_in_and_lets_them_out(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = sign_in_as(Role.READER, warehouse, monkeypatch)
    app = open_app(warehouse, monkeypatch)
    assert f"{name}, reader" in words(app)
    app.button(key="sign_out").click().run()
    assert signed_in(warehouse) is None


def test_a_role_that_was_taken_away_is_gone_at_once(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = sign_in_as(Role.OWNER, warehouse, monkeypatch)
    with ServiceDatabase(warehouse) as database:
        set_role(database, name, Role.READER)
        with pytest.raises(NotAllowedError):
            check_may(warehouse, Action.SUBMIT)
        remove_account(database, name)
    assert signed_in(warehouse) is None
    with pytest.raises(NotAllowedError, match="sign in"):
        check_may(warehouse, Action.READ)


def test_on_an_open_dashboard_nobody_votes_or_decides(warehouse: Warehouse) -> None:
    assert signed_in(warehouse) is None
    assert may(warehouse, Action.SUBMIT)
    for action in (Action.VOTE, Action.DECIDE, Action.OVERSEE):
        with pytest.raises(NotAllowedError):
            check_may(warehouse, action)
