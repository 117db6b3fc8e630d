"""Estimate of an evaluation request before it runs."""

import asyncio
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from flows.run.indexing import index_with_progress, progress_display
from flows.works.evaluate.plan import key_batch, receipts_of
from flows.works.evaluate.request import with_assessment
from schemas.base import Noun, replace
from schemas.calls import CallStatus
from schemas.choices import EngineChoice, LiteratureChoice
from schemas.errors import AssayError, SnapshotError
from schemas.idea import Idea, IdeaBatch
from schemas.identifiers import IdeaId
from schemas.judgement.evaluation import Receipt
from schemas.judgement.run_request import RunRequest
from schemas.literature.coverage import FieldCoverage
from schemas.run import Module
from schemas.settings import Settings
from schemas.tables import TABLE
from tasks.embeddings.sentence_embedder import SentenceEmbedder, bundled_settings
from tasks.evaluation.expected import NOTHING_DONE, DoneBefore, Estimate, estimate_run
from tasks.evaluation.manuscripts import read_given_ideas
from tasks.literature.field_coverage import check_field
from tasks.literature.gateway.process import literature_identity
from tasks.literature.gateway.upstreams import identity_of
from tasks.literature.snapshot.build import index_of_file
from tasks.literature.snapshot.folder import MANIFEST_NAME
from tasks.literature.snapshot_search import SnapshotSearch
from tasks.ranking.expected import RankingEstimate, estimate_ranking
from warehouse.kinds.rankings.queries import whole_ranking
from warehouse.kinds.runs.landing import RUNS
from warehouse.parquet import read_rows
from warehouse.progress import read_planned
from warehouse.units.landing import landed_files
from warehouse.warehouse import Warehouse

# A few thousand papers, indexed in seconds; larger files need `assay literature build`.
_INDEXED_AT_ONCE_BYTES = 5_000_000
_IDEAS_WITHOUT_PROGRESS = 100
_TITLES = 5


class IdeaNotCovered(Noun):
    """An idea for which no evidence will be bought."""

    idea_id: IdeaId
    title: str
    detail: str = Field(description="The nearest works, and how near they are.")


class FieldForecast(Noun):
    """Number of ideas that the literature covers; empty where it covers every field."""

    looked_at: int = Field(default=0, ge=0, description="Ideas whose field was looked at.")
    not_covered: tuple[IdeaNotCovered, ...] = ()
    unknown_because: str = Field(default="", description="Why it was not looked at; empty: it was.")

    @property
    def lines(self) -> list[str]:
        if self.unknown_because:
            return [f"which fields the literature covers is not known: {self.unknown_because}"]
        if not self.looked_at:
            return []
        covered_count = self.looked_at - len(self.not_covered)
        lines = [
            f"the literature covers the field of {covered_count:,} of {self.looked_at:,} ideas"
        ]
        if self.not_covered:
            titles = [each.title.strip() or each.idea_id for each in self.not_covered[:_TITLES]]
            further = len(self.not_covered) - len(titles)
            rest_text = f" and {further:,} more" if further else ""
            lines.append(
                f"not covered, so that no evidence is bought for them: {'; '.join(titles)}{rest_text}"
            )
        return lines


def forecast_fields(
    ideas: Sequence[Idea], literature: LiteratureChoice, settings: Settings
) -> FieldForecast:
    """Check which ideas' fields a snapshot covers; connects to nothing."""
    if literature.url is not None:
        return FieldForecast(unknown_because="the gateway is asked by `assay evaluate`")
    if literature.snapshot is None or not literature.unlimited:
        return FieldForecast()
    try:
        folder = _index(literature.snapshot, settings)
        if folder is None:
            return FieldForecast(
                unknown_because=f"{literature.snapshot.name} has no index yet; `assay literature"
                " build` or the first run makes it"
            )
        coverages = asyncio.run(_check_fields(ideas, folder, settings))
    except SnapshotError as error:  # a plan reports it and continues
        return FieldForecast(unknown_because=str(error))
    return FieldForecast(
        looked_at=len(coverages),
        not_covered=tuple(
            IdeaNotCovered(
                idea_id=idea.idea_id, title=idea.title, detail=coverage.field_coverage_detail
            )
            for idea, coverage in coverages
            if not coverage.field_covered
        ),
    )


