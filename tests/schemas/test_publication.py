"""Dates as sources write them, and how far they can be trusted."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.literature.publication import (
    DatePrecision,
    Publication,
    in_words,
    preprint_month,
    publication_of,
    read_date,
)

DAY, MONTH, YEAR = DatePrecision.DAY, DatePrecision.MONTH, DatePrecision.YEAR


DATES: dict[tuple[date, DatePrecision], tuple[Any, ...]] = {
    (date(2024, 6, 3), DAY): (
        "2024-06-03", "2024/06/03", "2024.6.3", "20240603", 20240603, "2024 Jun 3",
        "2024-Jun-03", "03 June 2024", "3rd June 2024", "3. June 2024", "03-Jun-2024",
        "June 3, 2024", "Mon, 03 Jun 2024 10:00:00 GMT", "03.06.2024", [2024, 6, 3],
        {"date-parts": [[2024, 6, 3]]}, date(2024, 6, 3), datetime(2024, 6, 3, 23, tzinfo=UTC),
        1717372800, 1717372800000, "1717372800", "2024-06-03Z", "2024-06-03+02:00",
        "2024-06-03-05:00", "2024–06–03", "Monday, June 3, 2024", "Monday 3rd of June 2024",
        "First published: 3 June 2024", "Available online 3 June 2024.", "Epub 2024 Jun 3",
        "Epub ahead of print 2024 Jun 3.", "3. 6. 2024",
    ),
    (date(2024, 6, 4), DAY): (
        "2024-06-03T23:30:00-04:00",
    ),
    (date(2016, 4, 3), DAY): (
        "2016-04-03T00:00:00Z", "2016-04-03 10:11:12",
    ),
    (date(2024, 9, 3), DAY): (
        "Sept. 3, 2024",
    ),
    (date(2024, 6, 25), DAY): (
        "25/06/2024", "06/25/2024",
    ),
    (date(2024, 5, 3), DAY): (
        "03/05/2024",
    ),
    (date(2024, 6, 30), MONTH): (
        ["2024", "06"], "2024–06", "2024-06", "202406", "06/2024", "2024 Jun", "June 2024",
        "Jun. 2024", "May-Jun 2024", "2024 May-Jun", "2024-06-00",
    ),
    (date(2025, 1, 31), MONTH): (
        "Dec 2024/Jan 2025", "December 2024 – January 2025", "2024 Dec-2025 Jan",
    ),
    (date(2023, 2, 28), MONTH): (
        "2023-02-30", "30 Feb 2023",
    ),
    (date(2024, 12, 31), YEAR): (
        "2024", 2024, 2024.0, "2024-00-00", "2024a", "Spring 2024", "2024 Winter", "Q2 2024",
        "c2024", "2023-2024", "in press (2024)", [2024],
    ),
    (date(2015, 12, 31), YEAR): (
        "2015.0",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("last", "precision"), DATES)
def test_dates_are_read_in_every_common_form(last: date, precision: DatePrecision) -> None:
    for value in DATES[last, precision]:
        read = read_date(value)
        assert read is not None and (read.last, read.precision) == (last, precision), value


@pytest.mark.parametrize(
    "value",
    [
        *("Received 3 June 2024", "Accepted: 2024-06-03"),
        *("in press", "forthcoming", "n.d.", "2024-13-41", "0000-00-00", "", "9999-12-31"),
        *(None, [], [None], {}, float("nan"), True, 0, -5, "x" * 5_000),
    ],
)
def test_what_is_no_date_is_unknown(value: Any) -> None:
    assert read_date(value) is None


@given(st.text("0123456789-/. ,:TZabcdefjunmarspthn", max_size=60) | st.integers() | st.floats())
def test_no_value_breaks_the_reading_of_dates(value: Any) -> None:
    read = read_date(value)
    assert read is None or read.last.year == read.year


@given(
    st.dates(date(1973, 1, 2), date(2099, 12, 31)).filter(
        lambda day: (day.month, day.day) != (1, 1)
    )
)
def test_a_day_that_is_none_of_the_placeholders_is_kept(day: date) -> None:
    assert publication_of(day.isoformat(), day.year) == Publication(day.year, day, DAY)


@pytest.mark.parametrize(
    ("day", "year", "expected"),
    [
        ("2024-01-01", 2024, Publication(2024, None, YEAR)),
        ("2024-01-01", None, Publication(2024, None, YEAR)),
        ("2024-01-01T00:00:00Z", 2024, Publication(2024, None, YEAR)),
        ("2024-01-01T09:30:00Z", 2024, Publication(2024, date(2024, 1, 1), DAY)),
        ("2024-01-01+01:00", 2024, Publication(2024, None, YEAR)),
        ("1970-01-01", 2024, Publication(2024, None, YEAR)),
        ("1970-01-01", 1970, Publication(1970, None, YEAR)),
        ("1970-01-01", None, Publication()),
        ("1969-12-31", None, Publication()),
        ("1900-01-01", None, Publication()),
        ("1800-01-01", 2021, Publication(2021, None, YEAR)),
        ("2023-05-03", 2024, Publication(2024, None, YEAR)),
        ("2025-03-01", 2024, Publication(2025, date(2025, 3, 1), DAY)),
        ("2024-06", 2024, Publication(2024, date(2024, 6, 30), MONTH)),
        ("soon", 2024, Publication(2024, None, YEAR, unreadable=True)),
        ("soon", None, Publication(unreadable=True)),
        ("", "unknown", Publication(unreadable=True)),
        (None, None, Publication()),
        (None, float("nan"), Publication()),
    ],
)
def test_a_placeholder_counts_as_its_year_and_of_contradictions_the_later(
    day: Any, year: Any, expected: Publication
) -> None:
    assert publication_of(day, year) == expected


@pytest.mark.parametrize(
    ("name", "month"),
    [
        ("2301.00004", (2023, 1)),
        ("2301.00004v2", (2023, 1)),
        ("arXiv:2301.00004", (2023, 1)),
        ("https://arxiv.org/abs/2301.00004v1", (2023, 1)),
        ("https://arxiv.org/pdf/2301.00004.pdf", (2023, 1)),
        ("10.48550/arXiv.2301.00004", (2023, 1)),
        ("0704.0001", (2007, 4)),
        ("hep-th/9901001", (1999, 1)),
        ("math.GT/0309136", (2003, 9)),
        ("2313.00004", None),
        ("10.1234/2301.00004x", None),
        ("", None),
        (None, None),
    ],
)
def test_an_arxiv_identifier_tells_its_month(
    name: str | None, month: tuple[int, int] | None
) -> None:
    found = preprint_month(name)
    assert (found and (found.year, found.month)) == month


@pytest.mark.parametrize(
    ("day", "year", "expected"),
    [
        ("2025-02-01", 2025, Publication(2023, date(2023, 1, 31), MONTH)),
        ("2023-01-05", 2023, Publication(2023, date(2023, 1, 5), DAY)),
        ("2022-03-04", 2022, Publication(2022, date(2022, 3, 4), DAY)),
        ("2023-01-01", 2023, Publication(2023, date(2023, 1, 31), MONTH)),
        (None, None, Publication(2023, date(2023, 1, 31), MONTH)),
    ],
)
def test_the_month_of_a_preprint_counts_unless_something_earlier_is_known(
    day: str | None, year: int | None, expected: Publication
) -> None:
    assert publication_of(day, year, preprint=preprint_month("2301.00004")) == expected


def test_a_date_is_shown_as_precisely_as_it_is_known() -> None:
    assert in_words(date(2024, 6, 3), DAY, 2024, "n.d.") == "2024-06-03"
    assert in_words(date(2024, 6, 30), MONTH, 2024, "n.d.") == "2024-06"
    assert in_words(None, YEAR, 2024, "n.d.") == "2024"
    assert in_words(None, None, None, "n.d.") == "n.d."
