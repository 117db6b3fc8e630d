"""Experimental results as evidence for ideas."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun, Prose
from schemas.works.experiment import Direction, Finding


class Surprise(StrEnum):
    """Reason why a result is surprising."""

    NOT_SUPPORTED = "not_supported"
    AGAINST_A_CONCERN = "against_a_concern"


class ExperimentalResult(Noun):
    """Result of an experiment with an idea on one task."""

    experiment_run_id: str = Field(description="The experiment; a row of `experiment_runs`.")
    task_id: str = Field(description="Its task.")
    question: Prose = Field(description="Question of the task.")
    metric: str = Field(description="Name of the metric.")
    direction: Direction = Field(description="Direction of improvement of the metric.")
    least_difference: float = Field(gt=0, description="Smallest relevant difference.")
    finding: Finding = Field(description="Conclusion, valid within the task.")
    because: Prose = Field(description="Reason of the conclusion, in a sentence.")
    tried_count: int = Field(ge=0, description="Candidate programs that were run.")
    run_count: int = Field(
        ge=0, description="Runs of the best candidate on fresh data; 0: there was none."
    )
    parent_mean: float | None = Field(
        description="Mean of the metric of the original program, on fresh data."
    )
    best_mean: float | None = Field(description="Mean of the best candidate, on the same data.")
    gain: float | None = Field(description="Mean improvement of the best candidate.")
    gain_low: float | None = Field(description="Lower end of the gain's interval at 95 %.")
    gain_high: float | None = Field(description="Upper end of the gain's interval at 95 %.")
    baseline_id: str | None = Field(description="The strongest baseline; None: there is none.")
    baseline_gain: float | None = Field(
        description="Mean improvement of the best candidate over that baseline."
    )
    baseline_low: float | None = Field(description="Lower end of that gain's interval at 95 %.")
    baseline_high: float | None = Field(description="Upper end of that gain's interval at 95 %.")
    surprise: Surprise | None = Field(
        default=None, description="Why it is surprising; None: it is not."
    )
    concern: Prose = Field(default="", description="Concern that it contradicts; empty: none.")
    proposed_query: str = Field(
        default="", description="Search suggested by a surprise; empty: none."
    )

    @property
    def is_beyond_the_known(self) -> bool:
        """Return whether it is supported and better than the strongest baseline, if any."""
        is_beyond_baseline = self.baseline_id is None or (self.baseline_low or 0.0) > 0
        return self.finding is Finding.SUPPORTED and is_beyond_baseline

    @property
    def in_words(self) -> str:
        """The finding with its figures, on one line."""
        sentences = [
            f"{self.question.strip()} {self.finding.value.replace('_', ' ').capitalize()} within"
            f" this task: {self.because}.",
            f"Metric {self.metric}, {self.direction.better}; {_format(self.least_difference)} or more"
            " is worth having.",
        ]
        if self.gain is not None:
            sentences.append(
                f"The best of {self.tried_count} candidate programs has {_format(self.best_mean)},"
                f" the program it was to improve {_format(self.parent_mean)},"
                f" over {self.run_count} runs on fresh data; gain"
                f" {_format(self.gain)} ({_format(self.gain_low)} to {_format(self.gain_high)})."
            )
        if self.baseline_gain is not None:
            sentences.append(
                f"Gain over the strongest baseline, {self.baseline_id}: {_format(self.baseline_gain)}"
                f" ({_format(self.baseline_low)} to {_format(self.baseline_high)})."
            )
        return " ".join(" ".join(sentences).split())


def _format(value: float | None) -> str:
    return "not known" if value is None else f"{value:.4g}"
