"""What readers see and may do by their role; on an open dashboard it is what it was."""

from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from dashboards.app.access import check_may, may, signed_in
from dashboards.app.evaluating.asking import ask, stop
from schemas.errors import NotAllowedError
from schemas.people.job import JobState, JobStatus
from schemas.people.role import Action, Role
from tests.support.dashboard import open_app, sign_in_as, words
from tests.support.jobs import evaluate_job, known
from warehouse.app.accounts import remove_account, set_role
from warehouse.app.database import ServiceDatabase
from warehouse.app.jobs import job_ids, submit, write_status
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
    assert "Evaluate one" in titles(warehouse, monkeypatch)
    for role, there in ((Role.READER, False), (Role.SUBMITTER, True)):
        sign_in_as(role, warehouse, monkeypatch)
        found = titles(warehouse, monkeypatch)
        assert ("Evaluate one" in found) is there


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


def test_what_a_role_may_not_do_is_refused_in_what_writes_too(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role in (Role.READER, Role.VOTER):
        sign_in_as(role, warehouse, monkeypatch)
        with pytest.raises(NotAllowedError, match=f"a {role} may not submit ideas"):
            ask(warehouse, evaluate_job())
    monkeypatch.setattr("dashboards.app.access._secret", lambda _: None)
    with pytest.raises(NotAllowedError, match="sign in to submit ideas"):
        ask(warehouse, evaluate_job())
    assert list(job_ids(warehouse)) == []


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


def test_a_job_is_in_the_name_of_who_asks_and_another_neither_sees_nor_stops_it(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = sign_in_as(Role.SUBMITTER, warehouse, monkeypatch)
    job_id = ask(warehouse, evaluate_job())
    job = known(warehouse, job_id)
    assert job.request is not None
    assert job.request.asked_by == name
    theirs = known(warehouse, submit(warehouse, evaluate_job("Another idea.")))
    write_status(theirs, JobStatus(state=JobState.QUEUED))
    with pytest.raises(NotAllowedError, match="another's"):
        stop(warehouse, theirs)
    stop(warehouse, job)
    assert known(warehouse, job_id).stop_requested
    sign_in_as(Role.OWNER, warehouse, monkeypatch)
    stop(warehouse, theirs)
    assert known(warehouse, theirs.job_id).stop_requested


def test_on_an_open_dashboard_nobody_votes_or_decides(warehouse: Warehouse) -> None:
    assert signed_in(warehouse) is None
    assert may(warehouse, Action.SUBMIT)
    for action in (Action.VOTE, Action.DECIDE, Action.OVERSEE):
        with pytest.raises(NotAllowedError):
            check_may(warehouse, action)
