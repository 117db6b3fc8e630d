"""Safe download of a file from an address that came from outside."""

import asyncio
import random
from dataclasses import dataclass

import httpx

from schemas.reasons import Reason
from schemas.retrieval import SourceFailure
from schemas.settings import DocumentSettings
from tasks.accounting.ledger import Ledger
from tasks.documents.addresses import Refused, resolve
from tasks.documents.calls import Request, failure, recorded
from tasks.web.addresses import redirected, shown, web_address
from tasks.web.exchange import streamed
from tasks.web.numbers import whole_number
from tasks.web.statuses import reason_of_status

SOURCE = "download"
MAXIMUM_REDIRECTS = 5
MAXIMUM_ATTEMPTS = 2
MAGIC = b"%PDF-"
MAGIC_WITHIN_BYTES = 1024
"""Readers accept a header within the first kilobyte (ISO 32000, annex H)."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What an address must lead to.

    Attributes:
        refused_types: beginnings of content types that are never it.
        magic: what stands within the first kilobyte; None: any content will do.
        maximum_bytes: None: as the settings say.
    """

    name: str
    accept: str
    refused_types: tuple[str, ...]
    wrong: Reason
    magic: bytes | None = None
    maximum_bytes: int | None = None


PDF = Expected(
    name="PDF",
    accept="application/pdf,*/*;q=0.1",
    refused_types=("text/", "image/", "audio/", "video/", "application/json", "application/xml", "application/xhtml"),
    wrong=Reason.NOT_A_PDF,
    magic=MAGIC,
)

LATEX = Expected(
    name="LaTeX source",
    accept="*/*",
    refused_types=("text/html", "image/", "audio/", "video/", "application/json", "application/xml", "application/xhtml"),
    wrong=Reason.NOT_LATEX,
)
"""Any content will do: packed or not, only reading it shows what it is. arXiv gives a PDF where there is no source."""


@dataclass(frozen=True, slots=True)
class _Redirect:
    url: httpx.URL


@dataclass(frozen=True, slots=True)
class Downloader:
    """Fetches files for one idea: PDFs, or what `expected` says.

    http and https only; every address is resolved, refused unless public, and then connected to as resolved, again
    after each redirect; bounded in size, time, redirects and attempts. `allow_private_addresses` exists for tests.
    """

    client: httpx.AsyncClient
    settings: DocumentSettings
    ledger: Ledger
    allow_private_addresses: bool = False
    expected: Expected = PDF

    async def fetch(self, url: str) -> bytes | SourceFailure:
        """The file at `url`, checked to begin like what is expected. Never raises for what the other side does."""
        result: bytes | SourceFailure = failure(SOURCE, "", Reason.UNREACHABLE, "not tried")
        try:
            async with asyncio.timeout(self.settings.download_timeout_seconds):
                for attempt in range(1, MAXIMUM_ATTEMPTS + 1):
                    result = await self._follow(url)
                    if isinstance(result, bytes) or not result.reason.again_at_once or attempt == MAXIMUM_ATTEMPTS:
                        break
                    await asyncio.sleep(random.uniform(0.2, 1.0))  # noqa: S311 - jitter
        except TimeoutError:
            return failure(SOURCE, _shown(url), Reason.TIMEOUT, f"not finished in {self.settings.download_timeout_seconds:g} s")
        return result

    async def _follow(self, url: str) -> bytes | SourceFailure:
        try:
            target = web_address(url)
        except httpx.InvalidURL as error:
            return failure(SOURCE, "", Reason.BAD_REQUEST, f"the link is no address ({error})")
        for _ in range(MAXIMUM_REDIRECTS + 1):
            answer = await self._request(target)
            if not isinstance(answer, _Redirect):
                return answer
            target = answer.url
        return failure(SOURCE, shown(target), Reason.TOO_MANY_REDIRECTS, f"more than {MAXIMUM_REDIRECTS} redirects")

    async def _request(self, url: httpx.URL) -> bytes | _Redirect | SourceFailure:
        endpoint = shown(url)
        host = url.raw_host.decode("ascii")
        if url.scheme not in ("http", "https") or not host:
            return failure(SOURCE, endpoint, Reason.UNSAFE_ADDRESS, "only http and https links are followed")
        port = url.port or (443 if url.scheme == "https" else 80)
        address = await resolve(host, port, allow_private_addresses=self.allow_private_addresses)
        if isinstance(address, Refused):
            reason = Reason.UNSAFE_ADDRESS if address.resolved else Reason.UNREACHABLE
            return failure(SOURCE, endpoint, reason, address.detail)
        with recorded(self.ledger, SOURCE, endpoint) as call:
            try:
                answer = await self._stream(url, address, call)
            except httpx.TimeoutException:
                answer = failure(SOURCE, endpoint, Reason.TIMEOUT, "the server did not answer in time")
            except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as error:
                answer = failure(SOURCE, endpoint, Reason.UNREACHABLE, f"the connection failed ({type(error).__name__})")
            except asyncio.CancelledError:
                call.reason = Reason.TIMEOUT
                raise
            if isinstance(answer, SourceFailure):
                call.reason = answer.reason
        return answer

    async def _stream(self, url: httpx.URL, address: str, call: Request) -> bytes | _Redirect | SourceFailure:
        pinned = url.copy_with(host=address.split("%", 1)[0], username=None, password=None, fragment=None)
        request = self.client.build_request(
            "GET",
            pinned,
            headers={"Host": url.netloc.decode("ascii"), "Accept": self.expected.accept, "Accept-Encoding": "identity"},
            extensions={"sni_hostname": url.raw_host.decode("ascii")},
        )
        async with streamed(self.client, request) as response:
            call.status = response.status_code
            if response.status_code in (301, 302, 303, 307, 308) and "location" in response.headers:
                return _Redirect(redirected(url, response.headers["location"]))
            return await self._body(shown(url), response)

    async def _body(self, endpoint: str, response: httpx.Response) -> bytes | SourceFailure:
        if response.status_code != 200:
            return failure(SOURCE, endpoint, reason_of_status(response.status_code), f"the server answered {response.status_code}")
        expected = self.expected
        maximum_bytes = expected.maximum_bytes or self.settings.maximum_bytes
        media_type = response.headers.get("content-type", "").strip().lower()
        if media_type.startswith(expected.refused_types):
            detail = f"the link leads to {media_type.split(';')[0][:60]}, not to a {expected.name}"
            return failure(SOURCE, endpoint, expected.wrong, detail)
        announced = whole_number(response.headers.get("content-length"))
        if announced is not None and announced > maximum_bytes:
            return failure(SOURCE, endpoint, Reason.TOO_LARGE, f"the file announces more than {maximum_bytes:,} bytes")
        content = bytearray()
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > maximum_bytes:
                return failure(SOURCE, endpoint, Reason.TOO_LARGE, f"the file exceeds {maximum_bytes:,} bytes")
            if len(content) >= MAGIC_WITHIN_BYTES and not _begins_well(content, expected):
                break
        if not _begins_well(content, expected):
            return failure(SOURCE, endpoint, expected.wrong, f"the file does not begin like a {expected.name}")
        return bytes(content)


def _begins_well(content: bytearray, expected: Expected) -> bool:
    return expected.magic is None or expected.magic in content[:MAGIC_WITHIN_BYTES]


def _shown(url: str) -> str:
    try:
        return shown(web_address(url))
    except httpx.InvalidURL:
        return ""
