"""A pair side by side, and the buttons that answer it."""

import random
from collections.abc import Callable, Sequence

import streamlit as st

from dashboards.app import text
from schemas.errors import AssayError
from schemas.people.votes import Choice, Offer
from warehouse.app.contests import Part

WORDS_SHOWN = 120
"""Of either side; the rest is folded, also where there is none, so that length does not show."""
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
    if offer.scrambled is None and folded(sides[0])[0] == folded(sides[1])[0]:
        st.caption("Both begin alike and differ further on.")
    with st.container(key="beside"):
        columns = st.columns(2)
    for column, letter, side, parts in zip(
        columns, "AB", (Choice.FIRST, Choice.SECOND), sides, strict=True
    ):
        with column:
            st.subheader(letter, anchor=False)
            with st.container(border=True, key=f"side_{letter}"):
                _side(_scrambled(parts, offer.offer_id) if offer.scrambled is side else parts)
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


def _side(parts: Sequence[Part]) -> None:
    opening, rest = folded(parts)
    show_parts(opening)
    with st.expander("Read on"):
        if rest:
            show_parts(rest)
        else:
            st.caption("That was all.")


def show_parts(parts: Sequence[Part]) -> None:
    """Parts of a text that nobody has vouched for, one below the other."""
    for part in parts:
        if part.heading:
            st.markdown(f"**{text.line(part.heading)}**")
        st.markdown(text.prose(part.text))


def folded(parts: Sequence[Part], words: int = WORDS_SHOWN) -> tuple[list[Part], list[Part]]:
    """What is read at once, and the rest."""
    opening: list[Part] = []
    rest: list[Part] = []
    for part in parts:
        if words <= 0:
            rest.append(part)
            continue
        pieces = part.text.split(None, words)
        behind = pieces[words] if len(pieces) > words else ""
        opening.append(Part(part.heading, part.text[: len(part.text) - len(behind)]))
        if behind:
            rest.append(Part("", behind))
        words -= min(len(pieces), words)
    return opening, rest


def _scrambled(parts: Sequence[Part], seed: str) -> list[Part]:
    """The same words in an order that says nothing; the same one each time the pair is drawn."""
    draw = random.Random(seed)  # noqa: S311 no secret

    def shuffled(words: str) -> str:
        listed = words.split()
        draw.shuffle(listed)
        return " ".join(listed)

    return [Part(shuffled(part.heading), shuffled(part.text)) for part in parts]
