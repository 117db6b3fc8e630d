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
from flows.api.bodies import NAME_CHARACTERS, as_kept
from flows.cli.answer import Answer, answer_of
from flows.cli.operate.jobs import job_row
from flows.cli.people.inbox import request_fields
from flows.cli.works import report_answer
from flows.run.following import campaign_type
from flows.works.literature.searching import search_answer
from schemas.base import Noun, replace
from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError, NotAllowedError, UnknownNameError
from schemas.identifiers import IdeaId, RunId, content_hash
from schemas.options.commands import SearchOptions
from schemas.options.values import Options, flag_of
from schemas.people.decisions import GivenAnswer
from schemas.people.job import JobRequest, check_offered
from schemas.people.role import Action, Token
from schemas.people.work_job import OF_THE_MACHINE, WorkJob
from tasks.works import work_named
from warehouse.app.database import ServiceDatabase
from warehouse.app.decisions import decide_and_fold, open_requests
from warehouse.app.jobs import Job, read_job, read_result, request_stop
from warehouse.app.people import participant_with
from warehouse.app.submissions import accept, hand_over, jobs_of, may_see
from warehouse.lake import no_lake
from warehouse.progress import RunProgress, Watch
from warehouse.reading import LakeReading
from warehouse.warehouse import Warehouse

MOST_BYTES = 200_000_000
_HEADER_BYTES, _CHANGE_COUNTER = 100, slice(24, 28)
"""SQLite's commit counter (https://www.sqlite.org/fileformat.html, 1.3.7)."""


