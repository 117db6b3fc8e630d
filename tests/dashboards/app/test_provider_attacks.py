"""Claims of a provider that sign nobody in, with a real server and a provider on loopback."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from schemas.people.role import Role
from tests.support.api_server import dashboard_server
from tests.support.oidc_provider import Provider, oidc_provider

ADA: dict[str, Any] = {"email": "ada@example.org", "email_verified": True}
SIGNED_IN = "@example.org, submitter"
HOUR = 3600
WAIT_SECONDS = 60
_XSRF = "_streamlit_xsrf"


def drawn(url: str, cookies: Mapping[str, str], *, press: str = "") -> list[ForwardMsg]:
    """What the server sends a browser's web socket for the first page, and then for a press of the button so labelled."""
    # Streamlit looks at the cookie of a sign-in only beside this token.
    token = httpx.get(f"{url}/_stcore/health").cookies[_XSRF]
    cookies = {**cookies, _XSRF: token}
    cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
    with connect(
        f"{url.replace('http', 'ws')}/_stcore/stream",
        origin=Origin(url),
        subprotocols=[Subprotocol("streamlit"), Subprotocol(token)],
        additional_headers={"Cookie": cookie},
        proxy=None,
        max_size=None,
    ) as page:

        def run(ask: BackMsg) -> list[ForwardMsg]:
            page.send(ask.SerializeToString())
            told: list[ForwardMsg] = []
            while not told or told[-1].WhichOneof("type") != "script_finished":
                told.append(ForwardMsg.FromString(bytes(page.recv(timeout=WAIT_SECONDS))))
            return told

        ask = BackMsg()
        ask.rerun_script.SetInParent()
        first = run(ask)
        if not press:
            return first
        (button,) = (
            each.delta.new_element.button.id
            for each in first
            if each.delta.new_element.button.label == press
        )
        pressed = ask.rerun_script.widget_states.widgets.add()
        pressed.id, pressed.trigger_value = button, True
        return run(ask)


def words(told: list[ForwardMsg]) -> str:
    """All that the messages hold, as one text."""
    return "\n".join(str(each) for each in told)


@dataclass(frozen=True)
class Site:
    """A dashboard whose readers sign in with a provider."""

    url: str
    provider: Provider
    login: str

    def signed_in(self, claims: dict[str, Any], signed: str = "RS256", **back: str) -> bool:
        """Whether a browser that signs in so reads the pages as the holder of an account."""
        self.provider.claims, self.provider.signed, self.provider.back = claims, signed, back
        with httpx.Client(follow_redirects=True) as browser:
            browser.get(self.login)
            return self.reads(dict(browser.cookies))

    def reads(self, cookies: dict[str, str]) -> bool:
        page = words(drawn(self.url, cookies))
        shown = SIGNED_IN in page
        refused = 'label: "Sign in"' in page or "There is no account here" in page
        assert shown != refused
        assert "Traceback" not in page
        assert "exception {" not in page
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
        pressed = drawn(url, {}, press="Sign in")
        (login,) = (each.auth_redirect.url for each in pressed if each.auth_redirect.url)
        yield Site(url, provider, url + login)


@pytest.mark.parametrize("email", ["ada@example.org", "Ada@Example.ORG"])
def test_a_confirmed_address_signs_in_whatever_its_capitals(email: str, site: Site) -> None:
    assert site.signed_in(ADA | {"email": email})
    assert site.signed_in(ADA | {"email": email, "sub": "another", "groups": {"a": [1]}})
    assert site.signed_in(ADA | {"aud": ["assay", "other"], "azp": "assay"})


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


@pytest.mark.parametrize("claims", CLAIMS.values(), ids=CLAIMS.keys())
def test_claims_that_are_not_about_a_holder_sign_nobody_in(
    claims: dict[str, Any], site: Site
) -> None:
    assert not site.signed_in(ADA | claims)


def test_a_token_of_another_time_signs_nobody_in(site: Site) -> None:
    for claims in (
        times(iat=-9 * HOUR, exp=-8 * HOUR),
        times(iat=-13 * HOUR),  # longer ago than a session lasts
        times(nbf=HOUR),
        times(iat=HOUR, exp=2 * HOUR),
    ):
        assert not site.signed_in(ADA | claims), claims


@pytest.mark.parametrize("signed", ["none", "HS256", "stranger"])
def test_a_token_that_the_provider_did_not_sign_signs_nobody_in(signed: str, site: Site) -> None:
    assert not site.signed_in(ADA, signed)


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
        begun = browser.get(f"{site.login}&next=https://evil.example&redirect_uri=//evil.example")
        assert begun.headers["location"].startswith(f"{site.provider.url}/authorize?")
        back = httpx.get(begun.headers["location"]).headers["location"]
        assert back.startswith(f"{site.url}/oauth2callback?")
        assert browser.get(f"{back}&next=https://evil.example").headers["location"] == "/"


def test_a_cookie_of_a_sign_in_that_was_changed_signs_nobody_in(site: Site) -> None:
    site.provider.claims, site.provider.back = {"email": "eve@example.org"}, {}
    with httpx.Client(follow_redirects=True) as browser:
        browser.get(site.login)
        cookies = dict(browser.cookies)
    forged = {name: f"{value[:-2]}AA" for name, value in cookies.items()}
    assert not site.reads(forged)
    assert not site.reads(
        {"_streamlit_user": '{"email": "ada@example.org", "email_verified": true}'}
    )
