"""The waves of a run of ideas: between two rounds of its shards, questions are answered in batches."""

from schemas.identifiers import EvaluationKey, RunId
from schemas.run import RunRequest
from schemas.settings import Settings
from tasks.accounting.budgets import SharedBudget
from tasks.evaluation.waiting import Waiting
from tasks.judging.batches.questions import Questions
from tasks.judging.batches.waves import WaveProgress, Waves
from warehouse.layout import Layout


class BatchWaves:
    """Implements `flows.campaign.Waves` by the batches of one run."""

    def __init__(
        self, request: RunRequest, run_id: RunId, layout: Layout, settings: Settings
    ) -> None:
        from tasks.judging.batches.providers.opening import open_provider
        from tasks.judging.models import price_of

        self._told: WaveProgress | None = None
        self._waiting = Waiting(layout.waiting(run_id))
        self._waiting.go_on()  # an earlier start may have ended before it did
        self._waves = Waves(
            Questions(layout.batches(run_id)),
            SharedBudget(layout.state / "budgets.sqlite", run_id, request.budget),
            settings.batches,
            open_provider=open_provider,
            price_of=lambda model: price_of(model, settings.language_model),
            tell=self._tell,
        )

    def is_waiting(self, unit: str) -> bool:
        return self._waiting.is_waiting(EvaluationKey(unit))

    def next(self) -> bool:
        if not self._waves.next():
            return False
        self._waiting.go_on()
        return True

    def __str__(self) -> str:
        """What is said beside the progress of the run."""
        return str(self._told or "")

    def _tell(self, told: WaveProgress) -> None:
        self._told = told
