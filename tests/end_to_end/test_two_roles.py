"""Two browsers whose readers have signed in, in different roles."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from dashboards.app.access import cookie_name
from schemas.people.role import Role
from tests.support.assay_command import environment
from tests.support.assay_here import assay_here
from tests.support.browser import dashboard, needs_chromium, reader_of
from warehouse.warehouse import Warehouse

pytestmark = [pytest.mark.end_to_end, needs_chromium, pytest.mark.long]

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A warehouse with two accounts, made as an operator makes them."""
    found = Warehouse(tmp_path_factory.mktemp("roles") / "warehouse")
    found.root.mkdir()
    env = environment(found.root.parent / "home")
    for name, role in (("rita", Role.READER), ("sam", Role.SUBMITTER), ("vera", Role.VOTER)):
        command = ("accounts", "add", name, "--role", role, "--warehouse", str(found.root))
        done = assay_here(*command, env=env, stdin=f"{PASSWORD}\n")
        assert done.returncode == 0, done.stderr
    return found


@pytest.fixture(scope="module")
def address(warehouse: Warehouse) -> Iterator[str]:
    env = environment(warehouse.root.parent / "home")
    with dashboard(warehouse.root, env, warehouse.root.parent / "log") as running:
        yield running


def test_two_browsers_see_what_their_readers_may(
    browser: Browser, address: str, warehouse: Warehouse, tmp_path: Path
) -> None:
    with reader_of(browser, address) as rita, reader_of(browser, address) as sam:
        rita.page.goto(f"{address}/work")
        rita.sign_in("rita", "not her password")
        expect(rita.page.get_by_role("alert")).to_have_text(
            "No account has this name and password."
        )
        rita.troubles.clear()  # the browser notes that the form came back with 403
        rita.sign_in("rita", PASSWORD)
        rita.arrive("Work")
        expect(rita.page.get_by_text("rita, reader")).to_be_visible()
        expect(rita.page.get_by_role("link", name="Submit")).to_have_count(0)

        sam.page.goto(f"{address}/submit")
        sam.sign_in("sam", PASSWORD)
        sam.arrive("Submit")
        expect(sam.page.get_by_text("sam, submitter")).to_be_visible()

        seen = rita.page.evaluate("document.cookie")
        assert cookie_name(warehouse) not in seen
        tab = rita.page.context.new_page()
        tab.goto(f"{address}/operate/cost")
        expect(tab.get_by_role("heading", name="Cost", exact=True)).to_be_visible()
        tab.reload()
        expect(tab.get_by_text("rita, reader")).to_be_visible()
        tab.goto(f"{address}/submit")
        expect(tab.get_by_text("the role reader may not submit ideas")).to_be_visible()

        tab.goto(f"{address}/work")
        tab.get_by_role("button", name="Sign out").click()
        expect(tab.get_by_label("Password")).to_be_visible()
        rita.page.goto(f"{address}/work")
        expect(rita.page.get_by_label("Password")).to_be_visible()
        sam.page.reload()
        expect(sam.page.get_by_text("sam, submitter")).to_be_visible()


def test_a_link_leads_a_voter_to_no_page_with_scores(browser: Browser, address: str) -> None:
    with reader_of(browser, address) as vera:
        vera.page.goto(f"{address}/")
        vera.sign_in("vera", PASSWORD)
        vera.arrive("Vote")
        for name in ("ideas", "idea", "work", "operate", "operate/sql"):
            vera.page.goto(f"{address}/{name}?run=run-a&idea=idea-00000")
            expect(vera.page.get_by_text("the role voter may not read results")).to_be_visible()
        vera.troubles.clear()  # the browser's notes that pages came with 403


def test_the_way_in_leads_back_to_the_page_that_was_asked(browser: Browser, address: str) -> None:
    """Of a link on another site the browser sends no cookie, so a page of ours reloads itself."""
    with reader_of(browser, address) as rita:
        rita.page.route(
            "http://elsewhere.example/",
            lambda route: route.fulfill(
                content_type="text/html", body=f'<a href="{address}/work">look</a>'
            ),
        )
        rita.page.goto("http://elsewhere.example/")
        rita.page.get_by_role("link", name="look").click()
        expect(rita.page.get_by_label("Password")).to_be_visible()
        rita.troubles.clear()  # the page on the other site
        rita.sign_in("rita", PASSWORD)
        rita.arrive("Work")
