"""Field coverage: the labelled pairs of an idea and a snapshot, the fitted rule and its errors.

A pair is `covered` or not by where both come from; `LABELS` says so for each set of ideas and each
of three snapshots: papers of computing conferences, articles about crops, the bundled sample. The
publication of an idea is set apart, as in an evaluation. Ideas are split in halves by a hash of
their name: the rule is fitted on one, with both classes weighing alike, and so is the threshold; errors
are counted on the other. A threshold that refused one in twenty of the fitted half refused more of
the other (4 of 55 covered pairs), so that it was lowered to one in fifty. The other half was seen
by then: the errors are counted on a third, fresh part, too. That has no plans, all of which the
first two parts hold.

Run as `python -m tests.benchmarks field_coverage`; needs `../shared/data`. Indexes and vectors are
kept in the folder given with --home.
"""

import argparse
import asyncio
import gzip
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flows.works.evaluate.request import bundled
from schemas.idea import Idea
from schemas.identifiers import IdeaId, content_hash
from schemas.settings import Settings
from tasks.embeddings.sentence_embedder import SentenceEmbedder, bundled_settings
from tasks.ideas.read import read_ideas
from tasks.literature.field_coverage import (
    FieldSignals,
    judged,
    search_query,
    signals_of,
)
from tasks.literature.snapshot.build import build_snapshot, index_for_parquet
from tasks.literature.snapshot_search import SnapshotSearch
from tests.benchmarks._assay import DATA, IDEAS, PAPERS
from warehouse.stores.keyed_store import KeyedStore

COMPUTING, CROPS, SAMPLE = "computing", "crops", "bundled sample"
LABELS: dict[str, dict[str, bool]] = {
    # Plans of ScholarIdeas by discipline. Ecology and biochemistry come near to articles about
    # crops, and the bundled sample has some of all four fields: those pairs have no label.
    "plans: ai": {COMPUTING: True, CROPS: False},
    "plans: neuro": {COMPUTING: False, CROPS: False},
    "plans: biochem": {COMPUTING: False},
    "plans: eco": {COMPUTING: False},
    # Title and abstract of submissions to machine learning conferences; ideas about language tools.
    "submissions: machine learning": {COMPUTING: True, CROPS: False},
    "ideas: language tools": {COMPUTING: True, CROPS: False},
    # Title and abstract of articles, those of the crops set among its other articles.
    "articles: crops": {COMPUTING: False, CROPS: True, SAMPLE: False},
    "articles: physics, mathematics": {COMPUTING: False, CROPS: False, SAMPLE: False},
    "articles: materials, drugs, business": {COMPUTING: False, CROPS: False, SAMPLE: False},
    "bundled ideas": {CROPS: False, SAMPLE: True},
}
SURVEYS = ("Nanopharm", "Perovskite", "Green Warehousing", "Resilience")
SEED, TAKEN, FRESH = 7, 24, 24
SEARCHED = 25
REFUSED = 0.02


@dataclass(frozen=True)
class Pair:
    """An idea and a snapshot, whether it is covered by label, and what was measured."""

    group: str
    literature: str
    idea: str
    covered: bool
    signals: FieldSignals
    fresh: bool = False

    @property
    def part(self) -> str:
        if self.fresh:
            return "Fresh"
        even = int(content_hash(self.group, self.idea, length=8), 16) % 2 == 0
        return "Fitted on" if even else "Held out, and seen before the threshold was lowered"

    @property
    def values(self) -> tuple[float, float, float]:
        return 1.0, self.signals.similarity_0_to_1, self.signals.shared_0_to_1


def fresh_ideas() -> Iterator[tuple[str, Idea]]:
    """Ideas of the same sets that were not among the first."""
    submissions = [*_rows(DATA / "innoeval_points.jsonl")]
    for row in random.Random(SEED).sample(submissions, TAKEN + FRESH)[TAKEN:]:
        yield "submissions: machine learning", _article(row["paper_id"], row)
    tools = enumerate(_rows(DATA / "novelty_checker.jsonl"))
    for number, row in islice(tools, TAKEN, None):
        yield "ideas: language tools", _tool(number, row)
    for row in random.Random(SEED).sample(_long_crops(), TAKEN + FRESH)[TAKEN:]:
        yield "articles: crops", _article(row["id"], row)


