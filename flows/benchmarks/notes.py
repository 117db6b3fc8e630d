"""Lines for the person at the terminal."""

from rich.console import Console

from flows.terminal import safe


def note(text: str) -> None:
    """One line on stderr."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(safe(text), markup=False)
