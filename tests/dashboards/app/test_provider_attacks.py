"""Claims of a provider that sign nobody in, with a real server and a provider on loopback."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from schemas.people.role import Role
from tests.support.api_server import dashboard_server
from tests.support.oidc_provider import Provider, oidc_provider
from tests.support.site import site_of
from warehouse.warehouse import Warehouse

ADA: dict[str, Any] = {"email": "ada@example.org", "email_verified": True}
SIGNED_IN = "@example.org, submitter"
HOUR = 3600


@dataclass(frozen=True)
class Site:
    """A dashboard whose readers sign in with a provider."""

    url: str
    provider: Provider

    @property
    def login(self) -> str:
        return f"{self.url}/sign-in/provider?next=/work"

    def signed_in(self, claims: dict[str, Any], signed: str = "RS256", **back: str) -> bool:
        """Whether a browser that signs in so reads the pages as the holder of an account."""
        self.provider.claims, self.provider.signed, self.provider.back = claims, signed, back
        with httpx.Client(follow_redirects=True) as browser:
            answer = browser.get(self.login)
            assert answer.status_code in (200, 403)
            assert "Traceback" not in answer.text
            return self.reads(dict(browser.cookies))

    def reads(self, cookies: dict[str, str]) -> bool:
        answer = httpx.get(f"{self.url}/work", cookies=cookies)
        shown = SIGNED_IN in answer.text
        assert shown != (answer.status_code == 303)
        return shown


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    names = ("ada@example.org", "strauss@example.org", "kim@example.org")
    with (
        oidc_provider() as provider,
        dashboard_server(
            tmp_path_factory.mktemp("provider"), Role.SUBMITTER, *names, provider=provider
        ) as (url, _),
    ):
        yield Site(url, provider)


def test_a_confirmed_address_signs_in_whatever_its_capitals(site: Site) -> None:
    for more in ({}, {"email": "Ada@Example.ORG"}, {"sub": "another", "groups": {"a": [1]}},
                 {"aud": ["assay", "other"], "azp": "assay"}):  # fmt: skip
        assert site.signed_in(ADA | more), more


def times(**claims: int) -> dict[str, int]:
    return {name: int(time.time()) + seconds for name, seconds in claims.items()}


CLAIMS: dict[str, dict[str, Any]] = {
    "an address that is not confirmed": {"email_verified": False},
    "nothing about confirmation": {"email_verified": None},
    "confirmation as a word": {"email_verified": "true"},
    "confirmation as a number": {"email_verified": 1},
    "no address": {"email": None},
    "several addresses": {"email": ["ada@example.org", "eve@example.org"]},
    "an address within an object": {"email": {"value": "ada@example.org"}},
    "an address with a space": {"email": " ada@example.org"},
    "an address with a zero byte": {"email": "ada@example.org\0"},
    "half a character": {"email": "ada@example.org\ud800"},
    "a letter that is folded into two": {"email": "strau\u00df@example.org"},
    "a letter that looks like another": {"email": "\u212aim@example.org"},
    "an address of another alphabet": {"email": "\u0430da@example.org"},
    "wide letters": {"email": "\uff41da@example.org"},
    "a huge claim": {"email": "eve@example.org", "groups": ["x" * 1_000] * 300},
    "another issuer": {"iss": "https://evil.example"},
    "no issuer": {"iss": None},
    "another audience": {"aud": "another"},
    "another audience, given on": {"aud": "another", "azp": "assay"},
    "several audiences": {"aud": ["another", "third"], "azp": "assay"},
    "no audience": {"aud": None},
    "given to another": {"azp": "another"},
    "no subject": {"sub": None},
    "no nonce": {"nonce": None},
    "another nonce": {"nonce": "seen before"},
    "no end": {"exp": None},
    "no beginning": {"iat": None},
    "a word for a time": {"iat": "now"},
    "an endless time": {"iat": 1e300},
}


def test_claims_that_are_not_about_a_holder_sign_nobody_in(site: Site) -> None:
    for what, claims in CLAIMS.items():
        assert not site.signed_in(ADA | claims), what


def test_a_token_of_another_time_signs_nobody_in(site: Site) -> None:
    for claims in (
        times(iat=-9 * HOUR, exp=-8 * HOUR),
        times(iat=-13 * HOUR),  # longer ago than a session lasts
        times(nbf=HOUR),
        times(iat=HOUR, exp=2 * HOUR),
    ):
        assert not site.signed_in(ADA | claims), claims


def test_a_token_that_the_provider_did_not_sign_signs_nobody_in(site: Site) -> None:
    for signed in ("none", "HS256", "stranger"):
        assert not site.signed_in(ADA, signed), signed


def test_a_way_back_that_this_browser_did_not_begin_signs_nobody_in(site: Site) -> None:
    assert not site.signed_in(ADA, state="another")
    assert not site.signed_in(ADA, state="")
    site.provider.back = {}
    with httpx.Client() as browser:
        begun = browser.get(site.login)
        back = httpx.get(begun.headers["location"]).headers["location"]
        with httpx.Client(follow_redirects=True) as other:
            other.get(back)
            assert not site.reads(dict(other.cookies))


def test_nobody_is_led_to_another_site_after_the_sign_in(site: Site) -> None:
    site.provider.claims, site.provider.back = ADA, {}
    with httpx.Client() as browser:
        begun = browser.get(
            f"{site.url}/sign-in/provider?next=https://evil.example&redirect_uri=//evil.example"
        )
        assert begun.headers["location"].startswith(f"{site.provider.url}/authorize?")
        back = httpx.get(begun.headers["location"]).headers["location"]
        assert back.startswith(f"{site.url}/oauth2callback?")
        assert browser.get(f"{back}&next=https://evil.example").headers["location"] == "/"


def test_the_cookie_of_a_sign_in_is_worth_nothing_once_changed_or_signed_out(site: Site) -> None:
    site.provider.claims, site.provider.back = ADA, {}
    with httpx.Client(follow_redirects=True) as browser:
        assert browser.get(site.login).url.path == "/work"
        cookies = dict(browser.cookies)
        assert site.reads(cookies)
        assert not site.reads({name: f"{value[:-2]}AA" for name, value in cookies.items()})
        browser.post(f"{site.url}/sign-out")
    assert not site.reads(cookies)


def test_a_provider_that_is_down_is_a_sentence(site: Site) -> None:
    site.provider.claims, site.provider.back = ADA | {"email": "half\ud800"}, {}
    with httpx.Client(follow_redirects=True) as browser:
        answer = browser.get(site.login)
    assert answer.status_code == 403
    assert "The provider did not confirm who you are" in answer.text


@pytest.mark.parametrize(
    "metadata", [{}, [], 5, {"authorization_endpoint": 5}, {"authorization_endpoint": "http://[::"}]
)
def test_a_provider_that_describes_no_way_in_is_a_sentence(
    metadata: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Provider, "metadata", lambda _: metadata)
    with oidc_provider() as provider:
        settings = {
            "client_id": "assay",
            "client_secret": "a secret",
            "server_metadata_url": f"{provider.url}/.well-known/openid-configuration",
            "redirect_uri": "http://127.0.0.1/oauth2callback",
        }
        browser = site_of(Warehouse(tmp_path), provider=settings)
        answer = browser.get("/sign-in/provider")
    assert answer.status_code == 502
    assert "The provider does not answer" in answer.text
