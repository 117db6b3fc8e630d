"""Score lines of the benchmark report, measured and published."""

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
    """One row of a table; `number` is the benchmark's on the page, 0 if published."""

    metric: str
    part: str
    system: str
    number: int
    score: BenchmarkScore
    origin: str


def _better(metric: str) -> str:
    """Return `higher`, `lower`, or empty if the value is descriptive."""
    meaning = meaning_of(metric)
    return meaning.better if meaning is not None else ""


def _score_sentence(line: ScoreLine, *, several: bool = False) -> str:
    """Return a sentence: `macro f1 of assay 0.67 (95 % from 0.4 to 0.9), over 3 items`."""
    score = line.score
    number = f" ({line.number})" if several else ""
    subject = f"{line.metric.replace('_', ' ')} of {line.system}{number}"
    if line.part != WHOLE:
        subject += f", {line.part}"
    if score.value is None:
        return f"{subject}: undefined, {score.undefined_reason}."
    value = f"{subject} {figures.measure(score.value)}"
    if score.lower is not None and score.upper is not None:
        value += f" (95 % from {figures.measure(score.lower)} to {figures.measure(score.upper)})"
    if line.origin == PUBLISHED:
        return f"{value}, as published: other models, splits and judges."
    items = figures.plural(score.count, "item")
    return f"{value}, over {items}, {score.unscored_count:,} unscored."


@dataclass(frozen=True, slots=True)
class SuitePart:
    """Scores of one suite by metric and part of the data, published ones last."""

    suite: str
    lines: tuple[ScoreLine, ...]

    @property
    def measured_lines(self) -> tuple[ScoreLine, ...]:
        return tuple(line for line in self.lines if line.origin == MEASURED)

    @property
    def headline(self) -> tuple[ScoreLine, ...]:
        """The lines of the first metric with a better direction.

        They cover the whole data if that was measured.
        """
        leading = next(
            (line for line in self.measured_lines if _better(line.metric)),
            next(iter(self.measured_lines), None),
        )
        if leading is None:
            return ()
        of_metric = [line for line in self.lines if line.metric == leading.metric]
        part = WHOLE if any(line.part == WHOLE for line in of_metric) else leading.part
        return tuple(line for line in of_metric if line.part == part)

    @property
    def meaning(self) -> MetricMeaning | None:
        """The meaning of the headline's metric, if there is one."""
        return meaning_of(self.headline[0].metric) if self.headline else None

    @property
    def answer(self) -> str:
        """The result in a sentence or two."""
        lines = self.headline
        measured_lines = [line for line in lines if line.origin == MEASURED]
        leading = [line for line in measured_lines if line.system == ASSAY] or measured_lines[:1]
        if not leading:
            return f"{self.suite}: nothing was measured."
        several = len({line.number for line in leading}) > 1
        sentences = [_score_sentence(line, several=several) for line in leading]
        other_lines = [
            line for line in lines if line not in leading and line.score.value is not None
        ]
        if other_lines:
            sign = -1 if _better(leading[0].metric) == "lower" else 1
            best = max(other_lines, key=lambda line: sign * (line.score.value or 0.0))
            sentences.append(
                f"The best of {figures.plural(len(other_lines), 'other')}: {_score_sentence(best)}"
            )
        return " ".join(sentences)

    @property
    def meanings(self) -> tuple[MetricMeaning, ...]:
        return meanings_of(line.metric for line in self.lines)


class ScoreRow(BenchmarkScore):
    """A score as printed by `--json`."""

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

    Measured parts come in the order of the first benchmark that has them, then parts that only
    publications report.
    """
    of_part: dict[tuple[str, str], list[ScoreLine]] = {}
    published_lines: dict[tuple[str, str, str, str], ScoreLine] = {}
    for number, (_, runs) in enumerate(benchmarks, start=1):
        for score in (each for run in runs if run.suite == suite for each in run.scores):
            if score.published:
                line = ScoreLine(score.metric, score.slice, score.system, 0, score, PUBLISHED)
                published_lines[
                    (score.metric, score.slice, score.system, score.published_source)
                ] = line
            else:
                line = ScoreLine(score.metric, score.slice, score.system, number, score, MEASURED)
                of_part.setdefault((score.metric, score.slice), []).append(line)
    for line in published_lines.values():
        of_part.setdefault((line.metric, line.part), []).append(line)
    return tuple(line for lines in of_part.values() for line in lines)
