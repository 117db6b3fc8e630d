"""Declaration of a benchmark suite, and the trial in which it runs.

To add a suite, write a module in `suites/` with a `SUITE`, and list it in `registry.py`. Published
scores are rows of `published.csv`.

    def run(trial: Trial) -> None:
        rows = trial.draw(read_rows(trial.file("gold.jsonl")))  # all, or --limit drawn by the seed
        outcomes = trial.ask(NOVELTY_JUDGEMENT, {row.id: question_of(row) for row in rows})
        for row in rows:
            answer = label_of(outcomes[row.id])  # None: unscored, for the reason of the outcome
            trial.record("novelty", row.id, answer, outcomes[row.id], gold=row.label)
        trial.score("macro_f1", macro_f1(pairs_of(rows, outcomes), seed=trial.seed))

`trial.ask` asks one question of a step per item; `trial.each` runs a coroutine per item. Both
resume after a kill without repeating calls. The `ideas` of a suite are evaluated first, and
`trial.evaluated_run` returns that run.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from schemas.base import Noun, Reply
from schemas.calls import LlmCall
from schemas.choices import LiteratureChoice
from schemas.idea import Idea
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.benchmark import (
    ASSAY,
    BenchmarkItem,
    BenchmarkParameters,
    BenchmarkRequest,
    BenchmarkScore,
    SuiteUnit,
)
from schemas.outcome import Outcome, Unscored
from schemas.profile import Profile
from schemas.reasons import Reason
from schemas.run import Module
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.benchmarks.items import (
    ItemContext,
    ItemResult,
    OutcomeResult,
    ResultT,
    ask,
    outcome_of,
    process_items,
)
from tasks.judging.expected import CHARACTERS_PER_TOKEN
from tasks.judging.packing import Beginning
from tasks.judging.step import Step
from tasks.literature.gateway.process import GatewayProcess
from tasks.literature.snapshot.build import index_for_parquet
from tasks.metrics.chance import STRATIFIED_RANDOM, stratified_random
from tasks.metrics.estimate import Estimate, benchmark_score
from tasks.metrics.labels import Label, LabelPairs
from tasks.work.tools import Tools
from warehouse.kinds.benchmarks import BENCHMARKS
from warehouse.layout import Layout
from warehouse.row_models import IdeaReview
from warehouse.run_log import EVENTS
from warehouse.stores.keyed_store import KeyedStore
from warehouse.warehouse import Warehouse

ItemT = TypeVar("ItemT")
OutputT = TypeVar("OutputT", bound=Reply)

Statistics = Mapping[str, Callable[[LabelPairs], float]]
"""Metrics of labelled items by name."""
LITERATURE_FILE = "literature.parquet"
"""Default literature of the benchmarks, in the folder of the data sets."""

REVIEW_TOKENS = 1_800
"""Tokens of one review by `economy`: 6,900 characters on average over three ideas."""
GRADE_TOKENS = 60
QUESTION_TOKENS = 40
PROBLEM_TOKENS = 150


class ExpectedCalls(NamedTuple):
    """Calls that a suite is expected to make for one step.

    Attributes:
        prompt_tokens: of one call, without the template.
        reply_tokens: of one call.
        first_calls: calls that cannot reuse the cached prefix of another; None: all of them.
    """

    step: Step[Any, Any]
    calls: float
    prompt_tokens: float
    reply_tokens: float
    first_calls: float | None = None


class SuiteEstimate(NamedTuple):
    """Estimate of a suite from its data, made before anything is paid.

    Reply lengths are expected values: a paid run may differ by half. Resumed runs and cached
    replies cost less than estimated.

    Attributes:
        items: ideas, submissions, pairs, groups or checks.
        calls: calls of the suite's own steps.
        ideas: ideas that the modules would evaluate.
    """

    items: int = 0
    calls: Sequence[ExpectedCalls] = ()
    ideas: Sequence[Idea] = ()


class SuiteData:
    """Data of one suite, sampled as requested."""

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

    def draw(self, rows: Sequence[ItemT], usual: int | None = None) -> Sequence[ItemT]:
        """Sample `--limit` rows by the seed, else the `usual` number or all.

        Rows stay in their order.
        """
        limit = self.parameters.item_limit or usual
        if limit is None or limit >= len(rows):
            return rows
        places = random.Random(self.seed).sample(range(len(rows)), limit)  # noqa: S311 -- no secret
        return [rows[place] for place in sorted(places)]

    def first(self, rows: Sequence[ItemT]) -> Sequence[ItemT]:
        """Return the first rows, as many as `draw` returns, for estimates."""
        return rows[: self.parameters.item_limit or len(rows)]


class Trial(SuiteData):
    """Run of one suite.

    It has a separate thread, because suites compute and block.

    Attributes:
        scores, items, calls, evaluated_run_ids: recorded so far.
        missing_reason: of the last missing answer that is worth retrying; None: no such answer.
    """

    def __init__(self, unit: SuiteUnit, tools: Tools, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(tools.request, unit, tools.settings)
        self.tools = tools
        self.warehouse = Warehouse(self.request.warehouse, tools.settings)
        self.scores: list[BenchmarkScore] = []
        self.items: list[BenchmarkItem] = []
        self.calls: list[LlmCall] = []
        self.evaluated_run_ids: list[RunId] = []
        self.missing_reason: Reason | None = None
        self._loop = loop
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def folder(self) -> Path:
        """Return the folder of the trial's state."""
        return folder_of(self.warehouse, self.tools.run_id)

    def score(
        self, metric: str, estimate: Estimate, system: str = ASSAY, part: str = "all"
    ) -> BenchmarkScore:
        """Record a row of `benchmark_scores`."""
        score = benchmark_score(estimate, self.unit.suite, metric, system, part)
        self.scores.append(score)
        return score

    def score_all(
        self, estimates: Mapping[str, Estimate], system: str = ASSAY, part: str = "all"
    ) -> None:
        """Record a score for every metric, by its name."""
        for metric, estimate in estimates.items():
            self.score(metric, estimate, system, part)

    def score_by_chance(
        self,
        gold: Mapping[str, Label | None],
        statistics: Statistics,
        part: str,
    ) -> None:
        """Record the scores of labels drawn by their shares, by metric."""
        for metric, statistic in statistics.items():
            estimate = stratified_random(gold, statistic, self.seed)
            self.score(metric, estimate, STRATIFIED_RANDOM, part)

    def record(
        self,
        task: str,
        item_id: str,
        answer: str | None,
        outcome: Outcome[Any] | ItemResult | None = None,
        *,
        system: str = ASSAY,
        gold: str | None = None,
        value: float | None = None,
        explanation: str = "",
        evaluated_run_id: RunId | None = None,
    ) -> None:
        """Record an answer, or why it is missing, in `benchmark_items`.

        Args:
            answer: None if missing; value and explanation are then ignored.
            outcome: source of provenance and of the reason; None: no call was needed.
        """
        has_answer = answer is not None
        missing = None if has_answer or not isinstance(outcome, Unscored | ItemResult) else outcome
        self.items.append(
            BenchmarkItem(
                item_id=item_id,
                task=task,
                system=system,
                gold=gold,
                answer=answer,
                value=value if has_answer else None,
                explanation=explanation if has_answer else "",
                unscored_reason=None if missing is None else missing.reason,
                unscored_detail="" if missing is None else missing.detail,
                evaluated_run_id=evaluated_run_id,
                provenance=None if outcome is None else outcome.provenance,
            )
        )

    def ask(
        self, step: Step[Any, OutputT], questions: Mapping[str, Noun], *, task: str | None = None
    ) -> dict[str, Outcome[OutputT]]:
        """Ask one question of `step` per item.

        Return outcomes by item, in order.

        Args:
            task: separates the answers of several uses of one step, such as both orders of a pair.
        """
        beginnings: dict[str, Beginning] = defaultdict(Beginning)

        async def work(question: Noun, context: ItemContext) -> OutcomeResult:
            if not step.shares_prefix:
                return await ask(step, question, context)
            return await beginnings[step.beginning(question)].ask(
                lambda: ask(step, question, context)
            )

        results = self.each(task or step.name, questions, work, OutcomeResult)
        return {item_id: outcome_of(answer, step) for item_id, answer in results.items()}

    def each(
        self,
        task: str,
        items: Mapping[str, ItemT],
        work: Callable[[ItemT, ItemContext], Awaitable[ResultT]],
        kind: type[ResultT],
        *,
        literature: LiteratureChoice | None = None,
    ) -> dict[str, ResultT]:
        """Run `work` on every item in a separate context.

        Return results by item, in order. Results are cached; those that another attempt may
        complete are processed again next time.

        Args:
            literature: of each context's literature client; None: no client.
            task: unique within the suite. The run id covers data, prompts, engine, profile and
                limit; anything else that could change a result must be in `task` or the item's id.
        """
        EVENTS.info("%s: %s, %d items", self.unit.suite, task, len(items))
        unit = BENCHMARKS.unit_path(self.warehouse, self.tools.run_id, self.unit.suite)
        with (
            closing(KeyedStore(self.folder / "answers.sqlite")) as store,
            self._gateway(literature) as url,
        ):

            def context_of(item_id: str) -> ItemContext:
                # Without `literature`, the client treats the gateway like the live source.
                request = self.request.model_copy(update={"literature": None})
                shared_tools = replace(self.tools.shared, request=request, gateway_url=url)
                tools = Tools(shared_tools, Ledger(IdeaId(item_id), unit))
                literature = None if url is None else tools.literature()
                return ItemContext(tools.engine, tools.embedder, tools.ledger, literature)

            processing = process_items(
                task,
                items,
                work,
                kind,
                store=store,
                context_of=context_of,
                concurrency=self.settings.language_model.maximum_concurrency,
            )
            # The tools' clients live in the loop of another thread.
            completed = asyncio.run_coroutine_threadsafe(processing, self._loop).result()
        self.calls.extend(call for _, calls in completed.values() for call in calls)
        results = {item_id: result for item_id, (result, _) in completed.items()}
        for result in results.values():
            if result.may_improve and result.reason is not None:
                self.missing_reason = result.reason
        return results

    @contextmanager
    def _gateway(self, literature: LiteratureChoice | None) -> Iterator[str | None]:
        """Yield the address of a gateway for the literature.

        It is the run's gateway, or a new one for another literature.
        """
        if literature is None or literature == self.request.literature:
            yield None if literature is None else self.tools.shared.gateway_url
            return
        with GatewayProcess(self.settings, literature, self.warehouse.cache) as gateway:
            yield gateway.url

    def evaluated_run(self) -> RunId:
        """Record and return the run whose evaluations are judged."""
        run_id = self.unit.evaluated_run_id
        assert run_id is not None, "the suite's ideas are evaluated first"
        self.evaluated_run_ids.append(run_id)
        return run_id

    def reviews(self, run_id: RunId) -> Iterator[IdeaReview]:
        """Yield the published evaluations of a run, few at a time.

        Raises:
            ConfigurationError: the run is not published.
        """
        with self.warehouse.queries() as queries:
            yield from queries.idea_reviews(run_id)


