"""Checks one manuscript: read it, find problems, let judges vote where the authors' own reason is
known (quality checker, section 2.3).
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from types import TracebackType

from schemas.check_run import CheckRequest, Judge, ManuscriptSource
from schemas.failure import Failure
from schemas.manuscripts import (
    Attempt,
    ManuscriptCheck,
    ManuscriptForm,
    Problem,
    Vote,
)
from schemas.outcome import Outcome, Scored
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.litellm_backend import LiteLLMBackend
from tasks.judging.litellm_engine import LiteLLMEngine
from tasks.judging.messages import Attachment, takes_pdf
from tasks.judging.opening import ExtractiveEngine, open_backend
from tasks.judging.parameters import Sampling
from tasks.judging.step import BaselineTools, Engine
from tasks.literature.client import LiteratureClient
from tasks.literature.semantic_scholar import SemanticScholarClient
from tasks.manuscripts.attempts import attempts_at
from tasks.manuscripts.collect import TEX_SUFFIXES
from tasks.manuscripts.find import shown_form, with_usage
from tasks.manuscripts.pool import Pool, gather_pool
from tasks.manuscripts.read import Manuscript, Unreadable, read_manuscript
from tasks.manuscripts.steps.judge_hit import JUDGE_HIT, HitInput, HitReply
from tasks.manuscripts.steps.reading import Reading
from tasks.web.client import Client, open_client
from warehouse.keyed_store import KeyedStore
from warehouse.layout import Layout

EngineOfRepetition = Callable[[int], Engine]
"""The engine that gives a judge's n-th answer, from 1."""


async def judge_problems(
    problems: Sequence[Problem],
    reason: str,
    judges: Sequence[tuple[str, EngineOfRepetition]],
    repetition_count: int = 1,
) -> tuple[Vote, ...]:
    """A vote of every judge on every problem, `repetition_count` times; problems in order, then
    judges, then repetitions.

    Nobody stops at a first hit: precision needs every vote. An answer that could not be had is a
        vote without one.
    """
    asked = [
        (problem, judge, engine_of, repetition)
        for problem in problems
        for judge, engine_of in judges
        for repetition in range(1, repetition_count + 1)
    ]
    return tuple(await asyncio.gather(*(_vote(*each, reason) for each in asked)))


async def _vote(
    problem: Problem, judge: str, engine_of: EngineOfRepetition, repetition: int, reason: str
) -> Vote:
    question = HitInput(
        problem=problem.problem,
        location=problem.location,
        explanation=problem.explanation,
        reason=reason,
    )
    outcome: Outcome[HitReply] = await engine_of(repetition).run(JUDGE_HIT, question)
    if isinstance(outcome, Scored):
        return Vote(
            problem_id=problem.problem_id,
            judge=judge,
            repetition=repetition,
            hit=outcome.value.hit,
            explanation=outcome.value.explanation,
            provenance=outcome.provenance,
        )
    return Vote(
        problem_id=problem.problem_id,
        judge=judge,
        repetition=repetition,
        hit=None,
        unscored_reason=outcome.reason,
        unscored_detail=outcome.detail,
        provenance=outcome.provenance,
    )


