"""Latest publication days of papers known by year only, from the months of venues."""

from calendar import monthrange
from dataclasses import dataclass, field
from datetime import date

# The bound is the latest month in which any of these meetings ended or its proceedings became
# public: a month too late only loses a paper, a month too early violates the cutoff. Years
# without an entry, and venues in December (NeurIPS, IROS, ACML) or without a regular month (ECCV,
# CoRL), count to 31 December.
#
# The months are set late on purpose, and were not checked against every meeting's page. If one is
# too early, move it back.


@dataclass(frozen=True, slots=True)
class Meetings:
    """Meetings of a venue in a range of years.

    Attributes:
        names: spellings of the venue, in lower case.
        latest_month: 1 to 12; papers were public by its end.
        other_months: exceptions by year.
    """

    names: tuple[str, ...]
    first_year: int
    last_year: int
    latest_month: int
    other_months: dict[int, int] = field(default_factory=dict)


MEETINGS = (
    Meetings(("aaai", "aaai conference on artificial intelligence"), 2017, 2024, 7),
    Meetings(
        (
            "acl",
            "annual meeting of the association for computational linguistics",
        ),
        2013,
        2025,
        8,
    ),
    Meetings(
        ("aistats", "international conference on artificial intelligence and statistics"),
        2012,
        2025,
        5,
        {2020: 8},
    ),
    Meetings(("alt", "international conference on algorithmic learning theory"), 2020, 2025, 4),
    Meetings(
        ("chi", "international conference on human factors in computing systems"), 2016, 2025, 5
    ),
    Meetings(
        ("coling", "international conference on computational linguistics"),
        2018,
        2025,
        10,
        {2020: 12, 2025: 1},
    ),
    Meetings(("colm", "conference on language modeling"), 2024, 2025, 10),
    Meetings(("colt", "annual conference computational learning theory"), 2012, 2024, 7, {2021: 8}),
    Meetings(("cvpr", "computer vision and pattern recognition"), 2013, 2025, 7),
    Meetings(
        (
            "eacl",
            "conference of the european chapter of the association for computational linguistics",
        ),
        2017,
        2024,
        5,
    ),
    Meetings(
        ("emnlp", "conference on empirical methods in natural language processing"),
        2018,
        2025,
        11,
        {2022: 12, 2023: 12},
    ),
    Meetings(("iccv", "ieee international conference on computer vision"), 2017, 2025, 11),
    Meetings(("iclr", "international conference on learning representations"), 2013, 2025, 5),
    Meetings(
        ("icml", "international conference on machine learning"),
        2013,
        2024,
        7,
        {2017: 8, 2020: 11},
    ),
    Meetings(("icra", "ieee international conference on robotics and automation"), 2014, 2024, 10),
    # The meeting of 2020 was held in January 2021.
    Meetings(
        ("ijcai", "international joint conference on artificial intelligence"),
        2015,
        2025,
        8,
        {2020: 12},
    ),
    Meetings(("interspeech",), 2016, 2025, 9, {2020: 10}),
    Meetings(("kdd", "knowledge discovery and data mining"), 2016, 2025, 8),
    Meetings(
        ("naacl", "north american chapter of the association for computational linguistics"),
        2013,
        2025,
        7,
    ),
    Meetings(("rss", "robotics: science and systems"), 2012, 2025, 7),
    Meetings(
        (
            "sigir",
            "annual international acm sigir conference on research and development in information"
            " retrieval",
        ),
        2016,
        2025,
        7,
        {2017: 8},
    ),
    Meetings(
        ("uai", "conference on uncertainty in artificial intelligence"), 2020, 2024, 9, {2021: 12}
    ),
    Meetings(
        ("wacv", "ieee workshop/winter conference on applications of computer vision"),
        2016,
        2025,
        3,
    ),
    Meetings(("www", "the web conference"), 2018, 2025, 5),
)

LATEST_MONTHS = {
    (name, year): meetings.other_months.get(year, meetings.latest_month)
    for meetings in MEETINGS
    for name in meetings.names
    for year in range(meetings.first_year, meetings.last_year + 1)
}
"""Months, 1 to 12, by venue in lower case and year."""


def month_of_venue(year: int, venue: str, arxiv_id: str | None) -> int | None:
    """Return the month, 1 to 12, by whose end a venue's papers were public; None: unknown.

    None for a paper with a preprint too, because the year may be the preprint's.
    """
    return None if arxiv_id else LATEST_MONTHS.get((venue.strip().lower(), year))


def latest_day(year: int, venue: str, arxiv_id: str | None) -> date:
    """Return the latest publication day of a paper known by year only."""
    month = month_of_venue(year, venue, arxiv_id) or 12
    return date(year, month, monthrange(year, month)[1])
