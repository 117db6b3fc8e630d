"""Which ideas of a batch a snapshot does not cover, looked at before anything is paid."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from flows.run.indexing import index_with_progress, shown_progress
from schemas.base import Noun
from schemas.choices import LiteratureChoice
from schemas.errors import SnapshotError
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.literature.coverage import FieldCoverage
from schemas.settings import Settings
from tasks.embeddings.sentence_embedder import SentenceEmbedder, bundled_settings
from tasks.literature.field_coverage import look_at_field
from tasks.literature.snapshot.build import index_of_file
from tasks.literature.snapshot.folder import MANIFEST_NAME
from tasks.literature.snapshot_search import SnapshotSearch

# A few thousand papers, indexed in seconds: larger files wait for `assay literature build`.
_INDEXED_AT_ONCE_BYTES = 5_000_000
_IDEAS_WITHOUT_PROGRESS = 100
_NAMED = 5


class IdeaNotCovered(Noun):
    """An idea for which no evidence will be bought."""

    idea_id: IdeaId
    title: str
    detail: str = Field(description="The nearest works, and how near they are.")


class FieldForecast(Noun):
    """How many ideas the literature covers; nothing was looked at where it covers every field."""

    looked_at: int = Field(default=0, ge=0, description="Ideas whose field was looked at.")
    not_covered: tuple[IdeaNotCovered, ...] = ()
    unknown_because: str = Field(default="", description="Why it was not looked at; empty: it was.")

    @property
    def lines(self) -> list[str]:
        """What a plan says of it."""
        if self.unknown_because:
            return [f"which fields the literature covers is not known: {self.unknown_because}"]
        if not self.looked_at:
            return []
        covered = self.looked_at - len(self.not_covered)
        lines = [f"the literature covers the field of {covered:,} of {self.looked_at:,} ideas"]
        if self.not_covered:
            named = [each.title.strip() or each.idea_id for each in self.not_covered[:_NAMED]]
            rest = len(self.not_covered) - len(named)
            more = f" and {rest:,} more" if rest else ""
            lines.append(
                f"not covered, so that no evidence is bought for them: {'; '.join(named)}{more}"
            )
        return lines


def forecast_fields(
    ideas: Sequence[Idea], literature: LiteratureChoice, settings: Settings
) -> FieldForecast:
    """Look at the field of every idea; nothing is connected to, and no model of an API is asked."""
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
        found = asyncio.run(_look(ideas, folder, settings))
    except SnapshotError as error:  # a plan says so and goes on
        return FieldForecast(unknown_because=str(error))
    return FieldForecast(
        looked_at=len(found),
        not_covered=tuple(
            IdeaNotCovered(
                idea_id=idea.idea_id, title=idea.title, detail=coverage.field_coverage_detail
            )
            for idea, coverage in found
            if not coverage.field_covered
        ),
    )


def _index(snapshot: Path, settings: Settings) -> Path | None:
    if snapshot.is_dir():
        return snapshot
    index = index_of_file(snapshot, settings.home)
    if (index / MANIFEST_NAME).is_file():
        return index
    small = snapshot.stat().st_size <= _INDEXED_AT_ONCE_BYTES
    return index_with_progress(snapshot, settings.home) if small else None


async def _look(
    ideas: Sequence[Idea], folder: Path, settings: Settings
) -> list[tuple[Idea, FieldCoverage]]:
    embedder = SentenceEmbedder(bundled_settings(settings.embeddings), None)
    literature = SnapshotSearch(folder, settings)
    found: list[tuple[Idea, FieldCoverage]] = []
    with shown_progress() as report:
        for place, idea in enumerate(ideas, start=1):
            answer = await look_at_field(idea, literature.search_papers, embedder)
            found.extend((idea, coverage) for coverage in answer.items)
            if len(ideas) > _IDEAS_WITHOUT_PROGRESS:
                report(place, len(ideas), "fields")
    await literature.close()
    return found
