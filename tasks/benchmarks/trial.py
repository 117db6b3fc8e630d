"""What a suite is run with: its data, the engine, and every answer kept as it comes."""

import asyncio
import random
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from schemas.base import Noun, Reply
from schemas.calls import LlmCall
from schemas.choices import LiteratureChoice
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.benchmark import (
    BenchmarkItem,
    BenchmarkParameters,
    BenchmarkRequest,
    SubmissionText,
    SuiteUnit,
)
from schemas.outcome import Outcome
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.benchmarks.full_papers import ideas_of_papers
from tasks.benchmarks.innoeval import Submission
from tasks.benchmarks.items import (
    AnswerStore,
    Done,
    ItemContext,
    KeptOutcome,
    ask,
    may_go_better,
    outcome_of,
    work_through,
)
from tasks.judging.packing import Beginning
from tasks.judging.step import Step
from tasks.literature.gateway.process import GatewayProcess
from tasks.literature.snapshot.build import index_for_parquet
from tasks.work.tools import Tools
from warehouse.answers import IdeaReview
from warehouse.kinds.benchmarks.landing import BENCHMARKS
from warehouse.layout import Layout
from warehouse.run_log import EVENTS
from warehouse.warehouse import Warehouse

ItemT = TypeVar("ItemT")
NounT = TypeVar("NounT", bound=Noun)
OutputT = TypeVar("OutputT", bound=Reply)
AnswerT = TypeVar("AnswerT")


def folder_of(layout: Layout, run_id: RunId) -> Path:
    """Return where a benchmark keeps its answers, and what it makes besides scores."""
    return layout.state / "benchmarks" / run_id


def drawn_rows(rows: Sequence[ItemT], limit: int | None, seed: int) -> Sequence[ItemT]:
    """Return `limit` rows drawn by the seed, in their own order; all without a limit."""
    if limit is None or limit >= len(rows):
        return rows
    chosen = random.Random(seed).sample(range(len(rows)), limit)  # noqa: S311 -- no secret
    return [rows[place] for place in sorted(chosen)]


def indexed(literature: LiteratureChoice, settings: Settings) -> LiteratureChoice:
    """Return the literature with the index in place of a file, built on first use."""
    path = literature.snapshot
    if path is None or path.is_dir():
        return literature
    return literature.at(index_for_parquet(path, settings.home))


class SuiteData:
    """The data of one suite, drawn as the request says."""

    def __init__(self, request: BenchmarkRequest, unit: SuiteUnit, settings: Settings) -> None:
        self.request, self.unit, self.settings = request, unit, settings

    @property
    def parameters(self) -> BenchmarkParameters:
        return self.request.parameters

    @property
    def seed(self) -> int:
        """Seed of draws and intervals."""
        return self.parameters.seed

    @property
    def data(self) -> Path:
        """Folder of the data sets."""
        assert self.unit.data is not None, f"suite {self.unit.suite} reads no data"
        return self.unit.data

    def file(self, name: str) -> Path:
        """Return the path of a data file of the suite."""
        return self.data / name

    def draw(self, rows: Sequence[ItemT]) -> Sequence[ItemT]:
        """Return all rows, or as many as `--limit` says, drawn by the seed."""
        return drawn_rows(rows, self.parameters.item_limit, self.seed)

    def submissions(self, listed: Iterable[Submission]) -> dict[str, Submission]:
        """Return submissions by id, each once, with the text that was asked for.

        Raises:
            ConfigurationError: `--text full`, and a paper is not there or cannot be read.
        """
        found = {str(one.idea.idea_id): one for one in listed}
        if self.parameters.text is SubmissionText.ABSTRACT:
            return found
        EVENTS.info("%s: reading %d full papers", self.unit.suite, len(found))
        ideas = asyncio.run(
            ideas_of_papers(
                [one.idea for one in found.values()], self.data, self.settings.documents
            )
        )
        return {name: replace(one, idea=ideas[name]) for name, one in found.items()}


