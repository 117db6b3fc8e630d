"""What commands that run flows share: Ctrl-C in order, and one Prefect server, started when it is
first needed.
"""

from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING

from schemas.check_run import CheckRequest
from schemas.ranking import RankRequest
from schemas.run import RunRequest
from schemas.settings import Settings

if TYPE_CHECKING:
    from flows.checking import CheckSummary
    from flows.evaluate import RunSummary
    from flows.prefect_server import PrefectServer
    from flows.ranking import RankSummary
    from tasks.judging.first_contact import Contact


class Session:
    """Runs flows one after the other.

    A second server within one process would not be found by Prefect's client.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._server: PrefectServer | None = None

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, traceback)

    def evaluate(self, request: RunRequest) -> "RunSummary":
        """Run a batch, after a look at all it needs."""
        server = self._started()
        from flows.checks import check_before_run

        _tell(check_before_run(request, Settings()))
        from flows.evaluate import run_batch

        server.wait()
        return run_batch(request)

    def rank(self, request: RankRequest) -> "RankSummary":
        """Rank a run, after a look at all it needs."""
        server = self._started()
        from flows.checks import check_before_ranking

        _tell(check_before_ranking(request, Settings()))
        from flows.ranking import run_ranking

        server.wait()
        return run_ranking(request)

    def check(self, request: CheckRequest) -> "CheckSummary":
        """Check manuscripts, after a look at all it needs."""
        server = self._started()
        from flows.checks import check_before_checking

        _tell(check_before_checking(request, Settings()))
        from flows.checking import run_check

        server.wait()
        return run_check(request)

    def _started(self) -> "PrefectServer":
        if self._server is None:
            from flows.interruption import interruptible
            from flows.prefect_server import PrefectServer

            self._stack.enter_context(interruptible())
            self._server = self._stack.enter_context(PrefectServer(Settings().prefect_api_url))
        return self._server


def _tell(contacts: "tuple[Contact, ...]") -> None:
    """Say of each model what it takes and costs, before the batch."""
    from flows.commands.output import print_note

    for contact in contacts:
        print_note(f"{contact.model} {contact.line}")
