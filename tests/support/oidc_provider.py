"""An OpenID Connect provider on loopback that signs in whoever comes, as whoever a test says."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey


class Provider:
    """Answers with `claims`; those of a test."""

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {}
        self.url = ""
        self.key = RSAKey.generate_key(2048, {"kid": "a", "use": "sig", "alg": "RS256"})
        self.nonces: dict[str, str] = {}

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
        back = urlencode({"code": code, "state": asked["state"][0]})
        return f"{asked['redirect_uri'][0]}?{back}"

    def token(self, code: str) -> dict[str, Any]:
        now = int(time.time())
        told = {"iss": self.url, "aud": "assay", "sub": "1", "iat": now, "exp": now + 3600}
        told |= {"nonce": self.nonces[code]} | self.claims
        signed = jwt.encode({"alg": "RS256", "kid": "a"}, told, self.key)
        return {"access_token": "x", "token_type": "Bearer", "expires_in": 3600, "id_token": signed}


@contextmanager
def oidc_provider() -> Iterator[Provider]:
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            at = urlsplit(self.path)
            if at.path == "/authorize":
                self.send_response(302)
                self.send_header("Location", provider.authorized(parse_qs(at.query)))
                self.end_headers()
            elif at.path == "/keys":
                self._tell({"keys": [provider.key.as_dict(private=False)]})
            else:
                self._tell(provider.metadata())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._tell(provider.token(parse_qs(body)["code"][0]))

        def _tell(self, document: dict[str, Any]) -> None:
            content = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield provider
        server.shutdown()
