"""Operations of the HTTP and MCP services: submit, watch, read and search.

The caller is a `Token`; operations that its role does not permit raise NotAllowedError.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from anyio import CapacityLimiter, to_thread

from dashboards.render.formats.markdown import markdown_line
from dashboards.render.formats.report_file import report_file
from dashboards.render.formats.report_format import ReportFormat
from dashboards.views.idea.closest_work import closest_works
from flows.api.bodies import NAME_CHARACTERS, stored_fields
from flows.cli.answer import Answer, answer_of
from flows.cli.operate.jobs import job_row
from flows.cli.people.inbox import request_fields
from flows.cli.works import report_answer
from flows.run.campaign_runs import campaign_type
from flows.works.literature.search import search_answer
from schemas.base import Noun, replace
from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError, NotAllowedError, UnknownNameError
from schemas.identifiers import IdeaId, RunId, content_hash
from schemas.options.commands import DeclaredOptions, SearchOptions
from schemas.options.values import flag_of
from schemas.people.decisions import GivenAnswer
from schemas.people.job import check_offered
from schemas.people.role import Action, Token
from schemas.people.work_job import WorkJob
from tasks.works import work_named
from warehouse.app.database import ServiceDatabase
from warehouse.app.decisions import decide_and_fold, open_requests
from warehouse.app.jobs import Job, read_job, read_result, request_stop
from warehouse.app.people import participant_with
from warehouse.app.submissions import accept, hand_over, jobs_of, may_see
from warehouse.lake import no_lake_error
from warehouse.lake_reader import LakeReader
from warehouse.progress import RunProgress, Watch
from warehouse.units.published_work import published_works
from warehouse.warehouse import Warehouse

MOST_BYTES = 200_000_000
_HEADER_BYTES, _CHANGE_COUNTER = 100, slice(24, 28)
"""SQLite's commit counter (https://www.sqlite.org/fileformat.html, 1.3.7)."""


class ReplyCache:
    """Least-recently-used cache of replies, emptied when the lake changes.

    Concurrent calls with one key compute its reply once. Shared by threads.
    """

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._lock = threading.Lock()
        self._reader: LakeReader | None = None
        self._version = ""
        self._replies: OrderedDict[tuple[object, ...], Future[bytes]] = OrderedDict()
        self._bytes = 0

    def of(self, make: Callable[[], bytes | Answer], *key: object) -> bytes:
        """Return the cached reply, or compute it by `make()`; answers become JSON.

        Args:
            key: identifies the reply.

        Raises:
            UnknownNameError: there is no lake.
            ConfigurationError: it cannot be opened.
            Exception: any error of `make`, which is not cached.
        """
        version = self._snapshot()
        with self._lock:
            if version != self._version:
                self._replies.clear()
                self._version, self._bytes = version, 0
            earlier_future = self._replies.get(key)
            if earlier_future is None:
                future = self._replies[key] = Future()
            else:
                self._replies.move_to_end(key)
        if earlier_future is not None:
            return earlier_future.result()
        return self._compute(make, key, future)

    def _compute(
        self, make: Callable[[], bytes | Answer], key: tuple[object, ...], future: "Future[bytes]"
    ) -> bytes:
        try:
            content = make()
            reply = content if isinstance(content, bytes) else content.document().encode()
        except BaseException as error:  # concurrent callers get the same error
            with self._lock:
                if self._replies.get(key) is future:
                    del self._replies[key]
            future.set_exception(error)
            raise
        with self._lock:
            if self._replies.get(key) is future:
                self._bytes += len(reply)
            future.set_result(reply)
            while self._bytes > MOST_BYTES:
                _, oldest_reply = self._replies.popitem(last=False)
                self._bytes -= len(oldest_reply.result()) if oldest_reply.done() else 0
        return reply

    def _snapshot(self) -> str:
        """Return a version that changes with each publication or another lake in this place."""
        if self._warehouse.postgres is None:
            return catalogue_state(self._warehouse)
        with self._lock:
            if self._reader is None:
                self._reader = LakeReader(self._warehouse)
        return self._reader.snapshot()


def catalogue_state(warehouse: Warehouse) -> str:
    """Return a value that differs after each commit to the SQLite catalogue.

    Asking DuckDB costs hundreds of times as much.

    Raises:
        UnknownNameError: there is no lake.
    """
    try:
        with warehouse.catalogue.open("rb") as file:
            head, status = file.read(_HEADER_BYTES), os.fstat(file.fileno())
    except FileNotFoundError:
        raise no_lake_error(warehouse) from None
    return f"{status.st_ino}-{status.st_mtime_ns}-{status.st_size}-{head[_CHANGE_COUNTER].hex()}"


