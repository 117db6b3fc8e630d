"""A model whose questions travel in batches, as the engine of one worker asks it.

What the batches have answered is given back as if a call had been answered just now. What nobody
has asked yet is written down, and whoever asked it waits from outside
(`tasks/shards/standstill.py`).
"""

from collections.abc import Container, Mapping, Sequence
from contextlib import AsyncExitStack
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from schemas.calls import CallStatus
from schemas.reasons import Reason
from schemas.run import BatchFailures
from tasks.judging.batches.questions import Asked, Lane, Question, Questions, QuestionState
from tasks.judging.models import BATCH_RATE, Price, provider_of
from tasks.judging.provider_call import CallAnswer, CallFailure, call_provider
from tasks.shards.standstill import answer_from_outside
from tasks.web.litellm_library import RelayedAnswer, RelayedRequest, relayed

MOST_WAVES_PER_STEP = 3
"""Waves in which one question may be: in new words after a reply that cannot be used, and again
after a run that ended without an answer.
"""

_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class BatchTerms:
    """Terms of a run for its batches. `failures`: what becomes of questions without an answer."""

    questions: Questions
    failures: BatchFailures


def open_batches(path: Path, failures: BatchFailures, stack: AsyncExitStack) -> BatchTerms:
    """The terms of a run whose questions are kept at `path`; closed with `stack`."""
    questions = Questions(path)
    stack.callback(questions.close)
    return BatchTerms(questions, failures)


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """Answer to a question of a batch.

    Attributes:
        batch: it travelled in; None: it was never submitted.
        seconds: the batch took.
        is_own: whether it was asked for this idea, which then pays for it, once.
        question_id: stays the same however often the idea is worked on.
    """

    answer: CallAnswer | CallFailure
    question_id: str
    batch: str | None
    seconds: float
    is_own: bool


@dataclass(slots=True)
class _PendingQuestion:
    """One question on its way through LiteLLM."""

    asked_as: str
    unit: str
    step: str
    tokens: int
    cost_usd: float | None
    question_id: str = ""
    record: Asked | None = None
    failure: CallFailure | None = None
    by_call: bool = False
    waits: bool = False


_PENDING: ContextVar[_PendingQuestion] = ContextVar("question_under_way")


class BatchedModel:
    """One model, for one event loop."""

    def __init__(
        self, model: str, api_base: str | None, terms: BatchTerms, price: Price | None
    ) -> None:
        self._model = model
        self._api_base = api_base
        self._terms = terms
        self._price = price
        self._relay: dict[str, Any] | None = None

    def paid_for(self, asked_as: str, unit: str) -> bool:
        """Return whether the idea has had an answer to the question with this key, by batch."""
        return self._terms.questions.paid_for(asked_as, unit)

    async def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        parameters: Mapping[str, Any],
        *,
        asked_as: str,
        unit: str,
        step: str,
        tokens: int,
        cost_usd: float | None,
        booked: Container[str],
    ) -> BatchAnswer | None:
        """Return what the batches say to a question; None: its batch gave no answer, and calls are
        to fill the gap. A question they do not know is written down, and never answered here.

        Args:
            given: parameters of the call.
            tokens, cost_usd: what a call would take, estimated.
            booked: questions that the idea has paid for since it was taken up.
        """
        if self._relay is None:
            self._relay = await relayed(provider_of(self._model), self._answer_request)
        discounted = None if cost_usd is None else cost_usd * BATCH_RATE
        pending = _PendingQuestion(asked_as, unit, step, tokens, discounted)
        token = _PENDING.set(pending)
        try:
            answer = await call_provider(
                self._model, messages, {**parameters, **self._relay}, _PATIENCE_SECONDS
            )
        finally:
            _PENDING.reset(token)
        if pending.waits:
            await answer_from_outside()
        if pending.by_call:
            return None
        record = pending.record
        is_own = record is not None and record.unit == unit and pending.question_id not in booked
        batch, seconds = (record.batch, record.seconds) if record else (None, 0.0)
        priced = self._priced(pending.failure or answer, is_own)
        return BatchAnswer(priced, pending.question_id, batch, seconds, is_own)

    def _priced(self, answer: CallAnswer | CallFailure, is_own: bool) -> CallAnswer | CallFailure:
        """The answer at the price of a batch. Nothing is tried again: the batch has ended."""
        if isinstance(answer, CallFailure):
            failure = replace(answer, retryable=False, concerns_every_call=False)
            if not is_own:
                return replace(failure, usage=None, cost_is_unknown=False)
            usage = failure.usage
            return failure if usage is None else replace(failure, usage=self._discounted(usage))
        if not is_own:
            return replace(
                answer, prompt_tokens=0, completion_tokens=0, cached_tokens=0, cost_usd=0.0
            )
        return self._discounted(answer)

    def _discounted(self, answer: CallAnswer) -> CallAnswer:
        cost_usd = answer.cost_usd
        if cost_usd is None and self._price is not None:
            cost_usd = self._price.of(
                answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens
            )
        return replace(answer, cost_usd=None if cost_usd is None else cost_usd * BATCH_RATE)

    def _answer_request(self, request: RelayedRequest) -> RelayedAnswer:
        """Return what goes back to LiteLLM; where that is no answer, `_PendingQuestion` says what to make of
        it.
        """
        pending, questions = _PENDING.get(), self._terms.questions
        lane = Lane(self._model, self._api_base, request.path)
        question = Question(
            asked_as=pending.asked_as,
            unit=pending.unit,
            step=pending.step,
            lane=lane,
            body=request.body,
            headers=request.headers,
            tokens=pending.tokens,
            cost_usd=pending.cost_usd,
        )
        pending.question_id = question.question_id
        pending.record = record = questions.find(question.question_id)
        is_new = record is None or record.state is QuestionState.OPEN_AGAIN
        by_calls = self._terms.failures is BatchFailures.CALL
        if is_new and by_calls and questions.has_failed(pending.asked_as):
            pending.by_call = True  # else its first answer, by a call, would be paid for again
        elif is_new and questions.times_asked(pending.asked_as) < MOST_WAVES_PER_STEP:
            questions.write(question)
            pending.waits = True
        elif record is None:
            pending.failure = _asked_too_often()
        elif record.state in (QuestionState.WRITTEN, QuestionState.SUBMITTED):
            pending.waits = True
        elif record.answer is not None:
            return RelayedAnswer(record.status or 200, record.answer)
        elif record.state is QuestionState.OVER_BUDGET:
            pending.failure = CallFailure(
                CallStatus.CLIENT_ERROR, Reason.BUDGET_EXHAUSTED, record.detail
            )
        elif by_calls:
            pending.by_call = True
        else:
            detail = f"its batch gave no answer: {record.detail}"
            pending.failure = CallFailure(
                CallStatus.SERVER_ERROR, Reason.ENGINE_UNAVAILABLE, detail
            )
        return _NO_ANSWER


_NO_ANSWER = RelayedAnswer(400, {"error": {"message": "no answer by batch", "type": "none"}})


def _asked_too_often() -> CallFailure:
    detail = f"asked in {MOST_WAVES_PER_STEP} batches without a reply that can be used"
    return CallFailure(CallStatus.CLIENT_ERROR, Reason.REPLY_UNPARSABLE, detail)
