"""The optional password of the dashboard: ASSAY_DASHBOARD__PASSWORD."""

import hashlib
import hmac
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st
from pydantic import SecretStr
from streamlit.runtime.scriptrunner import get_script_run_ctx

FREE_GUESSES = 3
LONGEST_WAIT_SECONDS = 60.0
FORGOTTEN_AFTER_SECONDS = 900.0
MOST_CLIENTS = 10_000
_ADMITTED = "admitted"


@dataclass(frozen=True, slots=True)
class _Guesses:
    count: int
    last: float

    @property
    def wait_seconds(self) -> float:
        """How long after the last one: 1, 2, 4 … seconds, the longest wait at most."""
        over = self.count - FREE_GUESSES
        return min(2.0 ** min(over, 30), LONGEST_WAIT_SECONDS) if over >= 0 else 0.0


class Attempts:
    """Wrong passwords by client: who guesses waits longer each time, and nobody else waits."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, _Guesses] = OrderedDict()
        self._lock = threading.Lock()

    def hear(self, client: str, *, right: bool) -> float:
        """Take a guess of `client` in: 0, or the seconds it has to wait before one counts, right or
        wrong.
        """
        with self._lock:
            guesses, now = self._of(client), self._clock()
            wait_seconds = guesses.last + guesses.wait_seconds - now
            if wait_seconds > 0:
                return wait_seconds
            self._wrong.pop(client, None)
            if not right:
                self._wrong[client] = _Guesses(guesses.count + 1, now)
                if len(self._wrong) > MOST_CLIENTS:
                    self._wrong.popitem(last=False)
            return 0.0

    def _of(self, client: str) -> _Guesses:
        found = self._wrong.get(client)
        old = found is None or found.last + FORGOTTEN_AFTER_SECONDS < self._clock()
        return _Guesses(0, -math.inf) if found is None or old else found


def admitted(password: SecretStr | None) -> bool:
    """Whether this reader may see the pages; asks for the password where one is set and was not
    given yet.
    """
    if password is None or st.session_state.get(_ADMITTED) is True:
        return True
    st.title("Assay", anchor=False)
    with st.form("password_form", border=False):
        given = st.text_input(
            "Password", type="password", key="password", autocomplete="current-password"
        )
        sent = st.form_submit_button("Enter", key="password_enter")
    if not sent:
        return False
    return _check(given or "", password)


def same(given: str, expected: SecretStr) -> bool:
    """Compared in a time that tells nothing of either, their lengths included."""
    return hmac.compare_digest(
        *(
            hashlib.sha256(text.encode("utf-8", "replace")).digest()
            for text in (given, expected.get_secret_value())
        )
    )


def _check(given: str, password: SecretStr) -> bool:
    attempts: Attempts = _attempts()
    right = same(given, password)
    wait_seconds = attempts.hear(_client(), right=right)
    if wait_seconds > 0:
        st.error(f"Too many wrong passwords: wait {math.ceil(wait_seconds)} s.")
    elif not right:
        st.error("Wrong password.")
    else:
        st.session_state[_ADMITTED] = True
        st.rerun()  # draws the page without the form
    return False


def _client() -> str:
    """The reader's address; on this machine itself, where several may share one, the session."""
    context = get_script_run_ctx()
    return st.context.ip_address or (context.session_id if context else "")


@st.cache_resource(show_spinner=False)  # type: ignore[untyped-decorator]
def _attempts() -> Attempts:
    return Attempts()
