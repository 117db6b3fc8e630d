"""Answers are bounded in seconds and in bytes, whoever asks and however."""

from collections.abc import Iterator

import httpx
import pytest
from pydantic import SecretStr

from schemas.errors import ConfigurationError
from schemas.reasons import Reason
from tasks.web.client import Secrets, open_client
from tasks.web.exchange import NoAnswerError, exchange_on_host, probe
from tests.support.web_servers import ShapedServer, shaped_server


@pytest.fixture
def server() -> Iterator[ShapedServer]:
    with shaped_server(lambda _: '{"status": "ok"}') as running:
        yield running


def test_a_proxy_that_is_no_url_is_refused_without_its_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("https_proxy", "http://ada:s3/cret@127.0.0.1:9")
    with pytest.raises(ConfigurationError, match="percent-encode") as raised:
        open_client(1.0)
    assert "s3" not in str(raised.value)


def test_a_look_at_a_page_gives_status_and_content(server: ShapedServer) -> None:
    server.script = ["good", "503"]
    answer = probe(f"{server.url}/healthz", 60.0)
    assert (answer.status, answer.content) == (200, b'{"status": "ok"}')
    assert probe(f"{server.url}/healthz", 60.0).status == 503


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("endless", Reason.TOO_LARGE),
        ("bomb", Reason.TOO_LARGE),
        ("hangs", Reason.TIMEOUT),
        ("dropped", Reason.UNREACHABLE),
        ("to:http://xn--a.invalid/", Reason.UNREACHABLE),
    ],
)
def test_a_look_at_a_page_is_bounded(server: ShapedServer, word: str, reason: Reason) -> None:
    server.script = [word]
    with pytest.raises(NoAnswerError) as raised:
        probe(f"{server.url}/healthz", 1.0 if word == "hangs" else 60.0)
    assert raised.value.reason == reason


@pytest.mark.parametrize("url", ["http://[::1", "http://127.0.0.1:9/x", "no address", "ftp://a/b"])
def test_nothing_to_look_at_is_unreachable(url: str) -> None:
    with pytest.raises(NoAnswerError) as raised:
        probe(url, 5.0)
    assert raised.value.reason == Reason.UNREACHABLE


async def test_a_key_that_a_redirect_repeats_is_not_asked_with(server: ShapedServer) -> None:
    server.script = [f"to:{server.url}/again?key=0123456789abcdef&q=bats", "good"]
    secrets = Secrets(parameters={"key": SecretStr("0123456789abcdef")})
    async with httpx.AsyncClient() as client:
        await exchange_on_host(
            client,
            "GET",
            f"{server.url}/first",
            params=(),
            secrets=secrets,
            maximum_bytes=1_000,
            timeout_seconds=60.0,
        )
    assert server.asked[-1].parameters == {"q": ["bats"]}
