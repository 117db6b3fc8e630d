"""How well the baseline of `verify_citations` tells a text that carries a citing sentence from one
that does not.

The citing sentences of `../shared/data/acl_citation_contexts` whose cited span was marked by hand,
each beside its own span and beside that of another sentence: about another paper, or about the same
one. The threshold is chosen over other papers, on papers with an even number in their order, and
measured on the rest.
"""

import asyncio
import gzip
import json
import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from schemas.settings import EmbeddingSettings
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.step import BaselineTools
from tasks.judging.steps import SUPPORTED_FROM, support_of

DATA = Path(__file__).parents[3] / "shared" / "data" / "acl_citation_contexts"
Pair = tuple[str, str, str, bool]
"""The paper cited, the citing sentence, a text, whether it is the text that was marked."""


def _rows(name: str) -> Iterator[Any]:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def pairs(*, same_paper: bool, seed: int = 7) -> list[Pair]:
    """Every marked sentence twice: beside its own span, and beside one of another sentence."""
    papers = {paper["id"]: paper for paper in _rows("papers.jsonl.gz")}
    marked = []
    for row in _rows("contexts.jsonl.gz"):
        if row["annotation"].startswith("manual"):
            wanted = set(row["cited_sids"])
            sections = papers[row["cited_id"]]["sections"]
            span = [text for each in sections for sid, text in each["sentences"] if sid in wanted]
            if span:
                sentence = row["context"].replace(row["marker"] or "\0", "")
                marked.append((row["cited_id"], sentence, " ".join(span)))
    generator = random.Random(seed)
    found: list[Pair] = []
    for paper, sentence, span in marked:
        others = [
            text for cited, _, text in marked if (cited == paper) is same_paper and text != span
        ]
        if not others:
            continue
        other = generator.choice(others)
        found += [(paper, sentence, span, True), (paper, sentence, other, False)]
    return found


def accuracy(scored: list[tuple[float, bool]], threshold: float) -> float:
    return sum((score >= threshold) is own for score, own in scored) / len(scored)


def best_threshold(scored: list[tuple[float, bool]]) -> float:
    """Midway between two scores; of equally good ones the lowest."""
    values = sorted({score for score, _ in scored})
    between = [(low + high) / 2 for low, high in pairwise(values)]
    return max(between, key=lambda each: (accuracy(scored, each), -each))


async def scores(of: list[Pair], tools: BaselineTools) -> list[float]:
    return [await support_of(sentence, text, tools) for _, sentence, text, _ in of]


def main() -> None:
    if not DATA.is_dir():
        print("skipped: ../shared/data/acl_citation_contexts is not here")
        return
    found = pairs(same_paper=False)
    tools = BaselineTools(SentenceEmbedder(EmbeddingSettings(), None))
    values = asyncio.run(scores(found, tools))
    order = {paper: place for place, paper in enumerate(dict.fromkeys(pair[0] for pair in found))}
    halves: tuple[list[tuple[float, bool]], ...] = ([], [])
    for (paper, _, _, own), value in zip(found, values, strict=True):
        halves[order[paper] % 2].append((value, own))
    chosen = best_threshold(halves[0])
    print(f"{len(found) // 2} marked sentences about {len(order)} papers, each beside two texts")
    print(f"threshold chosen on one half {chosen:.3f}: accuracy {accuracy(halves[0], chosen):.3f}")
    print(f"the same on the other half: accuracy {accuracy(halves[1], chosen):.3f}")
    both = [*halves[0], *halves[1]]
    print(f"SUPPORTED_FROM {SUPPORTED_FROM}: accuracy {accuracy(both, SUPPORTED_FROM):.3f}")
    kept = sum(value >= SUPPORTED_FROM for value, own in both if own) / (len(both) / 2)
    caught = sum(value < SUPPORTED_FROM for value, own in both if not own) / (len(both) / 2)
    near = pairs(same_paper=True)
    values = asyncio.run(scores(near, tools))
    told = [(value, own) for value, (_, _, _, own) in zip(values, near, strict=True)]
    print(f"beside another span of the same paper: accuracy {accuracy(told, SUPPORTED_FROM):.3f}")
    print(f"own texts called supported {kept:.3f}, other texts called not {caught:.3f}")


if __name__ == "__main__":
    main()
