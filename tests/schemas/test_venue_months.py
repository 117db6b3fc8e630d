"""A paper known by its year alone is dated so that nothing later than a cutoff gets in."""

from datetime import date

import pytest

from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from schemas.literature.venue_months import LATEST_MONTHS, MEETINGS


def paper(venue: str, year: int, arxiv_id: str | None = None) -> Paper:
    return Paper(paper_id=PaperId("p"), title="A paper", venue=venue, year=year, arxiv_id=arxiv_id)


@pytest.mark.parametrize(
    ("venue", "year", "latest"),
    [
        ("ICML", 2024, date(2024, 7, 31)),
        (" International Conference on Machine Learning ", 2024, date(2024, 7, 31)),
        ("WACV", 2024, date(2024, 3, 31)),
        ("ICML", 2017, date(2017, 8, 31)),
        ("ICML", 1998, date(1998, 12, 31)),
        ("IJCAI", 2020, date(2020, 12, 31)),
        ("NIPS", 2018, date(2018, 12, 31)),
        ("Workshop on ICML", 2024, date(2024, 12, 31)),
        ("", 2024, date(2024, 12, 31)),
    ],
)
def test_a_year_ends_with_the_month_of_the_venue_where_that_is_known(
    venue: str, year: int, latest: date
) -> None:
    known = paper(venue, year)
    assert known.latest_publication_date == latest
    assert known.admissible(latest)
    assert not known.admissible(latest.replace(day=latest.day - 1))


def test_the_year_of_a_preprint_says_nothing_about_the_meeting() -> None:
    assert paper("ICML", 2024, "2410.00001").latest_publication_date == date(2024, 12, 31)


def test_a_venue_stands_once_with_months_of_its_own_years() -> None:
    names = [name for meetings in MEETINGS for name in meetings.names]
    assert len(names) == len(set(names))
    assert all(name == name.strip().lower() for name in names)
    assert all(1 <= month <= 12 for month in LATEST_MONTHS.values())
    for meetings in MEETINGS:
        years = range(meetings.first_year, meetings.last_year + 1)
        assert set(meetings.other_months) <= set(years), meetings.names
