"""Trial: what a suite is run with.

It asks engines, sends ideas through the main job, and keeps every answer as it comes.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from flows.cli.talk import print_note
from flows.run.gateway import OpenGateway, open_gateway
from schemas.base import Noun, Reply
from schemas.calls import LlmCall
from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.idea import Idea
from schemas.identifiers import RunId
from schemas.judgement.benchmark import BenchmarkItem, BenchmarkRequest, SubmissionText
from schemas.judgement.run_request import EvaluationParameters, GivenIdeas, RunRequest
from schemas.outcome import Outcome
from schemas.profile import Profile
from schemas.reasons import Reason
from schemas.run import Module, Run
from schemas.settings import Settings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.benchmarks.full_papers import ideas_of_papers
from tasks.benchmarks.innoeval import Submission
from tasks.benchmarks.items import (
    AnswerStore,
    Done,
    ItemContext,
    KeptOutcome,
    Tools,
    ask,
    may_go_better,
    outcome_of,
    work_through,
)
from tasks.ideas.json_lines import write_ideas
from tasks.judging.opening import open_judging
from tasks.judging.packing import Beginning
from tasks.judging.step import Step
from tasks.literature.semantic_scholar import SemanticScholarClient
from tasks.web.client import open_client
from warehouse.answers import IdeaReview
from warehouse.kinds.benchmarks.landing import BENCHMARKS
from warehouse.warehouse import Warehouse

ItemT = TypeVar("ItemT")
NounT = TypeVar("NounT", bound=Noun)
OutputT = TypeVar("OutputT", bound=Reply)


class Evaluates(Protocol):
    """Runs the main job and gives the published run; `flows.run.session` in a command."""

    def __call__(self, request: RunRequest) -> Run: ...


def folder_of(warehouse: Warehouse, run_id: RunId) -> Path:
    """Where a benchmark keeps its answers, and what it makes besides scores."""
    return warehouse.state / "benchmarks" / run_id


def drawn_rows(rows: Sequence[ItemT], limit: int | None, seed: int) -> Sequence[ItemT]:
    """As many rows as the limit says, drawn by the seed and in their own order; all without one."""
    if limit is None or limit >= len(rows):
        return rows
    chosen = random.Random(seed).sample(range(len(rows)), limit)  # noqa: S311 -- no secret
    return [rows[place] for place in sorted(chosen)]


class Trial:
    """One suite under way. Not shared between threads.

    Attributes:
        request: what the user asked for.
        run_id: the benchmark's name.
        items, calls, evaluated_run_ids: what was recorded so far.
        missing_reason: why running again may score more, of the last answer that could not be had;
            None: all was asked.
    """

    def __init__(
        self, request: BenchmarkRequest, run_id: RunId, settings: Settings, evaluate: Evaluates
    ) -> None:
        self.request = request
        self.run_id = run_id
        self.warehouse = Warehouse(request.warehouse, settings)
        self.items: list[BenchmarkItem] = []
        self.calls: list[LlmCall] = []
        self.evaluated_run_ids: list[RunId] = []
        self.missing_reason: Reason | None = None
        self._evaluate = evaluate

    @property
    def seed(self) -> int:
        """Of draws and intervals."""
        return self.request.seed

    @property
    def folder(self) -> Path:
        """Where the trial keeps its state."""
        return folder_of(self.warehouse, self.run_id)

    def file(self, name: str) -> Path:
        """A data file of the suite; the harness has checked that it is there."""
        return self.request.data / name

    def modules(self, usual: Sequence[Module]) -> tuple[Module, ...]:
        """Modules of the main job for this suite: those the user named, else the `usual` ones."""
        return tuple(usual) if self.request.modules is None else self.request.modules

    def submissions(self, listed: Iterable[Submission]) -> dict[str, Submission]:
        """Submissions by id, each once, with the text that the user asked for.

        Raises:
            ConfigurationError: `--text full`, and a paper is not there or cannot be read.
        """
        found = {str(one.idea.idea_id): one for one in listed}
        if self.request.text is SubmissionText.ABSTRACT:
            return found
        print_note(f"{self.request.suite}: reading {len(found):,} full papers")
        ideas = asyncio.run(
            ideas_of_papers(
                [one.idea for one in found.values()],
                self.request.data,
                self.warehouse.settings.documents,
            )
        )
        return {name: replace(one, idea=ideas[name]) for name, one in found.items()}

    def draw(self, rows: Sequence[ItemT]) -> Sequence[ItemT]:
        """All rows, or as many as `--limit` says, drawn by the seed and in their own order."""
        return drawn_rows(rows, self.request.item_limit, self.seed)

    def ask(
        self, step: Step[Any, OutputT], questions: Mapping[str, Noun], *, task: str | None = None
    ) -> dict[str, Outcome[OutputT]]:
        """One question of `step` per item; outcomes by item, in order.

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
        """`work` on every item at a context of its own (engine, embedder, ledger); results by item,
        in order, kept as they come.

        Args:
            literature: what the literature client of each context asks, through a gateway that is
                opened for it; None: there is no client.
            task: unique within the suite. The benchmark's name covers data, prompts, engine,
                profile and limit; what else could change a result belongs into `task` or the item's
                id.
        """
        print_note(f"{self.request.suite}: {task}, {len(items):,} items")
        with ExitStack() as stack:
            gateway = (
                stack.enter_context(open_gateway(literature, self.warehouse))
                if literature is not None
                else None
            )
            done = asyncio.run(self._work(task, items, work, kind, ask_again, gateway))
        self.calls.extend(call for each in done.values() for call in each.calls)
        return {item_id: each.result for item_id, each in done.items()}

    async def _work(
        self,
        task: str,
        items: Mapping[str, ItemT],
        work: Callable[[ItemT, ItemContext], Awaitable[NounT]],
        kind: type[NounT],
        ask_again: Callable[[NounT], bool],
        gateway: OpenGateway | None,
    ) -> dict[str, Done[NounT]]:
        async with AsyncExitStack() as stack:
            judging = open_judging(
                self.request, self.warehouse.settings, self.warehouse, self.run_id, stack
            )
            store = AnswerStore(self.folder / "answers.sqlite")
            stack.callback(store.close)
            literature_of = (
                await self._literature(gateway, judging.budget, stack)
                if gateway is not None
                else None
            )
            tools = Tools(
                judging.engine_of,
                judging.embedder,
                self.warehouse.settings.language_model.maximum_concurrency,
                literature_of,
            )
            return await work_through(
                task,
                items,
                work,
                kind,
                store=store,
                tools=tools,
                ask_again=ask_again,
                unit=BENCHMARKS.unit_path(self.warehouse, self.run_id),
            )

    async def _literature(
        self, gateway: OpenGateway, budget: SharedBudget, stack: AsyncExitStack
    ) -> Callable[[Ledger], SemanticScholarClient]:
        settings = self.warehouse.settings.literature
        http = await stack.enter_async_context(open_client(settings.timeout_seconds))
        url = gateway.url
        return lambda ledger: SemanticScholarClient(
            url, ledger, http, settings, lambda: budget.count_request(ledger.idea_id)
        )

    def record(self, items: Iterable[BenchmarkItem]) -> None:
        """Rows of `benchmark_items`: every answer the scores rest on."""
        self.items.extend(items)

    def evaluate(
        self,
        name: str,
        ideas: Sequence[Idea],
        modules: Sequence[Module],
        *,
        profile: Profile | None = None,
    ) -> RunId:
        """Send `ideas` through the main job, or take the published run that `--run` names; the
        run's identifier.

        What this warehouse has evaluated before, in whatever run, is taken over from there. The
        job's own calls are booked on the run.

        Raises:
            ConfigurationError: the job cannot be run.
            PublicationError: the run broke an expectation and was not published.
        """
        named = self.request.evaluated_run
        run_id = (
            named
            if named is not None and profile is None
            else self._evaluated(name, ideas, modules, profile)
        )
        self.evaluated_run_ids.append(run_id)
        return run_id

    def _evaluated(
        self, name: str, ideas: Sequence[Idea], modules: Sequence[Module], profile: Profile | None
    ) -> RunId:
        if not ideas:
            raise ConfigurationError(
                f"suite {self.request.suite} has no idea to evaluate: look at its data file"
            )
        path = self.folder / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_ideas(ideas, path)
        request = RunRequest(
            units=(GivenIdeas(path=path),),
            warehouse=self.request.warehouse,
            profile=profile or self.request.profile,
            engine=self.request.engine,
            api_base=self.request.api_base,
            literature=self.request.literature,
            parameters=EvaluationParameters(modules=tuple(modules)),
            workers=self.request.workers,
            scheduler_address=self.request.scheduler_address,
            budget=self.request.budget,
            full_text=self.request.full_text,
        )
        print_note(f"{self.request.suite}: evaluating {len(ideas):,} ideas by {', '.join(modules)}")
        return self._evaluate(request).run_id

    def reviews(self, run_id: RunId) -> Iterator[IdeaReview]:
        """Published evaluations of a run, a few in memory at a time.

        Raises ConfigurationError when the run is not published.
        """
        with self.warehouse.queries() as queries:
            yield from queries.idea_reviews(run_id)
