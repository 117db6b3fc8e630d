"""What docs/guides/deployment.md says: its table is that of today's plan, prices and measured figures."""

import re

from tests.deployment_table import (
    IDEAS,
    MEASURED_UP_TO,
    MOST_WORKERS,
    NIGHT_HOURS,
    OTHER_MEGABYTES,
    PAGE,
    WORKER_MEGABYTES,
    cpu_seconds_an_idea,
    estimate,
    megabytes_an_idea,
    night,
    table,
    with_table,
)

TEXT = PAGE.read_text("utf-8")


def test_the_table_of_nights_is_that_of_today() -> None:
    assert with_table(TEXT) == TEXT, "make costs"


def test_a_night_is_given_the_fewest_workers_that_end_it_in_time() -> None:
    """All of them are tried here, which the table does without."""
    hours = [estimate(10_000, workers, live=False).hours for workers in range(1, MOST_WORKERS + 1)]
    fewest = next(number for number, taken in enumerate(hours, 1) if taken <= NIGHT_HOURS)
    assert night(10_000, live=False)[0] == fewest
    assert hours == sorted(hours, reverse=True)


def test_what_was_not_measured_is_marked() -> None:
    for row in table().splitlines()[2:]:
        count = int(row.split("|")[1].strip(" *").replace(",", ""))
        assert count in IDEAS
        assert (" * |" in row) is (count > MEASURED_UP_TO)


def test_the_figures_it_starts_from_are_those_of_the_page_on_operating() -> None:
    assert cpu_seconds_an_idea(live=True) > cpu_seconds_an_idea(live=False) > 0
    assert megabytes_an_idea() > 1


def test_it_tells_the_memory_that_was_measured() -> None:
    assert (
        f"{WORKER_MEGABYTES} MB a worker, {OTHER_MEGABYTES / 1000:.1f} GB for the command" in TEXT
    )


def test_every_page_and_heading_it_leads_to_exists() -> None:
    for file, heading in re.findall(r"\]\(([\w.-]+\.md)(?:#([\w-]+))?\)", TEXT):
        linked = (PAGE.parent / file).read_text("utf-8")
        headings = {
            re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-")
            for line in linked.splitlines()
            if line.startswith("#")
        }
        assert not heading or heading in headings, (file, heading)
