"""Cutoffs are read as publication dates are, and refused where they are not sure."""

from datetime import date

import pytest

from schemas.idea import cutoff_day, looks_like_date


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2024-06-03", date(2024, 6, 3)),
        ("2024-06-03Z", date(2024, 6, 3)),
        ("2024-06-03+02:00", date(2024, 6, 3)),
        ("2024-06-03T23:30:00-04:00", date(2024, 6, 3)),
        ("20240603", date(2024, 6, 3)),
        ("3. 6. 2024", date(2024, 6, 3)),
        ("3rd of June 2024", date(2024, 6, 3)),
        ("Monday, June 3, 2024", date(2024, 6, 3)),
        ("Sept. 3, 2024", date(2024, 9, 3)),
        ("2024 Jun 3", date(2024, 6, 3)),
        ("2024–02", date(2024, 2, 29)),
        ("February 2024", date(2024, 2, 29)),
        ("02/2024", date(2024, 2, 29)),
    ],
)
def test_a_cutoff_is_read_as_a_publication_date(text: str, day: date) -> None:
    assert cutoff_day(text) == day
    assert looks_like_date(text)


@pytest.mark.parametrize(
    "text",
    [
        *("2024", "2024.0", "202406", "1717372800", "Spring 2024", "2023-2024"),
        *("03/05/2024", "25/06/2024", "25-06-2024 10:00", "Published: 03/05/2024"),
        *("2024-02-30", "30 Feb 2024", "February 30, 2024", "31.02.2024"),
        *("May-Jun 2024", "2024 May-Jun", "Dec 2024/Jan 2025", "2024 Dec-2025 Jan"),
        *("Marvel 2024", "Decision 12, 2024", "1499-05", "2101-05-17", "soon", ""),
    ],
)
def test_a_cutoff_that_is_not_sure_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no single day or month"):
        cutoff_day(text)


@pytest.mark.parametrize(
    ("text", "looks"),
    [("03/05/2024", True), ("2024", False), ("2024-02-30", False), ("Marvel 2024", False)],
)
def test_a_date_of_unclear_order_looks_like_one(text: str, looks: bool) -> None:
    assert looks_like_date(text) is looks
