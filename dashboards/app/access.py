"""Readers of the dashboard and their permissions.

The dashboard runs in one of three ways: open; with one password for everybody
(ASSAY_DASHBOARD__PASSWORD); or with accounts (`assay accounts add`). As soon as one account exists,
everybody signs in, by password or with the provider of the settings.
"""

import hashlib
import hmac
import secrets
import threading
import time
from datetime import timedelta
from enum import Enum
from functools import cache
from pathlib import Path

from pydantic import SecretStr
from starlette.requests import HTTPConnection

from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash
from schemas.people.role import Action, Person
from schemas.settings import DashboardSettings
from warehouse.app.accounts import has_accounts, person_of, sign_out
from warehouse.app.database import ServiceDatabase, services_file
from warehouse.warehouse import Warehouse

SIGN_IN_PATH = "/sign-in"
# Readers of an open dashboard may do nothing that is recorded under a name.
OPEN_ACTIONS = frozenset({Action.READ, Action.SUBMIT})
LIFETIME = timedelta(hours=12)  # of a sign-in: a working day
_SECRET_BYTES = 32


class SignInBy(Enum):
    """Ways to sign in."""

    NOTHING = "nothing"
    ONE_PASSWORD = "one password for all"  # noqa: S105 a way, not a password
    ACCOUNT = "an account"


class Access:
    """Access decisions, made again for each request.

    Sessions are not cached, so that signing out elsewhere takes effect at once.
    """

    def __init__(self, warehouse: Warehouse, settings: DashboardSettings) -> None:
        self.warehouse, self.settings = warehouse, settings
        self._sessions: dict[str, float] = {}
        self._had_accounts = False
        self._lock = threading.Lock()

    @property
    def sign_in_by(self) -> SignInBy:
        file = services_file(self.warehouse)
        # A missing folder, such as an unmounted share, must not open the pages to everybody.
        if self._had_accounts and not file.exists():
            raise ConfigurationError(f"{file} is gone, so nobody can be admitted: bring it back")
        self._had_accounts = self._had_accounts or has_password_accounts(self.warehouse)
        if self.settings.provider is not None or self._had_accounts:
            return SignInBy.ACCOUNT
        return SignInBy.NOTHING if self.settings.password is None else SignInBy.ONE_PASSWORD

    def person(self, connection: HTTPConnection) -> Person | None:
        """Return the account holder who is signed in.

        None: nobody is signed in, or the dashboard has no accounts.

        Raises:
            ConfigurationError: the services database cannot be used.
        """
        secret = self.secret(connection)
        if secret is None or self.sign_in_by is not SignInBy.ACCOUNT:
            return None
        return person_of(services_of(self.warehouse), secret)

    def admits(self, connection: HTTPConnection) -> bool:
        """Return whether this reader may see pages at all."""
        sign_in_by = self.sign_in_by
        if sign_in_by is SignInBy.ACCOUNT:
            return self.person(connection) is not None
        if sign_in_by is SignInBy.NOTHING:
            return True
        ends_at = self._sessions.get(_hash_of(self.secret(connection) or ""))
        return ends_at is not None and time.monotonic() < ends_at

    def actions(self, person: Person | None) -> frozenset[Action]:
        """Return the actions of an admitted reader.

        Args:
            person: None: the dashboard has no accounts.
        """
        if person is None:
            return frozenset() if self.sign_in_by is SignInBy.ACCOUNT else OPEN_ACTIONS
        return frozenset(action for action in Action if person.role.may(action))

    def begin_without_account(self) -> str:
        """Begin a session after the shared password; return the cookie's value.

        The session is stored in this process only and ends with it.
        """
        now = time.monotonic()
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        with self._lock:  # else a concurrent sign-out could be undone
            self._sessions = {key: ends for key, ends in self._sessions.items() if now < ends}
            self._sessions[_hash_of(secret)] = now + LIFETIME.total_seconds()
        return secret

    def end(self, connection: HTTPConnection) -> None:
        """End the session of this browser, if it has one."""
        secret = self.secret(connection)
        if secret is None:
            return
        with self._lock:
            self._sessions.pop(_hash_of(secret), None)
        if self.sign_in_by is SignInBy.ACCOUNT:
            sign_out(services_of(self.warehouse), secret)

    def secret(self, connection: HTTPConnection) -> str | None:
        """Return the session secret in the browser's cookie."""
        return connection.cookies.get(cookie_name(self.warehouse))


def has_password_accounts(warehouse: Warehouse) -> bool:
    """Return whether accounts exist, without creating the database."""
    return services_file(warehouse).exists() and has_accounts(services_of(warehouse))


def services_of(warehouse: Warehouse) -> ServiceDatabase:
    """Return the database of accounts, decisions, votes and tokens."""
    return _services(warehouse.root.resolve())


@cache
def _services(root: Path) -> ServiceDatabase:
    return ServiceDatabase(Warehouse(root))


def cookie_name(warehouse: Warehouse) -> str:
    """Return a cookie name unique to this warehouse.

    Browsers send a cookie to every port of a machine.
    """
    return f"assay_{content_hash(str(warehouse.root.resolve()), length=16)}"


def equal_in_constant_time(text: str, expected: SecretStr) -> bool:
    """Compare in a time independent of both texts and their lengths."""
    return hmac.compare_digest(_hash_of(text), _hash_of(expected.get_secret_value()))


def _hash_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
