"""What a request is expected to take, before anything is paid."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flows.works.evaluate.field_forecast import FieldForecast, forecast_fields
from flows.works.evaluate.landed_before import landed_before
from flows.works.evaluate.model_comparison import ModelCost, compare_engines
from schemas.choices import EngineChoice
from schemas.errors import AssayError
from schemas.idea import IdeaBatch
from schemas.judgement.run_request import RunRequest
from schemas.settings import Settings
from tasks.evaluation.expected import NOTHING_DONE, DoneBefore, Estimate, estimate_run
from tasks.ideas.read import read_batch
from tasks.ranking.expected import RankingEstimate, estimate_ranking

_BOTH = {
    *("literature_requests", "model_calls", "prompt_tokens", "completion_tokens"),
    *("cost_usd", "hours"),
}
"""Figures that `--json` holds twice: what is left to pay, and what there was in all."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a run would still take, what ranking it would, and the same run with other engines.

    Attributes:
        whole: what the run would take if nothing of it were done.
        done: what earlier runs have done of it.
        unknown_because: why that could not be looked up; then nothing is subtracted.
        fields: which ideas the literature does not cover.
    """

    estimate: Estimate
    whole: Estimate
    done: DoneBefore
    unknown_because: str
    ranking: RankingEstimate
    comparison: tuple[ModelCost, ...]
    batch: IdeaBatch
    fields: FieldForecast

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        compared = [line.model_dump(mode="json") for line in self.comparison]
        return {
            **self.estimate.model_dump(mode="json"),
            "interrupted_ideas": self.done.interrupted,
            "earlier_runs_unknown_because": self.unknown_because,
            "without_earlier_runs": self.whole.model_dump(mode="json", include=_BOTH),
            "ranking": self.ranking.model_dump(mode="json"),
            "rejected_entries": [each.model_dump(mode="json") for each in self.batch.rejected],
            "field_coverage": self.fields.model_dump(mode="json"),
            "fields": [each.model_dump(mode="json") for each in self.batch.fields],
            "reading_remarks": self.batch.remarks,
            **({"comparison": compared} if compared else {}),
        }


def predict(request: RunRequest, others: Sequence[EngineChoice], settings: Settings) -> Prediction:
    """Predict what `request` takes, and the same with `others`; no model is called."""
    batch = read_batch(
        request.ideas.path, default_cutoff=request.cutoff_date, fields=request.ideas.fields
    )
    own = (request.engine,) if others and not request.engine.is_baseline else ()
    done, unknown_because = NOTHING_DONE, ""
    try:
        done = landed_before(batch, request, settings)
    except AssayError as error:  # such as a gateway that does not run yet, or a bucket out of reach
        unknown_because = str(error)
    fields = forecast_fields(batch.ideas, request.literature, settings)
    known = (batch.ideas, len(batch.rejected), request, settings)
    not_covered = len(fields.not_covered)
    return Prediction(
        estimate=estimate_run(*known, done, not_covered=not_covered),
        whole=estimate_run(*known, not_covered=not_covered),
        done=done,
        unknown_because=unknown_because,
        ranking=estimate_ranking(batch.ideas, request, settings, ranked=done.ranked),
        comparison=compare_engines(
            dict.fromkeys((*own, *others)), batch.ideas, request, settings, not_covered=not_covered
        ),
        batch=batch,
        fields=fields,
    )
