"""Engine that runs steps with LiteLLM's models and records every attempt."""

import asyncio
import dataclasses
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from schemas.base import Noun, Reply, replace
from schemas.calls import CallStatus, LlmCall
from schemas.errors import BudgetExhaustedError
from schemas.judging import Assignment, JudgingParameters
from schemas.outcome import Outcome, Provenance, Scored, Unscored
from schemas.reasons import Reason
from tasks.accounting.ledger import Ledger
from tasks.judging.batches.batched_model import BatchAnswer
from tasks.judging.billing import UNANSWERED, cost_of, plausible_usage, tokens_of_bill
from tasks.judging.litellm_backend import LiteLLMBackend, call_arguments
from tasks.judging.messages import Attachment, Message, TooLong, with_attachment
from tasks.judging.parameters import Parameters, Sampling
from tasks.judging.pictures import read_picture
from tasks.judging.provider_call import CallAnswer, CallFailure
from tasks.judging.replies import ParsedReply, UnusableReply, parse_reply, reply_json
from tasks.judging.step import Step
from tasks.judging.structured_output import OutputMode, response_format, schema_instruction
from tasks.telemetry.reporting import span
from tasks.web.retrying import RetryPolicy, Spent, Tried
from warehouse.scrubbing import one_line

__all__ = ["LiteLLMBackend", "LiteLLMEngine", "Sampling"]

OutputT = TypeVar("OutputT", bound=Reply)
_TIMEOUTS_IN_TOTAL = 5  # of one question with its retries
_SHOWN_OF_A_BAD_REPLY = 1500
_SHOWN_OF_AN_ERROR = 200


