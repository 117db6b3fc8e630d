"""One request and its complete answer, with limits on time and size."""

import asyncio
import socket
import ssl
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr

from schemas.errors import UpstreamError
from schemas.reasons import Reason
from tasks.web.client import Client, Secrets, proxy_of, redirected, web_address
from warehouse.scrubbing import one_line

Response = httpx.Response
ACCEPTED_ENCODINGS = "gzip, deflate"
"""`Accept-Encoding` of requests: the encodings that are decompressed here in chunks."""

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 3
# Limit of one decompressed chunk, whatever the compression ratio.
_PIECE_BYTES = 65_536
_LARGEST_PROBE_BYTES = 1_000_000
_PACKINGS = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}

WEB_PAGE = "a web page instead of data (a proxy or a sign-in page?)"
_PAGE_BEGINNINGS = (b"<!doctype html", b"<html", b"<head", b"<body")


class NoAnswerError(Exception):
    """No complete answer was received.

    Attributes:
        is_lasting: whether the cause stays until somebody repairs it: a name, a certificate, a proxy.
    """

    def __init__(self, reason: Reason, detail: str, *, is_lasting: bool = False) -> None:
        super().__init__(detail)
        self.reason, self.is_lasting = reason, is_lasting


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer."""

    status: int
    headers: Mapping[str, str]
    content: bytes


async def exchange(
    client: Client,
    method: str,
    url: httpx.URL | str,
    *,
    maximum_bytes: int,
    timeout_seconds: float,
    **parts: Any,
) -> Answer:
    """Send a request and read its answer to the end.

    Redirects are not followed.

    Args:
        parts: of the request, as httpx takes them: `params`, `content`, `headers`, …

    Raises:
        NoAnswerError: also where `url` is no address.
    """
    with answered_within(timeout_seconds):
        request = client.build_request(method, url, **parts)
        request.headers["accept-encoding"] = ACCEPTED_ENCODINGS
        async with asyncio.timeout(timeout_seconds), streamed(client, request) as response:
            content = await _whole_body(response, maximum_bytes)
            return Answer(response.status_code, response.headers, content)


async def exchange_on_host(
    client: Client,
    method: str,
    url: str,
    *,
    params: Sequence[tuple[str, str]],
    secrets: Secrets,
    maximum_bytes: int,
    timeout_seconds: float,
    **parts: Any,
) -> Answer:
    """Exchange like `exchange`, following redirects on the same host.

    All requests together may take `timeout_seconds`.

    Raises:
        NoAnswerError: also after too many redirects, or one to another host, which must not get
            keys.
    """
    with answered_within(timeout_seconds):
        target = httpx.URL(url, params=list(params) or None)
        async with asyncio.timeout(timeout_seconds):
            for _ in range(_MOST_REDIRECTS + 1):
                answer = await exchange(
                    client,
                    method,
                    target,
                    maximum_bytes=maximum_bytes,
                    timeout_seconds=timeout_seconds,
                    extensions=secrets.extension,
                    **parts,
                )
                location = answer.headers.get("location", "")
                if answer.status not in REDIRECTS or not location:
                    return answer
                target = _redirect_on_host(target, location, secrets)
    raise NoAnswerError(Reason.SERVER_ERROR, f"redirected more than {_MOST_REDIRECTS} times")


def _redirect_on_host(url: httpx.URL, location: str, secrets: Secrets) -> httpx.URL:
    target = redirected(url, location)
    if (target.scheme, target.host, target.port) != (url.scheme, url.host, url.port):
        detail = f"redirected to another host, {target.host[:100]}: keys do not follow"
        raise NoAnswerError(Reason.FORBIDDEN, detail)
    for name in secrets.parameters:
        target = target.copy_remove_param(name)
    return target


def probe(
    url: str,
    timeout_seconds: float,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Send one synchronous GET for a small page.

    Raises:
        NoAnswerError: also if `url` is no address.
    """
    content = bytearray()
    with answered_within(timeout_seconds):
        try:
            address = web_address(url)
            with httpx.stream("GET", address, headers=headers, timeout=timeout_seconds) as response:
                for piece in response.iter_bytes(_PIECE_BYTES):
                    content += piece
                    if len(content) > _LARGEST_PROBE_BYTES:
                        raise _too_large(_LARGEST_PROBE_BYTES)
        except ValueError as error:
            raise _bad_redirect(error) from error
    return Answer(response.status_code, response.headers, bytes(content))


def call_json(
    method: str,
    url: str,
    *,
    body: Any = None,
    parameters: Mapping[str, str] | None = None,
    secret_headers: Mapping[str, SecretStr] | None = None,
    timeout_seconds: float,
) -> tuple[int, Any]:
    """Send a synchronous request with a JSON body.

    Returns status and answer (None: no JSON).

    Raises:
        UpstreamError: no answer came.
    """
    headers = {name: value.get_secret_value() for name, value in (secret_headers or {}).items()}
    try:
        response = httpx.request(
            method, url, json=body, params=parameters, headers=headers, timeout=timeout_seconds
        )
    except httpx.HTTPError as error:
        raise UpstreamError(one_line(error)) from error
    try:
        return response.status_code, response.json()
    except ValueError:
        return response.status_code, None


@contextmanager
def answered_within(timeout_seconds: float) -> Iterator[None]:
    """Convert errors of httpx and time limits to NoAnswerError."""
    try:
        yield
    except (TimeoutError, httpx.TimeoutException) as error:
        detail = f"no whole answer within {timeout_seconds:g} s"
        raise NoAnswerError(Reason.TIMEOUT, detail) from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        cause, is_lasting = connection_failure(error) or (type(error).__name__, False)
        detail = f"the connection failed: {cause}"
        raise NoAnswerError(Reason.UNREACHABLE, detail, is_lasting=is_lasting) from error


