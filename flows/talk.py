"""How much a command says on stderr beside its answer: `--quiet`, `--verbose`."""

import logging

from flows.terminal import safe

_NOTES = logging.getLogger("assay.notes")
_OURS = ("flows", "tasks", "warehouse", "dashboards")


def set_talk(*, quiet: bool, verbose: bool) -> None:
    """Say less or more from here on; the quiet wins."""
    _NOTES.setLevel(logging.WARNING if quiet else logging.INFO)
    logging.getLogger().setLevel(logging.ERROR if quiet else logging.WARNING)
    for name in _OURS:
        logging.getLogger(name).setLevel(logging.INFO if verbose and not quiet else logging.NOTSET)


def notes_are_wanted() -> bool:
    """Whether lines that are neither answers nor errors are to be printed."""
    return _NOTES.getEffectiveLevel() <= logging.INFO or _NOTES.level == logging.NOTSET


def print_note(text: str) -> None:
    """A line for the person at the terminal, on stderr; `--quiet` leaves it out."""
    if notes_are_wanted():
        print_warning(text)


def print_warning(text: str) -> None:
    """A line on stderr that says what is wrong, also with `--quiet`."""
    from rich.console import Console  # most commands end without a word on stderr

    Console(stderr=True, highlight=False, soft_wrap=True).print(safe(text), markup=False)
