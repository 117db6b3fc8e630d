"""Sign-in by an OpenID Connect provider."""

from datetime import UTC, datetime, timedelta
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import httpx2
from authlib.integrations.starlette_client import OAuth, OAuthError
from joserfc.errors import JoseError
from starlette.requests import Request
from starlette.responses import Response

from schemas.base import encodable
from schemas.settings import ProviderSettings

_SMALL_LETTERS = str.maketrans(ascii_uppercase, ascii_lowercase)
# Raised by Authlib when a provider is unreachable or its response is invalid.
UNUSABLE = (
    OAuthError,
    JoseError,
    httpx2.HTTPError,
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    OverflowError,
    RuntimeError,
)


class Provider:
    """The OpenID Connect provider of the settings."""

    def __init__(self, settings: ProviderSettings, lifetime: timedelta) -> None:
        self._settings, self._lifetime = settings, lifetime
        self._client: Any = OAuth().register(
            "provider",
            client_id=settings.client_id,
            client_secret=settings.client_secret.get_secret_value(),
            server_metadata_url=settings.server_metadata_url,
            client_kwargs={"scope": "openid email profile"},
        )

    async def redirect(self, request: Request) -> Response:
        """Redirect to the provider's page."""
        response: Response = await self._client.authorize_redirect(
            request, self._settings.redirect_uri
        )
        return response

    async def confirmed_email(self, request: Request) -> tuple[str, timedelta]:
        """Return the confirmed e-mail address in lowercase, and how long it is valid.

        Raises:
            UNUSABLE: the provider or the browser's response cannot be trusted.
        """
        answer = await self._client.authorize_access_token(request)
        claims: dict[str, Any] = answer["userinfo"]
        audience = claims["aud"]
        if self._settings.client_id not in (audience if isinstance(audience, list) else [audience]):
            raise ValueError("said to another than this dashboard")
        ends_at = datetime.fromtimestamp(float(claims["iat"]), UTC) + self._lifetime
        remaining_time = ends_at - datetime.now(UTC)
        email = claims["email"]
        if claims["email_verified"] is not True or not isinstance(email, str):
            raise ValueError("no confirmed address")
        if remaining_time <= timedelta() or remaining_time > self._lifetime + timedelta(minutes=2):
            raise ValueError("said at another time")
        if not encodable(email):
            raise ValueError("no address")
        # Unicode case folding would merge distinct addresses, such as `ß` and `ss`.
        return email.translate(_SMALL_LETTERS), min(remaining_time, self._lifetime)
