"""Sign-in and sign-out: by account, by the shared password, or with a provider."""

import asyncio
import ipaddress
import math
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.sessions import SessionMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from dashboards.app.access import (
    LIFETIME,
    SIGN_IN_PATH,
    Access,
    SignInBy,
    cookie_name,
    equal_in_constant_time,
    has_password_accounts,
    services_of,
)
from dashboards.render.formats.html import templates
from schemas.people.web_origins import is_of_another_site
from schemas.text.patterns import bounded
from warehouse.app.accounts import begin_session, sign_in, sign_out

FREE_GUESSES = 3
LONGEST_WAIT_SECONDS = 60.0
FORGOTTEN_AFTER_SECONDS = 900.0
MOST_CLIENTS = 10_000


@dataclass(frozen=True, slots=True)
class _Guesses:
    count: int
    last: float

    def wait_seconds(self, free: int) -> float:
        """Return the delay after the last guess: 1, 2, 4 … seconds, up to a limit."""
        over = self.count - free
        return min(2.0 ** min(over, 30), LONGEST_WAIT_SECONDS) if over >= 0 else 0.0


class Attempts:
    """Wrong passwords by client, with a delay that grows for that client only.

    A client is an address or the account being guessed.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, free: int = FREE_GUESSES
    ) -> None:
        self._clock, self._free = clock, free
        self._wrong: OrderedDict[str, _Guesses] = OrderedDict()
        self._lock = threading.Lock()

    def wait_seconds(self, client: str) -> float:
        """Return the seconds until a guess of `client` counts; 0 or less: now."""
        with self._lock:
            return self._wait_seconds(client)

    def record(self, client: str, *, right: bool) -> float:
        """Record a guess; return 0, or the seconds to wait if it came too early.

        A guess that comes too early does not count, right or wrong.
        """
        with self._lock:
            wait_seconds = self._wait_seconds(client)
            if wait_seconds > 0:
                return wait_seconds
            guesses = self._guesses_of(client)
            self._wrong.pop(client, None)
            if not right:
                self._wrong[client] = _Guesses(guesses.count + 1, self._clock())
                if len(self._wrong) > MOST_CLIENTS:
                    self._wrong.popitem(last=False)
            return 0.0

    def _wait_seconds(self, client: str) -> float:
        guesses = self._guesses_of(client)
        return guesses.last + guesses.wait_seconds(self._free) - self._clock()

    def _guesses_of(self, client: str) -> _Guesses:
        guesses = self._wrong.get(client)
        old = guesses is None or guesses.last + FORGOTTEN_AFTER_SECONDS < self._clock()
        return _Guesses(0, -math.inf) if guesses is None or old else guesses


if TYPE_CHECKING:
    from dashboards.app.provider import Provider

FREE_GUESSES_OF_AN_ADDRESS = 10
MOST_BYTES, MOST_SECONDS = 8_192, 10.0
PROVIDER_PATH, RETURN_PATH, SIGN_OUT_PATH = "/sign-in/provider", "/oauth2callback", "/sign-out"
# Readable without signing in.
OPEN_PATHS = frozenset({SIGN_IN_PATH, PROVIDER_PATH, RETURN_PATH})
_ON_THE_WAY_SECONDS = 600

# Only paths of this site match: `//` and `/\` would lead to another.
_PLACE = bounded(r"/(?:[A-Za-z0-9_.~%?=&-][A-Za-z0-9_.~%?=&/:+,-]{0,1500})?")

_WRONG = {
    SignInBy.ACCOUNT: "No account has this name and password.",
    SignInBy.ONE_PASSWORD: "Wrong password.",
}
_NOT_CONFIRMED = "The provider did not confirm who you are: try again."
_NO_ACCOUNT = (
    "There is no account here for the confirmed e-mail address that the provider names: whoever"
    " runs this dashboard makes one."
)


class SignIn:
    """Routes of the sign-in form, of sign-out, and of the provider."""

    def __init__(self, access: Access) -> None:
        self._access, self._warehouse = access, access.warehouse
        self._by_name, self._by_client = Attempts(), Attempts()
        self._by_address = Attempts(
            free=FREE_GUESSES_OF_AN_ADDRESS
        )  # several people may share an address
        self._one_at_a_time = asyncio.Lock()
        provider = access.settings.provider
        self._provider: Provider | None = None
        self._unusable: tuple[type[Exception], ...] = ()
        if provider is not None:
            from dashboards.app import (
                provider as openid,
            )  # late: its libraries take 0.2 s to import

            self._provider = openid.Provider(provider, LIFETIME)
            self._unusable = openid.UNUSABLE

    def routes(self) -> list[Route]:
        # Lax: browsers must send this cookie when the provider redirects back.
        on_the_way = Middleware(
            SessionMiddleware,
            secret_key=secrets.token_urlsafe(32),
            session_cookie="assay_signing_in",
            max_age=_ON_THE_WAY_SECONDS,
            same_site="lax",
        )
        routes = [
            Route(SIGN_IN_PATH, self._answer, methods=["GET", "POST"]),
            Route(SIGN_OUT_PATH, self._sign_out, methods=["POST"]),
        ]
        if self._provider is not None:
            ways: dict[str, Callable[[Request], Awaitable[Response]]] = {
                PROVIDER_PATH: self._to_provider,
                RETURN_PATH: self._from_provider,
            }
            routes += [Route(path, way, middleware=[on_the_way]) for path, way in ways.items()]
        return routes

    async def _answer(self, request: Request) -> Response:
        sign_in_by = await run_in_threadpool(lambda: self._access.sign_in_by)
        if sign_in_by is SignInBy.NOTHING:
            return RedirectResponse("/", 303)
        if request.method != "POST":
            return await self._form(_safe_path(request.query_params.get("next", "/")))
        if is_of_another_site(request.headers):  # even if a followed link
            return await self._form("/", "Pages of other sites cannot sign you in.", 403)
        fields = await _fields_of(request)
        if fields is None:
            return await self._form("/", "The form did not arrive whole: try again.", 400)
        place = _safe_path(fields.get("next", "/"))
        name, password = fields.get("name", ""), fields.get("password", "")
        secret, line = await self._check(request, sign_in_by, name, password)
        if secret is None:
            status = 403 if line == _WRONG[sign_in_by] else 429
            return await self._form(place, line, status, name)
        return self._redirect_with_session(request, secret, place)

    async def _check(
        self, request: Request, way: SignInBy, name: str, password: str
    ) -> tuple[str | None, str]:
        """Return the secret of a new session, else None and the reason.

        Checks run one at a time, since each takes 64 MB. Clients who have to wait are refused
        without one.
        """
        address = _network(request.client.host) if request.client else ""
        name = name.strip().casefold()[:80]
        counters = [(self._by_address, address), (self._by_name, name)]
        if way is SignInBy.ONE_PASSWORD:
            counters = [(self._by_client, address)]
        async with self._one_at_a_time:
            wait_seconds = max(attempts.wait_seconds(client) for attempts, client in counters)
            if wait_seconds > 0:
                return None, f"Too many wrong passwords: wait {math.ceil(wait_seconds)} s."
            secret = await run_in_threadpool(self._session, way, name, password)
            # A right password forgives its own failures; others of the address remain, else the
            # holder of an account could guess at all others without a delay.
            for attempts, client in counters if secret is None else counters[-1:]:
                attempts.record(client, right=secret is not None)
            if secret is None:
                return None, _WRONG[way]
            await run_in_threadpool(self._end_earlier_session, request)
        return secret, ""

    def _session(self, way: SignInBy, name: str, password: str) -> str | None:
        if way is SignInBy.ACCOUNT:
            database = services_of(self._warehouse)
            return sign_in(database, name, password, LIFETIME)
        expected_password = self._access.settings.password
        is_right = expected_password is not None and equal_in_constant_time(
            password, expected_password
        )
        return self._access.begin_without_account() if is_right else None

    async def _to_provider(self, request: Request) -> Response:
        assert self._provider is not None
        request.session["next"] = _safe_path(request.query_params.get("next", "/"))
        try:
            return await self._provider.redirect(request)
        except self._unusable:
            line = "The provider does not answer: try again, or ask whoever runs this dashboard."
            return await self._form("/", line, 502)

    async def _from_provider(self, request: Request) -> Response:
        assert self._provider is not None
        place = _safe_path(str(request.session.pop("next", "/")))
        try:
            email, lifetime = await self._provider.confirmed_email(request)
        except self._unusable:
            return await self._form(place, _NOT_CONFIRMED, 403)
        database = services_of(self._warehouse)
        secret = await run_in_threadpool(begin_session, database, email, lifetime)
        if secret is None:
            return await self._form(place, _NO_ACCOUNT, 403)
        await run_in_threadpool(self._end_earlier_session, request)
        return self._redirect_with_session(request, secret, place)

    async def _sign_out(self, request: Request) -> Response:
        if is_of_another_site(request.headers):
            return HTMLResponse("Pages of other sites cannot sign you out", 403)
        await run_in_threadpool(self._access.end, request)
        response = RedirectResponse(SIGN_IN_PATH, 303)
        response.delete_cookie(cookie_name(self._warehouse), httponly=True, samesite="strict")
        response.headers["clear-site-data"] = '"cache"'  # the next user must not go back to pages
        return response

    def _end_earlier_session(self, request: Request) -> None:
        """End the session in the browser's cookie, which somebody else may have begun."""
        old_secret = self._access.secret(request)
        if old_secret and self._access.sign_in_by is SignInBy.ACCOUNT:
            sign_out(services_of(self._warehouse), old_secret)

    def _redirect_with_session(self, request: Request, secret: str, place: str) -> Response:
        response = RedirectResponse(place, 303)
        response.set_cookie(
            cookie_name(self._warehouse),
            secret,
            max_age=int(LIFETIME.total_seconds()),
            httponly=True,
            samesite="strict",
            # TLS to this server, or to a proxy in front of it.
            secure="https" in (request.url.scheme, request.headers.get("x-forwarded-proto")),
        )
        return response

    async def _form(
        self, place: str, line: str = "", status: int = 200, name: str = ""
    ) -> Response:
        one_password = await run_in_threadpool(
            lambda: self._access.sign_in_by is SignInBy.ONE_PASSWORD
        )
        page = (
            templates("dashboards.app")
            .get_template("sign_in.html.jinja")
            .render(
                action=SIGN_IN_PATH,
                provider=PROVIDER_PATH if self._provider is not None else "",
                next=place,
                line=line,
                name=name[:80],
                one_password=one_password,
                by_password=one_password
                or await run_in_threadpool(has_password_accounts, self._warehouse),
            )
        )
        return HTMLResponse(page, status, headers={"cache-control": "no-store"})


async def _fields_of(request: Request) -> dict[str, str] | None:
    """Return the fields of the form; None if it is too long, too slow or malformed."""
    body = bytearray()
    try:
        async with asyncio.timeout(MOST_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > MOST_BYTES:
                    return None
        fields = parse_qs(body.decode("ascii"), strict_parsing=True, max_num_fields=5)
    except (TimeoutError, ValueError):
        return None
    return {name: values[0] for name, values in fields.items()}


def _network(address: str) -> str:
    """Return the /64 of an IPv6 address, all of which belongs to one client, else the address."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(ip, ipaddress.IPv4Address):
        return address
    return str(ip.ipv4_mapped or ipaddress.IPv6Network((int(ip), 64), strict=False))


def _safe_path(text: str) -> str:
    return text if _PLACE.fullmatch(text) else "/"


def path_with_query(path: str, query: str) -> str:
    """Return a path and query of this site, for the form's field `next`."""
    return _safe_path(f"{path}?{query}".rstrip("?"))
