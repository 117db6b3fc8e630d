"""Survey questions with known relevant papers.

From reference lists of a snapshot, core papers of published surveys, answers to search questions,
and a generated citation graph.
"""

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import orjson

from schemas.identifiers import PaperId
from tasks.benchmarks.records import Row, Text, rows_of
from tasks.literature.snapshot.records import PaperRecord, as_number, normal_title, sha1_hex
from tasks.literature.snapshot.snapshot import Snapshot
from tasks.literature.snapshot.store import PaperStore

VIS_FILE = "vis_citation_graph/papers.jsonl.gz"
CORE_PAPERS_FILE = "survey_core_papers_litqeval/candidates.jsonl.gz"
SEARCH_QUERIES_FILE = "paper_search_queries/queries.jsonl"

Rows = Iterator[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class SurveyCase:
    """Question with the papers that its survey should contain."""

    case_id: str
    question: str
    relevant: frozenset[PaperId]
    cutoff: date | None = None


def paper_row(paper_id: str, title: object, abstract: object, **fields: Any) -> dict[str, Any]:
    """Return a paper as a row of a snapshot's source file."""
    defaults: dict[str, Any] = {"authors": [], "venue": "", "year": None, "url": ""}
    return {"paper_id": paper_id, "title": title, "abstract": abstract, **defaults, **fields}


def write_papers(rows: Iterable[dict[str, Any]], path: Path) -> Path:
    """Write papers as the source file of a snapshot."""
    with path.open("wb") as file:
        for row in rows:
            file.write(orjson.dumps(row) + b"\n")
    return path


class VisPaper(Row):
    """Paper of IEEE VIS with references within the venue."""

    id: Text
    title: Text
    abstract: str | None
    authors: tuple[str, ...]
    venue: str
    publication_year: int | None
    year: int | None
    cited_by_crossref: int | None
    references: tuple[str, ...]


def vis_papers(path: Path) -> Rows:
    """Yield papers of IEEE VIS as rows of a snapshot's source file."""
    for row in rows_of(path, VisPaper):
        yield paper_row(
            row.id,
            row.title,
            row.abstract,
            authors=row.authors,
            venue=row.venue,
            year=row.publication_year or row.year,
            url=f"https://doi.org/{row.id}",
            doi=row.id,
            citation_count=row.cited_by_crossref,
            references=row.references,
        )


class Candidate(Row):
    """Candidate of a topic; `core`: a core paper of its surveys."""

    paper_id: Text
    topic: Text
    title: Text
    abstract: str | None
    core: bool


def candidate_papers(path: Path) -> Rows:
    """Yield the candidates of all topics without duplicates and references."""
    rows: dict[str, Candidate] = {}
    for row in rows_of(path, Candidate):
        rows.setdefault(row.paper_id, row)
    for paper_id, row in rows.items():
        url = f"https://app.dimensions.ai/details/publication/{paper_id}"
        yield paper_row(paper_id, row.title, row.abstract, url=url)


def core_papers(path: Path, fewest: int) -> list[SurveyCase]:
    """Return topics with the core papers of their surveys among the candidates."""
    core: dict[str, set[PaperId]] = {}
    for row in rows_of(path, Candidate):
        if row.core:
            core.setdefault(row.topic, set()).add(paper_id_of(row.paper_id))
    return [
        SurveyCase(topic, topic, frozenset(papers))
        for topic, papers in core.items()
        if len(papers) >= fewest
    ]


def paper_id_of(identifier: str) -> PaperId:
    """Return a snapshot's paper_id for an identifier of its source."""
    return PaperId(sha1_hex(f"given:{identifier}"))


def reference_lists(snapshot: Snapshot, fewest: int) -> list[SurveyCase]:
    """Return cases with titles as questions and references as answers.

    The cutoff is the end of the previous year, which excludes the paper and papers that cite it.
    References after the cutoff do not count; cases with less than `fewest` are left out.
    """
    if not snapshot.manifest.has_references:
        return []
    store = PaperStore(snapshot.folder, name=snapshot.manifest.store_name)
    try:
        records = [record for _, record in store.records_from(0)]
    finally:
        store.close()
    cases = (_case(snapshot, record) for record in records if (record.reference_count or 0))
    return [case for case in cases if case is not None and len(case.relevant) >= fewest]


def _case(snapshot: Snapshot, record: PaperRecord) -> SurveyCase | None:
    edges = snapshot.references(record.paper_id)
    if record.year is None or edges is None:
        return None
    cutoff = date(record.year - 1, 12, 31)
    relevant = (paper for paper in edges.papers if paper.last_day <= as_number(cutoff))
    return SurveyCase(
        case_id=record.given_id or record.paper_id,
        question=record.title,
        relevant=frozenset(PaperId(paper.paper_id) for paper in relevant),
        cutoff=cutoff,
    )


class SearchAnswer(Row):
    """Paper that answers a search question."""

    title: Text


class SearchQuestion(Row):
    """Search question with the papers that answer it."""

    id: Text
    query: Text
    answers: tuple[SearchAnswer, ...] = ()


def search_questions(path: Path, snapshot: Snapshot) -> list[SurveyCase]:
    """Return search questions with their answers in the snapshot.

    Answers are matched by exact title.
    """
    cases = []
    for row in rows_of(path, SearchQuestion):
        matches = (_find_title(snapshot, answer.title) for answer in row.answers)
        if relevant := frozenset(filter(None, matches)):
            cases.append(SurveyCase(row.id, row.query, relevant))
    return cases


def _find_title(snapshot: Snapshot, title: str) -> PaperId | None:
    match = snapshot.match_title(title).papers
    same = bool(match) and normal_title(match[0].title) == normal_title(title)
    return PaperId(match[0].paper_id) if same else None


# A generated graph.

PLANTED_PAPERS = 40
PLANTED_QUESTIONS = 20
NAMED_SHARE = 0.25
"""Share of the planted papers with words of the question in the title, which a search finds."""
DISTRACTORS_PER_QUESTION = 220
"""Irrelevant papers with words of the question."""
HUBS = 6
OTHER_PAPERS = 600
MISSING_SHARE = 0.3
"""Share of the edges that are missing."""
_SYLLABLES = [
    "ka",
    "lo",
    "mi",
    "ren",
    "tu",
    "vas",
    "del",
    "por",
    "sin",
    "gal",
    "bet",
    "mor",
    "fi",
    "nax",
]


@dataclass(frozen=True, slots=True)
class PlantedGraph:
    """Papers as rows of a snapshot, and questions with planted papers."""

    rows: tuple[dict[str, Any], ...]
    cases: tuple[SurveyCase, ...]


def planted_graph(seed: int, question_count: int = PLANTED_QUESTIONS) -> PlantedGraph:
    """Generate a literature of random words.

    Planted papers cite each other, distractors share words with the question, hubs are cited
    everywhere, and a share of the edges is missing.
    """
    draw = random.Random(seed)  # noqa: S311 -- no secret
    names, cited_everywhere = _words(draw), [f"hub{number}" for number in range(HUBS)]
    rows = [_paper(name, f"{next(names)} survey handbook", [], 2000) for name in cited_everywhere]
    others = [f"other{number}" for number in range(OTHER_PAPERS)]
    for number, name in enumerate(others):
        cited_names = [
            *draw.sample(others[:number], min(number, 5)),
            *draw.sample(cited_everywhere, 3),
        ]
        rows.append(
            _paper(name, f"{next(names)} {next(names)}", _drop_edges(cited_names, draw), 2005)
        )
    cases = []
    for question_number in range(question_count):
        question = f"{next(names)} {next(names)} {next(names)}"
        planted_names = [f"q{question_number}p{number}" for number in range(PLANTED_PAPERS)]
        distractor_names = [
            f"q{question_number}d{number}" for number in range(DISTRACTORS_PER_QUESTION)
        ]
        rows += _planted_papers(question, planted_names, cited_everywhere, names, draw)
        rows += _distractors(question, distractor_names, [*others, *cited_everywhere], names, draw)
        relevant = frozenset(map(paper_id_of, planted_names))
        cases.append(SurveyCase(f"planted-{question_number}", question, relevant))
    return PlantedGraph(tuple(rows), tuple(cases))


def _planted_papers(
    question: str,
    names: Sequence[str],
    hubs: Sequence[str],
    words: Iterator[str],
    draw: random.Random,
) -> Rows:
    matching_names = set(draw.sample(names, round(NAMED_SHARE * len(names))))
    for number, name in enumerate(names):
        first_word = draw.choice(question.split()) if name in matching_names else next(words)
        earlier = names[:number]
        cited_names = [*draw.sample(earlier, min(len(earlier), 4)), *draw.sample(hubs, 2)]
        yield _paper(
            name, f"{first_word} {next(words)}", _drop_edges(cited_names, draw), 2010 + number // 4
        )


def _distractors(
    question: str,
    names: Sequence[str],
    elsewhere: Sequence[str],
    words: Iterator[str],
    draw: random.Random,
) -> Rows:
    for name in names:
        title = f"{draw.choice(question.split())} {next(words)} {next(words)}"
        yield _paper(name, title, _drop_edges(draw.sample(elsewhere, 8), draw), 2012)


def _drop_edges(names: Sequence[str], draw: random.Random) -> list[str]:
    return [name for name in names if draw.random() >= MISSING_SHARE]


def _paper(name: str, title: str, references: list[str], year: int) -> dict[str, Any]:
    url, about = f"https://example.org/{name}", f"About {title}."
    return paper_row(name, f"{title} {name}", about, year=year, url=url, references=references)


def _words(draw: random.Random) -> Iterator[str]:
    """Yield unique words."""
    number = 0
    while True:
        number += 1
        yield "".join(draw.choices(_SYLLABLES, k=3)) + _SYLLABLES[number % len(_SYLLABLES)]
