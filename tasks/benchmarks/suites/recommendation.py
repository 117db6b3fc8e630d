"""Suites `dataset_recommendation` and `leaderboards`: accuracy of `assay recommend`.

Neither makes model calls. Resources used by other projects or leaderboards are ranked as by the
command (`tasks/recommendation/recommend.py`). Data: DataFinder (Viswanathan, Gao, Wu, Liu & Neubig,
ACL 2023, github.com/viswavi/datafinder); Papers with Code, `sota-extractor`, from NLP-progress and
the EFF.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ConfigurationError
from schemas.identifiers import PaperId, content_hash
from schemas.judgement.benchmark import ASSAY
from schemas.literature.paper import Paper
from tasks.benchmarks.records import Record, json_lines, text_of
from tasks.benchmarks.suite import Suite, Trial
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.embeddings.similarity import SharedWords
from tasks.metrics.means import mean
from tasks.metrics.retrieval import average_precision, precision_at, recall_at, reciprocal_rank
from tasks.recommendation.recommend import Evidence, in_order
from warehouse.stores.keyed_store import KeyedStore

QUERIES_FILE = "dataset_recommendation/queries.jsonl"
DATA_SETS_FILE = "dataset_recommendation/datasets.jsonl.gz"
LEADERBOARDS_FILE = "leaderboards/leaderboards.jsonl.gz"
DESCRIPTION_ALONE, WORKS_ALONE, SHARED_WORDS, MOST_USED = (
    "descriptions_alone",
    "works_alone",
    "shared_words",
    "most_used",
)
DEPTH = 5
_DESCRIPTION_CHARACTERS = 1_000
_USE_WEIGHT = 1.0

Vectors = NDArray[np.float32]
METRICS: dict[str, Callable[[Sequence[str], frozenset[str]], float]] = {
    "precision_at_5": lambda ranking, right: precision_at(ranking, right, DEPTH),
    "recall_at_5": lambda ranking, right: recall_at(ranking, right, DEPTH),
    "mean_average_precision": average_precision,
    "mean_reciprocal_rank": reciprocal_rank,
}


@dataclass(frozen=True, slots=True)
class Project:
    """Project with description, data sets, and its paper's abstract and year."""

    project_id: str
    year: int
    query: str
    abstract: str
    data_sets: frozenset[str]


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Task on a data set, with the papers compared and the metrics."""

    leaderboard_id: str
    task: str
    data_set: str
    text: str
    papers: frozenset[str]
    metrics: frozenset[str]


def read_projects(path: Path) -> list[Project]:
    """Return the projects, with their data sets that are in the corpus.

    Raises:
        ConfigurationError: the file is invalid; likewise for the other readers.
    """
    return [
        Project(
            text_of(row, "id", path),
            _year(row, path),
            text_of(row, "query", path),
            str(row.get("paper_abstract") or ""),
            frozenset(_texts(row, "datasets_in_corpus", path)),
        )
        for row in json_lines(path)
    ]


def read_descriptions(path: Path) -> dict[str, str]:
    """Return the description of each data set, by name."""
    return {text_of(row, "id", path): str(row.get("text") or "") for row in json_lines(path)}


def read_leaderboards(path: Path) -> list[Leaderboard]:
    boards = []
    for row in json_lines(path):
        task, data_set = text_of(row, "task", path), text_of(row, "dataset", path)
        descriptions = (row.get(name) for name in ("task_description", "dataset_description"))
        entries = row.get("rows")
        if not isinstance(entries, list):
            raise ConfigurationError(f"{path}: an entry has no list under 'rows'")
        papers = (each.get("paper_title") for each in entries if isinstance(each, Mapping))
        boards.append(
            Leaderboard(
                text_of(row, "id", path),
                task,
                data_set,
                ". ".join([task, data_set, *(str(each) for each in descriptions if each)]),
                frozenset(str(title) for title in papers if title),
                frozenset(_texts(row, "metrics", path)),
            )
        )
    return boards


def _year(row: Record, path: Path) -> int:
    value = row.get("year")
    if not isinstance(value, int):
        raise ConfigurationError(f"{path}: an entry has no number under 'year'")
    return value


def _texts(row: Record, name: str, path: Path) -> list[str]:
    value = row.get(name)
    if not isinstance(value, list):
        raise ConfigurationError(f"{path}: an entry has no list under {name!r}")
    return [str(each) for each in value]


@dataclass(frozen=True, slots=True)
class Question:
    """One idea with right answers and each system's ranked answers."""

    item_id: str
    right: frozenset[str]
    ranked: Mapping[str, Sequence[str]]


def is_test_project(project: Project) -> bool:
    """Return whether a project belongs to the test half, by its identifier.

    The other half are the known works, on which the weights of the ranking were chosen.
    """
    return int(content_hash(project.project_id, length=8), 16) % 2 == 1


