"""A page of the dashboard as a browser asks for it, over its web socket, without a browser."""

from collections.abc import Mapping

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

WAIT_SECONDS = 60
_XSRF = "_streamlit_xsrf"


def drawn(url: str, cookies: Mapping[str, str], *, press: str = "") -> list[ForwardMsg]:
    """What the server sends for the first page, and then for a press of the button so labelled."""
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
