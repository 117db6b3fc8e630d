"""Audit of a snapshot (`assay literature audit`)."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from flows.run.gateway import gateway_url, with_index
from flows.run.indexing import embedder_for, progress_display
from flows.works.evaluate.request import resolve_literature
from schemas.choices import LiteratureChoice
from schemas.failure import Answer
from schemas.identifiers import IdeaId, PaperId
from schemas.literature.audit import ProposalState
from schemas.literature.paper import Paper
from schemas.options.commands import AuditOptions
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.literature.audit.auditing import (
    Decided,
    Decisions,
    OtherSnapshot,
    OtherSource,
    Standing,
    check_rules,
    diagnose,
    review,
    standing,
)
from tasks.literature.audit.stage import Stage
from tasks.literature.client import LiteratureClient
from tasks.literature.snapshot.records import PaperRecord, record_of
from tasks.literature.snapshot.store import PaperStore
from tasks.web.client import open_client


@dataclass(frozen=True, slots=True)
class AuditResult:
    index: Path
    standing: Standing
    decided: Decided
    warnings: tuple[str, ...]


def audit_index(index: Path, options: AuditOptions, settings: Settings) -> AuditResult:
    """Audit an index unless this version was audited, then apply the decisions.

    A changed index is audited again.

    Raises:
        ConfigurationError: unknown rule, proposal or source.
        SnapshotError: there is no finished index, or it is damaged.
    """
    check_rules((*options.rule, *options.accept_rule))
    other_sources = [_source(each, options, settings) for each in options.beside]
    decisions = Decisions(
        options.accept_rule, options.accept, options.reject, options.undo, options.confidence
    )
    diagnose(index, other_sources)
    decisions_made = Decided()
    if decisions.any:
        with progress_display() as report:
            decisions_made = review(
                index, decisions, embedder=embedder_for(index, settings), progress=report
            )
        diagnose(index, other_sources)
    failures = dict.fromkeys(line for each in other_sources for line in each.failures)
    skipped_lines = [
        f"{each} was left alone: its record is not as it was when this was proposed"
        for each in decisions_made.passed_over
    ]
    open_proposals = standing(index, [ProposalState.PROPOSED], options.rule, options.limit)
    return AuditResult(index, open_proposals, decisions_made, (*failures, *skipped_lines))


def _source(wish: str, options: AuditOptions, settings: Settings) -> OtherSource:
    literature = resolve_literature(LiteratureChoice.parse(wish), settings)
    if literature.snapshot is not None and not literature.then_live:
        folder = with_index(literature, settings).snapshot
        assert folder is not None
        return OtherSnapshot(folder)
    return _Gateway(literature, settings, options.most_papers)


@dataclass(slots=True)
class _Gateway:
    """Implements `OtherSource`: asks a gateway about the most doubtful papers."""

    literature: LiteratureChoice
    settings: Settings
    most_papers: int
    failures: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.literature.text

    @property
    def identity(self) -> str:
        """Includes the date, because a live source may answer differently tomorrow."""
        return f"{self.literature.text}|{self.most_papers}|{datetime.now(UTC).date()}"

    def records(self, stage: Stage, store: PaperStore) -> Iterator[tuple[int, PaperRecord]]:
        numbers = stage.doubtful(self.most_papers)
        numbers_by_id = {
            identifier: number
            for number, stored_record in zip(numbers, store.records(numbers), strict=True)
            if (identifier := _identifier(stored_record)) is not None
        }
        answer = self._look_up(list(numbers_by_id)) if numbers_by_id else Answer[Paper]((), (), 0)
        self.failures[:] = dict.fromkeys(
            f"could not look: {each.source} {each.endpoint}: {each.reason}: {each.detail}"
            for each in answer.failures
        )
        for paper in answer.items:
            record = record_of(_row(paper))
            number = store.same_as(record) if record is not None else None
            if record is not None and number in set(numbers):
                assert number is not None
                yield number, record

    def _look_up(self, identifiers: Sequence[str]) -> Answer[Paper]:
        with gateway_url(self.literature, self.settings) as url:
            return asyncio.run(self._ask(url, identifiers))

    async def _ask(self, url: str, identifiers: Sequence[str]) -> Answer[Paper]:
        async with open_client(self.settings.literature.timeout_seconds) as http:
            ledger = Ledger(IdeaId("audit"))
            client = LiteratureClient(
                url, ledger, http, self.settings.literature, with_retracted=True
            )
            return await client.papers([PaperId(each) for each in identifiers], None)


def _identifier(record: PaperRecord) -> str | None:
    """Return an identifier that other sources know; None if there is none."""
    if record.doi:
        return f"DOI:{record.doi}"
    if record.arxiv_id:
        return f"ARXIV:{record.arxiv_id}"
    return f"URL:{record.url}" if record.url else None


def _row(paper: Paper) -> dict[str, object]:
    return {**paper.model_dump(mode="json"), "authors": list(paper.authors)}
