"""Signing in with a provider: who somebody is, it says; what they may do, the accounts say."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from schemas.people.role import Role
from tests.support.api_server import dashboard_server
from tests.support.browser import needs_chromium, reader_of
from tests.support.oidc_provider import Provider, oidc_provider

pytestmark = [pytest.mark.end_to_end, needs_chromium, pytest.mark.long]


@pytest.fixture
def provider() -> Iterator[Provider]:
    with oidc_provider() as running:
        yield running


@pytest.fixture
def address(tmp_path: Path, provider: Provider) -> Iterator[str]:
    accounts = (Role.SUBMITTER, "ada@example.org")
    with dashboard_server(tmp_path, *accounts, provider=provider) as (url, _):
        yield url


def test_the_provider_says_who_it_is_and_the_accounts_what_they_may(
    browser: Browser, address: str, provider: Provider
) -> None:
    provider.claims = {"email": "Ada@Example.org", "email_verified": True}
    with reader_of(browser, address) as ada:
        ada.page.goto(f"{address}/")
        ada.page.get_by_role("button", name="Sign in", exact=True).click()
        expect(ada.page.get_by_text("ada@example.org, submitter")).to_be_visible()
        expect(ada.page.get_by_role("link", name="Submit")).to_be_visible()
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

    provider.claims = {"email": "eve@example.org", "email_verified": True}
    with reader_of(browser, address) as nobody:
        nobody.page.goto(f"{address}/")
        nobody.page.get_by_role("button", name="Sign in", exact=True).click()
        expect(nobody.page.get_by_text("There is no account here")).to_be_visible()
        expect(nobody.page.get_by_role("link", name="Ideas")).to_have_count(0)
