"""Model calls by provider batches.

A reply that a batch has delivered is returned like the reply of a call. A new question is stored
for the next batch, and its unit is suspended (`tasks/shards/standstill.py`).
"""

from collections.abc import Container, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

from schemas.calls import CallStatus
from schemas.reasons import Reason
from schemas.run import BatchFailures
from tasks.judging.batches.questions import Lane, Question, QuestionRecord, Questions, QuestionState
from tasks.judging.models import BATCH_RATE, Price, provider_of
from tasks.judging.provider_call import CallAnswer, CallFailure, call_provider
from tasks.shards.standstill import answer_from_outside
from tasks.web.litellm_library import RelayedAnswer, RelayedRequest, relayed

MOST_WAVES_PER_STEP = 3
"""Limit of the waves of one question: it is reworded after an unusable reply, and repeated after a
run that ended without an answer.
"""

_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class BatchTerms:
    """Batch settings of a run.

    `failures`: how questions without an answer are handled.
    """

    questions: Questions
    failures: BatchFailures


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """Answer to a question of a batch.

    Attributes:
        batch: name of its batch; None: it was never submitted.
        seconds: duration of the batch.
        is_own: whether it was asked for this idea, which then pays for it once.
        question_id: the same whenever the idea is evaluated again.
    """

    answer: CallAnswer | CallFailure
    question_id: str
    batch: str | None
    seconds: float
    is_own: bool


@dataclass(slots=True)
class _PendingQuestion:
    """A question that LiteLLM is translating into a provider request."""

    reply_key: str
    unit: str
    step: str
    tokens: int
    cost_usd: float | None
    question_id: str = ""
    record: QuestionRecord | None = None
    failure: CallFailure | None = None
    by_call: bool = False
    waits: bool = False


_PENDING_QUESTION: ContextVar[_PendingQuestion] = ContextVar("question_under_way")


class BatchedModel:
    """One model whose questions are sent in batches, for one event loop."""

    def __init__(
        self, model: str, api_base: str | None, terms: BatchTerms, price: Price | None
    ) -> None:
        self._model = model
        self._api_base = api_base
        self._terms = terms
        self._price = price
        self._relay: dict[str, Any] | None = None

    def paid_for(self, reply_key: str, unit: str) -> bool:
        """Return whether a batch answered this question for the idea."""
        return self._terms.questions.was_answered(reply_key, unit)

    async def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        parameters: Mapping[str, Any],
        *,
        reply_key: str,
        unit: str,
        step: str,
        tokens: int,
        cost_usd: float | None,
        booked_ids: Container[str],
    ) -> BatchAnswer | None:
        """Return the answer of the batches; None: make a call instead.

        A new question is stored for the next batch and its unit is suspended; this method then does
        not return.

        Args:
            tokens, cost_usd: estimated for a call.
            booked_ids: questions that the idea has paid for since it was resumed.
        """
        if self._relay is None:
            self._relay = await relayed(provider_of(self._model), self._answer_request)
        batch_cost_usd = None if cost_usd is None else cost_usd * BATCH_RATE
        pending = _PendingQuestion(reply_key, unit, step, tokens, batch_cost_usd)
        token = _PENDING_QUESTION.set(pending)
        try:
            answer = await call_provider(
                self._model, messages, {**parameters, **self._relay}, _PATIENCE_SECONDS
            )
        finally:
            _PENDING_QUESTION.reset(token)
        if pending.waits:
            await answer_from_outside()
        if pending.by_call:
            return None
        record = pending.record
        is_own = (
            record is not None and record.unit == unit and pending.question_id not in booked_ids
        )
        batch, seconds = (record.batch, record.seconds) if record else (None, 0.0)
        answer_at_batch_price = self._at_batch_price(pending.failure or answer, is_own)
        return BatchAnswer(answer_at_batch_price, pending.question_id, batch, seconds, is_own)

    def _at_batch_price(
        self, answer: CallAnswer | CallFailure, is_own: bool
    ) -> CallAnswer | CallFailure:
        """Return the answer at batch price, or free for other ideas.

        A failure is never retried: its batch has ended.
        """
        if isinstance(answer, CallFailure):
            failure = replace(answer, retryable=False, concerns_every_call=False)
            if not is_own:
                return replace(failure, usage=None, cost_is_unknown=False)
            usage = failure.usage
            return failure if usage is None else replace(failure, usage=self._discount(usage))
        if not is_own:
            return replace(
                answer, prompt_tokens=0, completion_tokens=0, cached_tokens=0, cost_usd=0.0
            )
        return self._discount(answer)

    def _discount(self, answer: CallAnswer) -> CallAnswer:
        cost_usd = answer.cost_usd
        if cost_usd is None and self._price is not None:
            cost_usd = self._price.of(
                answer.prompt_tokens, answer.completion_tokens, answer.cached_tokens
            )
        return replace(answer, cost_usd=None if cost_usd is None else cost_usd * BATCH_RATE)

    def _answer_request(self, request: RelayedRequest) -> RelayedAnswer:
        """Return the response for LiteLLM, or note why it is missing."""
        pending, questions = _PENDING_QUESTION.get(), self._terms.questions
        lane = Lane(self._model, self._api_base, request.path)
        question = Question(
            reply_key=pending.reply_key,
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
        if is_new and by_calls and questions.has_failed(pending.reply_key):
            # A call answered it before, and a batch would pay for it twice.
            pending.by_call = True
        elif is_new and questions.wave_count(pending.reply_key) < MOST_WAVES_PER_STEP:
            questions.write(question)
            pending.waits = True
        elif record is None:
            detail = f"asked in {MOST_WAVES_PER_STEP} batches without a reply that can be used"
            pending.failure = CallFailure(CallStatus.CLIENT_ERROR, Reason.REPLY_UNPARSABLE, detail)
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