@dataclass(slots=True)
class _StepRequest:
    """Settings of a request's attempts, and their results so far."""

    step: Step[Any, Any]
    assignment: Assignment
    reply_tokens: int
    shortening: str | None = None
    parameters: Parameters | None = None
    messages: Sequence[Message] = ()
    reply_key: str = ""
    call_ids: list[str] = field(default_factory=list)
    model_answered: str | None = None
    retry_spending: Spent = field(default_factory=Spent)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A finished attempt.

    `parsed` is the content of its answer, None for a failure.
    """

    answer: CallAnswer | CallFailure
    latency_seconds: float
    queue_seconds: float = 0.0
    by_batch: BatchAnswer | None = None
    reply: ParsedReply[Any] | UnusableReply | None = None
    estimated_usd: float = 0.0

    @property
    def busy_seconds(self) -> float:
        """Seconds that count against the retry limit; a batch counts none."""
        return 0.0 if self.by_batch else self.latency_seconds


class LiteLLMEngine:
    """Implements `Engine` for one idea.

    An unusable reply is requested once more with its error in the prompt; a reply that was cut off,
    with twice the limit. A parameter that the provider refuses is omitted from then on. Rate limits
    (honoring `Retry-After`), 5xx, timeouts and lost connections are retried with growing, jittered
    delays, within the settings' attempts and total seconds. Cached replies are rows with
    `cache_hit`, no tokens and no cost, also for a question that another idea of this worker is
    asking at the same time. An unusable picture is not requested again.
    """

    def __init__(
        self,
        backend: LiteLLMBackend,
        ledger: Ledger,
        *,
        judging: JudgingParameters | None = None,
        attachment: Attachment | None = None,
        repetition: int = 1,
        sampling: Sampling | None = None,
    ) -> None:
        """Initialize.

        Args:
            judging: effort and answer length of steps.
            attachment: sent with every question.
            repetition: above 1, questions are asked again and cached separately.
            sampling: replaces the backend's.
        """
        self._backend = backend
        self._judging = judging or JudgingParameters()
        self._ledger = ledger
        self._attachment = attachment
        self._repetition = repetition
        self._sampling = sampling or backend.sampling

    @property
    def name(self) -> str:
        return self._backend.name

    async def run(self, step: Step[Any, OutputT], inputs: Noun) -> Outcome[OutputT]:
        """Answer `step`; see `Engine.run`."""
        backend = self._backend
        assignment = self._judging.assignment(step.name, step.kind, step.answer_tokens)
        answer_tokens, effort = assignment.answer_tokens, assignment.effort
        reply_tokens = backend.parameters.reply_tokens(answer_tokens, effort)
        request = _StepRequest(step, assignment, reply_tokens)
        prompt = step.messages(inputs)
        messages = self._fit(request, prompt)
        if isinstance(messages, TooLong):
            return self._unscored(request, Reason.INPUT_TOO_LONG, messages.detail)
        if backend.cache is None:
            return await self._ask(request, prompt)
        request.messages = messages
        distinctions = []  # distinguish cached questions with equal messages
        if self._attachment:
            distinctions.append({"role": "attachment", "content": self._attachment.sha256})
        if self._repetition > 1:
            distinctions.append({"role": "repetition", "content": str(self._repetition)})
        key = request.reply_key = backend.cache.key(
            step, [*messages, *distinctions], effort, self._sampling
        )
        if backend.batched is not None:  # no locks, because all questions are sent in one wave
            # An idea books the batch answer that it paid for, instead of the cached reply.
            has_paid = backend.batched.paid_for(key, self._ledger.idea_id)
            return await self._reply_or_cached(request, prompt, use_cache=not has_paid)
        async with backend.turn(key):
            return await self._reply_or_cached(request, prompt, use_cache=True)

    async def _reply_or_cached(
        self, request: _StepRequest, prompt: list[Message], *, use_cache: bool
    ) -> Outcome[Any]:
        cache, key = self._backend.cache, request.reply_key
        assert cache is not None
        if use_cache and (entry := cache.recall(key, request.step.output_model)):
            value, request.model_answered = entry
            self._book(
                request,
                self._row(
                    request, uuid.uuid4().hex, CallStatus.CACHED, reply_text=reply_json(value)
                ),
            )
            return Scored(value, self._provenance(request))
        outcome = await self._ask(request, prompt)
        if isinstance(outcome, Scored):
            cache.remember(key, outcome.value, request.model_answered)
        return outcome

    def _fit(
        self, request: _StepRequest, messages: list[Message], mode: OutputMode | None = None
    ) -> list[Message] | TooLong:
        """Return the messages for `mode`, shortened if too long.

        The default is the preferred mode. Without a schema parameter the schema is added to the
        system message.
        """
        backend = self._backend
        mode = OutputMode.PICTURE if request.step.draws else mode
        in_words = (OutputMode.JSON_OBJECT, OutputMode.TEXT)
        if (mode or backend.parameters.wanted_mode) in in_words:
            output_model = request.step.output_model
            # To mypy no class is hashable.
            instruction = schema_instruction(output_model)  # type: ignore[arg-type]
            messages = [
                {**messages[0], "content": f"{messages[0]['content']}\n\n{instruction}"},
                *messages[1:],
            ]
        fit_result = backend.fit(messages, request.reply_tokens)
        if isinstance(fit_result, TooLong):
            return fit_result
        request.shortening = fit_result.shortening
        return fit_result.messages

    async def _ask(self, request: _StepRequest, prompt: list[Message]) -> Outcome[Any]:
        """Ask, with one correction and one extension.

        An unusable reply is corrected, and the limit of a cut-off reply is extended.
        """
        correction: Sequence[Message] = ()
        may_grow = True
        while True:
            try:
                attempt = await self._attempt_repeatedly(request, prompt, correction)
            except BudgetExhaustedError as error:
                return self._unscored(request, Reason.BUDGET_EXHAUSTED, str(error))
            if isinstance(attempt, CallFailure):
                return self._unscored(request, attempt.reason, attempt.detail)
            answer, reply = attempt.answer, attempt.reply
            assert isinstance(answer, CallAnswer)
            assert reply is not None
            request.model_answered = answer.model_answered
            if isinstance(reply, ParsedReply):
                return Scored(reply.value, self._provenance(request))
            if reply.again and not correction:
                correction = _correction(answer.text or "", reply)
                continue
            if reply.status is not CallStatus.CUT_OFF:
                return self._unscored(request, reply.reason, reply.detail)
            larger = self._backend.larger(request.reply_tokens, request.messages)
            if not may_grow or larger is None:
                detail = (
                    f"{reply.detail} of {request.reply_tokens:,} tokens, thinking included: raise"
                    " answer_tokens in the profile, or lower effort"
                )
                return self._unscored(request, reply.reason, detail)
            request.reply_tokens, may_grow = larger, False

    async def _attempt_repeatedly(
        self, request: _StepRequest, prompt: list[Message], correction: Sequence[Message]
    ) -> _Attempt | CallFailure:
        """Repeat attempts until one is answered or no retry is allowed."""
        backend = self._backend
        patience = backend.patience(request.reply_tokens)
        policy = RetryPolicy(
            backend.settings.maximum_attempts,
            _TIMEOUTS_IN_TOTAL * backend.settings.timeout_seconds * patience,
            first_pause_seconds=backend.backoff_seconds,
        )

        async def attempt(_: int) -> Tried[_Attempt | CallFailure]:
            earlier_seconds = request.retry_spending.seconds
            result = await self._attempt_with_fallbacks(request, prompt, correction)
            if result.again and result.wait_seconds:
                spent_seconds = earlier_seconds + result.busy_seconds + result.wait_seconds
                if spent_seconds <= policy.maximum_total_seconds:  # else this call is not retried
                    backend.limits.penalise(result.wait_seconds)
            return result

        return await policy.run(attempt, request.retry_spending)

    async def _attempt_with_fallbacks(
        self,
        request: _StepRequest,
        prompt: list[Message],
        correction: Sequence[Message],
    ) -> Tried[_Attempt | CallFailure]:
        """Make one attempt, repeated immediately without each parameter that is refused."""
        backend = self._backend
        busy_seconds = 0.0
        while True:
            if backend.out_of_order is not None:
                unavailable = Reason.ENGINE_UNAVAILABLE
                detail = f"not asked any more: {backend.out_of_order}"
                return Tried(CallFailure(CallStatus.CLIENT_ERROR, unavailable, detail))
            if request.step.draws:
                mode = OutputMode.PICTURE
                request.parameters = backend.parameters.of_picture(self._sampling)
            else:
                mode = backend.parameters.mode
                request.parameters = backend.parameters.of_call(
                    self._sampling, request.assignment.effort, request.reply_tokens
                )
            messages = self._fit(request, prompt, mode)
            if isinstance(messages, TooLong):
                too_long = Reason.INPUT_TOO_LONG
                return Tried(CallFailure(CallStatus.CLIENT_ERROR, too_long, messages.detail))
            request.messages = [*messages, *correction]
            attempt = await self._attempt(request, [*messages, *correction], mode)
            busy_seconds += attempt.busy_seconds
            failure = attempt.answer
            if isinstance(failure, CallAnswer):
                return Tried(attempt, busy_seconds=busy_seconds)
            parameter = failure.refused_parameter
            if not parameter or not backend.parameters.learn(parameter, request.parameters, mode):
                wait_seconds = failure.retry_after_seconds or 0.0
                return Tried(failure, failure.retryable, wait_seconds, busy_seconds)
            # The loop ends: a refused parameter is never sent again.
            request.reply_tokens = backend.parameters.reply_tokens(
                request.assignment.answer_tokens, request.assignment.effort
            )

    async def _attempt(
        self, request: _StepRequest, messages: list[Message], mode: OutputMode
    ) -> _Attempt:
        """Make one call within the limits of concurrency, budget and rates.

        Raises:
            BudgetExhaustedError: nothing was sent.
        """
        backend, step, attachment = self._backend, request.step, self._attachment
        parameters = request.parameters
        assert parameters is not None
        tokens, cost_usd = backend.estimate(
            messages,
            request.reply_tokens,
            attachment.estimated_tokens if attachment else 0,
            pictures=int(step.draws),
        )
        content = with_attachment(messages, attachment) if attachment else messages
        output_format = response_format(mode, step.name, step.output_model)
        if backend.batched is not None:
            by_batch = await backend.batched.ask(
                content,
                call_arguments(parameters, output_format),
                reply_key=request.reply_key,
                unit=self._ledger.idea_id,
                step=step.name,
                tokens=tokens,
                cost_usd=cost_usd if backend.price else None,
                booked_ids={call.call_id for call in self._ledger.llm_calls},
            )
            if by_batch is not None:
                reply = _parse(by_batch.answer, step)
                attempt = _Attempt(
                    by_batch.answer, by_batch.seconds, by_batch=by_batch, reply=reply
                )
                # A resumed idea books the batch's answer under the same id again.
                name = by_batch.question_id if by_batch.is_own else uuid.uuid4().hex
                self._book(request, self._row_of(request, name, attempt))
                return attempt
        asked_at = time.monotonic()
        async with backend.gate:
            reservation = await backend.budget.reserve(
                self._ledger.idea_id, cost_usd=cost_usd, tokens=tokens
            )
            call: LlmCall | None = None  # nothing was sent
            used_tokens = 0
            try:
                await backend.limits.take(tokens)
                started_at = time.monotonic()
                attempt = _Attempt(UNANSWERED, 0.0, started_at - asked_at, estimated_usd=cost_usd)
                call = self._row_of(request, reservation.reservation_id, attempt)
                used_tokens = tokens
                backend.budget.send(reservation, self._ledger.unit, call)
                call_span = span("model call", kind="client", step=step.name, model=backend.model)
                with call_span as open_span:
                    answer = await backend.ask(
                        content,
                        parameters,
                        output_format,
                        patience=backend.patience(request.reply_tokens),
                        shares_prefix=step.shares_prefix,
                        draws=step.draws,
                    )
                    if isinstance(answer, CallFailure):
                        open_span.fail(answer.status.value)
                    else:
                        open_span.note(
                            model_answered=answer.model_answered,
                            prompt_tokens=answer.prompt_tokens,
                            completion_tokens=answer.completion_tokens,
                        )
                attempt = dataclasses.replace(
                    attempt,
                    answer=answer
                    if step.draws
                    else plausible_usage(answer, request.messages, backend.price),
                    latency_seconds=time.monotonic() - started_at,
                    reply=_parse(answer, step),
                )
                call = self._row_of(request, reservation.reservation_id, attempt)
                used_tokens = tokens_of_bill(attempt.answer, tokens)
            except asyncio.CancelledError:
                if call is not None:
                    call = replace(call, latency_seconds=time.monotonic() - started_at)
                raise
            finally:
                used_usd = 0.0 if call is None else call.cost_usd
                backend.budget.settle(reservation, cost_usd=used_usd, tokens=used_tokens, call=call)
                if call is not None:
                    self._book(request, call)
            backend.limits.settle(tokens, used_tokens)
        return attempt

    def _row_of(self, request: _StepRequest, call_id: str, attempt: _Attempt) -> LlmCall:
        """Return the ledger row of an attempt."""
        answer, by_batch, reply = attempt.answer, attempt.by_batch, attempt.reply
        status, error = CallStatus.OK, None
        if isinstance(answer, CallFailure):
            status, error = answer.status, answer.detail
        elif isinstance(reply, UnusableReply):
            status, error = reply.status, reply.detail
        if by_batch is not None and by_batch.batch and not by_batch.is_own:
            status = CallStatus.CACHED
        return self._row(request, call_id, status, attempt, error=error)

    def _row(
        self,
        request: _StepRequest,
        call_id: str,
        status: CallStatus,
        attempt: _Attempt | None = None,
        *,
        reply_text: str | None = None,
        error: str | None = None,
    ) -> LlmCall:
        """Return a ledger row. `reply_text`: the cached reply, without an attempt."""
        backend, step = self._backend, request.step
        by_batch = attempt.by_batch if attempt else None
        cache_hit = status is CallStatus.CACHED
        answer = attempt.answer if attempt and isinstance(attempt.answer, CallAnswer) else None
        usage = answer
        if attempt and isinstance(attempt.answer, CallFailure):
            usage = attempt.answer.usage
        cost_usd = cost_of(attempt.answer, backend.price, int(step.draws)) if attempt else 0.0
        if error and attempt and cost_usd is None and attempt.estimated_usd:
            budget_note = f"the budget counts an estimate of ${attempt.estimated_usd:.6f}"
            error = f"{error[:_SHOWN_OF_AN_ERROR]}; {budget_note}"
        return LlmCall(
            call_id=call_id,
            idea_id=self._ledger.idea_id,
            step=step.name,
            step_version=step.version,
            prompt_sha256=step.prompt_sha256,
            engine=self.name,
            model_requested=backend.model,
            model_answered=(
                answer.model_answered if answer else request.model_answered if cache_hit else None
            ),
            prompt_tokens=usage.prompt_tokens if usage else 0,
            completion_tokens=usage.completion_tokens if usage else 0,
            cached_tokens=usage.cached_tokens if usage else 0,
            thinking_tokens=usage.thinking_tokens if usage else None,
            cost_usd=cost_usd,
            latency_seconds=attempt.latency_seconds if attempt else 0.0,
            queue_seconds=max(attempt.queue_seconds, 0.0) if attempt else 0.0,
            attempt=len(request.call_ids) + 1,
            cache_hit=cache_hit,
            status=status,
            error=one_line(error) if error else None,
            shortening=request.shortening,
            seed=self._seed(request),
            parameters_dropped=request.parameters.dropped if request.parameters else None,
            batch=by_batch.batch if by_batch else None,
            transcript_sha256=self._keep_transcript(
                request, (answer.text or answer.refusal or "") if answer else reply_text
            ),
            created_at=datetime.now(UTC),
        )

    def _book(self, request: _StepRequest, call: LlmCall) -> None:
        request.call_ids.append(call.call_id)
        self._ledger.llm_calls.append(call)

    def _keep_transcript(self, request: _StepRequest, reply: str | None) -> str | None:
        transcripts = self._backend.transcripts
        if transcripts is None or reply is None:
            return None
        if request.step.draws:
            reply = f"a picture: {len(reply):,} characters in Base64"
        return transcripts.keep(request.messages, reply)

    def _seed(self, request: _StepRequest) -> int | None:
        """Return the seed that was sent.

        For a cached reply, it is the requested one.
        """
        parameters = request.parameters
        return self._sampling.seed if parameters is None else parameters.values.get("seed")

    def _unscored(self, request: _StepRequest, reason: Reason, detail: str) -> Unscored:
        return Unscored(reason, one_line(detail), self._provenance(request))

    def _provenance(self, request: _StepRequest) -> Provenance:
        return request.step.provenance(
            engine=self.name,
            model_requested=self._backend.model,
            model_answered=request.model_answered,
            seed=self._seed(request),
            shortening=request.shortening,
            call_ids=tuple(request.call_ids),
        )


def _parse(
    answer: CallAnswer | CallFailure, step: Step[Any, Any]
) -> ParsedReply[Any] | UnusableReply | None:
    if isinstance(answer, CallFailure):
        return None
    if step.draws:
        return read_picture(answer.text, step.output_model)
    return parse_reply(
        answer.text,
        step.output_model,
        finish_reason=answer.finish_reason,
        refusal=answer.refusal,
    )


def _correction(text: str, problem: UnusableReply) -> Sequence[Message]:
    excerpt = text if len(text) <= _SHOWN_OF_A_BAD_REPLY else text[:_SHOWN_OF_A_BAD_REPLY] + " …"
    return (
        {"role": "assistant", "content": excerpt or "(empty)"},
        {
            "role": "user",
            "content": (
                f"That reply cannot be used: {problem.detail}. Answer again, completely, with one"
                " JSON object and nothing else."
            ),
        },
    )
