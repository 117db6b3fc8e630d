"""Fast search: every query to every source of its kind, side by side, on both sides of the time
point.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from schemas.committee import KnowledgePhase
from schemas.knowledge import KnowledgeAnswer, KnowledgeItem, SourceKind, SourceQuery
from schemas.paper import Paper
from schemas.reasons import Passes, Reason
from schemas.retrieval import SourceFailure
from tasks.committee.knowledge.context import Context
from tasks.committee.knowledge.failure_log import FailureLog
from tasks.committee.knowledge.papers import appeared_after, item_of
from tasks.committee.knowledge.pool import Candidate, Find, Pool, Query
from tasks.committee.knowledge.selection import SIMILARITY_SHARE
from tasks.committee.knowledge.tools import LITERATURE
from tasks.text.titles import is_own_work


@dataclass(frozen=True, slots=True)
class _Answered:
    finds: tuple[tuple[KnowledgeItem, Paper | None], ...]
    failed_for_good: bool


@dataclass(slots=True)
class Search:
    """All rounds of one idea. A question is sent to a source once, however many parts ask it."""

    context: Context
    pool: Pool = field(default_factory=Pool)
    _asked: set[tuple[KnowledgePhase, str, str]] = field(default_factory=set)
    _silent: set[str] = field(default_factory=set)

    def name_missing_sources(self) -> None:
        """A source the profile names and nobody opened was not looked at: that is a failure, not an
        empty answer.
        """
        for name in self.context.parameters.sources:
            source = self.context.tools.sources.get(name)
            if name != LITERATURE and source is None:
                self.context.failures.not_searched(
                    name, Reason.NOT_CONFIGURED, "it is not open in this run"
                )
            elif source is not None and not source.searches_text:
                self.context.failures.not_searched(
                    name, Reason.BAD_REQUEST, "it answers DOIs, not words"
                )

    async def round(self, queries: Sequence[Query], number: int) -> list[Candidate]:
        """Ask, and enter what is new. The result does not depend on who answers first."""
        jobs = [
            (phase, query, name)
            for phase in self.context.phases
            for query in queries
            for name in self._sources_of(query.kind)
        ]
        fresh = [job for job in jobs if (job[0], job[2], _plain(job[1].text)) not in self._asked]
        wanted = dict.fromkeys((phase, name, _plain(query.text)) for phase, query, name in fresh)
        async with asyncio.TaskGroup() as group:
            tasks = {key: group.create_task(self._ask(*key)) for key in wanted}
        self._asked.update(wanted)
        self._silent |= {name for _, name, _ in wanted if self._fell_silent(name, tasks)}
        new: list[Candidate] = []
        for phase, query, name in fresh:
            answered = tasks[phase, name, _plain(query.text)].result()
            for item, paper in answered.finds:
                entered = self._entered(Find(item, phase, query, number, paper))
                new.extend([entered] if entered else [])
        return new

    def _entered(self, find: Find) -> Candidate | None:
        """The find as a candidate if it is a new one; the idea's own publication is no evidence
        about it and is left out, said aloud.
        """
        idea = self.context.outline.idea
        if is_own_work(idea.title, idea.text, find.item.title, find.item.text):
            detail = (
                f"{find.item.url} is possibly the idea's own publication: it is no evidence about"
                " the idea and was left out"
            )
            self.context.failures.add("search", Reason.THE_IDEA_ITSELF, detail)
            return None
        return self.pool.add(find)

    def _sources_of(self, kind: SourceKind) -> list[str]:
        """Names of the sources of a kind, in the profile's order."""
        names = []
        for name in dict.fromkeys(self.context.parameters.sources):
            source = self.context.tools.sources.get(name)
            fits = (
                kind is SourceKind.PAPERS
                if name == LITERATURE
                else source is not None and source.kind is kind and source.searches_text
            )
            if fits and name not in self._silent:
                names.append(name)
        return names

    def _fell_silent(
        self, name: str, tasks: dict[tuple[KnowledgePhase, str, str], asyncio.Task[_Answered]]
    ) -> bool:
        """A source that refused every question for a lasting reason is not asked again."""
        return all(
            task.result().failed_for_good for (_, asked, _), task in tasks.items() if asked == name
        )

    async def _ask(self, phase: KnowledgePhase, name: str, text: str) -> _Answered:
        if name == LITERATURE:
            return await self._ask_literature(phase, text)
        return await self._ask_source(phase, name, text)

    async def _ask_literature(self, phase: KnowledgePhase, text: str) -> _Answered:
        """The gateway takes a last day only: for later knowledge it is asked for more without one,
        and what is not later is dropped.
        """
        cutoff = self.context.outline.cutoff
        later = phase is KnowledgePhase.AFTER
        limit = self.context.parameters.knowledge_per_kind * (SIMILARITY_SHARE if later else 1)
        answer = await self.context.tools.literature.search_papers(
            text, limit, None if later else cutoff
        )
        self.context.failures.searches(answer.failures, LITERATURE)
        papers: Iterable[Paper] = answer.items
        if cutoff is not None:
            papers = [
                paper
                for paper in papers
                if (appeared_after(paper, cutoff) if later else paper.admissible(cutoff))
            ]
        finds = tuple((item_of(paper, LITERATURE), paper) for paper in papers)
        return _Answered(finds, _refused_for_good(answer.failures))

    async def _ask_source(self, phase: KnowledgePhase, name: str, text: str) -> _Answered:
        cutoff = self.context.outline.cutoff
        after = (
            cutoff + timedelta(days=1)
            if cutoff is not None and phase is KnowledgePhase.AFTER
            else None
        )
        before = cutoff if phase is KnowledgePhase.BEFORE else None
        query = SourceQuery(
            text=text,
            limit=self.context.parameters.knowledge_per_kind,
            published_after=after,
            published_before=before,
        )
        answer = await self.context.tools.sources[name].search(query)
        _tell(self.context.failures, name, answer, phase)
        finds = tuple((item, None) for item in answer.items if item.admissible(after, before))
        return _Answered(finds, _refused_for_good(answer.failures))


def _refused_for_good(failures: Sequence[SourceFailure]) -> bool:
    """Whether the source would refuse any other question as well, as long as the settings stay."""
    return bool(failures) and all(
        failure.reason.passes is Passes.WITH_OTHER_SETTINGS for failure in failures
    )


def _tell(failures: FailureLog, name: str, answer: KnowledgeAnswer, phase: KnowledgePhase) -> None:
    failures.searches(answer.failures, name)
    if answer.undated_count and phase is KnowledgePhase.BEFORE:
        for _ in range(answer.undated_count):
            detail = (
                f"a find of {name} carries no date: it cannot be shown to lie before the cutoff, so"
                " the idea is not judged by it"
            )
            failures.add(f"search in {name}", Reason.NO_DATE, detail)
    if answer.shortening is not None:
        failures.add(
            f"search in {name}", Reason.TOO_LONG, f"a query was shortened: {answer.shortening}"
        )


def _plain(text: str) -> str:
    return " ".join(text.split())
