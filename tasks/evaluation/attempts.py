"""Which ideas were being worked on when a worker died: an idea that keeps killing its worker is set
aside.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schemas.boundary import out_of_memory
from schemas.identifiers import EvaluationKey

MAXIMUM_ATTEMPTS = 3
"""One less than the worker deaths after which Dask gives a whole shard up."""


class Attempts:
    """Attempt counts kept as files, so that they outlive the worker.

    A mark is made before an idea starts and taken back when it ended, well or badly; a mark that is
    still there when the shard starts again means the worker died with the idea in hand.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def begin(self, key: EvaluationKey) -> None:
        path = self._folder / key
        path.write_text(str(self.count(key) + 1))

    @contextmanager
    def hold(self, key: EvaluationKey) -> Iterator[None]:
        """Mark an idea while it is worked on.

        Memory that ran out leaves the mark, as the worker's death does.
        """
        self.begin(key)
        try:
            yield
        except BaseException as error:
            if not out_of_memory(error):
                self.end(key)
            raise
        self.end(key)

    def end(self, key: EvaluationKey) -> None:
        (self._folder / key).unlink(missing_ok=True)

    def count(self, key: EvaluationKey) -> int:
        """How many workers died with this idea in hand."""
        try:
            return int((self._folder / key).read_text() or 0)
        except FileNotFoundError:
            return 0