def ideas_of(home: Path) -> Iterator[tuple[str, Idea]]:
    """Every idea of the first two parts, with its set."""
    yield from _plans(home)
    submissions = [*_rows(DATA / "innoeval_points.jsonl")]
    for row in random.Random(SEED).sample(submissions, TAKEN):
        yield "submissions: machine learning", _article(row["paper_id"], row)
    for number, row in enumerate(islice(_rows(DATA / "novelty_checker.jsonl"), TAKEN)):
        yield "ideas: language tools", _tool(number, row)
    for row in random.Random(SEED).sample(_long_crops(), TAKEN):
        yield "articles: crops", _article(row["id"], row)
    for row in _rows(DATA / "fulltext_contexts_unarxive" / "papers.jsonl.gz"):
        if row["discipline"] in ("Physics", "Mathematics") and row["abstract"]:
            yield "articles: physics, mathematics", _article(row["id"], row)
    for row in _rows(DATA / "survey_core_papers_litqeval" / "surveys.jsonl"):
        if row["topic"].startswith(SURVEYS):
            known = [paper for paper in row["core_papers"] if paper.get("abstract")]
            for paper in random.Random(SEED).sample(known, min(6, len(known))):
                yield "articles: materials, drugs, business", _article(paper["id"], paper)
    for idea in read_ideas(bundled("ideas.jsonl"), default_cutoff=None).ideas:
        yield "bundled ideas", idea


def _plans(home: Path) -> Iterator[tuple[str, Idea]]:
    rows = {row["idea_id"]: row for row in _rows(IDEAS)}
    file = home / "plans.jsonl"
    kept = ("idea_id", "text", "cutoff_date")
    file.write_text(
        "".join(f"{json.dumps({name: row[name] for name in kept})}\n" for row in rows.values())
    )
    for idea in read_ideas(file, default_cutoff=None).ideas:
        yield f"plans: {rows[idea.idea_id]['discipline']}", idea


def _article(name: str, row: dict[str, Any]) -> Idea:
    text = f"{row['title']}\n\n{row['abstract']}"
    return Idea(idea_id=IdeaId(str(name)), title=row["title"], text=text)


def _tool(number: int, row: dict[str, Any]) -> Idea:
    return Idea(idea_id=IdeaId(f"tool{number}"), title=row["idea"][:80], text=row["idea"])


def _long_crops() -> list[dict[str, Any]]:
    return [row for row in _crops() if len(row["abstract"] or "") > 400]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as stream:
        yield from map(json.loads, stream)


def _crops() -> list[dict[str, Any]]:
    return [*_rows(DATA / "crops_citation_graph" / "papers.jsonl.gz")]


def indexes(home: Path) -> dict[str, Path]:
    """Folders of the three snapshots, built where they are not there yet."""
    crops = home / "crops.jsonl"
    if not crops.exists():
        shown = ("id", "title", "abstract", "year", "doi")
        crops.write_text(
            "".join(
                json.dumps(
                    {name: row[name] for name in shown}
                    | {"authors": [], "url": None, "venue": row["journal"]}
                )
                + "\n"
                for row in _crops()
            )
        )
    build_snapshot(crops, home / "crops")
    return {
        COMPUTING: index_for_parquet(PAPERS, home),
        CROPS: home / "crops",
        SAMPLE: index_for_parquet(bundled("papers.jsonl"), home),
    }


