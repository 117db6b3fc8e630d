"""The HTTP client, and validation of untrusted addresses.

API keys are added to a request below all code that logs, retries or reports it.
"""

import functools
import logging
import ssl
from base64 import b64encode
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from importlib import metadata
from string import ascii_lowercase, ascii_uppercase
from urllib.parse import quote, quote_plus
from urllib.request import getproxies, proxy_bypass

import httpx
from pydantic import SecretStr

from schemas.errors import ConfigurationError
from warehouse.scrubbing import scrub

Client = httpx.AsyncClient
RequestFailure = httpx.HTTPError
ConnectionFailure = httpx.TransportError
"""Errors of libraries that use httpx: any failure, and a failed connection."""
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
"""Failures before any part of the request was sent."""

_SECRETS = "assay_secrets"
_LIMITS = httpx.Limits(
    max_connections=100,
    max_keepalive_connections=20,  # each request looks at every one that is open
    keepalive_expiry=20.0,  # our own gateway closes an idle one after thirty seconds
)


@dataclass(frozen=True, slots=True)
class Secrets:
    """Secret values of requests.

    Attributes:
        headers, parameters: by name.
        parts: the components of those values.
    """

    headers: dict[str, SecretStr] = field(default_factory=dict)
    parameters: dict[str, SecretStr] = field(default_factory=dict)
    parts: tuple[SecretStr, ...] = ()

    @classmethod
    def in_header(cls, name: str, key: SecretStr | None, before: str = "") -> "Secrets":
        """Return a key as a header, with a prefix.

        It is empty without a key.
        """
        return cls({name: SecretStr(f"{before}{key.get_secret_value()}")} if key else {})

    @classmethod
    def basic(cls, user: str, password: SecretStr) -> "Secrets":
        """Return credentials for HTTP Basic."""
        credentials = b64encode(f"{user}:{password.get_secret_value()}".encode()).decode()
        return cls({"Authorization": SecretStr(f"Basic {credentials}")}, parts=(password,))

    def scrubbed(self, text: str) -> str:
        """Replace these secrets, and all that looks like a key, by `***`."""
        for secret in (*self.headers.values(), *self.parameters.values(), *self.parts):
            value = secret.get_secret_value()
            for form in {value, value.rpartition(" ")[2], quote(value, safe=""), quote_plus(value)}:
                text = text.replace(form, "***") if form else text
        return scrub(text)

    @property
    def extension(self) -> dict[str, "Secrets"]:
        """The `extensions` argument of a request."""
        return {_SECRETS: self}


_CURRENT_SECRETS: ContextVar[Secrets | None] = ContextVar("secrets_in_force", default=None)


class _ScrubFilter(logging.Filter):
    """Removes keys from the connection's debug log, where a redirect may repeat one."""

    def filter(self, record: logging.LogRecord) -> bool:
        if (secrets := _CURRENT_SECRETS.get()) is not None:
            record.msg, record.args = secrets.scrubbed(record.getMessage()), ()
        return True


for _name in ("httpcore.connection", "httpcore.http11", "httpcore.proxy"):
    logging.getLogger(_name).addFilter(_ScrubFilter())


class KeyedTransport(httpx.AsyncBaseTransport):
    """Adds a request's secrets to a copy that only the connection uses.

    httpx logs addresses and attaches requests to errors; both have the original without keys.
    Proxies of the environment are used as in httpx.
    """

    def __init__(self) -> None:
        self._direct = _transport(None)
        self._by_proxy = {scheme: _transport(url) for scheme, url in _proxies().items()}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        secrets = request.extensions.get(_SECRETS)
        extensions = {name: value for name, value in request.extensions.items() if name != _SECRETS}
        url, headers = request.url, request.headers.copy()
        if isinstance(secrets, Secrets):
            for name, value in secrets.headers.items():
                headers[name] = value.get_secret_value()
            for name, value in secrets.parameters.items():
                url = url.copy_merge_params({name: value.get_secret_value()})
        request_with_keys = httpx.Request(
            request.method, url, headers=headers, stream=request.stream, extensions=extensions
        )
        token = _CURRENT_SECRETS.set(secrets)
        try:
            return await self._transport_for(url).handle_async_request(request_with_keys)
        finally:
            _CURRENT_SECRETS.reset(token)

    def _transport_for(self, url: httpx.URL) -> httpx.AsyncHTTPTransport:
        proxy = self._by_proxy.get(url.scheme)
        return self._direct if proxy is None or proxy_bypass(url.host) else proxy

    async def aclose(self) -> None:
        for transport in (self._direct, *self._by_proxy.values()):
            await transport.aclose()


def open_client(timeout_seconds: float) -> Client:
    """Open a client for one event loop.

    Callers follow redirects themselves, so that keys never leave their host.
    """
    return httpx.AsyncClient(
        transport=KeyedTransport(),
        timeout=httpx.Timeout(timeout_seconds),
        follow_redirects=False,
        headers={"User-Agent": f"assay/{metadata.version('assay')}"},
    )


def _transport(proxy: str | None) -> httpx.AsyncHTTPTransport:
    try:
        return httpx.AsyncHTTPTransport(verify=_tls(), limits=_LIMITS, proxy=proxy)
    except (httpx.InvalidURL, ValueError, ImportError):  # messages repeat a part of the password
        raise ConfigurationError(
            "HTTPS_PROXY, HTTP_PROXY or ALL_PROXY is no address of an HTTP proxy: SOCKS is not"
            " supported, and special characters of a password are percent-encoded"
        ) from None


@functools.cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def proxy_of(url: httpx.URL) -> str | None:
    """Return the address of the proxy that requests for `url` go through, if any."""
    return None if proxy_bypass(url.host) else _proxies().get(url.scheme)


def _proxies() -> dict[str, str]:
    proxies = getproxies()
    addresses = {name: proxies.get(name) or proxies.get("all", "") for name in ("http", "https")}
    # As curl and httpx read an address without a scheme.
    return {
        scheme: url if "://" in url else f"http://{url}" for scheme, url in addresses.items() if url
    }


URL = httpx.URL
InvalidURL = httpx.InvalidURL
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


def web_address(text: str) -> httpx.URL:
    """Parse an address and check all its parts.

    Raises:
        httpx.InvalidURL: its form, port or host (`http://xn--a.invalid/`) is invalid.
    """
    return _check_address(partial(httpx.URL, text))


def redirected(url: httpx.URL, location: str) -> httpx.URL:
    """Resolve the redirect `location` against `url`; raises as `web_address`."""
    return _check_address(partial(url.join, location))


def shown(url: httpx.URL) -> str:
    """Return the address without query, fragment and credentials, which may be secret."""
    port = f":{url.port}" if url.port else ""
    return f"{url.scheme}://{url.raw_host.decode('ascii')}{port}{url.path}"[:300]


def stays_in_place(identifier: str) -> bool:
    """Return whether an identifier is safe in a path: printable, without `.` or `..` segments."""
    steps = identifier.replace("\\", "/").split("/")
    return identifier.isprintable() and not {".", ".."} & set(steps)


def ascii_lower(text: str) -> str:
    """Lower-case only ASCII letters.

    `str.lower` turns the Kelvin sign into `k`.
    """
    return text.translate(_LOWER)


def _check_address(make: Callable[[], httpx.URL]) -> httpx.URL:
    """Build an address and read its parts, because httpx decodes the host lazily."""
    try:
        url = make()
        _ = url.host, url.netloc, url.path, url.raw_path
    except (ValueError, TypeError) as error:
        raise httpx.InvalidURL(f"no address ({type(error).__name__})") from error
    return url
