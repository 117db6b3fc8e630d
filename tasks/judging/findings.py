"""Results of modules and of single judgements, with citations, suggestions and failures."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from schemas.failure import Failure
from schemas.identifiers import PaperId
from schemas.judgement.suggestion import Suggestion
from schemas.literature.citation import Citation
from schemas.literature.paper import Paper
from schemas.reasons import Reason
from tasks.citations.keys import Shown, show
from tasks.citations.settle import Settled, citation_rows, settle

ValueT = TypeVar("ValueT")
NO_PROMPT_PAPERS = show(())


@dataclass(frozen=True, slots=True)
class Findings(Generic[ValueT]):
    """Result of a module, with its citations and suggestions.

    `papers`: every admissible paper that the module retrieved, each once.
    """

    evaluation: ValueT
    papers: tuple[Paper, ...] = ()
    citations: tuple[Citation, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()


@dataclass(frozen=True, slots=True)
class CitedResult(Generic[ValueT]):
    """A judgement with its prompt's papers, citations and suggestions.

    `failures`: calls without an answer, and parts of replies that were omitted.
    """

    value: ValueT
    prompt_papers: Shown = NO_PROMPT_PAPERS
    citations: tuple[Citation, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    failures: tuple[Failure, ...] = ()


def merge_results(
    parts: Iterable[CitedResult[ValueT]], failures: Iterable[Failure] = ()
) -> CitedResult[tuple[ValueT, ...]]:
    """Merge results in their order; `failures` come last."""
    parts = tuple(parts)
    return CitedResult(
        tuple(part.value for part in parts),
        citations=tuple(row for part in parts for row in part.citations),
        suggestions=tuple(row for part in parts for row in part.suggestions),
        failures=(*(one for part in parts for one in part.failures), *failures),
    )


def all_cited_papers(parts: Iterable[CitedResult[Any]]) -> Shown:
    """Return the papers cited by `parts` under one set of keys.

    They are in order of citation.
    """
    parts = tuple(parts)
    papers: dict[PaperId, Paper] = {}
    for part in parts:
        papers |= {paper.paper_id: paper for paper in part.prompt_papers.papers}
    citations = [
        (dict(part.prompt_papers.entries), row.citation_key)
        for part in parts
        for row in part.citations
    ]
    cited_ids = [entries[key].paper_id for entries, key in citations if key in entries]
    return show([papers[paper_id] for paper_id in cited_ids])


@dataclass(frozen=True, slots=True)
class SettledTexts:
    """Settled texts of one judgement by field, with its prompt's papers."""

    by_field: Mapping[str, Settled]
    prompt_papers: Shown

    def __getitem__(self, field: str) -> str:
        return self.by_field[field].markdown

    @property
    def removed_citation_count(self) -> int:
        return sum(text.removed_citation_count for text in self.by_field.values())

    @property
    def uncited_sentence_count(self) -> int:
        return sum(text.uncited_sentence_count for text in self.by_field.values())

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of a row: the texts, and the counts over all texts."""
        return {
            **{field: text.markdown for field, text in self.by_field.items()},
            "removed_citation_count": self.removed_citation_count,
            "uncited_sentence_count": self.uncited_sentence_count,
        }

    def citations(self, *, module: str, subject: str) -> tuple[Citation, ...]:
        return tuple(
            row
            for field, text in self.by_field.items()
            for row in citation_rows(
                text, self.prompt_papers, module=module, subject=subject, field=field
            )
        )


def settle_texts(reply: object, fields: Iterable[str], prompt_papers: Shown) -> SettledTexts:
    """Settle the texts that `reply` has under the names `fields`."""
    return SettledTexts(
        {field: settle(getattr(reply, field), prompt_papers) for field in fields}, prompt_papers
    )


def whole_citations(
    texts: Iterable[str], prompt_papers: Shown, *, module: str, subject: str, field: str
) -> tuple[Citation, ...]:
    """Return the citations of several texts that form one review."""
    combined_text = settle("\n\n".join(texts), prompt_papers)
    return citation_rows(combined_text, prompt_papers, module=module, subject=subject, field=field)


def keys_of(text: Settled, prompt_papers: Shown) -> tuple[str, ...]:
    """Return the keys that a text cites."""
    return tuple(prompt_papers.key_of(paper_id) for paper_id, _ in text.cited)


def omission_failures(
    stage: str,
    subject: str,
    detail: str,
    count: int = 1,
    reason: Reason = Reason.REPLY_UNPARSABLE,
) -> tuple[Failure, ...]:
    """Return one failure for unusable parts of a reply.

    There is none when `count` is 0.
    """
    failure = Failure(stage=stage, subject=subject, reason=reason, detail=detail)
    return (failure,) if count else ()
