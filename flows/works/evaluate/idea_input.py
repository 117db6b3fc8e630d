"""Input of ideas from a path or, as `-`, from standard input."""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from flows.cli.terminal import print_warning

STANDARD_INPUT = "-"
MOST_REMARKS = 12


@contextmanager
def idea_file(ideas: Path) -> Iterator[Path]:
    """Yield the path, or a temporary file with standard input for `-`.

    Raises:
        IdeaFileError: standard input is empty or too large.
    """
    if str(ideas) != STANDARD_INPUT:
        yield ideas
        return
    from tasks.ideas.limits import keep_standard_input

    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        yield keep_standard_input(sys.stdin.buffer, Path(folder))


def print_remarks(remarks: Sequence[str]) -> None:
    """Print which inputs are not read or not used."""
    for line in remarks[:MOST_REMARKS]:
        print_warning(line)
    if len(remarks) > MOST_REMARKS:
        print_warning(f"and {len(remarks) - MOST_REMARKS:,} more: `assay plan --fields` lists them")
