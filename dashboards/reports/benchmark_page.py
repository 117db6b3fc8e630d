"""What the report on benchmarks shows: measured scores with their intervals, and published figures
beside them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from dashboards.reports.metric_meanings import MetricMeaning, meanings_of
from schemas.benchmark import BenchmarkScore
from schemas.choices import EngineChoice
from warehouse.benchmarks.queries import BenchmarkHead, benchmark, benchmark_scores_of
from warehouse.queries import Queries

PUBLISHED = "published"
MEASURED = "measured"
EXTRACTIVE = EngineChoice().text


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One row of a table.

    `number` is that of the benchmark on the page, 0 for a published figure.
    """

    metric: str
    part: str
    system: str
    number: int
    score: BenchmarkScore
    origin: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What benchmark `first` of the page has more than benchmark `second`; the score's `slice` is
    the task, paired over its items.
    """

    first: int
    second: int
    score: BenchmarkScore


@dataclass(frozen=True, slots=True)
class SuitePart:
    """One suite: its benchmarks' scores by metric and part of the data, published figures last in
    each.
    """

    suite: str
    lines: tuple[ScoreLine, ...]

    @property
    def measured(self) -> tuple[ScoreLine, ...]:
        return tuple(line for line in self.lines if line.origin == MEASURED)

    @property
    def meanings(self) -> tuple[MetricMeaning, ...]:
        return meanings_of(line.metric for line in self.lines)


@dataclass(frozen=True, slots=True)
class BenchmarkPage:
    """Everything `benchmark.md.jinja` prints; benchmarks are numbered from 1 in the order asked
    for.
    """

    heads: tuple[BenchmarkHead, ...]
    suites: tuple[SuitePart, ...]
    differences: tuple[Difference, ...] = ()

    @property
    def training_notes(self) -> tuple[str, ...]:
        """What to say of judges that may have read the right answers while they were trained."""
        notes = (_training_note(head) for head in self.heads)
        return tuple(dict.fromkeys(note for note in notes if note))

    @property
    def several(self) -> bool:
        return len(self.heads) > 1


def _training_note(head: BenchmarkHead) -> str:
    if head.engine == EXTRACTIVE or (not head.llm_calls and not head.evaluated_run_ids):
        return ""
    until, public = head.judge_training_until, head.labels_public_since
    if until is None:
        return (
            f"How far the training data of {head.engine} reach is not known: it may have read the"
            f" right answers of suite {head.suite}. State it with --training-until."
        )
    if public is None:
        return (
            f"The training data of {head.engine} reach to {until.isoformat()}; from when the right"
            f" answers of suite {head.suite} could be read is not known."
        )
    if until < public:
        return ""
    return (
        f"The training data of {head.engine} reach to {until.isoformat()}, and right answers of"
        f" suite {head.suite} could be read from {public.isoformat()} on: it may know them, so that"
        " its figures say little about what it can judge."
    )


def benchmark_page(
    queries: Queries, run_ids: Sequence[str], differences: Sequence[Difference] = ()
) -> BenchmarkPage:
    """The page of one benchmark, or of several held against each other.

    Raises:
        ConfigurationError: one of them is not published.
    """
    heads = tuple(benchmark(queries, run_id) for run_id in run_ids)
    scores = benchmark_scores_of(queries, [head.run_id for head in heads])
    names = tuple(dict.fromkeys(head.suite for head in heads))
    return BenchmarkPage(
        heads,
        tuple(SuitePart(name, _lines(name, heads, scores)) for name in names),
        tuple(differences),
    )


def _lines(
    suite: str, heads: Sequence[BenchmarkHead], scores: dict[str, tuple[BenchmarkScore, ...]]
) -> tuple[ScoreLine, ...]:
    """Measured parts in the order of the first benchmark that has them; published figures of parts
    nobody measured come last.
    """
    of_part: dict[tuple[str, str], list[ScoreLine]] = {}
    published: dict[tuple[str, str, str, str], ScoreLine] = {}
    for number, head in enumerate(heads, start=1):
        for score in scores[head.run_id] if head.suite == suite else ():
            if score.published:
                line = ScoreLine(score.metric, score.slice, score.system, 0, score, PUBLISHED)
                published[(score.metric, score.slice, score.system, score.published_source)] = line
            else:
                line = ScoreLine(score.metric, score.slice, score.system, number, score, MEASURED)
                of_part.setdefault((score.metric, score.slice), []).append(line)
    for line in published.values():
        of_part.setdefault((line.metric, line.part), []).append(line)
    return tuple(line for lines in of_part.values() for line in lines)
