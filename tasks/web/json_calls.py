"""One request with a JSON body and a JSON answer, from code that has no event loop."""

from collections.abc import Mapping
from typing import Any

import httpx
from pydantic import SecretStr

from schemas.errors import UpstreamError
from warehouse.scrubbing import one_line


def call_json(
    method: str,
    url: str,
    *,
    body: Any = None,
    parameters: Mapping[str, str] | None = None,
    secret_headers: Mapping[str, SecretStr] | None = None,
    timeout_seconds: float,
) -> tuple[int, Any]:
    """(status, answer); the answer is None where it is no JSON.

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
