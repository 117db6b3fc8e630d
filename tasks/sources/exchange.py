"""One request and its whole answer: bounded in bytes and seconds, redirected only within its host."""

import asyncio

import httpx

from schemas.reasons import Reason
from schemas.settings import SourceSettings
from tasks.sources.upstream import Question, Reply, Upstream
from tasks.web.addresses import redirected
from tasks.web.exchange import AnswerTooLargeError, AnswerUnreadableError, exchange

_MOST_REDIRECTS = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class NoReply(Exception):  # noqa: N818 -- control flow between two files of this folder, never shown
    """No usable answer came; `reason` says why."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


async def exchanged(http: httpx.AsyncClient, upstream: Upstream, question: Question, settings: SourceSettings) -> Reply:
    """Send and read to the end, following redirects that stay on the host.

    Raises:
        NoReply: no answer in time, a failed connection, an oversized answer, or a redirect elsewhere.
    """
    try:
        async with asyncio.timeout(settings.timeout_seconds):
            return await _followed(http, upstream, question, settings)
    except (TimeoutError, httpx.TimeoutException):
        raise NoReply(Reason.TIMEOUT, f"no whole answer within {settings.timeout_seconds:g} s") from None
    except AnswerTooLargeError as error:
        raise NoReply(Reason.TOO_LARGE, str(error)) from None
    except AnswerUnreadableError as error:
        raise NoReply(Reason.MALFORMED_ANSWER, str(error)) from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NoReply(Reason.UNREACHABLE, f"the connection failed ({type(error).__name__})") from None


async def _followed(http: httpx.AsyncClient, upstream: Upstream, question: Question, settings: SourceSettings) -> Reply:
    url = httpx.URL(upstream.base_url.rstrip("/") + question.path, params=list(question.parameters) or None)
    for _ in range(_MOST_REDIRECTS + 1):
        reply = await _read(http, upstream, question, url, settings)
        location = reply.headers.get("location", "")
        if reply.status not in _REDIRECTS or not location:
            return reply
        target = redirected(url, location)
        if (target.scheme, target.host, target.port) != (url.scheme, url.host, url.port):
            raise NoReply(Reason.FORBIDDEN, f"redirected to another host, {target.host[:100]}: keys do not follow")
        for name in upstream.secrets.parameters:
            target = target.copy_remove_param(name)
        url = target
    raise NoReply(Reason.SERVER_ERROR, f"redirected more than {_MOST_REDIRECTS} times")


async def _read(http: httpx.AsyncClient, upstream: Upstream, question: Question, url: httpx.URL, settings: SourceSettings) -> Reply:
    request = http.build_request(
        "GET" if question.body is None else "POST",
        url,
        content=question.body,
        headers={**upstream.headers, **({} if question.body is None else {"content-type": "application/json"})},
        extensions=upstream.secrets.extension,
    )
    return await exchange(http, request, settings.maximum_bytes, settings.timeout_seconds)
