"""Form parsing within limits on time, size, fields and files."""

import asyncio

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from dashboards.render import figures
from schemas.base import encodable
from schemas.errors import ConfigurationError, NotAllowedError
from schemas.people.web_origins import is_of_another_site

_MOST_SECONDS, _MOST_FIELDS, _MOST_FILES = 120.0, 2_000, 20
_UNREADABLE = "the form did not arrive whole: send it again"


class _TooLongError(Exception):
    pass


async def read_form(request: Request, most_bytes: int) -> FormData:
    """Read a form; files over 1 MB are in a temporary folder until closed.

    Raises:
        NotAllowedError: a page of another site sent it.
        ConfigurationError: it is too long, too slow, or malformed.
    """
    # The server admits links followed from other sites, but forms never.
    if is_of_another_site(request.headers):
        raise NotAllowedError("pages of other sites may not send forms here")
    bytes_left = most_bytes

    async def receive() -> Message:
        nonlocal bytes_left
        message = await request.receive()
        bytes_left -= len(message.get("body", b""))
        if bytes_left < 0:
            raise _TooLongError
        return message

    limited_request = Request(request.scope, receive)
    try:
        async with asyncio.timeout(_MOST_SECONDS):
            form = await limited_request.form(
                max_files=_MOST_FILES, max_fields=_MOST_FIELDS, max_part_size=most_bytes
            )
    except _TooLongError:
        raise ConfigurationError(
            f"what was sent is longer than {figures.count(most_bytes // 1_000_000)} MB: send less"
            " at once, or use `assay` on the server"
        ) from None
    except (TimeoutError, ClientDisconnect, HTTPException, ValueError):
        raise ConfigurationError(_UNREADABLE) from None
    if not all(encodable(text) for field in form.multi_items() for text in _texts(*field)):
        await form.close()  # the form's charset may decode to invalid text
        raise ConfigurationError(_UNREADABLE)
    return form


def _texts(name: str, value: str | UploadFile) -> tuple[str, str]:
    return name, value if isinstance(value, str) else value.filename or ""
