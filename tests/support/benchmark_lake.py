"""A benchmark in a lake: two tasks with right answers, one with probabilities, and a published
figure beside it.
"""

from typing import Any

from schemas.base import replace
from schemas.identifiers import RunId
from schemas.judgement.benchmark import BenchmarkHead, BenchmarkItem, BenchmarkRun, BenchmarkScore
from schemas.reasons import Reason
from tests.support.evaluations import START, make_provenance
from tests.support.lakes import publish_units
from tests.support.report_lake import HOSTILE_TEXT
from warehouse.kinds.benchmarks import BENCHMARKS
from warehouse.warehouse import Warehouse

BENCHMARK, SUITE = RunId("benchmark-a"), "decisions"
MADE_BY = ("engine", "model_answered", "profile", "seed", "data_sha256", "prompt_sha256")


def publish_benchmark_lake(warehouse: Warehouse) -> None:
    answers = (("accept", "accept"), ("accept", "reject"), ("reject", "reject"), ("reject", None))
    decisions = [
        _item(f"i{n}", "decision", gold, answer, None) for n, (gold, answer) in enumerate(answers)
    ]
    pairs = [_item(f"q{n}", "pair", f"paper-{n}", f"paper-{n + n % 2}", None) for n in range(6)]
    said = [
        _item(f"p{n}", "holds", "yes" if n > 4 else "no", str(n / 10), n / 10) for n in range(10)
    ]
    scores = (
        _score("assay", 0.67, lower=0.4, upper=0.9, interval_method="bootstrap", unscored_count=1),
        _score(HOSTILE_TEXT, 0.5, published_source="A paper, table 1"),
        _score("baseline", None, undefined_reason="nothing was answered"),
    )
    run = make_benchmark("decisions", scores=scores, items=(*decisions, *pairs, *said))
    publish_units(warehouse, BENCHMARKS, make_benchmark_head(), run)


def make_benchmark(suite: str, **changes: Any) -> BenchmarkRun:
    """One suite as it lands."""
    made = {name: getattr(make_benchmark_head(), name) for name in MADE_BY}
    return BenchmarkRun(**made | {"suite": suite, "created_at": START, "scores": ()} | changes)


def make_benchmark_head(**changes: Any) -> BenchmarkHead:
    """The head of a benchmark of suite `decisions`."""
    head = BenchmarkHead(
        run_id=BENCHMARK,
        suite="decisions",
        engine="litellm:small",
        profile="economy",
        data_sha256="ab" * 32,
        prompt_sha256="cd" * 32,
        seed=7,
        assay_version="0.1.0",
        started_at=START,
        finished_at=START,
    )
    return replace(head, **changes)


def _score(system: str, value: float | None, **more: object) -> BenchmarkScore:
    return BenchmarkScore(
        suite="decisions", metric="accuracy", system=system, value=value, count=3, **more
    )


def _item(
    item_id: str, task: str, gold: str, answer: str | None, value: float | None
) -> BenchmarkItem:
    return BenchmarkItem(
        item_id=item_id,
        task=task,
        system="assay",
        gold=gold,
        answer=answer,
        value=value,
        unscored_reason=None if answer else Reason.REFUSED,
        unscored_detail="" if answer else "it would not",
        provenance=make_provenance(task),
    )
