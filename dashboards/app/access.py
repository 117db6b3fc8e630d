"""The optional password of the dashboard: ASSAY_DASHBOARD__PASSWORD."""

import hmac
import threading
import time
from collections import deque

import streamlit as st
from pydantic import SecretStr

MOST_ATTEMPTS_PER_MINUTE = 10
_ADMITTED = "admitted"
_MINUTE_SECONDS = 60.0


class Attempts:
    """Wrong passwords of the last minute, of all readers together: guessing is slow whoever guesses."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()
        self._lock = threading.Lock()

    def allowed(self) -> bool:
        """Whether one more guess is heard now."""
        with self._lock:
            while self._times and self._times[0] < time.monotonic() - _MINUTE_SECONDS:
                self._times.popleft()
            return len(self._times) < MOST_ATTEMPTS_PER_MINUTE

    def add(self) -> None:
        with self._lock:
            self._times.append(time.monotonic())


def admitted(password: SecretStr | None) -> bool:
    """Whether this reader may see the pages; asks for the password where one is set and was not given yet."""
    if password is None or st.session_state.get(_ADMITTED) is True:
        return True
    st.title("Assay", anchor=False)
    with st.form("password_form", border=False):
        given = st.text_input("Password", type="password", key="password", autocomplete="current-password")
        sent = st.form_submit_button("Enter", key="password_enter")
    if not sent:
        return False
    return _check(given or "", password)


def same(given: str, expected: SecretStr) -> bool:
    """Compared in constant time."""
    return hmac.compare_digest(given.encode(), expected.get_secret_value().encode())


def _check(given: str, password: SecretStr) -> bool:
    attempts: Attempts = _attempts()
    if not attempts.allowed():
        st.error("Too many wrong passwords: wait a minute.")
        return False
    if not same(given, password):
        attempts.add()
        st.error("Wrong password.")
        return False
    st.session_state[_ADMITTED] = True
    st.rerun()  # draws the page without the form
    return True


@st.cache_resource(show_spinner=False)  # type: ignore[untyped-decorator]
def _attempts() -> Attempts:
    return Attempts()
