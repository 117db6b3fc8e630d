"""API tokens of a warehouse: shown once, stored as a hash."""

import hashlib
import hmac
import secrets
from datetime import UTC, datetime

from schemas.base import replace
from schemas.errors import UnknownNameError
from schemas.people.role import Token
from schemas.text.patterns import bounded
from warehouse.app.database import ServiceDatabase

_TOKEN = bounded(r"assay_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_ID_BYTES, _SECRET_BYTES = 6, 32


def new_token_id() -> str:
    return secrets.token_hex(_ID_BYTES)


def add_token(database: ServiceDatabase, token: Token) -> str:
    """Store a token, and return the text that its holder sends; it is not stored."""
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    with database.transaction() as work:
        document = token.model_dump_json()
        work.add("tokens", token_id=token.token_id, secret_sha256=_hash(secret), token=document)
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
        if hmac.compare_digest(stored_hash, _hash(secret)) and token.valid_at(datetime.now(UTC)):
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


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