class LakeAnswers:
    """Least-recently-used cache of replies, emptied when the lake changes.

    Concurrent calls with one key compute its reply once. Shared by threads.
    """

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._lock = threading.Lock()
        self._reading: LakeReading | None = None
        self._version = ""
        self._kept: OrderedDict[tuple[object, ...], Future[bytes]] = OrderedDict()
        self._bytes = 0

    def of(self, make: Callable[[], bytes], *key: object) -> bytes:
        """Return the cached reply, or compute it by `make()`.

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
                self._kept.clear()
                self._version, self._bytes = version, 0
            cached = self._kept.get(key)
            if cached is None:
                mine = self._kept[key] = Future()
            else:
                self._kept.move_to_end(key)
        if cached is not None:
            return cached.result()
        return self._made(make, key, mine)

    def _made(
        self, make: Callable[[], bytes], key: tuple[object, ...], mine: "Future[bytes]"
    ) -> bytes:
        try:
            answer = make()
        except BaseException as error:  # whoever waits for the answer gets the same error
            with self._lock:
                if self._kept.get(key) is mine:
                    del self._kept[key]
            mine.set_exception(error)
            raise
        with self._lock:
            if self._kept.get(key) is mine:
                self._bytes += len(answer)
            mine.set_result(answer)
            while self._bytes > MOST_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= len(oldest.result()) if oldest.done() else 0
        return answer

    def _snapshot(self) -> str:
        """Return a version that changes with each publication or another lake in this place."""
        if self._warehouse.postgres is None:
            return catalogue_state(self._warehouse)
        with self._lock:
            if self._reading is None:
                self._reading = LakeReading(self._warehouse)
        return self._reading.snapshot()


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
        raise no_lake(warehouse) from None
    return f"{status.st_ino}-{status.st_mtime_ns}-{status.st_size}-{head[_CHANGE_COUNTER].hex()}"


SEARCHES_AT_ONCE = 8


class JobSeen(Noun):
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
    answers: LakeAnswers
    searches: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(SEARCHES_AT_ONCE))

    def work(
        self,
        token: Token,
        job: type[WorkJob],
        sent: Mapping[str, Any],
        options: Options,
        *,
        name: str,
        idempotency_key: str | None,
    ) -> str:
        """Submit a job and return its job_id; the same key returns the same job.

        Args:
            sent: inputs of the job, as `as_kept` takes them.

        Raises:
            NotAllowedError: the token's role may not submit.
            ConfigurationError: an option or input is not offered or invalid.
            UnknownNameError: its run is not published.
            ConflictError, RateLimitedError, BudgetExhaustedError: as `accept`.
        """
        fields = _told(token, options, "", idempotency_key, others=job.not_offered)
        request = job(**fields, **as_kept(job, sent))
        request = self._complete(replace(request, name=_named(name or request.title)))
        return self._accepted(token, request)

    def _complete(self, request: WorkJob) -> WorkJob:
        """Fill in engine and profile from the run that the request is about.

        Raises:
            UnknownNameError: that run is not published.
        """
        if type(request.options).model_fields["engine"].default is not None:
            return request  # of no run, which alone says what engine is the usual one
        work = work_named(request.command)
        here = replace(request.options, warehouse=self.warehouse.root)
        given = work.given(request, self.warehouse.root)
        _, options = campaign_type(work).completed(given, here, self.warehouse.settings)
        updates = {"engine": options.engine, "profile": options.profile}
        return replace(request, options=replace(request.options, **updates))

    def _accepted(self, token: Token, request: JobRequest) -> str:
        check_offered(request, self.warehouse.settings.dashboard)
        return accept(self.warehouse, self.database, token, request)

    def jobs(self, token: Token) -> Answer:
        """List the jobs that the token may see, newest first.

        Raises:
            NotAllowedError: the token's role may not submit.
        """
        token.scope.check(Action.SUBMIT)
        return answer_of(
            "listed", [job_row(job) for job in jobs_of(self.warehouse, self.database, token)]
        )

    def job(self, token: Token, job_id: str) -> JobSeen:
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
        return JobSeen(job=job, progress=progress)

    def stop(self, token: Token, job_id: str) -> JobSeen:
        """Ask a job to stop in order; a job that has ended is unchanged."""
        seen = self.job(token, job_id)
        if seen.job.at_work:
            request_stop(seen.job)
        return self.job(token, job_id)

    def job_answer(self, seen: JobSeen) -> Answer:
        job = seen.job
        failed = job.status.last_word if job.status.state.ended else ""
        plan: dict[str, Any] = {"plan": read_result(job)} if job.result.exists() else {}
        return answer_of(
            job.status.state,
            [seen.row()],
            warnings=[failed] if failed else [],
            **plan,
        )

    def runs(self) -> bytes:

        def told() -> bytes:
            with self.warehouse.queries() as queries:
                return answer_of("listed", queries.list_runs()).document().encode()

        return self.answers.of(told, "runs")

    def run(self, run_id: str, idea_id: str | None = None, *, ranking: bool = False) -> bytes:
        """Return the output of `assay report --json`."""

        def told() -> bytes:
            answer = report_answer(self.warehouse, run_id, idea_id, ranking=ranking)
            return answer.document().encode()

        return self.answers.of(told, "run", run_id, idea_id, ranking)

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

        def written() -> bytes:
            return report_file(
                self.warehouse,
                RunId(run_id),
                IdeaId(idea_id) if idea_id is not None else None,
                form,
                ranking=ranking,
                full=full,
            )

        return self.answers.of(written, "report", run_id, idea_id, form, ranking, full)

    def closest(self, run_id: str, idea_id: str) -> bytes:
        """Return the closest prior work of an idea: the overlap, and what remains new."""

        def told() -> bytes:
            return self._closest(run_id, idea_id).document().encode()

        return self.answers.of(told, "closest", run_id, idea_id)

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
        who = self._decider(token)
        requests = open_requests(self.database, who)
        return answer_of("listed", [request_fields(each) for each in requests], participant_id=who)

    def decide(self, token: Token, request_id: str, given: GivenAnswer) -> Answer:
        """Record the final answer to a request.

        Raises:
            Exception: as `inbox` and `warehouse.app.decisions.decide`.
        """
        who = self._decider(token)
        made = decide_and_fold(self.warehouse, self.database, request_id, who, given)
        return answer_of(made.verdict, [made])

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
        search_options = SearchOptions(
            literature=at_gateway, limit=options.limit, cutoff=options.cutoff
        )
        return await to_thread.run_sync(
            search_answer, query, search_options, self.warehouse.settings, limiter=self.searches
        )


def open_service(warehouse: Warehouse, database: ServiceDatabase, gateway_url: str) -> Service:
    """Open the service of a warehouse, and queue jobs accepted before a kill."""
    hand_over(warehouse, database)
    answers = LakeAnswers(warehouse)
    return Service(warehouse, database, Watch(warehouse), gateway_url, answers)


def _named(name: str) -> str:
    return " ".join(name.split())[:NAME_CHARACTERS] or "unnamed"


def _told(
    token: Token,
    options: Options,
    name: str,
    idempotency_key: str | None,
    *,
    others: frozenset[str] = OF_THE_MACHINE,
) -> dict[str, Any]:
    """Return the common fields of a request; `others` are options it may not set."""
    token.scope.check(Action.SUBMIT)
    refused_options = sorted(others & options.model_fields_set)
    if refused_options:
        raise ConfigurationError(
            f"{flag_of(refused_options[0])} is not for a request to say: leave it out"
        )
    return {
        "name": _named(name),
        "asked_by": f"{token.name} ({token.token_id})",
        "created_at": datetime.now(UTC),
        # Keys of two tokens are two keys.
        "idempotency_key": content_hash(token.token_id, idempotency_key or uuid4().hex),
        "options": options,
    }
