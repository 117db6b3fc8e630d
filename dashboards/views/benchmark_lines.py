"""What the report on benchmarks shows: measured scores with their intervals, and published figures
beside them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from dashboards.render import figures
from dashboards.views.metric_meanings import MetricMeaning, meaning_of, meanings_of
from schemas.choices import EngineChoice
from schemas.identifiers import RunId
from schemas.judgement.benchmark import ASSAY, BenchmarkHead, BenchmarkRun, BenchmarkScore

PUBLISHED = "published"
MEASURED = "measured"
EXTRACTIVE = EngineChoice().text
WHOLE = "all"


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


def _better(metric: str) -> str:
    """`higher`, `lower`, or empty where the value only describes."""
    meaning = meaning_of(metric)
    return meaning.better if meaning is not None else ""


def _told(line: ScoreLine, *, several: bool = False) -> str:
    """One score in words: `macro f1 of assay 0.67 (95 % from 0.4 to 0.9), over 3 items`.

    With `several` benchmarks on the page its number is named.
    """
    score = line.score
    number = f" ({line.number})" if several else ""
    what = f"{line.metric.replace('_', ' ')} of {line.system}{number}"
    if line.part != WHOLE:
        what += f", {line.part}"
    if score.value is None:
        return f"{what}: undefined, {score.undefined_reason}."
    value = f"{what} {figures.measure(score.value)}"
    if score.lower is not None and score.upper is not None:
        value += f" (95 % from {figures.measure(score.lower)} to {figures.measure(score.upper)})"
    if line.origin == PUBLISHED:
        return f"{value}, as published: other models, splits and judges."
    items = figures.counted(score.count, "item")
    return f"{value}, over {items}, {score.unscored_count:,} unscored."


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
    def headline(self) -> tuple[ScoreLine, ...]:
        """The lines of the first metric measured of which more or less is better, over the whole
        data where that was measured.
        """
        led = next(
            (line for line in self.measured if _better(line.metric)),
            next(iter(self.measured), None),
        )
        if led is None:
            return ()
        of_metric = [line for line in self.lines if line.metric == led.metric]
        part = WHOLE if any(line.part == WHOLE for line in of_metric) else led.part
        return tuple(line for line in of_metric if line.part == part)

    @property
    def meaning(self) -> MetricMeaning | None:
        """What the headline's metric says; None: nothing was measured, or it has none."""
        return meaning_of(self.headline[0].metric) if self.headline else None

    @property
    def answer(self) -> str:
        """What was found, in a sentence or two."""
        lines = self.headline
        measured = [line for line in lines if line.origin == MEASURED]
        own = [line for line in measured if line.system == ASSAY] or measured[:1]
        if not own:
            return f"{self.suite}: nothing was measured."
        several = len({line.number for line in own}) > 1
        told = [_told(line, several=several) for line in own]
        others = [line for line in lines if line not in own and line.score.value is not None]
        if others:
            sign = -1 if _better(own[0].metric) == "lower" else 1
            best = max(others, key=lambda line: sign * (line.score.value or 0.0))
            told.append(f"The best of {figures.counted(len(others), 'other')}: {_told(best)}")
        return " ".join(told)

    @property
    def meanings(self) -> tuple[MetricMeaning, ...]:
        return meanings_of(line.metric for line in self.lines)


class ScoreRow(BenchmarkScore):
    """A score as `--json` prints it."""

    benchmark: RunId | None = Field(description="Its benchmark; None: a published figure.")


def training_note(head: BenchmarkHead) -> str:
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


def lines_of(
    suite: str, benchmarks: Sequence[tuple[BenchmarkHead, Sequence[BenchmarkRun]]]
) -> tuple[ScoreLine, ...]:
    """Return the lines of a suite.

    Measured parts in the order of the first benchmark that has them; published figures of parts
    nobody measured come last.
    """
    of_part: dict[tuple[str, str], list[ScoreLine]] = {}
    published: dict[tuple[str, str, str, str], ScoreLine] = {}
    for number, (_, runs) in enumerate(benchmarks, start=1):
        for score in (each for run in runs if run.suite == suite for each in run.scores):
            if score.published:
                line = ScoreLine(score.metric, score.slice, score.system, 0, score, PUBLISHED)
                published[(score.metric, score.slice, score.system, score.published_source)] = line
            else:
                line = ScoreLine(score.metric, score.slice, score.system, number, score, MEASURED)
                of_part.setdefault((score.metric, score.slice), []).append(line)
    for line in published.values():
        of_part.setdefault((line.metric, line.part), []).append(line)
    return tuple(line for lines in of_part.values() for line in lines)