SEARCHES_AT_ONCE = 8


class JobView(Noun):
    job: Job
    progress: RunProgress | None

    def row(self) -> dict[str, Any]:
        """Return the row of `assay jobs list --json` with the progress of its run."""
        progress = self.progress
        return {
            **job_row(self.job),
            "stop_requested": self.job.stop_requested,
            "idea_count": progress.planned.idea_count if progress else None,
            "landed_count": progress.landed_count if progress else None,
            "cost_usd": progress.cost_usd if progress else None,
        }


@dataclass(frozen=True, slots=True)
class Service:
    """Operations on one warehouse; `gateway_url` is empty if it searches no literature."""

    warehouse: Warehouse
    database: ServiceDatabase
    watch: Watch
    gateway_url: str
    answers: ReplyCache
    searches: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(SEARCHES_AT_ONCE))

    def work(
        self,
        token: Token,
        job: type[WorkJob],
        inputs: Mapping[str, Any],
        options: DeclaredOptions,
        *,
        name: str,
        idempotency_key: str | None,
    ) -> str:
        """Submit a job and return its job_id; the same key returns the same job.

        Args:
            inputs: of the job, as `stored_fields` takes them.

        Raises:
            NotAllowedError: the token's role may not submit.
            ConfigurationError: an option or input is not offered or invalid.
            UnknownNameError: its run is not published.
            ConflictError, RateLimitedError, BudgetExhaustedError: as `accept`.
        """
        token.scope.check(Action.SUBMIT)
        refused_options = sorted(job.not_offered & options.model_fields_set)
        if refused_options:
            raise ConfigurationError(
                f"{flag_of(refused_options[0])} is not for a request to say: leave it out"
            )
        request = job(
            name="unnamed",
            asked_by=f"{token.name} ({token.token_id})",
            created_at=datetime.now(UTC),
            # Equal keys of two tokens are different keys.
            idempotency_key=content_hash(token.token_id, idempotency_key or uuid4().hex),
            options=options,
            **stored_fields(job, inputs),
        )
        title = " ".join((name or request.title).split())[:NAME_CHARACTERS]
        request = self._complete(replace(request, name=title or request.name))
        check_offered(request, self.warehouse.settings.dashboard)
        return accept(self.warehouse, self.database, token, request)

    def _complete(self, request: WorkJob) -> WorkJob:
        """Fill in engine and profile from the run that the request is about.

        Raises:
            UnknownNameError: that run is not published.
        """
        if type(request.options).model_fields["engine"].default is not None:
            return request  # not about a run, from which defaults could come
        work = work_named(request.command)
        local_options = replace(request.options, warehouse=self.warehouse.root)
        arguments = work.given(request, self.warehouse.root)
        _, options = campaign_type(work).complete_options(
            arguments, local_options, self.warehouse.settings
        )
        updates = {"engine": options.engine, "profile": options.profile}
        return replace(request, options=replace(request.options, **updates))

    def jobs(self, token: Token) -> Answer:
        """List the jobs that the token may see, newest first.

        Raises:
            NotAllowedError: the token's role may not submit.
        """
        token.scope.check(Action.SUBMIT)
        return answer_of(
            "listed", [job_row(job) for job in jobs_of(self.warehouse, self.database, token)]
        )

    def job(self, token: Token, job_id: str) -> JobView:
        """Return a job and its progress.

        Raises:
            NotAllowedError: the token's role may not submit.
            UnknownNameError: there is no such job, or it belongs to another token.
        """
        token.scope.check(Action.SUBMIT)
        job = read_job(self.warehouse, job_id)
        if job is None or not may_see(self.database, token, job_id):
            raise UnknownNameError(f"no job {job_id!r}")
        progress = self.watch.of_ideas(job.ideas) if job.status.started_at else None
        return JobView(job=job, progress=progress)

    def stop(self, token: Token, job_id: str) -> JobView:
        """Ask a job to stop in order; a job that has ended is unchanged."""
        view = self.job(token, job_id)
        if view.job.at_work:
            request_stop(view.job)
        return self.job(token, job_id)

    def job_answer(self, view: JobView) -> Answer:
        job = view.job
        error = job.status.last_word if job.status.state.ended else ""
        plan: dict[str, Any] = {"plan": read_result(job)} if job.result.exists() else {}
        return answer_of(
            job.status.state,
            [view.row()],
            warnings=[error] if error else [],
            **plan,
        )

    def runs(self) -> bytes:
        def build() -> Answer:
            with self.warehouse.reader() as connection:
                return answer_of("listed", [each.row for each in published_works(connection)])

        return self.answers.of(build, "runs")

    def run(self, run_id: str, idea_id: str | None = None, *, ranking: bool = False) -> bytes:
        """Return the output of `assay report --json`."""
        return self.answers.of(
            lambda: report_answer(self.warehouse, run_id, idea_id, ranking=ranking),
            *("run", run_id, idea_id, ranking),
        )

    def report(
        self,
        run_id: str,
        idea_id: str | None,
        form: ReportFormat,
        *,
        ranking: bool = False,
        full: bool = False,
    ) -> bytes:
        """Return the file that `assay report` writes."""
        idea = IdeaId(idea_id) if idea_id is not None else None
        return self.answers.of(
            lambda: report_file(
                self.warehouse, RunId(run_id), idea, form, ranking=ranking, full=full
            ),
            *("report", run_id, idea_id, form, ranking, full),
        )

    def closest(self, run_id: str, idea_id: str) -> bytes:
        """Return the closest prior work of an idea: the overlap, and what remains new."""
        return self.answers.of(lambda: self._closest(run_id, idea_id), "closest", run_id, idea_id)

    def _closest(self, run_id: str, idea_id: str) -> Answer:
        with self.warehouse.queries() as queries:
            review = queries.idea_review(RunId(run_id), IdeaId(idea_id))
        evaluation = review.evaluation
        if evaluation.contribution is None:
            raise UnknownNameError(
                f"run {run_id} did not look for prior work: evaluate with the module contribution"
            )
        papers = {paper.paper_id: paper for paper in evaluation.papers}
        works = closest_works(evaluation.contribution, papers)
        return answer_of(
            "complete" if all(each.is_left_out for each in evaluation.failures) else "incomplete",
            [
                {
                    "paper": markdown_line(work.paper),
                    "title": work.title,
                    "overlaps": work.overlaps,
                    "quote": work.quote,
                    "remains": work.remains,
                    "overall": work.overall,
                }
                for work in works
            ],
            run=review.run,
            warnings=[
                f"{each.stage}, {each.subject}: {each.reason}: {each.detail}"
                for each in evaluation.failures
            ],
        )

    def inbox(self, token: Token) -> Answer:
        """List the requests that wait for the token's participant, oldest first.

        Raises:
            NotAllowedError: the token's role may not decide, or it belongs to no participant.
        """
        participant_id = self._decider(token)
        requests = open_requests(self.database, participant_id)
        waiting_requests = [request_fields(each) for each in requests]
        return answer_of("listed", waiting_requests, participant_id=participant_id)

    def decide(self, token: Token, request_id: str, answer: GivenAnswer) -> Answer:
        """Record the final answer to a request.

        Raises:
            Exception: as `inbox` and `warehouse.app.decisions.decide`.
        """
        participant_id = self._decider(token)
        decision = decide_and_fold(
            self.warehouse, self.database, request_id, participant_id, answer
        )
        return answer_of(decision.verdict, [decision])

    def _decider(self, token: Token) -> str:
        token.scope.check(Action.DECIDE)
        participant = participant_with(self.database, token.token_id)
        if participant is None:
            raise NotAllowedError(
                "this token stands for no participant:"
                f" `assay people add NAME --key {token.token_id}`"
            )
        return participant.participant_id

    async def search(self, query: str, options: SearchOptions) -> Answer:
        """Search papers through this service's gateway, as `assay literature search --json`.

        The number of concurrent searches is limited, so that a slow source delays no other request.

        Raises:
            ConfigurationError: the caller names a literature, or the server has no gateway.
        """
        if options.literature is not None:
            raise ConfigurationError(
                f"{flag_of('literature')} is not for a request to say: leave it out"
            )
        if not self.gateway_url:
            raise ConfigurationError("this server searches no literature: `assay api` does")
        at_gateway = LiteratureChoice(url=self.gateway_url)
        choice = SearchOptions(literature=at_gateway, limit=options.limit, cutoff=options.cutoff)
        return await to_thread.run_sync(
            search_answer, query, choice, self.warehouse.settings, limiter=self.searches
        )


def open_service(warehouse: Warehouse, database: ServiceDatabase, gateway_url: str) -> Service:
    """Open the service of a warehouse, and queue jobs accepted before a kill."""
    hand_over(warehouse, database)
    answers = ReplyCache(warehouse)
    return Service(warehouse, database, Watch(warehouse), gateway_url, answers)
