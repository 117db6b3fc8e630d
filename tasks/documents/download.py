"""Safe downloads from untrusted addresses."""

import asyncio
from dataclasses import dataclass

from schemas.failure import SourceFailure
from schemas.reasons import Reason
from schemas.settings import DocumentSettings
from tasks.accounting.ledger import Ledger
from tasks.documents.document import MAGIC, MAGIC_WITHIN_BYTES
from tasks.web.calls import failure, recorded
from tasks.web.client import URL, InvalidURL, redirected, shown, web_address
from tasks.web.exchange import REDIRECTS, NoAnswerError, Response, reason_of_status
from tasks.web.guard import Refused, checked_address, response_from
from tasks.web.headers import whole_number
from tasks.web.retrying import RetryPolicy, Tried

SOURCE = "download"
MAXIMUM_REDIRECTS = 5
MAXIMUM_ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class FileKind:
    """The kind of file that a download expects.

    Attributes:
        refused_types: prefixes of content types that are refused.
        magic: bytes required within the first kilobyte; None: any content.
        maximum_bytes: None: the limit of the settings.
    """

    name: str
    accept: str
    refused_types: tuple[str, ...]
    wrong: Reason
    magic: bytes | None = None
    maximum_bytes: int | None = None


MEDIA = ("image/", "audio/", "video/", "font/")
_DATA = ("application/json", "application/xml", "application/xhtml")

PDF = FileKind(
    name="PDF",
    accept="application/pdf,*/*;q=0.1",
    refused_types=("text/", *MEDIA, *_DATA),
    wrong=Reason.NOT_A_PDF,
    magic=MAGIC,
)

LATEX = FileKind(
    name="LaTeX source",
    accept="*/*",
    refused_types=("text/html", *MEDIA, *_DATA),
    wrong=Reason.NOT_LATEX,
)
"""Any content, since only reading shows what it is: arXiv sends a PDF if there is no source."""


@dataclass(frozen=True, slots=True)
class Downloader:
    """Downloads files for one idea.

    Only http and https. Every host, also after a redirect, is resolved once, refused unless public,
    and connected to at that address. Size, time, redirects and attempts are limited.
    `allow_private_addresses` exists for tests.
    """

    settings: DocumentSettings
    ledger: Ledger
    allow_private_addresses: bool = False
    file_kind: FileKind = PDF

    async def fetch(self, url: str) -> bytes | SourceFailure:
        """Download the file at `url` and check that it begins like `file_kind`.

        Never raises for a failure of the server.
        """
        try:
            target = web_address(url)
        except InvalidURL as error:
            detail = f"the link is no address ({error})"
            return failure(SOURCE, "", Reason.BAD_REQUEST, detail)

        async def attempt(_: int) -> Tried[bytes | SourceFailure]:
            answer = await self._follow(target)
            if isinstance(answer, SourceFailure):
                return Tried(answer, answer.reason.again_at_once)
            return Tried(answer)

        timeout_seconds = self.settings.timeout_seconds
        try:
            async with asyncio.timeout(timeout_seconds):
                return await RetryPolicy(MAXIMUM_ATTEMPTS).run(attempt)
        except TimeoutError:
            detail = f"not finished in {timeout_seconds:g} s"
            return failure(SOURCE, shown(target), Reason.TIMEOUT, detail)

    async def _follow(self, target: URL) -> bytes | SourceFailure:
        for _ in range(MAXIMUM_REDIRECTS + 1):
            answer = await self._request(target)
            if not isinstance(answer, URL):
                return answer
            target = answer
        detail = f"more than {MAXIMUM_REDIRECTS} redirects"
        return failure(SOURCE, shown(target), Reason.TOO_MANY_REDIRECTS, detail)

    async def _request(self, url: URL) -> bytes | URL | SourceFailure:
        endpoint = shown(url)
        private = self.allow_private_addresses
        address = await checked_address(
            url,
            allow_private_addresses=private,
            at_proxy=self.settings.resolve_names_at_proxy,
        )
        if isinstance(address, Refused):
            reason = Reason.UNSAFE_ADDRESS if address.resolved else Reason.UNREACHABLE
            return failure(SOURCE, endpoint, reason, address.detail)
        headers = {"Accept": self.file_kind.accept, "Accept-Encoding": "identity"}
        seconds = self.settings.timeout_seconds
        with recorded(self.ledger, SOURCE, endpoint, "document request") as call:
            try:
                async with response_from(address, "GET", url, seconds, **headers) as response:
                    call.status = response.status_code
                    if response.status_code in REDIRECTS and "location" in response.headers:
                        return redirected(url, response.headers["location"])
                    return await self._body(response)
            except NoAnswerError as error:
                call.reason = error.reason
                return failure(SOURCE, endpoint, error.reason, str(error))

    async def _body(self, response: Response) -> bytes:
        """Read the file. Raises NoAnswerError as soon as it is not of the expected kind."""
        status, expected_kind = response.status_code, self.file_kind
        if status != 200:
            raise NoAnswerError(reason_of_status(status), f"the server answered {status}")
        maximum_bytes = expected_kind.maximum_bytes or self.settings.maximum_bytes
        media_type = response.headers.get("content-type", "").strip().lower()
        if media_type.startswith(expected_kind.refused_types):
            shown_type = media_type.split(";")[0][:60]
            detail = f"the link leads to {shown_type}, not to a {expected_kind.name}"
            raise NoAnswerError(expected_kind.wrong, detail)
        content_length = whole_number(response.headers.get("content-length"))
        if content_length is not None and content_length > maximum_bytes:
            detail = f"the file announces more than {maximum_bytes:,} bytes"
            raise NoAnswerError(Reason.TOO_LARGE, detail)
        content = bytearray()
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > maximum_bytes:
                raise NoAnswerError(Reason.TOO_LARGE, f"the file exceeds {maximum_bytes:,} bytes")
            if len(content) >= MAGIC_WITHIN_BYTES and not _begins_well(content, expected_kind):
                break  # the rest of another kind of file is not read
        if not _begins_well(content, expected_kind):
            detail = f"the file does not begin like a {expected_kind.name}"
            raise NoAnswerError(expected_kind.wrong, detail)
        return bytes(content)


def _begins_well(content: bytearray, expected_kind: FileKind) -> bool:
    return expected_kind.magic is None or expected_kind.magic in content[:MAGIC_WITHIN_BYTES]
