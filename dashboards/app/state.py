"""Controls whose values live in the address: the address of a page restores it.

`key` names the value there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import streamlit as st

from dashboards.app import empty, links, text
from dashboards.app.choosing import default_run, run_title
from dashboards.app.data import Lake
from schemas.literature.naming import unturned
from schemas.run import Run

BOUND = "query-params"
_ADDRESS = "the address as this page saw and wrote it"
_LAST_RUN = "the run shown last, on whichever page"


def choose_run(lake: Lake, label: str = "Run", key: str = "run") -> Run | None:
    """The run of the address, else the one shown last, else the newest of a file of ideas.

    None, with the reason shown, when nothing is published or the address names no published run.
    """
    runs = {str(run.run_id): run for run in lake.runs()}
    if not runs:
        empty.no_lake(lake.warehouse.address)
        return None
    named = st.query_params.get(key)
    if named is not None and named not in runs:
        st.error(
            f"There is no published run “{text.line(named)}”. It may have been refused, be under"
            " way, or lie in another warehouse.",
            icon=":material/search_off:",
        )
        links.to("ideas", "The ideas of the newest run")
        return None
    before = st.session_state.get(_LAST_RUN)
    default = before if before in runs else str(default_run(list(runs.values())).run_id)
    chosen = choose(
        label, list(runs), key=key, default=default, shown=lambda name: run_title(runs[name])
    )
    run = runs[chosen]
    st.session_state[_LAST_RUN] = str(run.run_id)
    return run


def choose(
    label: str,
    options: Sequence[str],
    *,
    key: str,
    default: str | None = None,
    help: str | None = None,
    shown: Callable[[str], str] = str,
) -> str:
    """One of `options`, always written into the address, so that a link means the same when the
    default has changed.

    Args:
        default: else the first. It also stands for an option that the address names but that is
            gone.
        shown: what a reader sees of an option.
    """
    _follow_address(key, options, default if default is not None else options[0])
    return _remember(
        key,
        str(
            st.selectbox(
                label,
                options,
                key=_widget(key),
                help=help,
                format_func=lambda option: unturned(shown(option)),
            )
        ),
    )


def choose_view(label: str, options: Sequence[str], *, key: str = "view") -> str:
    """One of a few parts of a page, side by side; in the address as `choose` has it."""
    _follow_address(key, options, options[0])
    return _remember(key, str(st.radio(label, options, key=_widget(key), horizontal=True)))


@dataclass(slots=True)
class _Address:
    """What one reader's page saw in the address and wrote to it, by key."""

    page: str
    seen: dict[str, str | None] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    waiting: dict[str, str] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)


def enter_page(name: str) -> None:
    """Before a page is drawn: what another page saw and wrote says nothing here."""
    if _address().page != name:
        st.session_state[_ADDRESS] = _Address(name)


def write_address() -> None:
    """Put what was chosen without being named there into the address, at once: every writing is one
    step of the button back.
    """
    waiting = _address().waiting
    if waiting:
        st.query_params.update(waiting)
        waiting.clear()


def _address() -> _Address:
    found: _Address = st.session_state.setdefault(_ADDRESS, _Address(""))
    return found


def _follow_address(key: str, options: Sequence[str], default: str) -> None:
    """The address wins over the control when someone changed it since we saw or wrote it: a link,
    or the button back.
    """
    address = _address()
    named = st.query_params.get(key)
    moved = named not in (None, address.seen.get(key), address.written.get(key))
    if named is not None:
        address.left.discard(key)
    elif address.written.get(key) is not None and key not in address.waiting:
        address.left.add(key)  # someone goes back: writing it anew would keep them here
    address.seen[key] = named
    shown = st.session_state.get(_widget(key))
    if shown not in options or moved:
        st.session_state[_widget(key)] = named if named in options else default


def _remember(key: str, chosen: str) -> str:
    address = _address()
    changed = address.written.get(key) != chosen
    if key in st.query_params:
        st.query_params[key] = chosen
    elif changed or key not in address.left:
        address.waiting[key] = chosen
    address.written[key] = chosen
    return chosen


def _widget(key: str) -> str:
    return f"choose_{key}"
