"""Which texts to embed, and how much of each: processor time against recall of labelled papers.

What is chosen for judging is the best 70 of some 400 found papers, by the fused ranks of embedding
and shared words (`tasks/embeddings/similarity.py`). Labels: papers that a paper of IEEE VIS cites,
among the 400 earlier ones nearest to its title by words and all it cites; the core papers that
surveys name, among the hits of their search; the answers of literature questions, among the 400
nearest to the question by words in the whole literature. A row embeds `times` as many papers as are
chosen, sieved by shared words with the idea, by so many words of each; the idea is read whole.

Run as `python tests/benchmarks/embedding_sieve.py [--ideas 40]`; needs `../shared/data`.
"""

import argparse
import gzip
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars

from schemas.identifiers import PaperId
from schemas.literature.paper import Paper
from tasks.embeddings import local_model
from tasks.embeddings.similarity import (
    SharedWords,
    fused,
    idea_passages,
    most_words_shared,
    paper_text,
)
from tasks.text.words import shorten_words
from tests.benchmarks._assay import DATA, PAPERS

CHOSEN, FOUND = 70, 400
WORDS = (None, 60, 45, 30)
"""None: the 128 tokens that the encoder reads."""
TIMES = (None, 3.0, 2.0, 1.5)


@dataclass(frozen=True)
class Case:
    """One idea or question, what was found for it, and which of it is right."""

    idea: str
    papers: tuple[Paper, ...]
    right: frozenset[PaperId]


def paper(paper_id: str, title: str, abstract: str | None, **more: object) -> Paper:
    return Paper(paper_id=PaperId(paper_id), title=title, abstract=abstract, **more)


def nearest_by_words(text: str, words: SharedWords, known: dict[str, Paper]) -> list[Paper]:
    worth = words.with_text(text)
    best = sorted(worth, key=lambda name: (-worth[name], name))[:FOUND]
    return [known[name] for name in best]


def of_visualization(count: int) -> Iterator[Case]:
    with gzip.open(DATA / "vis_citation_graph" / "papers.jsonl.gz", "rt") as stream:
        rows = [row for row in map(json.loads, stream) if row["abstract"]]
    by_id = {row["id"]: row for row in rows}
    citing = [row for row in rows if sum(one in by_id for one in row["references"]) >= 8]
    for row in random.Random(1).sample(citing, min(count, len(citing))):
        earlier = {
            one["id"]: paper(one["id"], one["title"], one["abstract"])
            for one in rows
            if one["year"] < row["year"]
        }
        right = frozenset(one for one in row["references"] if one in earlier)
        found = nearest_by_words(row["title"], SharedWords([*earlier.values()]), earlier)
        pool = {one.paper_id: one for one in found} | {one: earlier[one] for one in right}
        if right:
            yield Case(f"{row['title']}\n\n{row['abstract']}", tuple(pool.values()), right)


def of_surveys() -> Iterator[Case]:
    topics: dict[str, list[dict[str, str]]] = {}
    with gzip.open(DATA / "survey_core_papers_litqeval" / "candidates.jsonl.gz", "rt") as stream:
        for row in map(json.loads, stream):
            if row["abstract"]:
                topics.setdefault(row["topic"], []).append(row)
    for topic, rows in sorted(topics.items()):
        random.Random(1).shuffle(rows)
        rows.sort(key=lambda row: not row["core"])
        pool = rows[:FOUND]
        right = frozenset(PaperId(row["paper_id"]) for row in pool if row["core"])
        papers = (paper(row["paper_id"], row["title"], row["abstract"]) for row in pool)
        if right:
            yield Case(topic, tuple({one.paper_id: one for one in papers}.values()), right)