def is_web_page(content: bytes) -> bool:
    """Return whether an answer that should be JSON is HTML."""
    return content[:1_000].lstrip().lower().startswith(_PAGE_BEGINNINGS)


def connection_failure(error: BaseException) -> tuple[str, bool] | None:
    """Return the cause of a failed connection, and whether it is lasting.

    A lasting cause stays until somebody repairs it. Returns None if the cause is unknown.
    """
    links = list(_chain(error))
    for each in links:
        match each:
            case ssl.SSLCertVerificationError():
                bundle = "name your organization's certificates in SSL_CERT_FILE"
                return f"the certificate is not trusted ({each.verify_message}); {bundle}", True
            case ssl.SSLError():
                return "no TLS is spoken there (a proxy or a sign-in page?)", True
            case socket.gaierror():
                temporary = each.errno == socket.EAI_AGAIN
                return f"the host name was not found ({each.strerror})", not temporary
            case ConnectionRefusedError():
                request = getattr(error, "_request", None)  # the property raises without one
                proxy = proxy_place(proxy_of(request.url) or "") if request else ""
                through_proxy = proxy or any(isinstance(link, httpx.ProxyError) for link in links)
                place = f"at the proxy {proxy}".rstrip() if through_proxy else "there"
                return f"nothing listens {place} (connection refused)", bool(through_proxy)
            case httpx.LocalProtocolError() | UnicodeEncodeError():
                return "a header cannot be sent; look for stray characters in the key", True
    refusal = next((each for each in links if isinstance(each, httpx.ProxyError)), None)
    return (f"the proxy refused it ({one_line(refusal)[:200]})", True) if refusal else None


def proxy_place(address: str) -> str:
    """Return host and port of a proxy's address, without user and password; empty: none."""
    unreadable = "(its address is no URL: percent-encode its password)"
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        _ = parts.port
    except ValueError:
        return unreadable
    # A `/`, `?` or `#` in the password ends the host too early; an `@` then follows.
    is_cut = "@" in f"{parts.path}{parts.query}{parts.fragment}"
    return unreadable if is_cut else parts.netloc.rpartition("@")[2]


def _chain(error: BaseException) -> Iterator[BaseException]:
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is not None:
            yield each
            waiting += [each.__context__, each.__cause__]
            waiting += each.exceptions if isinstance(each, BaseExceptionGroup) else ()


@asynccontextmanager
async def streamed(client: Client, request: httpx.Request) -> AsyncIterator[httpx.Response]:
    """Yield the response before its body is read.

    Raises:
        httpx.HTTPError: the connection failed, or a redirect leads to no address.
    """
    try:
        response = await client.send(request, stream=True, follow_redirects=False)
    except ValueError as error:
        raise _bad_redirect(error) from error
    try:
        yield response
    finally:
        await response.aclose()


async def _whole_body(response: httpx.Response, maximum_bytes: int) -> bytes:
    """Read and decompress the body.

    Never holds more than `maximum_bytes` and one chunk.
    """
    encoding = response.headers.get("content-encoding", "").strip().lower() or "identity"
    if encoding != "identity" and encoding not in _PACKINGS:
        detail = f"the answer is packed as {encoding[:40]}, which was not asked for"
        raise NoAnswerError(Reason.MALFORMED_ANSWER, detail)
    unpacker = zlib.decompressobj(_PACKINGS[encoding]) if encoding != "identity" else None
    content = bytearray()
    async for chunk in response.aiter_raw():
        for piece in _unpack(unpacker, chunk):
            content += piece
            if len(content) > maximum_bytes:
                raise _too_large(maximum_bytes)
    if unpacker is not None and content and not unpacker.eof:
        raise NoAnswerError(Reason.MALFORMED_ANSWER, "the packed answer is cut off")
    return bytes(content)


def _bad_redirect(error: ValueError) -> httpx.RemoteProtocolError:
    """Return the error for a redirect to an invalid address, for which httpx raises ValueError."""
    return httpx.RemoteProtocolError(f"redirected to no address ({type(error).__name__})")


def _too_large(maximum_bytes: int) -> NoAnswerError:
    detail = f"the answer exceeds {maximum_bytes:,} bytes"
    return NoAnswerError(Reason.TOO_LARGE, detail)


def _unpack(unpacker: "zlib._Decompress | None", chunk: bytes) -> Iterator[bytes]:
    """Yield decompressed pieces of bounded size; data after the end is dropped."""
    if unpacker is None:
        yield chunk
        return
    while chunk and not unpacker.eof:
        try:
            yield unpacker.decompress(chunk, _PIECE_BYTES)
        except zlib.error as error:
            raise NoAnswerError(Reason.MALFORMED_ANSWER, "the packed answer is damaged") from error
        chunk = unpacker.unconsumed_tail


_REASONS = {
    401: Reason.FORBIDDEN,
    402: Reason.FORBIDDEN,
    403: Reason.FORBIDDEN,
    404: Reason.NOT_FOUND,
    407: Reason.FORBIDDEN,
    408: Reason.SERVER_ERROR,
    410: Reason.NOT_FOUND,
    429: Reason.RATE_LIMITED,
    451: Reason.FORBIDDEN,
}


def reason_of_status(status: int) -> Reason:
    """Return the failure reason of an unsuccessful status."""
    fallback_reason = Reason.SERVER_ERROR if status >= 500 else Reason.BAD_REQUEST
    return _REASONS.get(status, fallback_reason)


def status_of_reason(reason: Reason) -> int:
    """Return the status with which our servers report a failure reason."""
    if reason is Reason.RATE_LIMITED:
        return 429
    return 504 if reason in (Reason.TIMEOUT, Reason.UNREACHABLE, Reason.CIRCUIT_OPEN) else 500
