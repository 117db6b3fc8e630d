"""What a server asks to wait is a bounded number, whatever it writes."""

import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.web.headers import LONGEST_WAIT_SECONDS, retry_after_seconds


@pytest.mark.parametrize(
    ("given_text", "seconds"),
    [("7", 7.0), (" 2.5 ", 2.5), ("0", 0.0), ("999999999999", LONGEST_WAIT_SECONDS)],
)
def test_seconds_are_read_and_bounded(given_text: str, seconds: float) -> None:
    assert retry_after_seconds(given_text) == seconds


@pytest.mark.parametrize(
    "given_text",
    [
        None,
        "",
        *["nan", "inf", "-inf", "-5", "1e308", "+3", "soon", "²"],
        "1" * 400,
        "Mon, 99 Foo 2026",
    ],
)
def test_what_is_neither_seconds_nor_a_date_says_nothing(given_text: str | None) -> None:
    assert retry_after_seconds(given_text) is None


def test_a_date_is_read_as_the_seconds_until_then() -> None:
    soon = retry_after_seconds(
        format_datetime(datetime.now(UTC) + timedelta(seconds=120), usegmt=True)
    )
    assert soon is not None
    assert 60 < soon <= 120
    assert retry_after_seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert retry_after_seconds("Fri, 31 Dec 9999 23:59:59 GMT") == LONGEST_WAIT_SECONDS


@given(st.text(max_size=60))
def test_any_header_gives_a_finite_bounded_wait_or_none(text: str) -> None:
    seconds = retry_after_seconds(text)
    assert seconds is None or (math.isfinite(seconds) and 0 <= seconds <= LONGEST_WAIT_SECONDS)
