"""Who reads the pages, and what they may do.

Three ways to run the dashboard: open; with one password for all (ASSAY_DASHBOARD__PASSWORD); or
with accounts (`assay accounts add`), from the first of which on everybody signs in.
"""

import hashlib
import hmac
import math
import os
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase
from typing import Any
from urllib.parse import quote

import streamlit as st
from pydantic import SecretStr
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboards.app.attempts import Attempts
from schemas.base import encodable
from schemas.errors import NotAllowedError
from schemas.identifiers import content_hash
from schemas.people.role import Action, Person
from schemas.settings import DashboardSettings, Settings
from warehouse.app.accounts import (
    account_of,
    claims_ended,
    end_claims,
    has_accounts,
    person_of,
    sign_out,
)
from warehouse.app.database import ServiceDatabase, services_file
from warehouse.warehouse import Warehouse

SIGN_IN_PATH = "/sign-in"
OF_AN_OPEN_DASHBOARD = frozenset({Action.READ, Action.SUBMIT})
"""What its readers may do where nobody signs in: nothing that bears a name."""

_ADMITTED = "admitted"
_OWN = "ASSAY_DASHBOARD"
_SMALL_LETTERS = str.maketrans(ascii_uppercase, ascii_lowercase)


def signed_in(warehouse: Warehouse) -> Person | None:
    """Who reads this page, asked anew each time: a sign-out elsewhere counts at once.

    None where nobody signs in (`asks_sign_in`), and for who has not. Pages are drawn for nobody who
    has not signed in where that is asked, so that on a page None means an open dashboard. Whoever
    writes what bears a name (votes, decisions) takes it from here, and checks
    `person.role.check(Action.VOTE)` in what writes.

    Raises:
        ConfigurationError: the database of the services cannot be used.
    """
    settings = _settings()
    if not asks_sign_in(warehouse, settings):
        return None
    secret = _secret(warehouse)
    person = person_of(services_of(warehouse), secret) if secret else None
    return person or _known_to_provider(warehouse, settings)


def may(warehouse: Warehouse, action: Action) -> bool:
    """Whether this reader may do it: controls for what they may not are left out of a page."""
    person = signed_in(warehouse)
    if person is not None:
        return person.role.may(action)
    return action in OF_AN_OPEN_DASHBOARD and not asks_sign_in(warehouse, _settings())


def check_may(warehouse: Warehouse, action: Action) -> Person | None:
    """For what writes: who does it; None on an open dashboard.

    Raises:
        NotAllowedError: this reader may not, or has signed out since the page was drawn.
    """
    person = signed_in(warehouse)
    if person is not None:
        person.role.check(action)
    elif not may(warehouse, action):
        raise NotAllowedError(f"sign in to {action}")
    return person


def asks_sign_in(warehouse: Warehouse, settings: DashboardSettings) -> bool:
    """Whether pages are for those alone who have signed in."""
    return settings.provider is not None or by_password(warehouse)


def by_password(warehouse: Warehouse) -> bool:
    """Whether there are accounts; a warehouse without any gets no database by being asked."""
    return services_file(warehouse).exists() and has_accounts(services_of(warehouse))


def services_of(warehouse: Warehouse) -> ServiceDatabase:
    """The database that pages and programs write what they are asked for to."""
    return _services(warehouse.root.resolve())


def _settings() -> DashboardSettings:
    """Read once: a page asks many times who reads it."""
    named = (each for each in os.environ.items() if each[0].upper().startswith(_OWN))
    return _read(tuple(sorted(named)))


@cache
def _read(named: tuple[tuple[str, str], ...]) -> DashboardSettings:
    del named  # other values are other settings
    return Settings().dashboard


@cache
def _services(root: Path) -> ServiceDatabase:
    return ServiceDatabase(Warehouse(root))


def cookie_name(warehouse: Warehouse) -> str:
    """Of this warehouse: browsers send a cookie to every port of a machine."""
    return f"assay_{content_hash(str(warehouse.root.resolve()), length=16)}"


def admitted(warehouse: Warehouse, settings: DashboardSettings) -> bool:
    """Whether this reader may see the pages; shows how to sign in, or asks for the password, where
    that is needed and was not done yet.
    """
    if not asks_sign_in(warehouse, settings):
        return _knows_password(settings.password)
    if signed_in(warehouse) is not None:
        return True
    st.title("Assay", anchor=False)
    if settings.provider is not None:
        claims = _claims(settings)
        if claims and not claims_ended(services_of(warehouse), _named(claims)):
            st.error(
                "There is no account here for the confirmed e-mail address that the provider names:"
                " whoever runs this dashboard makes one."
            )
            st.button("Sign out", key="sign_out", on_click=st.logout)
        elif st.button("Sign in", key="sign_in", type="primary"):
            st.login()
    if by_password(warehouse):
        st.html(f'<a href="{SIGN_IN_PATH}?next={quote(_place(), safe="")}">Sign in by password</a>')
    return False