class CheckTools:
    """Engines for checking and judging; use it inside one event loop, as an async context manager.

    One answer alone is asked for at temperature 0. Several are asked for at the model's own
    temperature, with seeds that count up, and are kept apart in the reply cache: otherwise they
    would all be the first one.
    """

    def __init__(
        self,
        request: CheckRequest,
        settings: Settings,
        layout: Layout,
        gateway_url: str | None = None,
    ) -> None:
        self._request = request
        self._gateway_url = gateway_url
        self._http: Client | None = None
        self._settings = settings
        self._layout = layout
        self._stack = AsyncExitStack()
        self._backends: dict[tuple[str, str | None, int, bool], LiteLLMBackend] = {}
        self._budget: SharedBudget | None = None
        self._extractive: ExtractiveEngine | None = None

    async def __aenter__(self) -> "CheckTools":
        if self._gateway_url is not None:
            seconds = self._settings.literature.timeout_seconds
            self._http = await self._stack.enter_async_context(open_client(seconds))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    def takes_pdf(self) -> bool:
        """Whether the checker's model is known to read attached PDFs."""
        model = self._request.engine.model
        return model is not None and takes_pdf(model)

    def checker(self, ledger: Ledger, attempt: int, attachment: Attachment | None) -> Engine:
        """The engine of an attempt; with an attachment, every question takes it along."""
        several = self._request.attempt_count > 1
        return self._engine(
            Judge(engine=self._request.engine, api_base=self._request.api_base),
            ledger,
            attempt,
            several,
            attachment,
        )

    def judge(self, ledger: Ledger, judge: Judge) -> EngineOfRepetition:
        """The engine of each of a judge's answers."""
        several = self._request.repetition_count > 1
        return partial(self._engine, judge, ledger, several=several)

    def literature(self, ledger: Ledger) -> LiteratureClient | None:
        """Where related work is looked up; None: nothing is."""
        choice = self._request.literature
        if self._gateway_url is None or self._http is None or choice is None:
            return None
        budget = self._shared_budget()

        def count_request() -> None:
            if ledger.is_new_request():
                budget.count_request(ledger.idea_id)

        return SemanticScholarClient(
            self._gateway_url,
            ledger,
            self._http,
            self._settings.literature,
            count_request,
            unlimited=choice.unlimited,
        )

    def _shared_budget(self) -> SharedBudget:
        if self._budget is None:
            self._budget = SharedBudget(
                self._layout.state / "budgets.sqlite",
                self._request.budget_scope,
                self._request.budget,
            )
            self._stack.callback(self._budget.close)
        return self._budget

    def _engine(
        self,
        asked: Judge,
        ledger: Ledger,
        repetition: int,
        several: bool,
        attachment: Attachment | None = None,
    ) -> Engine:
        model = asked.engine.model
        if model is None:
            return self._baseline()
        backend = self._backend(model, asked.api_base, repetition, several)
        judging = self._request.judging
        return LiteLLMEngine(
            backend, ledger, judging=judging, attachment=attachment, repetition=repetition
        )

    def _baseline(self) -> ExtractiveEngine:
        if self._extractive is None:
            store = KeyedStore(self._layout.cache / "embeddings.sqlite")
            self._extractive = ExtractiveEngine(
                BaselineTools(SentenceEmbedder(self._settings.embeddings, store)),
                self._request.seed,
            )
        return self._extractive

    def _backend(
        self, model: str, api_base: str | None, repetition: int, several: bool
    ) -> LiteLLMBackend:
        key = (model, api_base, repetition, several)
        if key not in self._backends:
            self._backends[key] = open_backend(
                model,
                Sampling(
                    seed=self._request.seed + repetition - 1, temperature=None if several else 0.0
                ),
                self._settings.language_model,
                self._layout,
                api_base=api_base,
                budget=self._shared_budget(),
                stack=self._stack,
            )
        return self._backends[key]


TOKENS_PER_PAGE = 1_500
"""An attached page as text and picture: between the 330 and 3,100 that Table 2 of the quality
checker comes to.
"""


