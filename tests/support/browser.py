"""A reader's browser: Chromium, driven by Playwright, that lets nothing pass which a reader should
not meet.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode, urlsplit

import httpx
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

from tests.support.assay_command import start_assay, wait_until
from tests.support.ports import quiet_port

REQUIRED = "ASSAY_TESTS_REQUIRE_BROWSER"
SCREENSHOTS = "ASSAY_TESTS_SCREENSHOTS"
HOW_TO_INSTALL = (
    "needs Chromium: `apt-get install --no-install-recommends chromium`, or your system's package"
)
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
WIDTH, HEIGHT = 1440, 1000
WAIT_SECONDS = 120.0
expect.set_options(timeout=WAIT_SECONDS * 1000)
_LOOPBACK = frozenset({"127.0.0.1", "localhost"})
_LOCAL = frozenset({"data", "blob", "about"})


def chromium_path() -> str | None:
    """Debian's Chromium, or what stands for it elsewhere."""
    return next(
        (
            found
            for name in ("chromium", "chromium-browser", "google-chrome")
            if (found := shutil.which(name))
        ),
        None,
    )


needs_chromium = pytest.mark.skipif(
    chromium_path() is None and not os.environ.get(REQUIRED), reason=HOW_TO_INSTALL
)
"""Skips where there is no browser; where `ASSAY_TESTS_REQUIRE_BROWSER` is set, as in CI, the test
fails instead.
"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser with a profile of its own."""
    path = chromium_path()
    assert path is not None, HOW_TO_INSTALL
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, headless=True, args=list(ARGUMENTS)
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def dashboard(warehouse: Path, env: dict[str, str], log: Path) -> Iterator[str]:
    """A real `assay dashboard` on a free port; its address."""
    port = quiet_port()
    process = start_assay(
        "dashboard", "--warehouse", str(warehouse), "--port", str(port), env=env, log=log
    )
    try:
        wait_until(
            lambda: process.poll() is not None or _healthy(port),
            WAIT_SECONDS,
            "the dashboard's answer",
        )
        assert process.poll() is None, log.read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _healthy(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/health", timeout=5, trust_env=False).is_success
    except httpx.HTTPError:
        return False


class Reader:
    """One reader of one dashboard, with what went wrong in the browser so far."""

    def __init__(self, context: BrowserContext, base_url: str) -> None:
        self.base_url = base_url
        self.troubles: list[str] = []
        context.on("request", lambda request: self._on_request(request.url))
        context.on("weberror", lambda error: self.troubles.append(f"page error: {error.error}"))
        context.on("console", self._on_console)
        context.set_default_timeout(WAIT_SECONDS * 1000)
        self.page: Page = context.new_page()

    def open(self, name: str = "", **state: str) -> None:
        """Open a page by its address and wait for it."""
        self.page.goto(f"{self.base_url}/{name}" + (f"?{urlencode(state)}" if state else ""))
        self.settle()

    def follow(self, title: str) -> None:
        """Open a page by its link in the menu and wait for it."""
        menu = self.page.locator("header.menu")
        menu.get_by_role("link", name=re.compile(rf"^{re.escape(title)}( [\d,]+)?$")).click()
        self.arrive(title)

    def sign_in(self, name: str, password: str) -> None:
        """Fill in the form of the sign-in and send it."""
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()

    def arrive(self, title: str) -> None:
        """Wait for the page of this title."""
        expect(self.page.get_by_role("heading", name=title, exact=True, level=1)).to_be_visible(
            timeout=WAIT_SECONDS * 1000
        )
        self.settle()

    def read(self, *words: str) -> None:
        """Wait until the page says all of these."""
        for said in words:
            expect(self.page.locator("main")).to_contain_text(said, timeout=WAIT_SECONDS * 1000)
        self.settle()

    def settle(self) -> None:
        """See that nothing is in the console, and that no request went beyond this machine."""
        assert self.troubles == []

    def turn(self, colours: Literal["light", "dark"]) -> None:
        """Have the system turn light or dark, and wait until the page has followed."""
        app = self.page.locator("body")
        before = app.evaluate("each => getComputedStyle(each).backgroundColor")
        self.page.emulate_media(color_scheme=colours)
        expect(app).not_to_have_css("background-color", before)

    def see_chart(self, title: str) -> None:
        """Wait for a drawing by its title."""
        chart = self.page.get_by_role("img", name=title)
        expect(chart).to_be_visible(timeout=WAIT_SECONDS * 1000)
        self.settle()

    def keep(self, name: str) -> Path:
        """Keep a picture of what is seen, in the folder of `ASSAY_TESTS_SCREENSHOTS`."""
        folder = Path(
            os.environ.get(SCREENSHOTS, Path(__file__).parents[2] / "build" / "screenshots")
        )
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.png"
        self.page.screenshot(path=path)
        return path

    def _on_request(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in _LOCAL and parts.hostname not in _LOOPBACK:
            self.troubles.append(f"a request left this machine: {url}")

    def _on_console(self, message: ConsoleMessage) -> None:
        where = urlsplit(message.location.get("url", "")).path
        if message.type == "error":
            self.troubles.append(f"console error: {message.text} ({where})")


@contextmanager
def reader_of(
    browser: Browser,
    base_url: str,
    *,
    width: int = WIDTH,
    height: int = HEIGHT,
    scale: float = 1.0,
) -> Iterator[Reader]:
    """A reader who has never been here."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=scale,
        accept_downloads=True,
        timezone_id="UTC",
        locale="en-GB",
    )
    try:
        yield Reader(context, base_url)
    finally:
        context.close()
