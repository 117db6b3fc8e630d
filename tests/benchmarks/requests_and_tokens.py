"""What one idea costs: requests at the upstream side of the gateway, model calls and tokens, per
profile.

Real ideas, cold caches, soundness and contribution, through a gateway in live mode as a child
process. Behind it the 87,106 real papers speak the Semantic Scholar API on loopback
(`_semantic_scholar` says what is generated), and a model on loopback reads them (`_reader` says how
it judges and how long its answers are). Full texts cannot be had for these papers; generated ones
(`--full-text`) have the share of papers and the length that ScholarEval's released code was
measured with: four of five papers, 2,800 words of methods and results. Every profile begins with
empty caches, and its ideas share one gateway.

The overlap says how many of the 25 papers that `faithful` compares an idea with are among those
another profile compares it with.

python -m tests.benchmarks requests_and_tokens [--ideas 20] [--full-text] [--profiles
faithful,economy]
"""

import argparse
import asyncio
import statistics
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import polars

from flows.profiles import load_profile
from schemas.failure import Answer
from schemas.literature.paper import Paper, PaperSection, SectionKind
from schemas.settings import Settings
from tasks.documents.document import AbstractLibrary
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.ideas.read import read_ideas
from tasks.literature.snapshot.build import build_snapshot
from tests.benchmarks._assay import IDEAS, PAPERS, data_is_here
from tests.benchmarks._reader import Judge, Reader, number_of, reading_server
from tests.benchmarks._semantic_scholar import SemanticScholarOverSnapshot
from tests.benchmarks._spending import Spent, spend
from warehouse.stores.keyed_store import KeyedStore

PUBLISHED = {"requests": 2_273, "calls": 684, "prompt": 2_266_285, "completion": 182_521}
LIMITS = {
    "faithful": {"requests": 250.0, "prompt": PUBLISHED["prompt"] / 2},
    "economy": {"requests": 25.0, "calls": 60.0, "prompt": 150_000.0, "completion": 25_000.0},
}
LEAST_OVERLAP = 0.8
_FULL_TEXT_WORDS = 1_400


