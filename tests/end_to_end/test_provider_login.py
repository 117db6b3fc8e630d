"""Signing in with a provider: who somebody is, it says; what they may do, the accounts say."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from schemas.people.role import Role
from tests.support.assay_command import answers, environment, wait_until
from tests.support.browser import chromium, needs_chromium, reader_of
from tests.support.oidc_provider import Provider, oidc_provider
from tests.support.ports import quiet_port
from warehouse.app.accounts import add_account
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse

pytestmark = [pytest.mark.end_to_end, needs_chromium, pytest.mark.long]


@pytest.fixture
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def provider() -> Iterator[Provider]:
    with oidc_provider() as running:
        yield running


@pytest.fixture
def address(tmp_path: Path, provider: Provider) -> Iterator[str]:
    warehouse, port = Warehouse(tmp_path / "warehouse"), quiet_port()
    warehouse.root.mkdir()
    with ServiceDatabase(warehouse) as database:
        add_account(database, "ada@example.org", Role.SUBMITTER, None)
    url = f"http://127.0.0.1:{port}"
    env = environment(
        tmp_path / "home",
        ASSAY_DASHBOARD__WAREHOUSE=str(warehouse.root),
        ASSAY_DASHBOARD__PROVIDER__CLIENT_ID="assay",
        ASSAY_DASHBOARD__PROVIDER__CLIENT_SECRET="a secret",
        ASSAY_DASHBOARD__PROVIDER__SERVER_METADATA_URL=f"{provider.url}/.well-known/openid-configuration",
        ASSAY_DASHBOARD__PROVIDER__REDIRECT_URI=f"{url}/oauth2callback",
    )
    command = [sys.executable, "-m", "dashboards.app.server", "127.0.0.1", str(port)]
    process = subprocess.Popen(command, env=env)
    try:
        wait_until(lambda: answers(f"{url}/_stcore/health"), 120, "the dashboard answers")
        yield url
    finally:
        process.kill()
        process.wait()


def test_the_provider_says_who_it_is_and_the_accounts_what_they_may(
    browser: Browser, address: str, provider: Provider
) -> None:
    provider.claims = {"email": "Ada@Example.org", "email_verified": True}
    with reader_of(browser, address) as ada:
        ada.page.goto(f"{address}/")
        ada.page.get_by_role("button", name="Sign in", exact=True).click()
        expect(ada.page.get_by_text("ada@example.org, submitter")).to_be_visible()
        expect(ada.page.get_by_role("link", name="Evaluate one")).to_be_visible()
        ada.page.reload()
        expect(ada.page.get_by_text("ada@example.org, submitter")).to_be_visible()
        kept = ada.page.context.cookies()
        ada.page.get_by_role("button", name="Sign out").click()
        expect(ada.page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    with reader_of(browser, address) as thief:
        thief.page.context.add_cookies([{**each} for each in kept])  # type: ignore[list-item]
        thief.page.goto(f"{address}/")
        expect(thief.page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
        expect(thief.page.get_by_role("link", name="Ideas")).to_have_count(0)

    for claims in (
        {"email": "ada@example.org"},
        {"email": "ada@example.org", "email_verified": False},
        {"email": "eve@example.org", "email_verified": True},
    ):
        provider.claims = claims
        with reader_of(browser, address) as nobody:
            nobody.page.goto(f"{address}/")
            nobody.page.get_by_role("button", name="Sign in", exact=True).click()
            expect(nobody.page.get_by_text("There is no account here")).to_be_visible()
            expect(nobody.page.get_by_role("link", name="Ideas")).to_have_count(0)
