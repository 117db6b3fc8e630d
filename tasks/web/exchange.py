"""One request and its whole answer: bounded in seconds and in bytes, packed or unpacked."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

ACCEPTED_ENCODINGS = "gzip, deflate"
"""What is sent as `Accept-Encoding`: the packings that are unpacked here piece by piece."""

_PIECE_BYTES = 65_536
_PACKINGS = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": zlib.MAX_WBITS}


class AnswerTooLargeError(ValueError):
    """The body, unpacked, exceeds what was allowed."""


class AnswerUnreadableError(ValueError):
    """The body is packed in a way that was not asked for, damaged, or cut off."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, bounded in size and in the time it took."""

    status: int
    headers: httpx.Headers
    content: bytes


async def exchange(client: httpx.AsyncClient, request: httpx.Request, maximum_bytes: int, timeout_seconds: float) -> Answer:
    """Send `request` and read its answer to the end. Redirects are not followed.

    Raises:
        httpx.TimeoutException: no whole answer within `timeout_seconds`, however slowly it trickles.
        httpx.HTTPError: the connection failed, or the answer is no HTTP.
        AnswerTooLargeError, AnswerUnreadableError: see there.
    """
    request.headers["accept-encoding"] = ACCEPTED_ENCODINGS
    try:
        async with asyncio.timeout(timeout_seconds), streamed(client, request) as response:
            return Answer(response.status_code, response.headers, await _whole_body(response, maximum_bytes))
    except TimeoutError as error:
        raise httpx.ReadTimeout(f"no whole answer within {timeout_seconds:g} s", request=request) from error


@asynccontextmanager
async def streamed(client: httpx.AsyncClient, request: httpx.Request) -> AsyncIterator[httpx.Response]:
    """The response before its body is read; closed at the end.

    Raises:
        httpx.HTTPError: the connection failed; also where a redirect leads to no address, for which httpx has no error.
    """
    try:
        response = await client.send(request, stream=True, follow_redirects=False)
    except ValueError as error:
        raise httpx.RemoteProtocolError(f"redirected to no address ({type(error).__name__})", request=request) from error
    try:
        yield response
    finally:
        await response.aclose()


async def _whole_body(response: httpx.Response, maximum_bytes: int) -> bytes:
    """The body, unpacked. Never holds more than `maximum_bytes` and one piece."""
    packing = response.headers.get("content-encoding", "").strip().lower() or "identity"
    if packing != "identity" and packing not in _PACKINGS:
        raise AnswerUnreadableError(f"the answer is packed as {packing[:40]}, which was not asked for")
    unpacker = zlib.decompressobj(_PACKINGS[packing]) if packing != "identity" else None
    content = bytearray()
    async for packed in response.aiter_raw():
        for piece in _unpacked(unpacker, packed):
            content += piece
            if len(content) > maximum_bytes:
                raise AnswerTooLargeError(f"the answer exceeds {maximum_bytes:,} bytes")
    if unpacker is not None and content and not unpacker.eof:
        raise AnswerUnreadableError("the packed answer is cut off")
    return bytes(content)


def _unpacked(unpacker: "zlib._Decompress | None", packed: bytes) -> Iterator[bytes]:
    """Pieces of bounded size, however much one packed piece stands for. What follows the end is left out."""
    if unpacker is None:
        yield packed
        return
    while packed and not unpacker.eof:
        try:
            yield unpacker.decompress(packed, _PIECE_BYTES)
        except zlib.error as error:
            raise AnswerUnreadableError("the packed answer is damaged") from error
        packed = unpacker.unconsumed_tail
