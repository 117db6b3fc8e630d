"""Unpaywall: open-access copies by DOI. API: GET https://api.unpaywall.org/v2/{doi}?email=… (reference 5.1)."""

import asyncio
import random
from collections.abc import Mapping
from urllib.parse import quote

import httpx

from schemas.retrieval import SourceFailure
from tasks.accounting.ledger import Ledger
from tasks.documents.calls import recorded
from tasks.documents.reasons import TRANSIENT, DocumentReason, failure, reason_of_status

SOURCE = "unpaywall"
BASE_URL = "https://api.unpaywall.org"
MAXIMUM_ATTEMPTS = 3
MAXIMUM_ANSWER_BYTES = 5_000_000


async def unpaywall_links(
    doi: str, email: str, client: httpx.AsyncClient, ledger: Ledger, base_url: str = BASE_URL
) -> tuple[str, ...] | SourceFailure:
    """PDF addresses of the open copies of `doi`, the best first; `()` when there is none.

    A DOI that Unpaywall does not know (also valid ones outside Crossref) is a failure `not_found`.
    """
    for attempt in range(1, MAXIMUM_ATTEMPTS + 1):
        answer = await _asked(doi, email, client, ledger, base_url)
        if not isinstance(answer, SourceFailure) or answer.reason not in TRANSIENT or attempt == MAXIMUM_ATTEMPTS:
            return answer
        await asyncio.sleep(random.uniform(0.2, 0.6) * attempt)  # noqa: S311 - jitter
    raise AssertionError("the loop returns on its last attempt")


async def _asked(doi: str, email: str, client: httpx.AsyncClient, ledger: Ledger, base_url: str) -> tuple[str, ...] | SourceFailure:
    endpoint = f"/v2/{quote(doi, safe='/')}"
    with recorded(ledger, SOURCE, endpoint) as call:
        try:
            response = await client.get(f"{base_url}{endpoint}", params={"email": email})
            call.status = response.status_code
            answer = _read(endpoint, response)
        except httpx.TimeoutException:
            answer = failure(SOURCE, endpoint, DocumentReason.TIMEOUT, "no answer in time")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            answer = failure(SOURCE, endpoint, DocumentReason.UNREACHABLE, f"the connection failed ({type(error).__name__})")
        if isinstance(answer, SourceFailure):
            call.reason = DocumentReason(answer.reason)
    return answer


def _read(endpoint: str, response: httpx.Response) -> tuple[str, ...] | SourceFailure:
    if response.status_code == 422:
        return failure(SOURCE, endpoint, DocumentReason.FORBIDDEN, "the e-mail address was refused: set UNPAYWALL_EMAIL to a real one")
    if response.status_code != 200:
        return failure(SOURCE, endpoint, reason_of_status(response.status_code), f"the server answered {response.status_code}")
    try:
        content = response.json() if len(response.content) <= MAXIMUM_ANSWER_BYTES else None
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        return failure(SOURCE, endpoint, DocumentReason.MALFORMED_ANSWER, "the answer is no JSON object")
    return pdf_links(content)


def pdf_links(content: Mapping[str, object]) -> tuple[str, ...]:
    """`url_for_pdf` of the best location, then of the others, then of embargo-free `url`s that name a PDF."""
    others = content.get("oa_locations")
    locations = [content.get("best_oa_location"), *(others if isinstance(others, list) else [])]
    known = [location for location in locations if isinstance(location, dict)]
    direct = [location.get("url_for_pdf") for location in known]
    named = [url for location in known if isinstance(url := location.get("url"), str) and url.lower().endswith(".pdf")]
    return tuple(dict.fromkeys(url for url in [*direct, *named] if isinstance(url, str) and url))