def _index(snapshot: Path, settings: Settings) -> Path | None:
    if snapshot.is_dir():
        return snapshot
    index = index_of_file(snapshot, settings.home)
    if (index / MANIFEST_NAME).is_file():
        return index
    is_small = snapshot.stat().st_size <= _INDEXED_AT_ONCE_BYTES
    return index_with_progress(snapshot, settings.home) if is_small else None


async def _check_fields(
    ideas: Sequence[Idea], folder: Path, settings: Settings
) -> list[tuple[Idea, FieldCoverage]]:
    embedder = SentenceEmbedder(bundled_settings(settings.embeddings), None)
    literature = SnapshotSearch(folder, settings)
    coverages: list[tuple[Idea, FieldCoverage]] = []
    with progress_display() as report:
        for place, idea in enumerate(ideas, start=1):
            answer = await check_field(idea, literature.search_papers, embedder)
            coverages.extend((idea, coverage) for coverage in answer.items)
            if len(ideas) > _IDEAS_WITHOUT_PROGRESS:
                report(place, len(ideas), "fields")
    await literature.close()
    return coverages


class ModelCost(Noun):
    """Estimate of a whole run with one engine, where the profile names no model."""

    engine: EngineChoice
    model_calls: int
    prompt_tokens: int
    cached_tokens: int = Field(
        description="Of the prompt tokens, expected from the provider's cache."
    )
    thinking_tokens: int = Field(description="Of the completion tokens.")
    completion_tokens: int = Field(description="As they are billed: answers and thinking.")
    cost_usd_per_idea: float | None = Field(description="None: the price of a model is unknown.")
    cost_usd: float | None
    unpriced_models: tuple[str, ...]
    hours: float


def parse_engines(texts: Iterable[str]) -> tuple[EngineChoice, ...]:
    """Parse engines such as `openai/gpt-5,o3`, each once; `litellm:` is optional.

    Raises:
        ConfigurationError: not the name of a model.
    """
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    return tuple(dict.fromkeys(EngineChoice.named(name) for name in names))


def compare_engines(
    engines: Iterable[EngineChoice],
    ideas: Sequence[Idea],
    request: RunRequest,
    settings: Settings,
    *,
    not_covered: int = 0,
) -> tuple[ModelCost, ...]:
    """Estimate a run per engine, cheapest first; engines without a price last.

    All ideas count, including those that an engine has already evaluated.

    Args:
        not_covered: number of ideas whose field the literature does not cover.
    """
    lines, parameters = [], request.parameters
    other_modules = tuple(
        module for module in parameters.modules if module is not Module.ASSESSMENT
    )
    for engine in engines:
        # The assessment is included if that engine has one.
        profile, modules = with_assessment(request.profile, other_modules, engine)
        engine_parameters = replace(parameters, modules=modules or parameters.modules)
        engine_request = replace(
            request, engine=engine, profile=profile, parameters=engine_parameters
        )
        estimate = estimate_run(ideas, 0, engine_request, settings, not_covered=not_covered)
        names = ModelCost.model_fields.keys() - {"engine"}
        lines.append(ModelCost(engine=engine, **{name: getattr(estimate, name) for name in names}))

    def cost_first(line: ModelCost) -> tuple[float, str]:
        return (math.inf if line.cost_usd is None else line.cost_usd, line.engine.text)

    return tuple(sorted(lines, key=cost_first))


def existing_results(batch: IdeaBatch, request: RunRequest, settings: Settings) -> DoneBefore:
    """Return the stored results of a request, without calls of models or sources.

    Units that this machine lacks are looked up in object storage.

    Raises:
        ConfigurationError: no gateway answers at the URL of the literature.
        SnapshotError: the snapshot is missing, empty or broken.
        UpstreamError: PostgreSQL or object storage cannot be reached.
    """
    warehouse = Warehouse(request.warehouse, settings)
    # A run that stopped before anything landed has only the second folder.
    folders = (warehouse.receipts, warehouse.state / "runs")
    if warehouse.objects is None and not any(folder.is_dir() for folder in folders):
        return NOTHING_DONE
    literature = _literature(request.literature, settings)
    if literature is None:
        return NOTHING_DONE
    keyed_batch = key_batch(batch, request, settings, literature)
    receipts = receipts_of(keyed_batch, warehouse)
    evaluated_count = sum(receipt.complete for receipt in receipts.values())
    was_planned = read_planned(warehouse, keyed_batch.run_id) is not None
    is_ranked = False
    if evaluated_count == len(keyed_batch.planned) and warehouse.may_hold_a_lake():
        with warehouse.queries() as queries:
            if keyed_batch.run_id in {run.run_id for run in queries.list_runs()}:
                engine, profile = request.engine.text, request.profile.name
                ranking = whole_ranking(queries, keyed_batch.run_id, engine, profile)
                is_ranked = ranking is not None
    return DoneBefore(
        evaluated=evaluated_count,
        replies=tuple(_replies(warehouse, each) for each in receipts.values() if not each.complete),
        interrupted=len(keyed_batch.planned) - len(receipts) if was_planned else 0,
        ranked=is_ranked,
    )


