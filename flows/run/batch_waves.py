"""Provider batches of a run or ranking, answered between rounds of its shards."""

from schemas.identifiers import RunId
from schemas.judgement.ranking import RankRequest
from schemas.judgement.run_request import RunRequest
from tasks.accounting.budgets import SharedBudget
from tasks.judging.batches.questions import Questions
from tasks.judging.batches.waves import WaveProgress, Waves
from tasks.judging.models import price_of
from tasks.shards.standstill import PutDown
from warehouse.warehouse import Warehouse


class BatchWaves:
    """Implements `flows.run.campaign.Waves` by the batches of one run or ranking.

    Args:
        names: name of the run and, for a ranking, of the ranking.
        scope: name under which its spending is recorded.
    """

    def __init__(
        self,
        request: RunRequest | RankRequest,
        names: tuple[RunId] | tuple[RunId, str],
        scope: RunId,
        warehouse: Warehouse,
    ) -> None:
        from tasks.judging.batches.option import open_provider

        self._progress: WaveProgress | None = None
        self._suspensions = PutDown(warehouse.waiting(*names))
        self._suspensions.go_on()  # an interrupted start may have left suspensions
        self._waves = Waves(
            Questions(warehouse.batches(*names)),
            SharedBudget(warehouse.budgets, scope, request.budget),
            warehouse.settings.batches,
            open_provider=open_provider,
            price_of=lambda model: price_of(model, warehouse.settings.language_model),
            tell=self._set_progress,
        )

    def is_waiting(self, unit: str) -> bool:
        return self._suspensions.is_waiting(unit)

    def next(self) -> bool:
        if not self._waves.next():
            return False
        self._suspensions.go_on()
        return True

    def __str__(self) -> str:
        return str(self._progress or "")

    def _set_progress(self, progress: WaveProgress) -> None:
        self._progress = progress
