"""A search for knowledge set up against fakes: claims, sources that answer from a list, and a
reader that answers from a table.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from schemas.failure import Answer, SourceFailure
from schemas.idea import Idea
from schemas.identifiers import IdeaId, PaperId
from schemas.judgement.committee import Claim, IdeaPart
from schemas.literature.knowledge import KnowledgeAnswer, KnowledgeItem, SourceKind, SourceQuery
from schemas.literature.paper import Paper
from schemas.outcome import Provenance
from schemas.profile import CommitteeParameters
from schemas.reasons import Reason
from tasks.committee.knowledge.reader import Reading
from tasks.committee.knowledge.tools import KnowledgeTools
from tasks.documents.document import AbstractLibrary
from tests.support.contribution_fakes import Delays, FakeLiterature, WordEmbedder

CUTOFF = date(2022, 6, 30)
IDEA = Idea(
    idea_id=IdeaId("sparse"),
    title="Sparse attention for long documents",
    text=(
        "# Sparse attention for long documents\n\nTransformers read long documents slowly. We route"
        " sparse attention by learned hashing and expect half the memory at equal accuracy on"
        " document question answering."
    ),
    cutoff_date=CUTOFF,
)
PARTS = {
    IdeaPart.TLDR: "Learned hashing routes sparse attention in transformers for long documents.",
    IdeaPart.MOTIVATIONS: "Dense attention needs memory quadratic in the length of documents.",
    IdeaPart.METHODS: "Learned hashing assigns queries and keys to buckets for sparse attention.",
    IdeaPart.EXPERIMENTAL_SETTINGS: (
        "Document question answering benchmarks measure accuracy and memory."
    ),
}
MADE_BY = Provenance(
    step="structure_idea",
    step_version=1,
    prompt_sha256="0",
    engine="fake",
    model_requested="fake",
    model_answered="fake",
    seed=7,
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


def claims(parts: dict[IdeaPart, str] = PARTS) -> tuple[Claim, ...]:
    return tuple(
        Claim(claim_id=f"c{number}", part=part, statement=statement, provenance=MADE_BY)
        for number, (part, statement) in enumerate(parts.items(), start=1)
    )


def parameters(**changes: Any) -> CommitteeParameters:
    values: dict[str, Any] = {
        "search_rounds": 2,
        "knowledge_per_kind": 3,
        "queries_per_part": 1,
        "parts_per_query_call": 6,
        "items_per_judge_call": 40,
        "pages_per_summary_call": 5,
        "items_per_grounding_call": 10,
        "use_later_knowledge": False,
    }
    return CommitteeParameters(**{**values, **changes})


def item(
    kind: SourceKind,
    url: str,
    title: str,
    text: str = "",
    published: date | None = date(2021, 3, 1),
    **more: Any,
) -> KnowledgeItem:
    return KnowledgeItem(
        kind=kind,
        source=more.pop("source", "fake"),
        title=title,
        url=url,
        text=text,
        published=published,
        **more,
    )


def paper(name: str, abstract: str | None, year: int = 2020, **more: Any) -> Paper:
    return Paper(
        paper_id=PaperId(name),
        title=more.pop("title", f"On {name} in attention models"),
        abstract=abstract,
        authors=("Ada",),
        year=year,
        **more,
    )


class FakeSource:
    """Answers every query with all its items within the dates; `failure`: answers nothing else."""

    searches_text = True
    looks_up_dois = False

    def __init__(
        self,
        name: str,
        kind: SourceKind,
        items: Iterable[KnowledgeItem] = (),
        failure: SourceFailure | None = None,
        delays: Delays | None = None,
    ) -> None:
        self.name, self.kind = name, kind  # type: ignore[misc]
        self._items = tuple(items)
        self._failure = failure
        self._delays = delays or Delays(None)
        self.queries: list[SourceQuery] = []

    async def search(self, query: SourceQuery) -> KnowledgeAnswer:
        self.queries.append(query)
        await self._delays.wait()
        if self._failure is not None:
            return KnowledgeAnswer((), (self._failure,))
        admitted = [
            each
            for each in self._items
            if each.admissible(query.published_after, query.published_before)
        ]
        removed = [each for each in self._items if each not in admitted]
        undated = sum(each.published is None for each in removed)
        return KnowledgeAnswer(
            tuple(admitted[: query.limit]), (), len(removed), query.text, None, undated
        )


class Library(FakeLiterature):
    """A literature that also knows papers by identifier, as a snapshot does."""

    unlimited = True

    def __init__(
        self, papers: Iterable[Paper] = (), by_name: dict[str, Paper] | None = None, **more: Any
    ) -> None:
        super().__init__(papers, **more)
        self._by_name = by_name or {}
        self.names: list[tuple[str, ...]] = []

    async def papers(self, paper_ids: Sequence[PaperId], cutoff: date | None) -> Answer[Paper]:
        self.names.append(tuple(paper_ids))
        return Answer(tuple(self._by_name[name] for name in paper_ids if name in self._by_name))


@dataclass
class FakeReader:
    """Pages by address and repositories by name; anything else is not found."""

    pages: dict[str, str] = field(default_factory=dict)
    repositories: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, date | None]] = field(default_factory=list)

    async def page(self, url: str) -> Reading:
        return self._reading(self.pages, url, None, "Page")

    async def repository(self, name: str, as_of: date | None) -> Reading:
        return self._reading(self.repositories, name, as_of, "README")

    def _reading(
        self, table: dict[str, str], key: str, as_of: date | None, heading: str
    ) -> Reading:
        self.asked.append((key, as_of))
        if key not in table:
            return Reading(
                failure=SourceFailure(
                    source="download",
                    endpoint=key,
                    reason=Reason.NOT_FOUND,
                    detail="the server answered 404",
                )
            )
        return Reading(((heading, table[key]),))


def tools(*sources: FakeSource, **more: Any) -> KnowledgeTools:
    values: dict[str, Any] = {
        "literature": Library(),
        "documents": AbstractLibrary(),
        "embedder": WordEmbedder(),
    }
    return KnowledgeTools(sources={source.name: source for source in sources}, **{**values, **more})