async def check_manuscript(
    source: ManuscriptSource,
    request: CheckRequest,
    tools: CheckTools,
    settings: Settings,
    ledger: Ledger,
) -> ManuscriptCheck:
    """Everything one check of one manuscript gives; never raises for what the manuscript or an
    engine does.
    """
    read = await read_manuscript(
        source,
        request.form,
        settings.documents,
        settings.grobid_url,
        ledger,
        (lambda: False) if request.review else tools.takes_pdf,
    )
    if isinstance(read, Unreadable):
        return unread(source, request, read, ledger)
    pool = await _pool(read, request, tools, ledger)
    made = await attempts_at(
        read,
        request,
        lambda attempt, attachment: tools.checker(ledger, attempt, attachment),
        _attachment(read),
        pool or Pool(),
    )
    votes: tuple[Vote, ...] = ()
    if source.known_reason is not None and request.judges:
        judges = [(judge.engine.text, tools.judge(ledger, judge)) for judge in request.judges]
        votes = await judge_problems(
            [problem for problem in made.problems if problem.stands],
            source.known_reason,
            judges,
            request.repetition_count,
        )
    looked = pool.failures if pool else ()
    failures = [*_failures(made.attempts, source), *looked, *made.failures, *ledger.failures]
    return ManuscriptCheck(
        manuscript_id=source.manuscript_id,
        title=read.title,
        form=read.form,
        content_sha256=source.content_sha256,
        word_count=read.word_count,
        page_count=len(read.pages) or None,
        known_reason=source.known_reason,
        attempts=tuple(with_usage(attempt, ledger.llm_calls) for attempt in made.attempts),
        problems=made.problems,
        votes=votes,
        reviews=made.reviews,
        works=pool.works if pool else (),
        reference_count=pool.reference_count if pool else None,
        searched_reference_count=pool.searched_reference_count if pool else None,
        unanswered_count=pool.unanswered_count if pool else None,
        failures=tuple([read.passed_over, *failures] if read.passed_over else failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
    )


async def _pool(
    read: Manuscript, request: CheckRequest, tools: CheckTools, ledger: Ledger
) -> Pool | None:
    """None: nothing is looked up."""
    literature = tools.literature(ledger)
    if literature is None:
        return None
    reading = Reading(shown_form(read), read.text)
    engine = tools.checker(ledger, 1, None)
    return await gather_pool(read.title, reading, engine, literature, request.cutoff_date)


def _attachment(manuscript: Manuscript) -> Attachment | None:
    if manuscript.attachment is None:
        return None
    return Attachment(
        manuscript.name,
        manuscript.content_sha256,
        TOKENS_PER_PAGE * len(manuscript.pages),
        manuscript.attachment,
    )


def _failures(attempts: Sequence[Attempt], source: ManuscriptSource) -> list[Failure]:
    return [
        Failure(
            stage="find_problems",
            subject=f"{source.manuscript_id} attempt {attempt.attempt}",
            reason=attempt.unscored_reason,
            detail=attempt.unscored_detail,
        )
        for attempt in attempts
        if attempt.unscored_reason is not None
    ]


def unread(
    source: ManuscriptSource, request: CheckRequest, why: Unreadable, ledger: Ledger
) -> ManuscriptCheck:
    """Every attempt at it is unscored: a paper that could not be read is not one without
    problems.
    """
    attempts = tuple(
        Attempt(
            attempt=number,
            problem_count=None,
            unscored_reason=Reason.SOURCE_UNAVAILABLE,
            unscored_detail=why.detail,
        )
        for number in range(1, request.attempt_count + 1)
    )
    return ManuscriptCheck(
        manuscript_id=source.manuscript_id,
        title="",
        form=_form_of_name(source),
        content_sha256=source.content_sha256,
        word_count=0,
        known_reason=source.known_reason,
        unread_reason=why.reason,
        attempts=attempts,
        problems=(),
        llm_calls=tuple(ledger.llm_calls),
        failures=(
            Failure(
                stage="documents",
                subject=source.manuscript_id,
                reason=why.reason,
                detail=why.detail,
            ),
            *ledger.failures,
        ),
        api_calls=tuple(ledger.api_calls),
    )


def _form_of_name(source: ManuscriptSource) -> ManuscriptForm:
    suffix = source.path.suffix.lower()
    if suffix == ".pdf":
        return ManuscriptForm.PDF
    return (
        ManuscriptForm.LATEX
        if source.path.is_dir() or suffix in TEX_SUFFIXES
        else ManuscriptForm.TEXT
    )
