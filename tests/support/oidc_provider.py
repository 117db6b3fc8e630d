"""An OpenID Connect provider on loopback that signs in whoever comes, as whoever a test says."""

import base64
import hmac
import json
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.support.loopback import Loopback, QuietHandler, serving


@dataclass
class Provider(Loopback):
    """Answers with `claims`; those of a test, None for one that is left out.

    Attributes:
        signed: what signs them, an algorithm's name: "RS256" with its own key, "HS256" with the
            public one, "none", or "stranger" for another key.
        back: what it adds to the address to which the browser goes back.
    """

    claims: dict[str, Any] = field(default_factory=dict)
    signed: str = "RS256"
    back: dict[str, str] = field(default_factory=dict)
    nonces: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "a", "use": "sig", "alg": "RS256"})

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def authorized(self, asked: Mapping[str, list[str]]) -> str:
        """Where the browser goes on."""
        code = f"code-{len(self.nonces)}"
        self.nonces[code] = asked.get("nonce", [""])[0]
        back = urlencode({"code": code, "state": asked["state"][0]} | self.back)
        return f"{asked['redirect_uri'][0]}?{back}"

    def token(self, code: str) -> dict[str, Any]:
        now = int(time.time())
        told = {"iss": self.url, "aud": "assay", "sub": "1", "iat": now, "exp": now + 3600}
        told |= {"nonce": self.nonces[code]} | self.claims
        told = {name: value for name, value in told.items() if value is not None}
        signed = self._token_of(told)
        return {"access_token": "x", "token_type": "Bearer", "expires_in": 3600, "id_token": signed}

    def _token_of(self, told: dict[str, Any]) -> str:
        if self.signed == "none":
            head = {"alg": "none", "kid": "a"}
            return ".".join((*(_encoded(json.dumps(part)) for part in (head, told)), ""))
        if self.signed == "HS256":
            head = {"alg": "HS256", "kid": "a"}
            text = ".".join(_encoded(json.dumps(part)) for part in (head, told))
            public = self.key.as_pem(private=False)
            return f"{text}.{_encoded(hmac.digest(public, text.encode(), 'sha256'))}"
        key = self.key
        if self.signed == "stranger":
            key = RSAKey.generate_key(2048, {"kid": "a", "use": "sig", "alg": "RS256"})
        return jwt.encode({"alg": "RS256", "kid": "a"}, told, key)


def _encoded(part: str | bytes) -> str:
    content = part.encode() if isinstance(part, str) else part
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def oidc_provider() -> AbstractContextManager[Provider]:
    return serving(Provider, _Handler)


class _Handler(QuietHandler):
    def answer(self) -> None:
        provider, at = self.told, urlsplit(self.path)
        if at.path == "/authorize":
            self.send_whole(302, Location=provider.authorized(parse_qs(at.query)))
        elif at.path == "/keys":
            self._tell({"keys": [provider.key.as_dict(private=False)]})
        elif self.command == "POST":
            self._tell(provider.token(parse_qs(self.body().decode())["code"][0]))
        else:
            self._tell(provider.metadata())

    def _tell(self, document: dict[str, Any]) -> None:
        self.send_whole(200, json.dumps(document).encode(), Content_Type="application/json")
