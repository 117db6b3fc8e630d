"""What came of trying an idea on a task, as evidence of a kind of its own."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun, Prose
from schemas.works.experiment import Direction, Finding


class Surprise(StrEnum):
    """Why a result was not to be expected."""

    NOT_SUPPORTED = "not_supported"
    AGAINST_A_CONCERN = "against_a_concern"


class ExperimentalResult(Noun):
    """Measurement of an idea by an experiment on one task, which says nothing of the literature."""

    experiment_run_id: str = Field(description="The experiment; a row of `experiment_runs`.")
    task_id: str = Field(description="Its task.")
    question: Prose = Field(description="What the task asks.")
    metric: str = Field(description="What was measured.")
    direction: Direction = Field(description="Which way the metric is better.")
    least_difference: float = Field(gt=0, description="Smallest difference worth having.")
    finding: Finding = Field(description="What the figures allow to be said within the task.")
    because: Prose = Field(description="Why this and no other, in a sentence.")
    tried_count: int = Field(ge=0, description="Candidate programs that were run.")
    run_count: int = Field(
        ge=0, description="Runs of the best candidate on fresh data; 0: there was none."
    )
    parent_mean: float | None = Field(
        description="Mean of the metric of the program to be improved, on fresh data."
    )
    best_mean: float | None = Field(description="Mean of the best candidate, on the same data.")
    gain: float | None = Field(description="Mean by which that one is better.")
    gain_low: float | None = Field(description="Lower end of the gain's interval at 95 %.")
    gain_high: float | None = Field(description="Upper end of the gain's interval at 95 %.")
    baseline_id: str | None = Field(description="The strongest baseline; None: there is none.")
    baseline_gain: float | None = Field(
        description="Mean by which the best candidate is better than that baseline."
    )
    baseline_low: float | None = Field(description="Lower end of that gain's interval at 95 %.")
    baseline_high: float | None = Field(description="Upper end of that gain's interval at 95 %.")
    surprise: Surprise | None = Field(
        default=None, description="Why it was not to be expected; None: it was."
    )
    concern: Prose = Field(
        default="", description="The concern that it goes against; empty: against none."
    )
    proposed_query: str = Field(
        default="", description="A search that a surprise asks for; empty: it asks for none."
    )

    @property
    def is_beyond_the_known(self) -> bool:
        """Return whether it is supported, and better than the strongest baseline where there is
        one.
        """
        beyond = self.baseline_id is None or (self.baseline_low or 0.0) > 0
        return self.finding is Finding.SUPPORTED and beyond

    @property
    def in_words(self) -> str:
        """The finding with its figures, on one line."""
        sentences = [
            f"{self.question.strip()} {self.finding.value.replace('_', ' ').capitalize()} within"
            f" this task: {self.because}.",
            f"Metric {self.metric}, {self.direction.better}; {_told(self.least_difference)} or more"
            " is worth having.",
        ]
        if self.gain is not None:
            sentences.append(
                f"The best of {self.tried_count} candidate programs has {_told(self.best_mean)},"
                f" the program it was to improve {_told(self.parent_mean)},"
                f" over {self.run_count} runs on fresh data; gain"
                f" {_told(self.gain)} ({_told(self.gain_low)} to {_told(self.gain_high)})."
            )
        if self.baseline_gain is not None:
            sentences.append(
                f"Gain over the strongest baseline, {self.baseline_id}: {_told(self.baseline_gain)}"
                f" ({_told(self.baseline_low)} to {_told(self.baseline_high)})."
            )
        return " ".join(" ".join(sentences).split())


def _told(value: float | None) -> str:
    return "not known" if value is None else f"{value:.4g}"