def _literature(literature: LiteratureChoice, settings: Settings) -> str | None:
    """Return the identity of the literature; None if its index is not built."""
    if literature.url is not None:
        return literature_identity(literature.url)
    snapshot = literature.snapshot
    if snapshot is not None and not snapshot.is_dir():
        # Indexing takes minutes, and a file without an index was never evaluated against.
        index = index_of_file(snapshot, settings.home)
        if not (index / MANIFEST_NAME).is_file():
            return None
        literature = literature.at(index)
    return identity_of(literature, settings)


def _replies(warehouse: Warehouse, receipt: Receipt) -> int:
    table = TABLE["llm_calls"]
    files = landed_files(warehouse, RUNS, table, [receipt])
    return sum(row["status"] == CallStatus.OK for path in files for row in read_rows(table, path))


_REPEATED_FIGURES = {
    *("literature_requests", "model_calls", "prompt_tokens", "completion_tokens"),
    *("cost_usd", "hours"),
}
"""Figures that `--json` holds twice: the remaining and the total."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """Estimate of the rest of a run, of its ranking, and of other engines.

    Attributes:
        whole: estimate of the run if nothing of it were done.
        done: what earlier runs have done of it.
        unknown_because: why that is unknown; then nothing is subtracted.
        fields: ideas that the literature does not cover.
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
        comparison = [line.model_dump(mode="json") for line in self.comparison]
        return {
            **self.estimate.model_dump(mode="json"),
            "interrupted_ideas": self.done.interrupted,
            "earlier_runs_unknown_because": self.unknown_because,
            "without_earlier_runs": self.whole.model_dump(mode="json", include=_REPEATED_FIGURES),
            "ranking": self.ranking.model_dump(mode="json"),
            "titles": [each.title or str(each.idea_id) for each in self.batch.ideas[:_TITLES]],
            "rejected_entries": [each.model_dump(mode="json") for each in self.batch.rejected],
            "field_coverage": self.fields.model_dump(mode="json"),
            "fields": [each.model_dump(mode="json") for each in self.batch.fields],
            "reading_remarks": self.batch.remarks,
            **({"comparison": comparison} if comparison else {}),
        }


def predict(request: RunRequest, others: Sequence[EngineChoice], settings: Settings) -> Prediction:
    """Estimate `request` with its engine and with `others`; calls no model."""
    batch, _ = read_given_ideas(request, settings)
    own_engine = (request.engine,) if others and not request.engine.is_baseline else ()
    earlier_results, unknown_because = NOTHING_DONE, ""
    try:
        earlier_results = existing_results(batch, request, settings)
    except AssayError as error:  # such as a stopped gateway or an unreachable bucket
        unknown_because = str(error)
    fields = forecast_fields(batch.ideas, request.literature, settings)
    arguments = (batch.ideas, len(batch.rejected), request, settings)
    not_covered = len(fields.not_covered)
    return Prediction(
        estimate=estimate_run(*arguments, earlier_results, not_covered=not_covered),
        whole=estimate_run(*arguments, not_covered=not_covered),
        done=earlier_results,
        unknown_because=unknown_because,
        ranking=estimate_ranking(batch.ideas, request, settings, ranked=earlier_results.ranked),
        comparison=compare_engines(
            dict.fromkeys((*own_engine, *others)),
            batch.ideas,
            request,
            settings,
            not_covered=not_covered,
        ),
        batch=batch,
        fields=fields,
    )
