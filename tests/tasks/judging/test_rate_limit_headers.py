"""Rate limits as providers' headers tell them, and what all workers make of them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.outcome import Scored
from schemas.settings import LanguageModelSettings
from tasks.judging.models import NO_REPORTED_LIMITS, open_model_limits, rate_limit_headers
from tasks.web.headers import seconds_until
from tests.support.openai_server import OpenAIServer

NOW = datetime(2026, 3, 3, 12, 0, tzinfo=UTC)


def test_openai_and_anthropic_tell_their_limits() -> None:
    openai = {
        "x-ratelimit-limit-requests": "500",
        "x-ratelimit-remaining-requests": "499",
        "x-ratelimit-reset-requests": "120ms",
        "x-ratelimit-limit-tokens": "30000",
        "x-ratelimit-remaining-tokens": "0",
        "x-ratelimit-reset-tokens": "6m0s",
    }
    told = rate_limit_headers(openai, NOW)
    assert (told.requests_per_minute, told.tokens_per_minute, told.wait_seconds) == (
        500,
        30000,
        360,
    )
    anthropic = {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2026-03-03T12:00:20Z",
        "anthropic-ratelimit-input-tokens-limit": "40000",
    }
    told = rate_limit_headers(anthropic, NOW)
    assert (told.requests_per_minute, told.tokens_per_minute, told.wait_seconds) == (50, 40000, 20)
    assert rate_limit_headers({}, NOW) == NO_REPORTED_LIMITS


@pytest.mark.parametrize(
    ("reset", "seconds"),
    [
        ("1s", 1.0),
        ("20ms", 0.02),
        ("2m59.56s", 179.56),
        ("1h", 3600.0),
        ("30", 30.0),
        ("2026-03-03T12:01:00Z", 60.0),
        (str(int(NOW.timestamp()) + 5), 5.0),
        (str((int(NOW.timestamp()) + 5) * 1000), 5.0),
        ("2020-01-01T00:00:00Z", 0.0),
        ("nan", 0.0),
        ("-5", 0.0),
        ("soon", 0.0),
        ("1e400", 0.0),
    ],
)
def test_a_moment_of_reset_is_read_in_every_spelling(reset: str, seconds: float) -> None:
    assert seconds_until(reset, NOW) == pytest.approx(seconds)


@given(st.text(max_size=40))
def test_no_spelling_makes_anybody_wait_for_ever(reset: str) -> None:
    assert 0.0 <= seconds_until(reset, NOW) <= 3600.0


async def test_limits_that_a_provider_tells_hold_for_all_workers(
    server: OpenAIServer, open_engine: Any, step: Any, question: Any, tmp_path: Path
) -> None:
    server.extra_headers = {
        "x-ratelimit-limit-requests": "120",
        "x-ratelimit-limit-tokens": "90000",
    }
    settings = LanguageModelSettings()
    limits = open_model_limits(tmp_path, "openai/loopback", settings)
    opened = await open_engine(limits=limits)
    assert isinstance(await opened.engine.run(step, question), Scored)
    assert opened.backend.limits_told.requests_per_minute == 120
    of_another_worker = open_model_limits(tmp_path, "openai/loopback", settings)
    assert of_another_worker.requests is not None
    first = await of_another_worker.requests.take()
    second = await of_another_worker.requests.take()
    assert second > first, "the second of two that leave at once waits for its slot"


async def test_a_wait_that_one_worker_is_told_is_kept_by_all(tmp_path: Path) -> None:
    settings = LanguageModelSettings()
    one, other = (open_model_limits(tmp_path, "openai/loopback", settings) for _ in range(2))
    one.penalise(0.2)
    assert other.requests is not None
    assert await other.requests.take() > 0.0


def test_a_limit_that_would_stop_every_worker_for_good_is_not_believed() -> None:
    told = {"x-ratelimit-limit-requests": "0.0001", "x-ratelimit-limit-tokens": "1"}
    limits = rate_limit_headers(told, NOW)
    assert (limits.requests_per_minute, limits.tokens_per_minute) == (1.0, 1_000.0)
