"""A decider in a browser: an answer can be taken back, is sent once, and is not lost."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from schemas.people.role import Role
from tests.dashboards.app.test_decide import asked, made
from tests.end_to_end.test_accessibility import AXE, BEYOND, FINDINGS
from tests.support.assay_command import wait_until
from tests.support.browser import WAIT_SECONDS, dashboard, needs_chromium, reader_of
from tests.support.site import PASSWORD
from tests.warehouse.conftest import publish_ideas
from warehouse.app.accounts import add_account
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse

pytestmark = [pytest.mark.end_to_end, needs_chromium, pytest.mark.long]


def test_an_answer_is_held_taken_back_sent_once_and_not_lost_with_the_page(
    browser: Browser, tmp_path: Path, bare_env: dict[str, str]
) -> None:
    warehouse = Warehouse(tmp_path / "lake")
    publish_ideas(warehouse, "run-a", range(2))
    asked(warehouse)
    asked(warehouse, name="r2", idea=1)
    with ServiceDatabase(warehouse) as database:
        add_account(database, "decider", Role.DECIDER, PASSWORD)
    with (
        dashboard(warehouse.root, bare_env, tmp_path / "log") as address,
        reader_of(browser, address) as ada,
    ):
        ada.page.goto(f"{address}/decide")
        ada.sign_in("decider", PASSWORD)
        ada.arrive("Decide")
        ada.page.evaluate(AXE)
        assert ada.page.evaluate(FINDINGS) == []
        for width in (390, 1024):
            ada.page.set_viewport_size({"width": width, "height": 900})
            assert ada.page.evaluate(BEYOND) == []
        remark, bar = ada.page.get_by_label("Remark (optional)"), ada.page.locator("#held")
        remark.fill("no ")
        remark.press("a")  # a letter of the remark, not an answer
        remark.blur()
        ada.page.keyboard.press("r")
        expect(bar).to_contain_text("Rejected: Idea 0")
        expect(ada.page.locator("#about")).to_have_text("Idea 1")
        bar.get_by_role("button", name="Undo").click()
        expect(ada.page.locator("#about")).to_have_text("Idea 0")
        expect(remark).to_have_value("no a")
        assert made(warehouse) == []
        remark.blur()
        ada.page.keyboard.press("a")
        wait_until(lambda: len(made(warehouse)) == 1, WAIT_SECONDS, "the answer")
        ada.read("Waiting: 1")
        ada.page.keyboard.press("r")
        expect(bar).to_contain_text("Rejected: Idea 1")
        ada.page.goto(f"{address}/work")
        wait_until(lambda: len(made(warehouse)) == 2, WAIT_SECONDS, "what the page held")
        assert ada.troubles == []
    assert [each.verdict for each in made(warehouse)] == ["approved", "rejected"]
