"""Accounts of a warehouse with their sessions, and API tokens of programs.

Passwords are stored as Argon2 hashes, secrets of sessions and tokens as SHA-256 hashes.
"""

import hashlib
import hmac
import secrets
import unicodedata
from datetime import UTC, datetime, timedelta
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from schemas.base import replace
from schemas.errors import ConfigurationError, ConflictError, UnknownNameError
from schemas.people.role import LONGEST_PASSWORD, SHORTEST_PASSWORD, Account, Person, Role, Token
from schemas.text.patterns import bounded
from warehouse.app.database import ServiceDatabase, Statements, Transaction

_TOKEN = bounded(r"assay_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_TOKEN_ID_BYTES, _SECRET_BYTES = 6, 32
_HASHER = PasswordHasher()


def add_account(database: ServiceDatabase, name: str, role: Role, password: str | None) -> Account:
    """Add an account; a removed one is restored with this role and password.

    Args:
        name: as `account_name` returns it.
        password: None: its holder signs in with the identity provider.

    Raises:
        ConflictError: an account of this name exists.
        ConfigurationError: the password is too short or too long.
    """
    password_hash = None if password is None else _hash_password(password)
    account = Account(
        name=name, role=role, created_at=datetime.now(UTC), has_password=password_hash is not None
    )
    with database.transaction() as work:
        existing = _account(work, name)
        if existing is not None and existing[0].removed_at is None:
            raise ConflictError(f"there is an account {name!r}: `assay accounts list` lists them")
        _put(work, account, password_hash)
    return account


def set_role(database: ServiceDatabase, name: str, role: Role) -> Account:
    """Change the role of an account; it applies to the holder's next request.

    Raises:
        UnknownNameError: there is no such account.
    """
    with database.transaction() as work:
        account, password_hash = _active_account(work, name)
        account = replace(account, role=role)
        _put(work, account, password_hash)
    return account


def set_password(database: ServiceDatabase, name: str, password: str) -> Account:
    """Set the password of an account, and end its sessions.

    Raises:
        UnknownNameError: there is no such account.
        ConfigurationError: the password is too short or too long.
    """
    password_hash = _hash_password(password)
    with database.transaction() as work:
        account = replace(_active_account(work, name)[0], has_password=True)
        _put(work, account, password_hash)
        work.remove("sessions", name=name)
    return account


def remove_account(database: ServiceDatabase, name: str) -> Account:
    """Disable an account and end its sessions. The name stays in records.

    Raises:
        UnknownNameError: there is no such account.
    """
    with database.transaction() as work:
        account = replace(
            _active_account(work, name)[0], removed_at=datetime.now(UTC), has_password=False
        )
        _put(work, account, None)
        work.remove("sessions", name=name)
    return account


def accounts(database: ServiceDatabase) -> tuple[Account, ...]:
    every_account = database.nouns(Account, "accounts", "account", order="name")
    return tuple(each for each in every_account if each.removed_at is None)


def has_accounts(database: ServiceDatabase) -> bool:
    """Return whether there are or were accounts: removing the last one opens nothing."""
    return bool(database.rows("accounts", "name"))


def sign_in(database: ServiceDatabase, name: str, password: str, lifetime: timedelta) -> str | None:
    """Start a session and return its secret; None if name or password is wrong.

    Both failures take the same time, so that names cannot be guessed.
    """
    rows = database.rows("accounts", "password_hash", name=name)
    digest = rows[0][0] if rows else None
    if (
        not _is_password(password, digest if digest is not None else _dummy_hash())
        or digest is None
    ):
        return None
    with database.transaction() as work:
        if work.rows("accounts", "password_hash", name=name) != [(digest,)]:
            return None  # changed during the check
        return _create_session(work, name, lifetime)


def begin_session(database: ServiceDatabase, name: str, lifetime: timedelta) -> str | None:
    """Start a session for a user confirmed by a provider; None without an account."""
    with database.transaction() as work:
        entry = _account(work, name)
        if entry is None or entry[0].removed_at is not None:
            return None
        return _create_session(work, name, lifetime)


def _create_session(work: Transaction, name: str, lifetime: timedelta) -> str:
    secret, now = secrets.token_urlsafe(_SECRET_BYTES), datetime.now(UTC)
    work.ask("forget_sessions", now=now.timestamp())
    ends_at = (now + lifetime).timestamp()
    work.add("sessions", secret_sha256=_sha256(secret), name=name, ends_at=ends_at)
    return secret


def person_of(database: ServiceDatabase, secret: str) -> Person | None:
    """Return the person of a session; None if there is none or it has expired."""
    now = datetime.now(UTC).timestamp()
    for (document,) in database.ask("session", secret_sha256=_sha256(secret), now=now):
        account = Account.model_validate_json(document)
        return Person(name=account.name, role=account.role)
    return None


def sign_out(database: ServiceDatabase, secret: str) -> None:
    with database.transaction() as work:
        work.remove("sessions", secret_sha256=_sha256(secret))


def new_token_id() -> str:
    return secrets.token_hex(_TOKEN_ID_BYTES)


def add_token(database: ServiceDatabase, token: Token) -> str:
    """Store a token, and return the text that its holder sends; it is not stored."""
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    with database.transaction() as work:
        document = token.model_dump_json()
        work.add("tokens", token_id=token.token_id, secret_sha256=_sha256(secret), token=document)
    return f"assay_{token.token_id}_{secret}"


def token_of(database: ServiceDatabase, text: str) -> Token | None:
    """Return the token of a text; None if invalid, expired or revoked."""
    match = _TOKEN.fullmatch(text)
    if match is None:
        return None
    token_id, secret = match.groups()
    for stored_hash, document in database.rows(
        "tokens", "secret_sha256", "token", token_id=token_id
    ):
        token = Token.model_validate_json(document)
        # With 256 random bits the secret needs no slow hash.
        if hmac.compare_digest(stored_hash, _sha256(secret)) and token.valid_at(datetime.now(UTC)):
            return token
    return None


def still_valid(database: ServiceDatabase, token_id: str) -> bool:
    """Return whether a token is neither expired nor revoked."""
    token = database.noun(Token, "tokens", "token", token_id=token_id)
    return token is not None and token.valid_at(datetime.now(UTC))


def tokens(database: ServiceDatabase) -> tuple[Token, ...]:
    return tuple(database.nouns(Token, "tokens", "token"))


def revoke(database: ServiceDatabase, token_id: str) -> Token:
    """Revoke a token; revoking it again changes nothing.

    Raises:
        UnknownNameError: there is no such token.
    """
    with database.transaction() as work:
        token = work.noun(Token, "tokens", "token", token_id=token_id)
        if token is None:
            raise UnknownNameError(f"no token {token_id!r}; `assay tokens list` lists them")
        if token.revoked_at is None:
            token = replace(token, revoked_at=datetime.now(UTC))
            work.change("tokens", {"token": token.model_dump_json()}, token_id=token_id)
        return token


def _account(source: Statements, name: str) -> tuple[Account, str | None] | None:
    for document, password_hash in source.rows("accounts", "account", "password_hash", name=name):
        return Account.model_validate_json(document), password_hash
    return None


def _active_account(work: Transaction, name: str) -> tuple[Account, str | None]:
    entry = _account(work, name)
    if entry is None or entry[0].removed_at is not None:
        raise UnknownNameError(f"no account {name!r}; `assay accounts list` lists them")
    return entry


def _put(work: Transaction, account: Account, password_hash: str | None) -> None:
    row = {"account": account.model_dump_json(), "password_hash": password_hash}
    if not work.change("accounts", row, name=account.name):
        work.add("accounts", name=account.name, **row)


def _hash_password(password: str) -> str:
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise ConfigurationError(
            f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters, and this one"
            f" {len(password)}"
        )
    return _HASHER.hash(_bytes(password))


def _is_password(password: str, password_hash: str) -> bool:
    if len(password) > LONGEST_PASSWORD:
        return False
    try:
        return _HASHER.verify(password_hash, _bytes(password))
    except (VerificationError, InvalidHashError):
        return False


@cache
def _dummy_hash() -> str:
    """Return a hash to verify against where there is no account.

    Without it, the response time would reveal which names exist.
    """
    return _HASHER.hash(secrets.token_bytes(_SECRET_BYTES))


def _bytes(password: str) -> bytes:
    """Encode a password in NFKC, since keyboards compose accented letters in two ways."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace")


def _sha256(secret: str) -> str:
    # With 256 random bits it needs no slow hash.
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
