"""Readers who see little, use the keyboard or have the page read to them: axe-core's rules, on
every page, in light and dark; and what a narrow screen shows.
"""

import re
from collections.abc import Iterator
from importlib import resources
from itertools import cycle
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from dashboards.render.data_docs import data_docs
from dashboards.views.write_run import write_reports
from schemas.identifiers import content_hash
from tests.support import browser as browsers
from tests.support.assay_command import environment
from tests.support.assessed_evaluations import make_assessed_evaluation
from tests.support.benchmark_lake import publish_benchmark_lake
from tests.support.check_lake import publish_check_lake
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.curation_lake import make_curation, publish_curation
from tests.support.evaluations import START, make_run
from tests.support.ranked_lake import publish_ranking_of_report_lake
from tests.support.report_lake import RUN, publish_report_lake, publish_validated_report_lake
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.skipif(browsers.chromium_path() is None, reason=browsers.HOW_TO_INSTALL),
]
AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text()
GRAVE = "(found) => found.violations.filter(each => ['serious', 'critical'].includes(each.impact))"
FINDINGS = f"""async () => ({GRAVE})(await axe.run({{resultTypes: ['violations']}}))
    .map(each => `${{each.id}}: ${{each.nodes.map(node => node.html.slice(0, 120)).join(' | ')}}`)"""

CUT = """() => [document.documentElement, ...document.querySelectorAll('.scroll, table')]
    .filter(each => each.scrollWidth > each.clientWidth + 1)
    .map(each => each.textContent.trim().slice(0, 60))"""