def run_data_sets(trial: Trial) -> None:
    """Score data sets for projects: precision and recall at 5, MAP, MRR.

    Evidence comes from the training half, without projects of later years.
    """
    projects = read_projects(trial.file(QUERIES_FILE))
    descriptions = read_descriptions(trial.file(DATA_SETS_FILE))
    queries = trial.draw([each for each in projects if is_test_project(each)])
    works = [each for each in projects if not is_test_project(each) and each.data_sets]
    texts = [f"{name}. {text}"[:_DESCRIPTION_CHARACTERS] for name, text in descriptions.items()]
    of_ideas, of_works, of_sets = _embed(
        trial,
        [each.query for each in queries],
        [each.abstract or each.query for each in works],
        texts,
    )
    words = SharedWords(
        [
            Paper(paper_id=PaperId(name), title=name, abstract=descriptions[name])
            for name in descriptions
        ]
    )
    questions = []
    for number, project in enumerate(queries):
        earlier_places = [place for place, each in enumerate(works) if each.year <= project.year]
        nearness = _nearness(of_ideas[number], of_works[earlier_places])
        similarities = dict(zip(descriptions, _nearness(of_ideas[number], of_sets), strict=True))
        shared_words = {str(name): value for name, value in words.with_text(project.query).items()}
        uses_by_name = _uses_by_name(nearness, [works[place].data_sets for place in earlier_places])
        rankings = {
            ASSAY: _rank(
                {
                    n: Evidence(uses_by_name.get(n, ()), similarities[n], shared_words[n])
                    for n in descriptions
                }
            ),
            DESCRIPTION_ALONE: _rank(
                {n: Evidence((), similarities[n], shared_words[n]) for n in descriptions}
            ),
            WORKS_ALONE: _rank({n: Evidence(uses) for n, uses in uses_by_name.items()}),
            SHARED_WORDS: _rank({n: Evidence((), None, shared_words[n]) for n in descriptions}),
            MOST_USED: _commonest([works[place].data_sets for place in earlier_places]),
        }
        questions.append(Question(project.project_id, project.data_sets, rankings))
    _score(trial, "data_set", questions)


def run_leaderboards(trial: Trial) -> None:
    """Score baselines and metrics recommended for leaderboards.

    The evidence is from leaderboards of other data sets.
    """
    boards = read_leaderboards(trial.file(LEADERBOARDS_FILE))
    queries = trial.draw(boards)
    of_asked, of_boards = _embed(
        trial, [each.text for each in queries], [each.text for each in boards]
    )
    for kind, field in (("baseline", "papers"), ("metric", "metrics")):
        questions = []
        for number, board in enumerate(queries):
            others = [
                place
                for place, each in enumerate(boards)
                if each.leaderboard_id != board.leaderboard_id and each.data_set != board.data_set
            ]
            nearness = _nearness(of_asked[number], of_boards[others])
            name_sets: list[frozenset[str]] = [getattr(boards[place], field) for place in others]
            rankings = {
                ASSAY: _rank(
                    {n: Evidence(u) for n, u in _uses_by_name(nearness, name_sets).items()}
                ),
                MOST_USED: _commonest(name_sets),
            }
            questions.append(Question(board.leaderboard_id, getattr(board, field), rankings))
        _score(trial, kind, questions)


def _embed(trial: Trial, *text_lists: Sequence[str]) -> list[Vectors]:
    """Return the unit vectors of each list of texts."""
    store = KeyedStore(trial.warehouse.cache / "embeddings.sqlite")
    embedder = SentenceEmbedder(trial.settings.embeddings, store)

    async def embed() -> list[Vectors]:
        return [await embedder.embed(list(texts)) for texts in text_lists]

    return asyncio.run(embed())


def _nearness(idea: Vectors, others: Vectors) -> list[float]:
    if not len(others):
        return []
    return [round(float(value), 4) for value in np.clip(others @ idea, 0.0, 1.0)]


def _uses_by_name(
    nearness_by_work: Sequence[float], names_by_work: Sequence[frozenset[str]]
) -> dict[str, list[tuple[float, float]]]:
    """Return (nearness, weight) of the works that used each resource."""
    uses_by_name: dict[str, list[tuple[float, float]]] = {}
    for nearness, names in zip(nearness_by_work, names_by_work, strict=True):
        for name in sorted(names):
            uses_by_name.setdefault(name, []).append((nearness, _USE_WEIGHT))
    return uses_by_name


def _rank(evidence: Mapping[str, Evidence]) -> list[str]:
    return [name for name, _ in in_order(evidence)]


def _commonest(names_by_work: Sequence[frozenset[str]]) -> list[str]:
    counts = Counter(name for names in names_by_work for name in names)
    return sorted(counts, key=lambda name: (-counts[name], name))


def _score(trial: Trial, kind: str, questions: Sequence[Question]) -> None:
    """Record and score all systems; questions without right answers are unscored."""
    systems = list(dict.fromkeys(name for each in questions for name in each.ranked))

    def value(metric: str, question: Question, system: str) -> float | None:
        right = question.right
        return METRICS[metric](question.ranked[system], right) if right else None

    for system in systems:
        for each in questions:
            trial.record(
                kind,
                each.item_id,
                "; ".join(each.ranked[system][:DEPTH]),
                system=system,
                gold="; ".join(sorted(each.right)) or None,
                value=value("recall_at_5", each, system),
            )
    for system in systems:
        for metric in METRICS:
            values = [value(metric, each, system) for each in questions]
            trial.score(metric, mean(values, trial.seed), system, f"kind={kind}")


DATA_SETS = Suite(
    "dataset_recommendation",
    "Are the data sets named that a project went on to use?",
    (QUERIES_FILE, DATA_SETS_FILE),
    run_data_sets,
)
LEADERBOARDS = Suite(
    "leaderboards",
    "Are the baselines and metrics named that a leaderboard compares?",
    (LEADERBOARDS_FILE,),
    run_leaderboards,
)
