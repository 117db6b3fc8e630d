"""Accounts and sessions: who is who, until when, and what remains on disk of a password."""

from datetime import timedelta

import pytest

from schemas.errors import ConfigurationError, ConflictError, NotAllowedError, UnknownNameError
from schemas.people.role import Action, Role, account_name
from warehouse.app.accounts import (
    accounts,
    add_account,
    begin_session,
    has_accounts,
    person_of,
    remove_account,
    set_password,
    set_role,
    sign_in,
    sign_out,
)
from warehouse.app.database import ServiceDatabase

PASSWORD, OTHER = "correct horse battery", "staple of another kind"
HOUR = timedelta(hours=1)


def session(database: ServiceDatabase, name: str = "ada", password: str = PASSWORD) -> str:
    secret = sign_in(database, name, password, HOUR)
    assert secret is not None
    return secret


def test_who_knows_the_password_is_who_the_account_says(database: ServiceDatabase) -> None:
    add_account(database, "ada", Role.VOTER, PASSWORD)
    person = person_of(database, session(database))
    assert person is not None
    assert (person.name, person.role) == ("ada", Role.VOTER)
    assert sign_in(database, "ada", OTHER, HOUR) is None
    assert sign_in(database, "bob", PASSWORD, HOUR) is None
    assert sign_in(database, "ada", PASSWORD + "\x00" * 10_000, HOUR) is None
    assert person_of(database, "") is None


def test_neither_a_password_nor_a_session_stands_on_disk(database: ServiceDatabase) -> None:
    add_account(database, "ada", Role.READER, PASSWORD)
    secret = session(database)
    folder = database.path.parent
    kept = b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())
    assert b"$argon2id$" in kept
    assert PASSWORD.encode() not in kept
    assert secret.encode() not in kept


def test_a_session_ends_with_its_time_a_sign_out_another_password_and_the_account(
    database: ServiceDatabase,
) -> None:
    add_account(database, "ada", Role.READER, PASSWORD)
    old = sign_in(database, "ada", PASSWORD, timedelta(seconds=-1))
    assert old is not None
    assert person_of(database, old) is None
    first, second = session(database), session(database)
    sign_out(database, first)
    assert person_of(database, first) is None
    assert person_of(database, second) is not None
    set_password(database, "ada", OTHER)
    assert person_of(database, second) is None
    third = session(database, password=OTHER)
    remove_account(database, "ada")
    assert person_of(database, third) is None
    assert sign_in(database, "ada", OTHER, HOUR) is None


def test_a_session_ends_no_session_of_another(database: ServiceDatabase) -> None:
    add_account(database, "ada", Role.READER, PASSWORD)
    add_account(database, "bob", Role.READER, PASSWORD)
    ada, bob = session(database), session(database, "bob")
    set_password(database, "ada", OTHER)
    assert person_of(database, ada) is None
    assert person_of(database, bob) is not None


def test_a_new_role_counts_in_open_sessions(database: ServiceDatabase) -> None:
    add_account(database, "ada", Role.OWNER, PASSWORD)
    secret = session(database)
    set_role(database, "ada", Role.READER)
    person = person_of(database, secret)
    assert person is not None
    assert person.role is Role.READER


def test_removing_the_last_account_does_not_open_what_was_closed(
    database: ServiceDatabase,
) -> None:
    assert not has_accounts(database)
    add_account(database, "ada", Role.READER, PASSWORD)
    remove_account(database, "ada")
    assert accounts(database) == ()
    assert has_accounts(database)


def test_a_removed_account_comes_back_as_it_is_made_anew(database: ServiceDatabase) -> None:
    add_account(database, "ada", Role.OWNER, PASSWORD)
    remove_account(database, "ada")
    with pytest.raises(UnknownNameError):
        set_role(database, "ada", Role.OWNER)
    add_account(database, "ada", Role.READER, OTHER)
    assert sign_in(database, "ada", PASSWORD, HOUR) is None
    person = person_of(database, session(database, password=OTHER))
    assert person is not None
    assert person.role is Role.READER


def test_an_account_is_made_once_and_its_password_is_long(database: ServiceDatabase) -> None:
    add_account(database, "ada", Role.READER, PASSWORD)
    with pytest.raises(ConflictError):
        add_account(database, "ada", Role.OWNER, PASSWORD)
    for password in ("", "short", "x" * 201):
        with pytest.raises(ConfigurationError, match="12 to 200 characters"):
            add_account(database, "bob", Role.READER, password)
    assert [each.role for each in accounts(database)] == [Role.READER]


def test_one_known_to_the_provider_alone_signs_in_by_no_password(
    database: ServiceDatabase,
) -> None:
    add_account(database, "ada@example.org", Role.READER, None)
    assert sign_in(database, "ada@example.org", "", HOUR) is None
    assert [each.has_password for each in accounts(database)] == [False]


def test_one_whom_the_provider_confirmed_has_a_session_while_they_have_an_account(
    database: ServiceDatabase,
) -> None:
    assert begin_session(database, "ada@example.org", HOUR) is None
    add_account(database, "ada@example.org", Role.READER, None)
    over = begin_session(database, "ada@example.org", -HOUR)
    secret = begin_session(database, "ada@example.org", HOUR)
    assert over is not None
    assert person_of(database, over) is None
    assert secret is not None
    assert person_of(database, secret) is not None
    remove_account(database, "ada@example.org")
    assert person_of(database, secret) is None
    assert begin_session(database, "ada@example.org", HOUR) is None


def test_accents_are_one_password_however_a_keyboard_composes_them(
    database: ServiceDatabase,
) -> None:
    add_account(database, "ada", Role.READER, "caf\u00e9 au lait noir")
    session(database, password="cafe\u0301 au lait noir")


def test_capitals_make_no_second_account_and_a_name_stands_on_one_line() -> None:
    assert account_name(" Ada@Example.ORG ") == "ada@example.org"
    for name in ("", "a b", "a\nb", "x" * 81):
        with pytest.raises(ConfigurationError):
            account_name(name)


@pytest.mark.parametrize(
    ("role", "refused"),
    [
        (Role.READER, {Action.SUBMIT, Action.VOTE, Action.DECIDE, Action.OVERSEE}),
        (Role.SUBMITTER, {Action.VOTE, Action.DECIDE, Action.OVERSEE}),
        (Role.VOTER, {Action.READ, Action.SUBMIT, Action.DECIDE, Action.OVERSEE}),
        (Role.DECIDER, {Action.OVERSEE}),
        (Role.OWNER, set()),
    ],
)
def test_a_role_may_what_the_one_list_says(role: Role, refused: set[Action]) -> None:
    assert {action for action in Action if not role.may(action)} == refused
    for action in refused:
        with pytest.raises(NotAllowedError, match=f"a {role} may not {action}"):
            role.check(action)