class Trial(SuiteData):
    """One suite under way, in a thread of its own: suites compute, and wait for their answers.

    Attributes:
        items, calls, evaluated_run_ids: what was recorded so far.
        missing_reason: why running again may score more, of the last missing answer; None: all
            was asked.
    """

    def __init__(self, unit: SuiteUnit, tools: Tools, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(tools.request, unit, tools.settings)
        self.tools = tools
        self.warehouse = Warehouse(self.request.warehouse, tools.settings)
        self.items: list[BenchmarkItem] = []
        self.calls: list[LlmCall] = []
        self.evaluated_run_ids: list[RunId] = []
        self.missing_reason: Reason | None = None
        self._loop = loop
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def folder(self) -> Path:
        """Where the trial keeps its state."""
        return folder_of(self.warehouse, self.tools.run_id)

    def ask(
        self, step: Step[Any, OutputT], questions: Mapping[str, Noun], *, task: str | None = None
    ) -> dict[str, Outcome[OutputT]]:
        """Ask one question of `step` per item; return outcomes by item, in order.

        What was asked before a kill is not asked again.

        Args:
            task: keeps the answers of two askings of one step apart, such as both orders of a pair.
        """

        beginnings: dict[str, Beginning] = defaultdict(Beginning)

        async def work(question: Noun, context: ItemContext) -> KeptOutcome:
            if not step.shares_prefix:
                return await ask(step, question, context)
            return await beginnings[step.beginning(question)].ask(
                lambda: ask(step, question, context)
            )

        name = task or step.name
        kept = self.each(name, questions, work, KeptOutcome, ask_again=may_go_better)
        for answer in kept.values():
            if may_go_better(answer) and answer.reason is not None:
                self.missing_reason = answer.reason
        return {item_id: outcome_of(answer, step) for item_id, answer in kept.items()}

    def each(
        self,
        task: str,
        items: Mapping[str, ItemT],
        work: Callable[[ItemT, ItemContext], Awaitable[NounT]],
        kind: type[NounT],
        *,
        ask_again: Callable[[NounT], bool] = lambda _: False,
        literature: LiteratureChoice | None = None,
    ) -> dict[str, NounT]:
        """Do `work` on every item at a context of its own; return results by item, in order.

        Results are kept as they come.

        Args:
            literature: what the literature client of each context asks; None: there is no client.
            task: unique within the suite. The run id covers data, prompts, engine, profile and
                limit; what else could change a result belongs into `task` or the item's id.
        """
        EVENTS.info("%s: %s, %d items", self.unit.suite, task, len(items))
        unit = BENCHMARKS.unit_path(self.warehouse, self.tools.run_id, self.unit.suite)
        with (
            closing(AnswerStore(self.folder / "answers.sqlite")) as store,
            self._gateway(literature) as url,
        ):

            def context_of(item_id: str) -> ItemContext:
                # A suite searches what its gateway has as it would the live source.
                request = self.request.model_copy(update={"literature": None})
                shared = replace(self.tools.shared, request=request, gateway_url=url)
                tools = Tools(shared, Ledger(IdeaId(item_id), unit))
                literature = None if url is None else tools.literature()
                return ItemContext(tools.engine, tools.embedder, tools.ledger, literature)

            done: dict[str, Done[NounT]] = self._wait_for(
                work_through(
                    task,
                    items,
                    work,
                    kind,
                    store=store,
                    context_of=context_of,
                    concurrency=self.settings.language_model.maximum_concurrency,
                    ask_again=ask_again,
                )
            )
        self.calls.extend(call for each in done.values() for call in each.calls)
        return {item_id: each.result for item_id, each in done.items()}

    def _wait_for(self, answers: Coroutine[Any, Any, AnswerT]) -> AnswerT:
        """Await a coroutine in the loop of the tools, whose clients live there."""
        return asyncio.run_coroutine_threadsafe(answers, self._loop).result()

    @contextmanager
    def _gateway(self, literature: LiteratureChoice | None) -> Iterator[str | None]:
        """Yield the address of a gateway: that of the run, or one for a suite's own snapshot."""
        if literature is None or literature == self.request.literature:
            yield None if literature is None else self.tools.shared.gateway_url
            return
        with GatewayProcess(self.settings, literature, self.warehouse.cache) as gateway:
            yield gateway.url

    def record(self, items: Iterable[BenchmarkItem]) -> None:
        """Record rows of `benchmark_items`: every answer the scores rest on."""
        self.items.extend(items)

    def evaluated_run(self) -> RunId:
        """Return the run whose evaluations are judged, and record that it is."""
        run_id = self.unit.evaluated_run_id
        assert run_id is not None, "the course of a benchmark evaluates the suite's ideas first"
        self.evaluated_run_ids.append(run_id)
        return run_id

    def reviews(self, run_id: RunId) -> Iterator[IdeaReview]:
        """Yield the published evaluations of a run, a few in memory at a time.

        Raises:
            ConfigurationError: the run is not published.
        """
        with self.warehouse.queries() as queries:
            yield from queries.idea_reviews(run_id)
