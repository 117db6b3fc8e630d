"""How fast the pages answer over a large run: the server alone, and in a browser on a slow network."""

import argparse
import gzip
import logging
import statistics
import tempfile
import time
from pathlib import Path

import httpx
from playwright.sync_api import Browser, sync_playwright

from dashboards.app.access import OPEN_ACTIONS
from dashboards.app.site import PAGES, with_query
from tests.benchmarks._assay import environment
from tests.benchmarks.nights import Nights, evaluated, newest
from tests.support.browser import ARGUMENTS, chromium_path, dashboard
from warehouse.warehouse import Warehouse

SLOW_BITS_PER_SECOND, SLOW_LATENCY_MS = 400_000, 400
LANDED = 80
_FIRST_WORDS = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def grown(base: Path, folder: Path, ideas: int) -> Warehouse:
    """A lake with one run of so many ideas."""
    run, models = newest(base)
    warehouse = Warehouse(folder)
    Nights(warehouse, run, models, ideas, min(LANDED, ideas), 1).night(1)
    return warehouse


def paths_of(warehouse: Warehouse) -> list[str]:
    """Pages of the menu and one of each kind behind them."""
    with warehouse.queries() as queries:
        run = queries.latest_run()
        idea = min(queries.ranking(run.run_id), key=lambda each: each.place)
    named = with_query("/idea", run=run.run_id, idea=idea.idea_id)
    return [
        *(
            page.path
            for page in PAGES
            if page.label and not page.is_post and OPEN_ACTIONS.intersection(page.needs)
        ),
        "/why", "/sure", f"/runs/{run.run_id}", named,
    ]  # fmt: skip


def answer_lines(url: str, paths: list[str], repeat: int) -> list[str]:
    lines = ["page                          first, ms   warm, ms   sent, KB"]
    with httpx.Client(base_url=url, timeout=120) as client:
        for path in paths:
            taken = []
            for _ in range(repeat + 1):
                started = time.monotonic()
                answer = client.get(path)
                taken.append(1000 * (time.monotonic() - started))
                assert answer.status_code == 200, (path, answer.text[:300])
            kilobytes = len(gzip.compress(answer.content)) / 1000
            warm = statistics.median(taken[1:])
            lines.append(f"{path[:28]:28} {taken[0]:10,.0f} {warm:10,.0f} {kilobytes:10,.0f}")
    return lines


def slow_lines(browser: Browser, url: str, paths: list[str]) -> list[str]:
    """First words at 400 kbit/s and 400 ms, with an empty cache and with the style sheet kept."""
    lines = ["on a slow network             first words, ms   second page, ms"]
    for path in paths:
        context = browser.new_context()
        page = context.new_page()
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        session.send(
            "Network.emulateNetworkConditions",
            {
                "offline": False,
                "latency": SLOW_LATENCY_MS,
                "downloadThroughput": SLOW_BITS_PER_SECOND / 8,
                "uploadThroughput": SLOW_BITS_PER_SECOND / 8,
            },
        )
        found = []
        for _ in range(2):
            page.goto(f"{url}{path}", wait_until="load")
            while (words := page.evaluate(_FIRST_WORDS)) is None:
                page.wait_for_timeout(20)
            found.append(words)
        lines.append(f"{path[:28]:28} {found[0]:16,.0f} {found[1]:17,.0f}")
        context.close()
    return lines


def weight_lines(browser: Browser, url: str, group: str) -> list[str]:
    """From a weight that is moved to the order that follows from it."""
    lines = []
    for name, path in (
        ("all groups", "/ideas?basis=scores"),
        ("one group", f"/ideas?basis=scores&group={group}"),
    ):
        page = browser.new_page()
        page.goto(f"{url}{path}")
        taken = []
        for value in ("0.1", "0.9", "0.3", "0.7", "0.2"):
            field = page.locator("input[name^=weight_]").first
            before = page.locator("main").inner_html()
            started = time.monotonic()
            field.fill(value)
            field.press("Tab")
            while page.locator("main").inner_html() == before:
                page.wait_for_timeout(5)
            taken.append(1000 * (time.monotonic() - started))
        lines.append(f"a weight moved, {name:12} {statistics.median(taken):10,.0f} ms")
        page.close()
    return lines


def main() -> None:
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser(prog="pages")
    parser.add_argument("--ideas", type=int, nargs="*", default=[81, 10_000])
    parser.add_argument("--warehouse", type=Path, help="whose newest run is taken as a model")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-pages-") as name, sync_playwright() as driver:
        folder = Path(name)
        base = options.warehouse or evaluated(folder, 8)
        browser = driver.chromium.launch(executable_path=chromium_path(), args=list(ARGUMENTS))
        for ideas in options.ideas:
            warehouse = grown(base, folder / f"lake-{ideas}", ideas)
            print(f"\n{ideas:,} ideas", flush=True)
            with warehouse.queries() as queries:
                groups = [each.group for each in queries.ranking(queries.latest_run().run_id)]
            started = time.monotonic()
            with dashboard(warehouse.root, environment(folder / "home"), folder / "log") as url:
                print(f"start {time.monotonic() - started:.1f} s")
                paths = paths_of(warehouse)
                print(*answer_lines(url, paths, options.repeat), sep="\n", flush=True)
                print(*slow_lines(browser, url, paths), sep="\n", flush=True)
                print(*weight_lines(browser, url, str(groups[0])), sep="\n", flush=True)


if __name__ == "__main__":
    main()
