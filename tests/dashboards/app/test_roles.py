"""What readers see and may do by their role; on an open dashboard it is what it was."""

from pathlib import Path

import pytest

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