def of_questions(count: int) -> Iterator[Case]:
    rows = polars.read_parquet(PAPERS, columns=["title", "abstract"]).drop_nulls().unique("title")
    rows = rows.sort("title")
    known = {
        f"{number}": paper(f"{number}", title, abstract)
        for number, (title, abstract) in enumerate(rows.iter_rows())
    }
    named = {one.title.lower().strip(): name for name, one in known.items()}
    words = SharedWords([*known.values()])
    path = DATA / "paper_search_queries" / "queries.jsonl"
    asked = [json.loads(line) for line in path.read_text().splitlines()]
    random.Random(1).shuffle(asked)
    for row in asked:
        titles = (answer["title"].lower().strip() for answer in row["answers"])
        right = frozenset(PaperId(named[title]) for title in titles if title in named)
        if right and count:
            count -= 1
            pool = {one.paper_id: one for one in nearest_by_words(row["query"], words, known)}
            pool |= {one: known[one] for one in right}
            yield Case(row["query"], tuple(pool.values()), right)


class Vectors:
    """Texts embedded once each by so many words, with the processor time that took."""

    def __init__(self, words: int | None) -> None:
        self._words = words
        self._model = local_model.load(local_model.BUNDLED, 128)
        self._known: dict[str, np.ndarray] = {}
        self.cpu_seconds = 0.0

    @property
    def cpu_seconds_per_text(self) -> float:
        return self.cpu_seconds / max(len(self._known), 1)

    def of(self, texts: Sequence[str]) -> np.ndarray:
        read = [shorten_words(text, self._words)[0] if self._words else text for text in texts]
        fresh = [text for text in dict.fromkeys(read) if text not in self._known]
        if fresh:
            started = time.process_time()
            self._known.update(zip(fresh, self._model.encode(fresh, 16), strict=True))
            self.cpu_seconds += time.process_time() - started
        return np.vstack([self._known[text] for text in read])


def chosen(
    case: Case, vectors: Vectors, whole: Vectors, times: float | None
) -> tuple[set[str], int]:
    """The papers that would be judged, and how many texts were embedded."""
    papers = list(case.papers)
    if times is not None:
        papers = most_words_shared(case.idea, papers, round(times * CHOSEN))
    texts = [paper_text(one.title, one.abstract) for one in papers]
    centre = whole.of(idea_passages(case.idea)).mean(axis=0)
    cosines = vectors.of(texts) @ centre
    near = {one.paper_id: float(cosine) for one, cosine in zip(papers, cosines, strict=True)}
    worth = fused([near, SharedWords(papers).with_text(case.idea)])
    best = sorted(worth, key=lambda name: (-worth[name], name))[:CHOSEN]
    return set(best), len(papers)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ideas", type=int, default=40)
    options = parser.parse_args()
    sets = {
        "papers cited (VIS)": [*of_visualization(options.ideas)],
        "core of surveys": [*of_surveys()],
        "answers to questions": [*of_questions(options.ideas)],
    }
    found = {label: sum(len(case.papers) for case in cases) for label, cases in sets.items()}
    print({label: (len(cases), found[label]) for label, cases in sets.items()})
    by_words = {words: Vectors(words) for words in WORDS}
    whole = Vectors(None)
    first: dict[str, list[set[str]]] = {}
    print(f"{'words':>6} {'times':>5} {'texts':>6} {'CPU s':>6}", *sets, "same 70", sep="  ")
    for words, vectors in by_words.items():
        for times in TIMES:
            recalls, same, embedded, count = [], [], 0, 0
            for label, cases in sets.items():
                picked = [chosen(case, vectors, whole, times) for case in cases]
                first.setdefault(label, [papers for papers, _ in picked])
                recalls.append(
                    np.mean(
                        [
                            len(papers & case.right) / len(case.right)
                            for (papers, _), case in zip(picked, cases, strict=True)
                        ]
                    )
                )
                same += [
                    len(papers & before) / CHOSEN
                    for (papers, _), before in zip(picked, first[label], strict=True)
                ]
                embedded += sum(size for _, size in picked)
                count += len(cases)
            texts = embedded / count
            print(
                f"{words or 'all':>6} {times or 'all':>5} {texts:6.0f}"
                f" {texts * vectors.cpu_seconds_per_text:6.2f}",
                *(f"{recall:.3f}" for recall in recalls),
                f"{np.mean(same):.2f}",
                sep="  ",
            )


if __name__ == "__main__":
    main()