async def measured(home: Path) -> list[Pair]:
    settings = Settings()
    embedder = SentenceEmbedder(
        bundled_settings(settings.embeddings), KeyedStore(home / "embeddings.sqlite")
    )
    first, fresh = [*ideas_of(home)], [*fresh_ideas()]
    seen = {(group, idea.idea_id) for group, idea in first}
    assert seen.isdisjoint((group, idea.idea_id) for group, idea in fresh)
    pairs = []
    for name, folder in indexes(home).items():
        search = SnapshotSearch(folder, settings)
        for place, (group, idea) in enumerate([*first, *fresh]):
            if name in LABELS[group]:
                answer = await search.search_papers(search_query(idea), SEARCHED, idea.cutoff_date)
                signals = await signals_of(idea, answer.items, embedder)
                pairs.append(
                    Pair(
                        group,
                        name,
                        idea.idea_id,
                        LABELS[group][name],
                        signals,
                        fresh=place >= len(first),
                    )
                )
        await search.close()
        print(f"measured on {name}: {sum(each.literature == name for each in pairs)}", flush=True)
    return pairs


def fitted(pairs: Sequence[Pair]) -> NDArray[np.float64]:
    """Intercept and weights: logistic regression, both classes alike, with a little shrinkage."""
    values = np.array([pair.values for pair in pairs])
    labels = np.array([float(pair.covered) for pair in pairs])
    share = labels.mean()
    weights = np.where(labels == 1, 0.5 / share, 0.5 / (1 - share)) / len(pairs)
    ridge = np.diag([0.0, 1e-4, 1e-4])
    theta = np.zeros(3)
    for _ in range(100):
        chance = 1 / (1 + np.exp(-values @ theta))
        slope = values.T @ (weights * (labels - chance)) - ridge @ theta
        curve = (values * (weights * chance * (1 - chance))[:, None]).T @ values + ridge
        theta += np.linalg.solve(curve, slope)
    return theta


def threshold(pairs: Sequence[Pair], theta: NDArray[np.float64]) -> float:
    """The highest that refuses at most `REFUSED` of the covered pairs."""
    chances = sorted(
        1 / (1 + np.exp(-np.dot(pair.values, theta))) for pair in pairs if pair.covered
    )
    return float(chances[int(REFUSED * len(chances))])


def print_errors(title: str, pairs: Sequence[Pair], covers: Callable[[Pair], bool]) -> None:
    """Refused pairs of the covered ones, and accepted ones of those that are not."""
    print(f"\n{title}\n\n| ideas | literature | label | pairs | wrong |\n|---|---|---|--:|--:|")
    total = {True: [0, 0], False: [0, 0]}
    for group, labels in LABELS.items():
        for literature, label in labels.items():
            those = [p for p in pairs if (p.group, p.literature) == (group, literature)]
            wrong = sum(covers(pair) is not label for pair in those)
            total[label][0] += len(those)
            total[label][1] += wrong
            word = "covered" if label else "not covered"
            if those:
                print(f"| {group} | {literature} | {word} | {len(those)} | {wrong} |")
    for label, word in ((True, "covered"), (False, "not covered")):
        count, wrong = total[label]
        print(f"| all | | {word} | {count} | {wrong} ({wrong / max(count, 1):.1%}) |")


def main() -> None:
    if not PAPERS.exists():
        print(f"skipped: {DATA} is not here")
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", type=Path, default=Settings().home / "field-coverage")
    home: Path = parser.parse_args().home
    home.mkdir(parents=True, exist_ok=True)
    pairs = asyncio.run(measured(home))
    fitting = [pair for pair in pairs if pair.part == "Fitted on"]
    theta = fitted(fitting)
    least = threshold(fitting, theta)
    print(f"fitted: intercept, similarity, shared {np.round(theta, 2)}; threshold {least:.3f}")
    for part in dict.fromkeys(pair.part for pair in pairs):
        print_errors(
            f"{part}, with the rule of the product",
            [pair for pair in pairs if pair.part == part],
            lambda pair: judged(pair.signals).field_covered,
        )
    refused = [pair for pair in pairs if pair.covered and not judged(pair.signals).field_covered]
    for pair in refused:
        print(f"refused: {pair.group} {pair.idea} on {pair.literature} ({pair.part})")