BEYOND = """() => {
    const main = document.querySelector('main');
    const parts = main.querySelectorAll(
        'h1, h2, h3, p, button, input, textarea, figure');
    const wide = [...parts].filter(each => {
        const box = each.getBoundingClientRect();
        const beyond = box.right > main.getBoundingClientRect().right + 1;
        const scrolls = each.matches('figure') && each.scrollWidth > each.clientWidth + 1;
        return box.width > 0 && !each.closest('.scroll') && (beyond || scrolls);
    }).map(each => `${each.tagName}: ${(each.textContent || '').trim().slice(0, 60)}`);
    return main.scrollWidth > main.clientWidth + 1 ? ['the page scrolls sideways', ...wide] : wide;
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("accessible")
    warehouse: Warehouse = publish_report_lake(folder / "lake")
    publish_ranking_of_report_lake(warehouse)
    publish_check_lake(warehouse)
    publish_benchmark_lake(warehouse)
    publish_curation(warehouse, make_curation())
    for number, run in enumerate(NIGHTS, start=1):
        land(warehouse, make_full_evaluation(1, run_id=run))
        at = START.replace(day=number)
        modules = "soundness,contribution,committee,novelty"
        head = make_run(run, modules=modules, started_at=at, finished_at=at)
        assert publish(warehouse, RUNS, head).published
    with browsers.dashboard(warehouse.root, environment(folder / "home"), folder / "log") as url:
        yield url


NIGHTS = ("night-1", "night-2")
PARTS_OF_OPERATE = ("", "/cost", "/sources", "/quality", "/sql", "/benchmarks", "/rated")
OF_THE_SITE = (
    "",
    "ideas",
    "why",
    "sure",
    f"idea?run={RUN}&idea=idea-00003",
    "work",
    "submit",
    "decide/standings",
    f"runs/{RUN}",
    "runs/check-a",
    f"runs/{RUN}/ranking",
    f"paper?run={RUN}&paper={content_hash('3', '0', length=40)}",
    *(f"operate{part}" for part in PARTS_OF_OPERATE),
    *(f"operate/quality?view={view}" for view in ("Checks", "Judges")),
)


@pytest.mark.parametrize("width", [390, pytest.param(1024, marks=pytest.mark.long)])
def test_no_page_has_a_serious_finding_or_is_wider_than_a_narrow_screen(
    browser: Browser, address: str, width: int
) -> None:
    found: dict[str, list[str]] = {}
    other_colours: Iterator[Literal["dark", "light"]] = cycle(("dark", "light"))
    with browsers.reader_of(browser, address, width=width, height=900) as reader:
        for name in OF_THE_SITE:
            reader.page.goto(f"{address}/{name}")
            reader.settle()
            found[name] = reader.page.evaluate(BEYOND)
            reader.keep(f"{name.partition('?')[0].replace('/', '_')}_{width}")
            if width > 1000:  # where the menu is seen
                reader.page.set_viewport_size({"width": browsers.WIDTH, "height": browsers.HEIGHT})
                reader.settle()
                found[name] += grave(reader)
                reader.turn(next(other_colours))
                reader.settle()
                found[name] += grave(reader)
                reader.page.set_viewport_size({"width": width, "height": 900})
        check_cursor(reader)
    assert {name: each for name, each in found.items() if each} == {}


def check_cursor(reader: browsers.Reader) -> None:
    """One night is marked in every panel, by pointer and by keys."""
    reader.open("operate/cost", run=NIGHTS[-1])
    chart = reader.page.locator("figure.chart:has(.cursor)")
    marked = chart.locator(".said.here:visible")
    panels = len(marked.all())
    assert panels > 1
    chart.locator(".under[data-at='0']:visible").hover()
    assert {each.text_content()[:10] for each in marked.all()} == {"2026-03-01"}
    chart.focus()
    reader.page.keyboard.press("ArrowRight")
    assert [each.text_content()[:10] for each in marked.all()] == ["2026-03-02"] * panels


def grave(reader: browsers.Reader) -> list[str]:
    reader.page.evaluate(AXE)
    found: list[str] = reader.page.evaluate(FINDINGS)
    return found


def test_at_1440_by_900_the_best_ideas_are_above_the_fold(browser: Browser, address: str) -> None:
    with browsers.reader_of(browser, address, width=1440, height=900) as reader:
        reader.open("ideas", run=RUN)
        box = reader.page.locator("main tbody").first.bounding_box()
    assert box is not None
    assert box["y"] + 4 * 35 < 900


@pytest.mark.long
def test_a_phone_shows_verdict_score_and_title_without_sideways_scrolling(
    browser: Browser, tmp_path: Path
) -> None:
    warehouse = Warehouse(tmp_path / "lake")
    land(warehouse, make_assessed_evaluation())
    assert publish(warehouse, RUNS, make_run(modules="assessment")).published
    with (
        browsers.dashboard(warehouse.root, environment(tmp_path), tmp_path / "log") as url,
        browsers.reader_of(browser, url, width=390) as reader,
    ):
        reader.open("ideas")
        for name in ("Verdict", "Score", "Idea"):
            heading = reader.page.locator("main th").filter(has_text=re.compile(f"^{name}$"))
            box = heading.first.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 390


def test_a_run_report_of_four_modules_fits_its_page_at_1440(
    browser: Browser, tmp_path: Path
) -> None:
    warehouse = Warehouse(tmp_path)
    land(warehouse, make_full_evaluation(1))
    modules = "soundness,contribution,committee,novelty"
    assert publish(warehouse, RUNS, make_run(modules=modules)).published
    page, _ = write_reports(warehouse, RUN)
    assert _cut(browser, page, 1440) == []


def test_data_docs_fit_a_phone(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "docs.html"
    page.write_text(data_docs(publish_validated_report_lake(tmp_path / "lake"), RUN))
    assert _cut(browser, page, 390) == []


def _cut(browser: Browser, page: Path, width: int) -> list[str]:
    """What of a page in a file a reader of this width does not see without scrolling sideways."""
    opened = browser.new_page(viewport={"width": width, "height": 900})
    opened.goto(page.as_uri())
    found: list[str] = opened.evaluate(CUT)
    opened.close()
    return found
