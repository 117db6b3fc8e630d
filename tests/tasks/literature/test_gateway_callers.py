"""Who is answered by a gateway: programs that ask it by its name, and no web page that reaches
loopback.
"""

from collections.abc import Callable, Iterator
from itertools import count

import httpx
import pytest

from schemas.choices import LIVE
from schemas.errors import ConfigurationError
from schemas.settings import Settings
from tasks.literature.gateway.process import GatewayProcess, literature_identity
from tests.support.semantic_scholar_server import SemanticScholarServer, corpus

SEARCH = "/graph/v1/paper/search"
NUMBERS = count()
FOREIGN_PAGES = (
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:1"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
)


@pytest.fixture(scope="module")
def upstream() -> Iterator[SemanticScholarServer]:
    with SemanticScholarServer(corpus(30)) as server:
        yield server


@pytest.fixture(scope="module")
def gateway(
    upstream: SemanticScholarServer,
    settings_of: Callable[..., Settings],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("gateway")
    settings = settings_of(folder, upstream.url)
    named = settings.literature.model_copy(update={"allowed_hosts": ("gateway.example.org",)})
    with GatewayProcess(
        settings.model_copy(update={"literature": named}), LIVE, folder / "cache"
    ) as running:
        yield running.url


def status(url: str, **headers: str) -> int:
    """Of a question that nobody asked before."""
    query = {"query": f"topic {next(NUMBERS)}"}
    return httpx.get(f"{url}{SEARCH}", params=query, headers=headers, trust_env=False).status_code


def test_a_name_that_leads_to_loopback_is_not_answered_and_costs_nothing(
    gateway: str, upstream: SemanticScholarServer
) -> None:
    before = upstream.counts["paper/search"]
    assert status(gateway, host="rebound.example") == 400
    assert status(gateway, host="rebound.example:8765") == 400
    assert upstream.counts["paper/search"] == before


@pytest.mark.parametrize("headers", FOREIGN_PAGES, ids=str)
def test_a_web_page_is_not_answered_and_costs_nothing(
    headers: dict[str, str], gateway: str, upstream: SemanticScholarServer
) -> None:
    before = upstream.counts["paper/search"]
    assert status(gateway, **headers) == 403
    assert upstream.counts["paper/search"] == before


@pytest.mark.parametrize(
    "name",
    ["127.0.0.1", "localhost", "gateway.example.org", "gateway.example.org:8765", "[::1]:8765"],
)
def test_a_program_that_asks_by_its_name_is_answered(name: str, gateway: str) -> None:
    assert status(gateway, host=name) == 200


def test_a_gateway_that_does_not_know_its_name_says_how_to_tell_it(gateway: str) -> None:
    with pytest.raises(ConfigurationError, match="ASSAY_LITERATURE__ALLOWED_HOSTS"):
        literature_identity(gateway.replace("127.0.0.1", "127.1"))
