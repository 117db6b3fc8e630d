"""Waves of batches: submit stored questions, wait, and collect results.

Everything is on disk before it is sent, so that a killed command finds its batches again.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from schemas.errors import ConfigurationError, RequestRejectedError, TransientError
from schemas.identifiers import IdeaId
from schemas.settings import BatchSettings
from tasks.accounting.budgets import SharedBudget, Spend
from tasks.judging.batches.providers.provider import (
    Provider,
    QuestionEntry,
    RemoteState,
    json_line,
    usage_of,
)
from tasks.judging.batches.questions import (
    Batch,
    BatchState,
    Lane,
    QuestionResult,
    Questions,
    QuestionState,
)
from tasks.judging.models import BATCH_RATE, Price

logger = logging.getLogger(__name__)

_MOST_HOURS = 50  # providers end a batch after 24 to 48 hours
_OVER_BUDGET = "the budget does not cover the batch: raise --max-cost-usd or --max-tokens"


@dataclass(frozen=True, slots=True)
class WaveProgress:
    """Progress of a wave."""

    wave: int
    answered: int
    questions: int

    def __str__(self) -> str:
        return f"wave {self.wave}: {self.answered:,} of {self.questions:,} questions answered"


Tell = Callable[[WaveProgress], None]


class Waves:
    """The batches of one run.

    Args:
        price_of: price of a model; None: unknown.
    """

    def __init__(
        self,
        questions: Questions,
        budget: SharedBudget,
        settings: BatchSettings,
        *,
        open_provider: Callable[[Lane], Provider],
        price_of: Callable[[str], Price | None],
        tell: Tell = lambda _: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._questions = questions
        self._budget = budget
        self._settings = settings
        self._open = open_provider
        self._price_of = price_of
        self._tell = tell
        self._sleep = sleep
        self._providers: dict[Lane, Provider] = {}
        self._size_limits: dict[Lane, int] = {}
        self._remote_states: dict[str, RemoteState] = {}
        self._sizes: dict[str, int] = {}
        self._new_batches: set[str] = set()
        # The budget may have changed, and none of these was submitted.
        questions.reopen(QuestionState.OVER_BUDGET)

    def next(self) -> bool:
        """Submit the stored questions and wait for all open batches.

        The result is False when the run has ended.

        Raises:
            ConfigurationError: a wrong key or address, a batch that the provider rejected, or a
                timeout; the same command resumes from here.
        """
        self._remote_states.clear()
        start = time.monotonic()
        open_batches = self._questions.open_batches()
        batches = self._questions.batches()
        wave = max((batch.wave for batch in batches), default=0) + (0 if open_batches else 1)
        if not open_batches and not self._questions.waiting():
            self._questions.reopen(QuestionState.FAILED)
            return False
        open_batches += self._create_batches(wave)
        while open_batches := self._advance_all(open_batches, wave):
            if time.monotonic() - start > _MOST_HOURS * 3600:
                raise ConfigurationError(
                    f"no batch has ended for {_MOST_HOURS} hours; give the same command again to go on"
                    " waiting"
                )
            self._sleep(self._settings.poll_seconds)
        return True

    def _advance_all(self, batches: Sequence[Batch], wave: int) -> list[Batch]:
        """Advance every batch one step; return those that have not ended."""
        for batch in batches:
            try:
                self._advance(batch)
            except TransientError as error:
                logger.warning("batch %s: %s", batch.name, error)
            except RequestRejectedError as error:
                if batch.state is BatchState.SENDING:
                    self._refuse(batch, str(error))
                self._collect(batch, {}, str(error))
        self._create_batches(wave)  # of questions that a full queue rejected
        self._tell(self._progress(wave))
        return self._questions.open_batches()

    def _advance(self, batch: Batch) -> None:
        provider = self._provider(batch.lane)
        if batch.state is BatchState.SENDING:
            questions = self._questions.of_batch(batch.name)
            remote_id = None
            if batch.name not in self._new_batches:
                sent_at = self._questions.sent_at(batch.name)
                remote_id = provider.find(batch, questions, sent_at)
            self._new_batches.discard(batch.name)  # should sending fail, it may have arrived
            self._questions.store_remote_id(
                batch.name, remote_id or provider.send(batch, questions)
            )
            return
        assert batch.remote_id is not None
        remote = self._remote_states[batch.name] = provider.poll(batch.remote_id)
        if remote.refusal is not None and not remote.queue_is_full:
            self._refuse(batch, remote.refusal)
        elif remote.refusal is not None:
            self._retry_smaller(batch, remote.refusal)
        elif remote.results is not None:
            self._collect(batch, dict(remote.results), remote.detail)

    def _create_batches(self, wave: int) -> list[Batch]:
        """Create batches of the stored questions that the budget covers."""
        questions_to_send = self._select_affordable(self._questions.waiting())
        by_lane: dict[Lane, list[QuestionEntry]] = {}
        for question_id, question in questions_to_send:
            by_lane.setdefault(question.lane, []).append((question_id, question))
        busy = {batch.lane for batch in self._questions.open_batches()}
        new_batches = []
        for lane, questions in by_lane.items():
            if lane in self._size_limits and lane in busy:
                continue  # its queue was full: one batch at a time
            for part in self._split(lane, questions):
                batch = self._questions.create_batch(
                    lane, wave, [question_id for question_id, _ in part]
                )
                self._new_batches.add(batch.name)
                self._sizes[batch.name] = len(part)
                self._charge(batch, ((each.unit, each.estimate) for _, each in part))
                new_batches.append(batch)
                if lane in self._size_limits:
                    break
        return new_batches

    def _split(
        self, lane: Lane, questions: Sequence[QuestionEntry]
    ) -> Iterator[list[QuestionEntry]]:
        """Split questions into batches of at most the provider's size."""
        provider = self._provider(lane)
        most_questions = min(
            provider.most_questions, self._size_limits.get(lane, provider.most_questions)
        )
        part: list[QuestionEntry] = []
        size = 0
        for entry in questions:
            entry_size = len(json_line(entry[1].body)) + 200
            if part and (len(part) >= most_questions or size + entry_size > provider.most_bytes):
                yield part
                part, size = [], 0
            part.append(entry)
            size += entry_size
        if part:
            yield part

    def _refuse(self, batch: Batch, why: str) -> NoReturn:
        """End the run.

        Calls for a whole batch would cost twice as much without being asked for.
        """
        self._questions.store_refusal(batch.name, why)
        self._budget.charge(batch.name, {})
        raise ConfigurationError(
            f"the provider refused a batch to {batch.lane.model} as a whole: {why}; correct it and"
            " run the same command again, or leave --batch out"
        )

    def _retry_smaller(self, batch: Batch, why: str) -> None:
        """After a full queue, halve the batches and send them singly."""
        size = len(self._questions.of_batch(batch.name))
        if size <= 1:
            self._collect(batch, {}, why)
            return
        self._size_limits[batch.lane] = size // 2
        self._questions.store_refusal(batch.name, why)
        self._budget.charge(batch.name, {})

    def _collect(self, batch: Batch, results: dict[str, QuestionResult], detail: str) -> None:
        """Store the results of a batch, and charge what it really cost."""
        questions = self._questions.of_batch(batch.name)
        self._questions.store_results(batch.name, results, detail)
        price, spending = self._price_of(batch.lane.model), []
        for question_id, question in questions:
            answer = results.get(question_id, QuestionResult()).answer
            if answer is not None:  # the provider bills answers only
                usage = usage_of(answer)
                cost_usd = price.of(*usage) * BATCH_RATE if price else 0.0
                spend = Spend(cost_usd=cost_usd, tokens=usage[0] + usage[1])
                spending.append((question.unit, spend))
        self._charge(batch, spending)

    def _charge(self, batch: Batch, spending: Iterable[tuple[str, Spend]]) -> None:
        by_unit: dict[IdeaId, Spend] = {}
        for unit, more in spending:
            by_unit[IdeaId(unit)] = by_unit.get(IdeaId(unit), Spend()).plus(more)
        self._budget.charge(batch.name, by_unit)

    def _select_affordable(self, questions: Sequence[QuestionEntry]) -> list[QuestionEntry]:
        """Return the affordable questions in order, and mark the others.

        While any budget is left, one more question is let in.
        """
        bounds = self._budget.budget
        run = self._budget.spent()
        units = {
            unit: self._budget.spent(IdeaId(unit)) for unit in {each.unit for _, each in questions}
        }
        affordable, too_much = [], []
        for question_id, question in questions:
            unit = units[question.unit]
            pairs = (
                (bounds.maximum_cost_usd, run.cost_usd),
                (bounds.maximum_tokens, run.tokens),
                (bounds.maximum_cost_usd_per_idea, unit.cost_usd),
            )
            if any(most is not None and amount >= most for most, amount in pairs):
                too_much.append(question_id)
                continue
            run, units[question.unit] = run.plus(question.estimate), unit.plus(question.estimate)
            affordable.append((question_id, question))
        self._questions.mark_over_budget(too_much, _OVER_BUDGET)
        return affordable

    def _provider(self, lane: Lane) -> Provider:
        if lane not in self._providers:
            self._providers[lane] = self._open(lane)
        return self._providers[lane]

    def _progress(self, wave: int) -> WaveProgress:
        batches = [
            batch
            for batch in self._questions.batches()
            if batch.wave == wave and batch.state is not BatchState.REFUSED
        ]
        total = done_count = 0
        for batch in batches:
            if batch.name not in self._sizes:
                self._sizes[batch.name] = len(self._questions.of_batch(batch.name))
            size = self._sizes[batch.name]
            remote = self._remote_states.get(batch.name)
            total += size
            done_count += (
                size if batch.state is BatchState.ENDED else remote.done_count if remote else 0
            )
        return WaveProgress(wave, done_count, total)
