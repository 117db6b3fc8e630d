"""Suites `dataset_recommendation` and `leaderboards`: does `assay recommend` name what was used?

Both ask no engine. What works near an idea used is known from other projects, or other
leaderboards, and ranked as the command ranks it (`tasks/recommendation/recommend.py`).
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.identifiers import PaperId, content_hash
from schemas.judgement.benchmark import ASSAY, BenchmarkItem, BenchmarkScore
from schemas.literature.paper import Paper
from tasks.benchmarks.answer_sets import (
    DATA_SETS_FILE,
    LEADERBOARDS_FILE,
    QUERIES_FILE,
    Leaderboard,
    Project,
    read_descriptions,
    read_leaderboards,
    read_projects,
)
from tasks.benchmarks.suite import Suite
from tasks.benchmarks.trial import Trial
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.embeddings.similarity import SharedWords
from tasks.metrics.estimate import benchmark_score
from tasks.metrics.means import mean
from tasks.metrics.retrieval import average_precision, precision_at, recall_at, reciprocal_rank
from tasks.recommendation.recommend import Evidence, in_order
from warehouse.stores.keyed_store import KeyedStore

DATA_SETS, LEADERBOARDS = "dataset_recommendation", "leaderboards"
DESCRIPTION_ALONE, WORKS_ALONE, SHARED_WORDS, MOST_USED = (
    "descriptions_alone",
    "works_alone",
    "shared_words",
    "most_used",
)
DEPTH = 5
_DESCRIPTION_CHARACTERS = 1_000
_PLAINLY = 1.0

Vectors = NDArray[np.float32]
METRICS: dict[str, Callable[[Sequence[str], frozenset[str]], float]] = {
    "precision_at_5": lambda ranked, right: precision_at(ranked, right, DEPTH),
    "recall_at_5": lambda ranked, right: recall_at(ranked, right, DEPTH),
    "mean_average_precision": average_precision,
    "mean_reciprocal_rank": reciprocal_rank,
}


@dataclass(frozen=True, slots=True)
class Question:
    """One idea, what was right for it, and what each system said."""

    item_id: str
    right: frozenset[str]
    ranked: Mapping[str, Sequence[str]]


def reported(project: Project) -> bool:
    """Whether figures are given on it: half of all, by identifier. The others are the known works,
    and the weights of the ranking were chosen on them.
    """
    return int(content_hash(project.project_id, length=8), 16) % 2 == 1


def run_data_sets(trial: Trial) -> Sequence[BenchmarkScore]:
    """Precision and recall at 5, MAP and MRR of data sets for descriptions of projects. Known works
    are those of the other half, none of a later year.
    """
    projects = read_projects(trial.file(QUERIES_FILE))
    described = read_descriptions(trial.file(DATA_SETS_FILE))
    asked = trial.draw([each for each in projects if reported(each)])
    works = [each for each in projects if not reported(each) and each.data_sets]
    texts = [f"{name}. {text}"[:_DESCRIPTION_CHARACTERS] for name, text in described.items()]
    of_ideas, of_works, of_sets = _embedded(
        trial, [each.query for each in asked], [_about(each) for each in works], texts
    )
    words = SharedWords(
        [Paper(paper_id=PaperId(name), title=name, abstract=described[name]) for name in described]
    )
    questions = []
    for number, project in enumerate(asked):
        earlier = [place for place, each in enumerate(works) if each.year <= project.year]
        near = _nearness(of_ideas[number], of_works[earlier])
        alike = dict(zip(described, _nearness(of_ideas[number], of_sets), strict=True))
        shared = {str(name): value for name, value in words.with_text(project.query).items()}
        used = _used(near, [works[place].data_sets for place in earlier])
        ranked = {
            ASSAY: _ranked({n: Evidence(used.get(n, ()), alike[n], shared[n]) for n in described}),
            DESCRIPTION_ALONE: _ranked({n: Evidence((), alike[n], shared[n]) for n in described}),
            WORKS_ALONE: _ranked({n: Evidence(uses) for n, uses in used.items()}),
            SHARED_WORDS: _ranked({n: Evidence((), None, shared[n]) for n in described}),
            MOST_USED: _commonest([works[place].data_sets for place in earlier]),
        }
        questions.append(Question(project.project_id, project.data_sets, ranked))
    return _scored(trial, DATA_SETS, "data_set", questions)


def run_leaderboards(trial: Trial) -> Sequence[BenchmarkScore]:
    """The same of baselines and metrics for a task on a data set, from all leaderboards of other
    data sets.
    """
    boards = read_leaderboards(trial.file(LEADERBOARDS_FILE))
    asked = trial.draw(boards)
    of_asked, of_boards = _embedded(
        trial, [each.text for each in asked], [each.text for each in boards]
    )
    scores: list[BenchmarkScore] = []
    for kind, named in (("baseline", _papers), ("metric", _metrics)):
        questions = []
        for number, board in enumerate(asked):
            others = [place for place, each in enumerate(boards) if _is_other(each, board)]
            near = _nearness(of_asked[number], of_boards[others])
            listed = [named(boards[place]) for place in others]
            ranked = {
                ASSAY: _ranked({n: Evidence(u) for n, u in _used(near, listed).items()}),
                MOST_USED: _commonest(listed),
            }
            questions.append(Question(board.leaderboard_id, named(board), ranked))
        scores += _scored(trial, LEADERBOARDS, kind, questions)
    return scores


def _is_other(one: Leaderboard, other: Leaderboard) -> bool:
    return one.leaderboard_id != other.leaderboard_id and one.data_set != other.data_set


def _papers(board: Leaderboard) -> frozenset[str]:
    return board.papers


def _metrics(board: Leaderboard) -> frozenset[str]:
    return board.metrics


def _about(project: Project) -> str:
    """As a work that is known: its abstract."""
    return project.abstract or project.query


def _embedded(trial: Trial, *listed: Sequence[str]) -> list[Vectors]:
    """Unit vectors of every list of texts."""
    store = KeyedStore(trial.warehouse.cache / "embeddings.sqlite")
    embedder = SentenceEmbedder(trial.settings.embeddings, store)

    async def embed() -> list[Vectors]:
        return [await embedder.embed(list(texts)) for texts in listed]

    return asyncio.run(embed())


def _nearness(idea: Vectors, others: Vectors) -> list[float]:
    if not len(others):
        return []
    return [round(float(value), 4) for value in np.clip(others @ idea, 0.0, 1.0)]


def _used(
    near: Sequence[float], listed: Sequence[frozenset[str]]
) -> dict[str, list[tuple[float, float]]]:
    """By resource, the nearness of the works that used it."""
    used: dict[str, list[tuple[float, float]]] = {}
    for nearness, names in zip(near, listed, strict=True):
        for name in sorted(names):
            used.setdefault(name, []).append((nearness, _PLAINLY))
    return used


def _ranked(evidence: Mapping[str, Evidence]) -> list[str]:
    return [name for name, _ in in_order(evidence)]


def _commonest(listed: Sequence[frozenset[str]]) -> list[str]:
    counted = Counter(name for names in listed for name in names)
    return sorted(counted, key=lambda name: (-counted[name], name))


def _scored(
    trial: Trial, suite: str, kind: str, questions: Sequence[Question]
) -> list[BenchmarkScore]:
    """A question without a right answer in the data is unscored, and never a zero."""
    systems = list(dict.fromkeys(name for each in questions for name in each.ranked))
    trial.record(_items(kind, systems, questions))
    return [
        benchmark_score(
            mean([_value(metric, each, system) for each in questions], trial.seed),
            suite,
            metric,
            system,
            f"kind={kind}",
        )
        for system in systems
        for metric in METRICS
    ]


def _value(metric: str, question: Question, system: str) -> float | None:
    return METRICS[metric](question.ranked[system], question.right) if question.right else None


def _items(
    kind: str, systems: Sequence[str], questions: Sequence[Question]
) -> Iterator[BenchmarkItem]:
    for system in systems:
        for each in questions:
            yield BenchmarkItem(
                item_id=each.item_id,
                task=kind,
                system=system,
                gold="; ".join(sorted(each.right)) or None,
                answer="; ".join(each.ranked[system][:DEPTH]),
                value=_value("recall_at_5", each, system),
            )


SUITE_OF_DATA_SETS = Suite(
    DATA_SETS,
    "Are the data sets named that a project went on to use?",
    (QUERIES_FILE, DATA_SETS_FILE),
    run_data_sets,
)
SUITE_OF_LEADERBOARDS = Suite(
    LEADERBOARDS,
    "Are the baselines and metrics named that a leaderboard compares?",
    (LEADERBOARDS_FILE,),
    run_leaderboards,
)