class GeneratedFullText:
    """Methods and results for four papers of five, from the words of their abstracts; an abstract
    for every paper that has one.
    """

    async def sections(self, papers: Sequence[Paper]) -> Answer[PaperSection]:
        rows = [*(await AbstractLibrary().sections(papers)).items]
        for paper in papers:
            words = f"{paper.title}. {paper.abstract or ''}".split()
            if number_of(paper.paper_id) % 5:
                text = " ".join((words * (_FULL_TEXT_WORDS // len(words) + 1))[:_FULL_TEXT_WORDS])
                for kind in (SectionKind.METHODS, SectionKind.RESULTS):
                    rows.append(
                        PaperSection(
                            paper_id=paper.paper_id,
                            section=kind,
                            heading=kind.title(),
                            text=text,
                            text_source="grobid",
                        )
                    )
        return Answer(tuple(rows))


def main() -> None:
    options = _options()
    if not data_is_here():
        return
    ideas = read_ideas(IDEAS, default_cutoff=None).ideas[: options.ideas]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        index = options.index or folder / "index"
        build_snapshot(PAPERS, index)
        with SemanticScholarOverSnapshot(index) as upstream:
            papers = polars.read_parquet(PAPERS, columns=["title", "abstract"])
            reader = Reader(
                Judge(f"{title}\n\n{abstract or ''}" for title, abstract in papers.iter_rows())
            )
            embedder = SentenceEmbedder(
                Settings().embeddings,
                KeyedStore(options.embeddings or folder / "embeddings.sqlite"),
            )
            with reading_server(reader) as model:
                spent = [
                    asyncio.run(
                        spend(
                            load_profile(each),
                            ideas,
                            upstream,
                            model.url,
                            embedder,
                            folder / Path(each).stem,
                            GeneratedFullText() if options.full_text else None,
                        )
                    )
                    for each in options.profiles.split(",")
                ]
    report(spent, options.full_text)
    shares = [score >= 3 for step, score in reader.scores if step == "relevance"]
    print(f"the model found {sum(shares) / len(shares):.0%} of the papers it judged relevant")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="requests_and_tokens")
    parser.add_argument("--ideas", type=int, default=20)
    parser.add_argument("--full-text", action="store_true")
    parser.add_argument("--profiles", default="faithful,economy")
    parser.add_argument(
        "--index", type=Path, default=None, help="a snapshot of the papers built before"
    )
    return parser.parse_args()


def report(spent: Sequence[Spent], full_text: bool) -> None:
    """The table, and what does not fit into it."""
    print(
        f"{len(spent[0].ideas)} ideas, {'generated full texts' if full_text else 'abstracts only'};"
        " mean per idea (most of any idea)"
    )
    print(
        f"{'':>22} {'requests':>16} {'model calls':>16} {'prompt tokens':>24}"
        f" {'of them cached':>16} {'completion':>20}"
    )
    print(_line("published, measured", {name: [float(value)] for name, value in PUBLISHED.items()}))
    for each in spent:
        figures = {
            name: each.per_idea(name)
            for name in ("requests", "calls", "prompt", "cached", "completion")
        }
        print(_line(each.profile, figures))
        limits = LIMITS.get(each.profile, {})
        if limits:
            print(_line("  limit", {name: [value] for name, value in limits.items()}))
        missed = [name for name, limit in limits.items() if statistics.mean(figures[name]) > limit]
        print(
            f"{'':>22} limits: {'missed for ' + ', '.join(missed) if missed else 'kept'};"
            f" {each.seconds:.0f} s"
        )
    print()
    for each in spent:
        print(
            f"{each.profile}: {sum(each.upstream.values()) / len(each.ideas):.1f} requests at the"
            f" upstream per idea: {_shares(each)}"
        )
        steps, tokens, replies = map(each.by_step, ("calls", "prompt", "completion"))
        count = len(each.ideas)
        for step in tokens:
            print(
                f"    {step}: {steps[step] / count:.1f} calls, {tokens[step] / count:,.0f} +"
                f" {replies[step] / count:,.0f} tokens"
            )
        failures = Counter(
            one.reason
            for idea in each.ideas
            for part in (idea.soundness, idea.contribution)
            if part
            for one in part.failures
        )
        print(f"    failures: {dict(failures) or 'none'}")
    _report_overlap(spent)


def _line(name: str, figures: dict[str, list[float]]) -> str:
    cells = []
    for what, width in (
        ("requests", 16),
        ("calls", 16),
        ("prompt", 24),
        ("cached", 16),
        ("completion", 20),
    ):
        values = figures.get(what)
        mean = f"{statistics.mean(values):,.{1 if what == 'requests' else 0}f}" if values else "-"
        cells.append(
            f"{mean} ({max(values):,.0f})".rjust(width)
            if values and len(values) > 1
            else mean.rjust(width)
        )
    return f"{name:>22} {' '.join(cells)}"


def _shares(spent: Spent) -> str:
    return ", ".join(
        f"{endpoint} {count / len(spent.ideas):.1f}"
        for endpoint, count in sorted(spent.upstream.items())
    )


def _report_overlap(spent: Sequence[Spent]) -> None:
    faithful = next((each.compared() for each in spent if each.profile == "faithful"), None)
    for each in spent:
        if faithful is None or each.profile == "faithful":
            continue
        compared = each.compared()
        shares = {
            name: len(compared.get(name, set()) & papers) / len(papers)
            for name, papers in faithful.items()
            if papers
        }
        mean = statistics.mean(shares.values())
        verdict = "kept" if mean >= LEAST_OVERLAP else "missed"
        count = statistics.mean(len(papers) for papers in compared.values())
        print(
            f"{each.profile} compares {count:.0f} papers, {mean:.0%} of faithful's 25 among them"
            f" (least {min(shares.values()):.0%}); at least {LEAST_OVERLAP:.0%} wanted: {verdict}"
        )


if __name__ == "__main__":
    main()
