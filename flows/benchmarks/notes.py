"""Lines for the person at the terminal."""

from rich.console import Console


def note(text: str) -> None:
    """One line on stderr."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(text, markup=False)
