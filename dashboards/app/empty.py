"""What a page says when it has nothing to show: why, and which command would change that."""

import streamlit as st


def show(why: str, command: str | None = None) -> None:
    """An empty state.

    Args:
        why: a sentence of our own; untrusted parts through `text.line`.
        command: what to type, shown as code.
    """
    st.info(why, icon=":material/inbox:")
    if command:
        st.code(command, language=None)  # a shell's colours are too pale to read


def no_lake(warehouse: str) -> None:
    """There is no published run in the warehouse."""
    show(
        "No run has been published here yet. Evaluate a batch of ideas; the bundled sample needs no"
        " key and no network.",
        f"assay demo --warehouse {warehouse}\nassay evaluate ideas.jsonl --warehouse {warehouse}",
    )
