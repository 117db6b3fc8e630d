"""A pair side by side, and the buttons that answer it."""

import random
from collections.abc import Callable

import streamlit as st

from dashboards.app import text
from schemas.errors import AssayError
from schemas.votes import Choice, Offer
from warehouse.contests import Part

HEIGHT_PIXELS = 440
"""Of both sides alike: the longer text is scrolled, and does not look longer."""
_ANSWERS = {
    Choice.FIRST: ("A is better", "a"),
    Choice.SECOND: ("B is better", "b"),
    Choice.BOTH_GOOD: ("Both are good", "g"),
    Choice.BOTH_BAD: ("Both are bad", "x"),
}
_SAID = "what became of the last answer"

Answer = Callable[[Choice | None, str], None]
"""Takes a choice, None for a skip, and a reason; raises AssayError when it does not count."""


def show(offer: Offer, sides: tuple[tuple[Part, ...], tuple[Part, ...]], answer: Answer) -> None:
    """Both sides, then the answers; each has a key of the keyboard."""
    with st.container(key="beside"):
        columns = st.columns(2)
    for column, letter, side, parts in zip(
        columns, "AB", (Choice.FIRST, Choice.SECOND), sides, strict=True
    ):
        with column:
            st.subheader(letter, anchor=False)
            with st.container(border=True, height=HEIGHT_PIXELS, key=f"side_{letter}"):
                _text(parts, offer.offer_id if offer.scrambled is side else None)
    reason = f"reason_{offer.offer_id}"
    st.text_area("Why (optional)", key=reason, max_chars=2_000, height=80)
    with st.container(horizontal=True, key="answers"):
        for choice, (label, key) in _ANSWERS.items():
            _button(label, key, f"{choice}_{offer.offer_id}", choice, reason, answer)
        _button("Skip", "s", f"skip_{offer.offer_id}", None, reason, answer)


def _button(
    label: str, shortcut: str, key: str, choice: Choice | None, reason: str, answer: Answer
) -> None:
    st.button(
        label,
        key=key,
        shortcut=shortcut,
        type="secondary" if choice is None else "primary",
        on_click=_give,
        args=(answer, choice, reason),
    )


def _give(answer: Answer, choice: Choice | None, reason: str) -> None:
    try:
        answer(choice, str(st.session_state.get(reason) or ""))
    except AssayError as error:
        st.session_state[_SAID] = (False, str(error))
    else:
        said = "Skipped." if choice is None else "Your vote is kept."
        st.session_state[_SAID] = (True, said)


def tell_last() -> None:
    """What became of the answer before."""
    taken, said = st.session_state.pop(_SAID, (True, ""))
    if said and taken:
        st.success(said, icon=":material/check:")
    elif said:
        st.warning(text.line(said), icon=":material/block:")


def _text(parts: tuple[Part, ...], scrambled_by: str | None) -> None:
    for part in parts:
        heading, body = part
        if scrambled_by is not None:
            heading, body = (_scrambled(words, scrambled_by) for words in part)
        if heading:
            st.markdown(f"**{text.line(heading)}**")
        st.markdown(text.prose(body))


def _scrambled(words: str, seed: str) -> str:
    """The same words in an order that says nothing; the same one each time the pair is drawn."""
    listed = words.split()
    random.Random(seed).shuffle(listed)  # noqa: S311 no secret
    return " ".join(listed)
