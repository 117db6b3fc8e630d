"""Waves: what is written down is submitted, waited for and collected.

Everything is on disk before it leaves, so a command that is killed here finds its batches again.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from schemas.errors import ConfigurationError, RequestRejectedError, TransientError
from schemas.identifiers import IdeaId
from schemas.settings import BatchSettings
from tasks.accounting.budgets import SharedBudget, Spend
from tasks.judging.batches.providers.provider import Identified, Look, Provider, line_of, usage_of
from tasks.judging.batches.questions import (
    Batch,
    BatchState,
    Ended,
    Lane,
    Question,
    Questions,
)
from tasks.judging.models import BATCH_RATE, Price

logger = logging.getLogger(__name__)

_OVER_BUDGET = "the budget does not reach for the batch: raise --max-cost-usd or --max-tokens"


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
        open_provider: takes the batches of a lane.
        price_of: of a model; None: not known.
        sleep: waits for so many seconds.
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
        self._remote_states: dict[str, Look] = {}
        self._sizes: dict[str, int] = {}
        self._new_batches: set[str] = set()
        questions.open_over_budget()

    def next(self) -> bool:
        """Submit what is written down, and wait until it and what was submitted before has ended;
        whether there was anything. Where there was nothing the run has ended.

        Raises:
            ConfigurationError: a key or an address is wrong, a batch is refused as a whole, or the
                wait was too long; the same command again goes on from here.
        """
        self._remote_states.clear()
        began = time.monotonic()
        open_batches = self._questions.open_batches()
        batches = self._questions.batches()
        wave = max((batch.wave for batch in batches), default=0) + (0 if open_batches else 1)
        if not open_batches and not self._questions.written():
            self._questions.open_failed()
            return False
        open_batches += self._create_batches(wave)
        while open_batches := self._advance_all(open_batches, wave):
            if time.monotonic() - began > self._settings.maximum_hours * 3600:
                raise ConfigurationError(
                    f"no batch has ended for {self._settings.maximum_hours:g} hours; give the same"
                    " command again to go on waiting, or raise ASSAY_BATCHES__MAXIMUM_HOURS"
                )
            self._sleep(self._settings.poll_seconds)
        return True

    def _advance_all(self, batches: Sequence[Batch], wave: int) -> list[Batch]:
        """Carry every batch one step on; those that have not ended."""
        for batch in batches:
            try:
                self._advance(batch)
            except TransientError as error:
                logger.warning("batch %s: %s", batch.name, error)
            except RequestRejectedError as error:
                if batch.state is BatchState.SENDING:
                    self._refuse(batch, str(error))
                self._collect(batch, {}, str(error))
        self._create_batches(wave)  # what a full queue has turned away
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
            self._questions.sent(batch.name, remote_id or provider.send(batch, questions))
            return
        assert batch.remote_id is not None
        look = self._remote_states[batch.name] = provider.look(batch.remote_id)
        if look.refused is not None and not look.queue_is_full:
            self._refuse(batch, look.refused)
        elif look.refused is not None:
            self._retry_smaller(batch, look.refused)
        elif look.ended is not None:
            self._collect(batch, dict(look.ended), look.detail)

    def _create_batches(self, wave: int) -> list[Batch]:
        """Begin batches of what is written down and can be paid."""
        questions_to_send = self._select_affordable(self._questions.written())
        by_lane: dict[Lane, list[Identified]] = {}
        for question_id, question in questions_to_send:
            by_lane.setdefault(question.lane, []).append((question_id, question))
        busy = {batch.lane for batch in self._questions.open_batches()}
        new_batches = []
        for lane, questions in by_lane.items():
            if lane in self._size_limits and lane in busy:
                continue  # its queue was full: one batch after the other
            for part in self._split(lane, questions):
                batch = self._questions.begin(lane, wave, [question_id for question_id, _ in part])
                self._new_batches.add(batch.name)
                self._sizes[batch.name] = len(part)
                self._charge(batch, [question for _, question in part])
                new_batches.append(batch)
                if lane in self._size_limits:
                    break
        return new_batches

    def _split(self, lane: Lane, questions: Sequence[Identified]) -> Iterator[list[Identified]]:
        """In batches as large as the provider takes them."""
        provider = self._provider(lane)
        most = min(provider.most_questions, self._size_limits.get(lane, provider.most_questions))
        part: list[Identified] = []
        size = 0
        for identified in questions:
            more = len(line_of(identified[1].body)) + 200
            if part and (len(part) >= most or size + more > provider.most_bytes):
                yield part
                part, size = [], 0
            part.append(identified)
            size += more
        if part:
            yield part

    def _refuse(self, batch: Batch, why: str) -> NoReturn:
        """End the run: what is wrong with the whole batch is no reason to ask it all by calls."""
        self._questions.refused(batch.name, why)
        self._budget.charge(batch.name, {})
        raise ConfigurationError(
            f"the provider refused a batch to {batch.lane.model} as a whole: {why}; mend it and"
            " give the same command again, or leave --batch out"
        )

    def _retry_smaller(self, batch: Batch, why: str) -> None:
        """The provider's queue is full: half as many next time, one batch after the other."""
        size = len(self._questions.of_batch(batch.name))
        if size <= 1:
            self._collect(batch, {}, why)
            return
        self._size_limits[batch.lane] = size // 2
        self._questions.refused(batch.name, why)
        self._budget.charge(batch.name, {})

    def _collect(self, batch: Batch, results: dict[str, Ended], detail: str) -> None:
        questions = self._questions.of_batch(batch.name)
        self._questions.collected(batch.name, results, detail)
        self._budget.charge(batch.name, self._actual_spending(batch, questions, results))

    def _charge(self, batch: Batch, questions: Sequence[Question]) -> None:
        """Book what a batch is estimated to cost."""
        spending = (
            (IdeaId(each.unit), Spend(cost_usd=each.cost_usd or 0.0, tokens=each.tokens))
            for each in questions
        )
        self._budget.charge(batch.name, _by_unit(spending))

    def _actual_spending(
        self, batch: Batch, questions: Sequence[Identified], results: dict[str, Ended]
    ) -> dict[IdeaId, Spend]:
        """Return what a batch has cost. What has no answer is not on the provider's bill."""
        price = self._price_of(batch.lane.model)

        def each() -> Iterator[tuple[IdeaId, Spend]]:
            for question_id, question in questions:
                answer = results.get(question_id, Ended()).answer
                if answer is not None:
                    used = usage_of(answer)
                    cost_usd = price.of(*used) * BATCH_RATE if price else 0.0
                    yield IdeaId(question.unit), Spend(cost_usd=cost_usd, tokens=used[0] + used[1])

        return _by_unit(each())

    def _select_affordable(self, questions: Sequence[Identified]) -> list[Identified]:
        """Return what the budget reaches for, in order; the rest is marked. Something left lets one
        in.
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
            if any(most is not None and used >= most for most, used in pairs):
                too_much.append(question_id)
                continue
            more = Spend(cost_usd=question.cost_usd or 0.0, tokens=question.tokens)
            run, units[question.unit] = run.plus(more), unit.plus(more)
            affordable.append((question_id, question))
        self._questions.over_budget(too_much, _OVER_BUDGET)
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
        total = answered = 0
        for batch in batches:
            if batch.name not in self._sizes:
                self._sizes[batch.name] = len(self._questions.of_batch(batch.name))
            size = self._sizes[batch.name]
            look = self._remote_states.get(batch.name)
            total += size
            answered += size if batch.state is BatchState.ENDED else look.answered if look else 0
        return WaveProgress(wave, answered, total)


def _by_unit(spending: Iterator[tuple[IdeaId, Spend]]) -> dict[IdeaId, Spend]:
    by_unit: dict[IdeaId, Spend] = {}
    for unit, more in spending:
        by_unit[unit] = by_unit.get(unit, Spend()).plus(more)
    return by_unit
