"""Unpaywall: open-access copies by DOI. API: GET https://api.unpaywall.org/v2/{doi}?email=… (reference 5.1)."""

import asyncio
import random
from collections.abc import Mapping
from urllib.parse import quote

import httpx
import orjson

from schemas.reasons import Reason
from schemas.retrieval import SourceFailure
from tasks.accounting.ledger import Ledger
from tasks.documents.calls import failure, recorded
from tasks.web.addresses import stays_in_place
from tasks.web.decoding import json_of
from tasks.web.exchange import Answer, AnswerTooLargeError, AnswerUnreadableError, exchange
from tasks.web.statuses import reason_of_status

SOURCE = "unpaywall"
BASE_URL = "https://api.unpaywall.org"
MAXIMUM_ATTEMPTS = 3
MAXIMUM_ANSWER_BYTES = 5_000_000
TIMEOUT_SECONDS = 30.0
"""For one whole answer."""


async def unpaywall_links(
    doi: str, email: str, client: httpx.AsyncClient, ledger: Ledger, base_url: str = BASE_URL
) -> tuple[str, ...] | SourceFailure:
    """PDF addresses of the open copies of `doi`, the best first; `()` when there is none.

    A DOI that Unpaywall does not know (also valid ones outside Crossref) is a failure `not_found`.
    """
    for attempt in range(1, MAXIMUM_ATTEMPTS + 1):
        answer = await _asked(doi, email, client, ledger, base_url)
        if not isinstance(answer, SourceFailure) or not answer.reason.again_at_once or attempt == MAXIMUM_ATTEMPTS:
            return answer
        await asyncio.sleep(random.uniform(0.2, 0.6) * attempt)  # noqa: S311 - jitter
    raise AssertionError("the loop returns on its last attempt")


async def _asked(doi: str, email: str, client: httpx.AsyncClient, ledger: Ledger, base_url: str) -> tuple[str, ...] | SourceFailure:
    endpoint = f"/v2/{quote(doi, safe='/')}"
    if not stays_in_place(doi):
        return failure(SOURCE, "/v2", Reason.BAD_REQUEST, "the DOI cannot stand in an address")
    with recorded(ledger, SOURCE, endpoint) as call:
        try:
            request = client.build_request("GET", f"{base_url}{endpoint}", params={"email": email})
            told = await exchange(client, request, MAXIMUM_ANSWER_BYTES, TIMEOUT_SECONDS)
            call.status = told.status
            answer = _read(endpoint, told)
        except httpx.TimeoutException:
            answer = failure(SOURCE, endpoint, Reason.TIMEOUT, "no answer in time")
        except AnswerTooLargeError as error:
            answer = failure(SOURCE, endpoint, Reason.TOO_LARGE, str(error))
        except AnswerUnreadableError as error:
            answer = failure(SOURCE, endpoint, Reason.MALFORMED_ANSWER, str(error))
        except httpx.HTTPError as error:
            answer = failure(SOURCE, endpoint, Reason.UNREACHABLE, f"the connection failed ({type(error).__name__})")
        if isinstance(answer, SourceFailure):
            call.reason = answer.reason
    return answer


def _read(endpoint: str, told: Answer) -> tuple[str, ...] | SourceFailure:
    if told.status == 422:
        return failure(SOURCE, endpoint, Reason.FORBIDDEN, "the e-mail address was refused: set UNPAYWALL_EMAIL to a real one")
    if told.status != 200:
        return failure(SOURCE, endpoint, reason_of_status(told.status), f"the server answered {told.status}")
    try:
        content = json_of(told.content)
    except orjson.JSONDecodeError:
        content = None
    if not isinstance(content, dict):
        return failure(SOURCE, endpoint, Reason.MALFORMED_ANSWER, "the answer is no JSON object")
    return pdf_links(content)


def pdf_links(content: Mapping[str, object]) -> tuple[str, ...]:
    """`url_for_pdf` of the best location, then of the others, then of embargo-free `url`s that name a PDF."""
    others = content.get("oa_locations")
    locations = [content.get("best_oa_location"), *(others if isinstance(others, list) else [])]
    known = [location for location in locations if isinstance(location, dict)]
    direct = [location.get("url_for_pdf") for location in known]
    named = [url for location in known if isinstance(url := location.get("url"), str) and url.lower().endswith(".pdf")]
    return tuple(dict.fromkeys(url for url in [*direct, *named] if isinstance(url, str) and url))
