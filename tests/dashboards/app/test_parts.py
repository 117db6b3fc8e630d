"""Parts of the dashboard that need no page."""

import polars
import pytest
from pydantic import SecretStr

from dashboards.app.access import equal_in_constant_time
from dashboards.app.sign_in import (
    FORGOTTEN_AFTER_SECONDS,
    FREE_GUESSES,
    LONGEST_WAIT_SECONDS,
    Attempts,
)
from dashboards.spreadsheet_cells import frame_as_text


def test_who_guesses_the_password_waits_longer_each_time() -> None:
    clock = [0.0]
    attempts = Attempts(lambda: clock[0])
    waits = []
    for _ in range(19):
        waits.append(attempts.record("guesser", right=False))
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
        attempts.record("guesser", right=False)
    assert attempts.record("guesser", right=True) > 0
    assert attempts.record("reader", right=True) == 0


def test_the_right_password_and_time_make_guesses_forgotten() -> None:
    clock = [0.0]
    attempts = Attempts(lambda: clock[0])
    for _ in range(FREE_GUESSES):
        attempts.record("reader", right=False)
    clock[0] = FORGOTTEN_AFTER_SECONDS + 1
    assert [attempts.record("reader", right=False) for _ in range(FREE_GUESSES)] == [
        0.0
    ] * FREE_GUESSES
    assert attempts.record("reader", right=False) > 0


def test_passwords_are_compared_whole() -> None:
    assert equal_in_constant_time("pass wörd", SecretStr("pass wörd"))
    assert not equal_in_constant_time("pass", SecretStr("pass wörd"))
    assert not equal_in_constant_time("\ud800", SecretStr("pass wörd"))


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+cmd()",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "＝1+1",
        "-",
        '=HYPERLINK("http://x")',
        " =1",
        "\x00=1",
        "\ufeff=1",
    ],
)
def test_text_that_a_spreadsheet_would_compute_stays_text(text: str) -> None:
    frame = polars.DataFrame({"title": [text], "score": [-1.5]})
    assert frame_as_text(frame).rows() == [("'" + text, -1.5)]


@pytest.mark.parametrize("text", ["-5", "+3.25", "-1e-9", "plain", "a=b", "", "'=1"])
def test_numbers_and_other_text_stay_as_they_are(text: str) -> None:
    assert frame_as_text(polars.DataFrame({"title": [text]}))["title"].to_list() == [text]


def test_cells_for_a_spreadsheet_turn_no_reading_order() -> None:
    turned = "invoice\u202excod.exe\u2066 \u200f\u061c"
    frame = frame_as_text(polars.DataFrame({"title": [turned, "=1+1"], "n": [1, 2]}))
    assert frame["title"].to_list() == ["invoicexcod.exe ", "'=1+1"]
