"""Passages out of a snippet search, once the papers they stand in and mention are known."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from schemas.paper import Paper, Passage
from tasks.literature.parsing import integer, passage_id

_KINDS = frozenset({"title", "abstract", "body"})


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A row of GET /snippet/search: its paper and the papers it mentions by corpus id."""

    corpus_id: int
    mentioned: tuple[int, ...]
    passage_id: str
    text: str
    kind: str
    section: str | None
    score: float

    @property
    def corpus_ids(self) -> tuple[int, ...]:
        return (self.corpus_id, *self.mentioned)


def passage_rows(rows: Iterable[Any]) -> list[PassageRow]:
    """The readable rows of an answer, each passage once.

    Corpus ids come as text; annotations are null for titles and abstracts.
    """
    found: dict[str, PassageRow] = {}
    for row in rows:
        read = _read(row)
        if read is not None:
            found.setdefault(read.passage_id, read)
    return list(found.values())


def _read(row: Any) -> PassageRow | None:
    paper, snippet = (_mapping(row, "paper"), _mapping(row, "snippet"))
    corpus_id, text = integer(paper.get("corpusId")), snippet.get("text")
    if corpus_id is None or not isinstance(text, str) or not text.strip():
        return None
    kind, section, score = snippet.get("snippetKind"), snippet.get("section"), row.get("score")
    mentions = _mapping(snippet, "annotations").get("refMentions")
    cited = (
        integer(_value(each, "matchedPaperCorpusId"))
        for each in (mentions if isinstance(mentions, list) else [])
    )
    return PassageRow(
        corpus_id=corpus_id,
        mentioned=tuple(
            dict.fromkeys(each for each in cited if each is not None and each != corpus_id)
        ),
        passage_id=passage_id(corpus_id, snippet),
        text=text.strip(),
        kind=kind if kind in _KINDS else "body",
        section=section if isinstance(section, str) and section else None,
        score=float(score)
        if isinstance(score, int | float) and not isinstance(score, bool)
        else 0.0,
    )


def passages_of(
    rows: Sequence[PassageRow], papers: Mapping[int, Paper], cutoff: date | None
) -> tuple[tuple[Passage, ...], int]:
    """Passages of admissible papers, and how many papers the cutoff removed.

    A passage without a known paper is left out.
    """
    removed = {paper.paper_id for paper in papers.values() if not paper.admissible(cutoff)}
    passages = []
    for row in rows:
        own = papers.get(row.corpus_id)
        if own is None or own.paper_id in removed:
            continue
        cited = (papers[each].paper_id for each in row.mentioned if each in papers)
        passages.append(
            Passage(
                passage_id=row.passage_id,
                paper_id=own.paper_id,
                text=row.text,
                kind=row.kind,
                section=row.section,
                score=row.score,
                cited_paper_ids=tuple(
                    dict.fromkeys(
                        each for each in cited if each not in removed and each != own.paper_id
                    )
                ),
            )
        )
    return tuple(passages), len(removed)


def _mapping(row: Any, key: str) -> Mapping[str, Any]:
    value = _value(row, key)
    return value if isinstance(value, Mapping) else {}


def _value(row: Any, key: str) -> Any:
    return row.get(key) if isinstance(row, Mapping) else None
