"""Signing in by password, and what an attacker tries there, with a real server."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http.cookies import SimpleCookie
from itertools import count
from pathlib import Path

import httpx
import pytest

from dashboards.app.access import SIGN_IN_PATH, cookie_name, has_password_accounts
from schemas.people.role import Role
from tests.support.api_server import dashboard_server
from warehouse.app.accounts import person_of, set_password, sign_in, sign_out
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse

PASSWORD = "correct horse battery"
OPENED = {
    "sec-fetch-site": "same-origin",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
}
ADDRESSES = (f"203.0.113.{number}" for number in count(1))
"""A proxy on this machine says for whom it asks."""


@dataclass(frozen=True)
class Site:
    """A dashboard that asks to sign in."""

    url: str
    warehouse: Warehouse
    database: ServiceDatabase

    def post(self, name: str, password: str, **more: str) -> httpx.Response:
        address = more.pop("address", "") or next(ADDRESSES)
        headers = {"origin": self.url, "x-forwarded-for": address}
        headers |= {key.replace("_", "-"): value for key, value in more.items() if key != "next"}
        told = {"name": name, "password": password, "next": more.get("next", "/")}
        return httpx.post(self.url + SIGN_IN_PATH, data=told, headers=headers)

    def open(self, secret: str = "", **more: str) -> httpx.Response:
        return httpx.get(f"{self.url}/ideas?run=a", headers=OPENED | self.cookie(secret) | more)

    def cookie(self, secret: str) -> dict[str, str]:
        return {"cookie": f"{cookie_name(self.warehouse)}={secret}"} if secret else {}

    def session(self, name: str) -> str:
        secret = sign_in(self.database, name, PASSWORD, timedelta(hours=1))
        assert secret is not None
        return secret


def cookie_of(answer: httpx.Response) -> str:
    (kept,) = SimpleCookie(answer.headers["set-cookie"]).values()
    return kept.value


@contextmanager
def served(folder: Path, **env: str) -> Iterator[Site]:
    """A dashboard with some accounts, started in the folder."""
    names = ("ada", "bob", "eve", "guessed", "changed")
    with (
        dashboard_server(folder, Role.READER, *names, password=PASSWORD, **env) as (url, warehouse),
        ServiceDatabase(warehouse) as database,
    ):
        yield Site(url, warehouse, database)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("sign-in")
    with served(folder, FORWARDED_ALLOW_IPS="127.0.0.1") as found:
        yield found


@pytest.fixture(scope="module")
def without_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Without a proxy."""
    with served(tmp_path_factory.mktemp("planted")) as found:
        yield found


def test_a_program_of_this_machine_cannot_guess_from_many_addresses(without_proxy: Site) -> None:
    statuses = [
        without_proxy.post(f"name{number}", "password123456").status_code for number in range(11)
    ]
    assert statuses == [403] * 10 + [429]


def test_a_stranger_gets_no_page_no_file_and_no_stream(site: Site) -> None:
    for path in ("/", "/ideas", "/idea?run=a&idea=b", "/runs/a", "/runs/a/file?format=json",
                 "/work", "/operate/cost", "/changes"):  # fmt: skip
        opened = httpx.get(site.url + path, headers=OPENED)
        assert (opened.status_code, opened.headers["location"][:9]) == (303, "/sign-in?"), path
        fetched = httpx.get(site.url + path, headers={"sec-fetch-mode": "cors"})
        assert (fetched.status_code, fetched.text) == (403, "Sign in first"), path
    assert httpx.get(f"{site.url}/assets/icon.svg").status_code == 200
    guess = httpx.get(f"{site.url}/changes", headers=site.cookie("a guess"))
    assert (guess.status_code, guess.content) == (303, b"")


def test_a_link_of_another_site_opens_the_page_by_a_reload_of_ours(site: Site) -> None:
    answer = httpx.get(f"{site.url}/ideas", headers=LINK | {"sec-fetch-site": "cross-site"})
    assert answer.status_code == 200
    assert answer.text.endswith('<meta http-equiv="refresh" content="0">')


def test_who_has_not_signed_in_is_led_to_the_form_and_back_to_the_page(site: Site) -> None:
    led = site.open()
    assert (led.status_code, led.headers["location"]) == (
        303,
        f"{SIGN_IN_PATH}?next=%2Fideas%3Frun%3Da",
    )
    form = httpx.get(site.url + led.headers["location"])
    assert form.status_code == 200
    assert 'value="/ideas?run=a"' in form.text
    assert form.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in form.headers["content-security-policy"]
    back = site.post("ada", PASSWORD, next="/ideas?run=a")
    assert (back.status_code, back.headers["location"]) == (303, "/ideas?run=a")
    assert site.open(cookie_of(back)).status_code == 200


