"""Parts of the dashboard that need no page."""

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pydantic import SecretStr

from dashboards.app import cells, links, text
from dashboards.app.access import same
from dashboards.app.attempts import (
    FORGOTTEN_AFTER_SECONDS,
    FREE_GUESSES,
    LONGEST_WAIT_SECONDS,
    Attempts,
)
from schemas.literature.naming import TURNING


@given(st.text())
def test_no_text_becomes_html_formula_or_colour(untrusted: str) -> None:
    for written in (text.line(untrusted), text.prose(untrusted)):
        rendered = MarkdownIt("commonmark", {"html": True}).render(written)
        assert "<script" not in rendered
        assert "<img" not in rendered
        assert all(written[n - 1 : n] == "\\" for n, letter in enumerate(written) if letter == "$")


def test_addresses_quote_what_they_carry() -> None:
    assert (
        links.address("idea", run="r", idea="../../etc/passwd\n<b>&x=1")
        == "/idea?run=r&idea=..%2F..%2Fetc%2Fpasswd%0A%3Cb%3E%26x%3D1"
    )


def test_who_guesses_the_password_waits_longer_each_time() -> None:
    clock = [0.0]
    attempts = Attempts(lambda: clock[0])
    waits = []
    for _ in range(19):
        waits.append(attempts.hear("guesser", right=False))
        clock[0] += waits[-1]
    assert [wait for wait in waits if wait] == [
        1,
        2,
        4,
        8,
        16,
        32,
        LONGEST_WAIT_SECONDS,
        LONGEST_WAIT_SECONDS,
    ]


def test_nobody_waits_for_the_guesses_of_another() -> None:
    attempts = Attempts(lambda: 0.0)
    for _ in range(100):
        attempts.hear("guesser", right=False)
    assert attempts.hear("guesser", right=True) > 0
    assert attempts.hear("reader", right=True) == 0


def test_the_right_password_and_time_make_guesses_forgotten() -> None:
    clock = [0.0]
    attempts = Attempts(lambda: clock[0])
    for _ in range(FREE_GUESSES):
        attempts.hear("reader", right=False)
    clock[0] = FORGOTTEN_AFTER_SECONDS + 1
    assert [attempts.hear("reader", right=False) for _ in range(FREE_GUESSES)] == [
        0.0
    ] * FREE_GUESSES
    assert attempts.hear("reader", right=False) > 0


def test_passwords_are_compared_whole() -> None:
    assert same("pass wörd", SecretStr("pass wörd"))
    assert not same("pass", SecretStr("pass wörd"))
    assert not same("\ud800", SecretStr("pass wörd"))


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+cmd()", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", "-", '=HYPERLINK("http://x")'],
)
def test_text_that_a_spreadsheet_would_compute_stays_text(text: str) -> None:
    frame = polars.DataFrame({"title": [text], "score": [-1.5]})
    assert cells.as_text(frame).rows() == [("'" + text, -1.5)]


@pytest.mark.parametrize("text", ["-5", "+3.25", "-1e-9", "plain", "a=b", "", "'=1"])
def test_numbers_and_other_text_stay_as_they_are(text: str) -> None:
    assert cells.as_text(polars.DataFrame({"title": [text]}))["title"].to_list() == [text]


def test_no_surface_turns_the_reading_order_or_makes_an_address_live() -> None:
    turned = "invoice\u202excod.exe\u2066 \u200f\u061c"
    frame = cells.as_text(polars.DataFrame({"title": [turned, "=1+1"], "n": [1, 2]}))
    assert frame["title"].to_list() == ["invoicexcod.exe ", "'=1+1"]
    for written in (text.line(turned), text.prose(turned)):
        assert not set(written) & set(TURNING)
    for written in (
        text.line("see https://evil.example or www.evil.example or a@evil.example"),
        text.prose("see https://evil.example or www.evil.example or a@evil.example"),
    ):
        visible = written.replace("\\", "")
        assert "://evil" not in visible
        assert "www.evil" not in visible
        assert "@evil" not in visible
    assert "](https://good.example/paper)" in text.prose("[a paper](https://good.example/paper)")
