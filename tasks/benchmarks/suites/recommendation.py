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

import numpy as np
from numpy.typing import NDArray

from schemas.identifiers import PaperId, content_hash
from schemas.judgement.benchmark import ASSAY
from schemas.literature.paper import Paper
from tasks.benchmarks.records import Row, Text, rows_of
from tasks.benchmarks.suite import Suite, Trial
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.embeddings.similarity import SharedWords
from tasks.metrics.means import mean
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


class Project(Row):
    """Project with description, data sets of the corpus, and its paper's abstract and year."""

    id: Text
    year: int
    query: Text
    paper_abstract: str | None = None
    datasets_in_corpus: frozenset[str]


class DataSet(Row):
    """Data set of the corpus, identified by its name."""

    id: Text
    text: str | None = None


class BoardEntry(Row):
    """Paper compared on a leaderboard."""

    paper_title: str | None = None


class Leaderboard(Row):
    """Task on a data set, with the papers compared and the metrics."""

    id: Text
    task: Text
    dataset: Text
    task_description: str | None = None
    dataset_description: str | None = None
    rows: tuple[BoardEntry, ...]
    metrics: frozenset[str]

    @property
    def text(self) -> str:
        """Return names and descriptions as one text."""
        descriptions = (self.task_description, self.dataset_description)
        return ". ".join([self.task, self.dataset, *filter(None, descriptions)])

    @property
    def papers(self) -> frozenset[str]:
        """Return the titles of the papers compared."""
        return frozenset(each.paper_title for each in self.rows if each.paper_title)


# Metrics of ranked lists; `right` is the non-empty set of relevant items.


def precision_at(ranking: Sequence[str], right: frozenset[str], depth: int) -> float:
    """Return the share of the first `depth` ranks that are right.

    Missing ranks count as wrong.
    """
    return sum(name in right for name in ranking[:depth]) / depth


def recall_at(ranking: Sequence[str], right: frozenset[str], depth: int) -> float:
    """Return the share of the right items within the first `depth` ranks."""
    return sum(name in right for name in ranking[:depth]) / len(right)


def average_precision(ranking: Sequence[str], right: frozenset[str]) -> float:
    """Return the mean precision at the ranks of the right items.

    Missing items count as 0.
    """
    hits, total = 0, 0.0
    for place, name in enumerate(ranking, start=1):
        if name in right:
            hits += 1
            total += hits / place
    return total / len(right)


def reciprocal_rank(ranking: Sequence[str], right: frozenset[str]) -> float:
    """Return 1 / rank of the first right item, 0 without one."""
    places = (place for place, name in enumerate(ranking, start=1) if name in right)
    return 1 / next(places, float("inf"))


METRICS: dict[str, Callable[[Sequence[str], frozenset[str]], float]] = {
    "precision_at_5": lambda ranking, right: precision_at(ranking, right, DEPTH),
    "recall_at_5": lambda ranking, right: recall_at(ranking, right, DEPTH),
    "mean_average_precision": average_precision,
    "mean_reciprocal_rank": reciprocal_rank,
}


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
    return int(content_hash(project.id, length=8), 16) % 2 == 1


def run_data_sets(trial: Trial) -> None:
    """Score data sets for projects: precision and recall at 5, MAP, MRR.

    Evidence comes from the training half, without projects of later years.
    """
    projects = rows_of(trial.file(QUERIES_FILE), Project)
    data_sets = rows_of(trial.file(DATA_SETS_FILE), DataSet)
    descriptions = {each.id: each.text or "" for each in data_sets}
    queries = trial.draw([each for each in projects if is_test_project(each)])
    works = [each for each in projects if not is_test_project(each) and each.datasets_in_corpus]
    texts = [f"{name}. {text}"[:_DESCRIPTION_CHARACTERS] for name, text in descriptions.items()]
    of_ideas, of_works, of_sets = _embed(
        trial,
        [each.query for each in queries],
        [each.paper_abstract or each.query for each in works],
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
        uses_by_name = _uses_by_name(
            nearness, [works[place].datasets_in_corpus for place in earlier_places]
        )
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
            MOST_USED: _commonest([works[place].datasets_in_corpus for place in earlier_places]),
        }
        questions.append(Question(project.id, project.datasets_in_corpus, rankings))
    _score(trial, "data_set", questions)


def run_leaderboards(trial: Trial) -> None:
    """Score baselines and metrics recommended for leaderboards.

    The evidence is from leaderboards of other data sets.
    """
    boards = rows_of(trial.file(LEADERBOARDS_FILE), Leaderboard)
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
                if each.id != board.id and each.dataset != board.dataset
            ]
            nearness = _nearness(of_asked[number], of_boards[others])
            name_sets: list[frozenset[str]] = [getattr(boards[place], field) for place in others]
            rankings = {
                ASSAY: _rank(
                    {n: Evidence(u) for n, u in _uses_by_name(nearness, name_sets).items()}
                ),
                MOST_USED: _commonest(name_sets),
            }
            questions.append(Question(board.id, getattr(board, field), rankings))
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