def show_person(warehouse: Warehouse) -> None:
    """Who is signed in, with the way out, in the menu; nothing where nobody signs in."""
    person = signed_in(warehouse)
    if person is None:
        return
    st.caption("Signed in")
    st.text(f"{person.name}, {person.role}")
    if st.button("Sign out", key="sign_out"):
        if secret := _secret(warehouse):
            sign_out(services_of(warehouse), secret)
        _sign_out_of_provider(warehouse)
        st.rerun()


def _sign_out_of_provider(warehouse: Warehouse) -> None:
    """Also for what else shows the cookie of this sign-in, which only this browser forgets."""
    settings = _settings()
    if settings.provider is not None and st.user.is_logged_in:
        claims: dict[str, Any] = st.user.to_dict()
        end_claims(services_of(warehouse), _named(claims), _end_of(claims, settings))
        st.logout()


def _secret(warehouse: Warehouse) -> str | None:
    """What the reader's browser shows of its session, as it opened this page."""
    found: str | None = st.context.cookies.get(cookie_name(warehouse))
    return found


def _known_to_provider(warehouse: Warehouse, settings: DashboardSettings) -> Person | None:
    """The account of the e-mail address that the provider has confirmed."""
    claims = _claims(settings)
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str):
        return None
    if not encodable(email) or claims_ended(services_of(warehouse), _named(claims)):
        return None
    # Other folding would take an address for another one, such as `ß` for `ss`.
    account = account_of(services_of(warehouse), email.translate(_SMALL_LETTERS))
    return None if account is None else Person(name=account.name, role=account.role)


def _claims(settings: DashboardSettings) -> dict[str, Any]:
    """What the provider says of this reader; empty when it said nothing, too long ago, or said it
    to another than this dashboard.
    """
    if settings.provider is None or not st.user.is_logged_in:
        return {}
    claims: dict[str, Any] = st.user.to_dict()
    audience = claims.get("aud")
    if settings.provider.client_id not in (audience if isinstance(audience, list) else [audience]):
        return {}
    return claims if _end_of(claims, settings) > datetime.now(UTC) else {}


def _end_of(claims: dict[str, Any], settings: DashboardSettings) -> datetime:
    begun = datetime.fromtimestamp(float(claims.get("iat") or 0), UTC)
    return begun + timedelta(hours=settings.session_hours)


def _named(claims: dict[str, Any]) -> str:
    """What names a sign-in with the provider."""
    return content_hash("provider", str(claims.get("sub")), str(claims.get("iat")))


def _place() -> str:
    """Where the reader wanted to go, as a path of this site."""
    found = str(st.context.url or "").partition("://")[2].partition("/")[2]
    query = "&".join(
        f"{quote(name, safe='')}={quote(value, safe='')}"
        for name in st.query_params
        for value in st.query_params.get_all(name)
    )
    return f"/{found.partition('?')[0]}{'?' if query else ''}{query}"


def _knows_password(password: SecretStr | None) -> bool:
    if password is None or st.session_state.get(_ADMITTED) is True:
        return True
    st.title("Assay", anchor=False)
    with st.form("password_form", border=False):
        given = st.text_input(
            "Password", type="password", key="password", autocomplete="current-password"
        )
        sent = st.form_submit_button("Enter", key="password_enter")
    if not sent:
        return False
    return _check(given or "", password)


def same(given: str, expected: SecretStr) -> bool:
    """Compared in a time that tells nothing of either, their lengths included."""
    return hmac.compare_digest(
        *(
            hashlib.sha256(text.encode("utf-8", "replace")).digest()
            for text in (given, expected.get_secret_value())
        )
    )


def _check(given: str, password: SecretStr) -> bool:
    attempts: Attempts = _attempts()
    right = same(given, password)
    wait_seconds = attempts.hear(_client(), right=right)
    if wait_seconds > 0:
        st.error(f"Too many wrong passwords: wait {math.ceil(wait_seconds)} s.")
    elif not right:
        st.error("Wrong password.")
    else:
        st.session_state[_ADMITTED] = True
        st.rerun()  # draws the page without the form
    return False


def _client() -> str:
    """The reader's address; on this machine itself, where several may share one, the session."""
    context = get_script_run_ctx()
    return st.context.ip_address or (context.session_id if context else "")


@st.cache_resource(show_spinner=False)  # type: ignore[untyped-decorator]
def _attempts() -> Attempts:
    return Attempts()