def test_scripts_and_other_sites_do_not_get_the_cookie(site: Site) -> None:
    said = site.post(" ADA ", PASSWORD).headers["set-cookie"].lower()
    assert "httponly" in said
    assert "samesite=strict" in said
    assert "secure" not in said
    assert "max-age=43200" in said
    over_tls = site.post("ada", PASSWORD, x_forwarded_proto="https").headers["set-cookie"].lower()
    assert "secure" in over_tls


@pytest.mark.parametrize(
    ("name", "password"),
    [("ada", "wrong password"), ("nobody", PASSWORD), ("ada", ""), ("ada' or 1=1 --", "x" * 5000)],
)
def test_another_users_login_without_the_password_opens_nothing(
    name: str, password: str, site: Site
) -> None:
    refused = site.post(name, password)
    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers
    assert "No account has this name and password." in refused.text


def test_another_password_ends_what_was_open(site: Site) -> None:
    secret = site.session("changed")
    with what_changes(site, secret) as lines:
        set_password(site.database, "changed", PASSWORD + " anew")
        assert site.open(secret).status_code == 303
        assert [line for line in lines if line.startswith("data")] == []


def test_a_page_that_stays_open_learns_nothing_once_its_reader_signs_out(site: Site) -> None:
    secret = site.session("ada")
    assert site.open(secret).status_code == 200
    with what_changes(site, secret) as lines:
        sign_out(site.database, secret)
        assert site.open(secret).status_code == 303
        assert [line for line in lines if line.startswith("data")] == []


@contextmanager
def what_changes(site: Site, secret: str) -> Iterator[Iterator[str]]:
    """What the open page of a reader is told from its second version on, until it is told no more."""
    headers = site.cookie(secret)
    with httpx.stream("GET", f"{site.url}/changes", headers=headers, timeout=60) as answer:
        assert answer.status_code == 200
        lines = answer.iter_lines()
        assert any(line.startswith("data: ") for line in lines)
        yield lines


def test_a_session_that_somebody_else_planted_is_neither_taken_over_nor_left(site: Site) -> None:
    planted = site.session("eve")
    name = cookie_name(site.warehouse)
    answer = site.post("ada", PASSWORD, cookie=f"{name}={planted}")
    mine = cookie_of(answer)
    assert mine != planted
    person = person_of(site.database, mine)
    assert person is not None
    assert person.name == "ada"
    assert person_of(site.database, planted) is None
    chosen = cookie_of(site.post("ada", PASSWORD, cookie=f"{name}=chosen-by-somebody"))
    assert chosen != "chosen-by-somebody"


LINK = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "https://evil.example"} | LINK,
        {"sec-fetch-site": "cross-site"} | LINK,
    ],
)
def test_a_page_of_another_site_signs_nobody_in(headers: dict[str, str], site: Site) -> None:
    told = {"name": "eve", "password": PASSWORD}
    answer = httpx.post(site.url + SIGN_IN_PATH, data=told, headers=headers)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_who_guesses_waits_whatever_address_the_guesses_come_from(site: Site) -> None:
    for _ in range(3):
        assert site.post("guessed", "wrong password").status_code == 403
    held = site.post("guessed", PASSWORD)
    assert held.status_code == 429
    assert "Too many wrong passwords: wait" in held.text
    assert site.post("bob", PASSWORD).status_code == 303


@pytest.mark.parametrize("guesser", ["198.51.100.7", "2001:db8::{}"], ids=["one address", "a /64"])
def test_an_address_that_guesses_at_many_names_waits_though_it_signs_in_and_others_do_not(
    guesser: str, site: Site
) -> None:
    for number in range(10):
        address = guesser.format(number)
        assert site.post(f"name{number}", "password123456", address=address).status_code == 403
        if number == 8:
            assert site.post("eve", PASSWORD, address=address).status_code == 303
    assert site.post("bob", PASSWORD, address=guesser.format(11)).status_code == 429
    assert site.post("bob", PASSWORD).status_code == 303


@pytest.mark.parametrize(
    "place",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "/\t/evil.example", "javascript:x",
     "/a\r\nset-cookie: x=y", '/"><script>', "/" + "a" * 3000],
)  # fmt: skip
def test_nobody_is_led_to_another_site(place: str, site: Site) -> None:
    assert site.post("ada", PASSWORD, next=place).headers["location"] == "/"
    form = httpx.get(site.url + SIGN_IN_PATH, params={"next": place})
    assert 'name="next" value="/"' in form.text


@pytest.mark.parametrize(
    "body", [b"name", b"\xff=\xfe", b"name=ada&" * 9, b"name=" + b"a" * 20_000]
)
def test_a_form_that_is_none_is_refused_in_words(body: bytes, site: Site) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded", "origin": site.url}
    answer = httpx.post(site.url + SIGN_IN_PATH, content=body, headers=headers)
    assert answer.status_code == 400
    assert "The form did not arrive whole" in answer.text


def test_a_dashboard_without_accounts_has_no_form_and_gets_no_database(tmp_path: Path) -> None:
    assert not has_password_accounts(Warehouse(tmp_path))
    assert list(tmp_path.iterdir()) == []