@dataclass(frozen=True, slots=True)
class Suite:
    """One benchmark.

    Attributes:
        name: on the command line and in `published.csv`.
        question: one line on what the scores answer.
        files: required data below `--data`; their content is part of the run id.
        run: asks, records and scores. Invalid data raise ConfigurationError; missing answers are
            unscored.
        steps: asked by the suite itself; their prompts are part of the run id.
        expects: estimates the calls from the data.
        ideas: ideas to evaluate first, if there are modules.
        modules: default modules of that evaluation.
        searches: whether the suite itself searches the literature of the request.
        optional: patterns of optional data files; their content is part of the run id too.
        conditions: anything else that changes scores, such as files named by the profile.
        labels_public_since: date from which gold labels may be in training data; None: unknown.
    """

    name: str
    question: str
    files: tuple[str, ...]
    run: Callable[[Trial], None]
    steps: tuple[Step[Any, Any], ...] = ()
    expects: Callable[[SuiteData], SuiteEstimate] = lambda _: SuiteEstimate()
    ideas: Callable[[SuiteData], Sequence[Idea]] | None = None
    modules: tuple[Module, ...] = ()
    searches: Callable[[BenchmarkRequest], bool] = lambda _: False
    optional: tuple[str, ...] = ()
    conditions: Callable[[Profile, BenchmarkParameters, Path | None], tuple[str, ...]] = lambda *_: ()
    labels_public_since: date | None = None

    @property
    def reads_data(self) -> bool:
        """Return whether the suite reads a data set."""
        return bool(self.files or self.optional)

    def modules_of(self, parameters: BenchmarkParameters) -> tuple[Module, ...]:
        """Return the requested modules, else the default ones."""
        return self.modules if parameters.modules is None else parameters.modules

    def evaluates(self, parameters: BenchmarkParameters) -> bool:
        """Return whether the suite's ideas are evaluated first."""
        # A suite with default modules judges evaluations, even with `--modules none`.
        judges = bool(self.modules or parameters.modules)
        return self.ideas is not None and judges and parameters.evaluated_run is None


def folder_of(layout: Layout, run_id: RunId) -> Path:
    """Return the folder of a benchmark's cached answers and other files."""
    return layout.state / "benchmarks" / run_id


def index_literature(literature: LiteratureChoice, settings: Settings) -> LiteratureChoice:
    """Replace a snapshot file by its index, built on first use."""
    path = literature.snapshot
    if path is None or path.is_dir():
        return literature
    return literature.at(index_for_parquet(path, settings.home))


def sample_file(name: str) -> Path:
    """Return the path of a file of the bundled sample.

    The files are `ideas.jsonl` and `papers.jsonl`.
    """
    return Path(str(resources.files("flows.demo").joinpath(name)))


def tokens_of(ideas: Iterable[Idea]) -> float:
    """Return the mean length of ideas in tokens."""
    lengths = [len(idea.text) for idea in ideas]
    return sum(lengths) / CHARACTERS_PER_TOKEN / max(len(lengths), 1)
