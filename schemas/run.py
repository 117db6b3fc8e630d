"""Runs of ideas, heads and receipts of all kinds of work, and budgets."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import Field

from schemas.base import Noun, Prose, Severity, replace
from schemas.identifiers import RunId
from schemas.profile import ScoreWeights
from schemas.reasons import Reason
from schemas.standing import IdeaState, RunStanding, standing_of_run

HANDFUL = 5
"""Maximum units that the command processes without a server and workers, and publishes without
Great Expectations, whose import takes three seconds.
"""
_VALUE_CHARACTERS = 120


class Module(StrEnum):
    SOUNDNESS = "soundness"
    CONTRIBUTION = "contribution"
    COMMITTEE = "committee"
    NOVELTY = "novelty"
    ASSESSMENT = "assessment"


EndedEarly = Annotated[
    Reason | None,
    Field(description="Why the work ended early; None when it was completed."),
]


class WorkHead(Noun):
    """Head of a run of any kind."""

    run_id: RunId = Field(description="The run the row belongs to.")
    engine: str = Field(
        description="Engine that judged or wrote: extractive, litellm:<model>, or a release's name."
    )
    started_at: datetime = Field(description="Start of the work.")
    finished_at: datetime = Field(description="End of it.")

    def concluded(self, receipts: Sequence[Any]) -> Self:  # noqa: ARG002 -- for subclasses
        """Return the head, completed by the receipts of all units, for publication."""
        return self

    def columns(self) -> dict[str, Any]:
        """Return further columns of its row, in addition to fields and properties."""
        return {}

    def ended_early(self) -> Reason | None:
        """Return why the work ended early; None if it was completed."""
        reason: Reason | None = getattr(self, "incomplete_reason", None)
        return reason


class UnitReceipt(Noun):
    """Receipt of a unit, written last: a landing folder without a receipt is ignored."""

    run_id: RunId
    unit: str = Field(description="The unit's name.")
    rows: dict[str, int] = Field(default={}, description="Rows landed by table.")
    bytes: int = Field(default=0, ge=0)
    incomplete_reason: EndedEarly = None
    started_at: datetime
    finished_at: datetime

    @property
    def complete(self) -> bool:
        return self.incomplete_reason is None


class BatchFailures(StrEnum):
    """Treatment of questions without a reply in a batch."""

    CALL = "call"
    UNSCORED = "unscored"


class RunState(StrEnum):
    PUBLISHED = "published"
    BUDGET_EXHAUSTED = "budget_exhausted"
    NOT_PUBLISHED = "not_published"


class Budget(Noun):
    """Maximum spending of a run; None: no limit."""

    maximum_cost_usd: float | None = Field(default=None, ge=0)
    maximum_tokens: int | None = Field(default=None, ge=0)
    maximum_requests: int | None = Field(default=None, ge=0, description="Literature requests.")
    maximum_cost_usd_per_idea: float | None = Field(default=None, ge=0)


class PlannedRun(Noun):
    """Plan of a run, written at its start; with the receipts it shows the progress."""

    run_id: RunId
    idea_count: int = Field(ge=0)
    rejected_count: int = Field(ge=0)
    engine: str
    profile: str
    modules: tuple[Module, ...]
    budget: Budget
    ideas_path: str = Field(min_length=1)
    started_at: datetime = Field(
        description="Start of the current command; a resumed run has a new start."
    )


def _standing(field: str) -> Any:
    """Return a field with the description of the same field of `RunStanding`."""
    return Field(description=RunStanding.model_fields[field].description)


class Run(WorkHead):
    """One published run."""

    label: str = Field(description="The user's label; part of the evaluation key.")
    profile: str = Field(description="Profile of the run.")
    literature: str = Field(description="Source of papers.")
    literature_name: str = Field(
        default="",
        description="Name of the snapshot, such as its file name; empty: no snapshot.",
    )
    literature_lacks: str = Field(
        default="",
        description="Citation data missing from the snapshot; empty: none, or no snapshot.",
    )
    requests_per_second: float | None = Field(
        default=None,
        gt=0,
        description=(
            "Requests a second that the run's gateway may send to the live API; NULL: it asks none,"
            " or was started elsewhere."
        ),
    )
    maximum_requests: int | None = Field(
        default=None, ge=0, description="Literature requests the run may send; NULL: no limit."
    )
    modules: str = Field(description="Modules asked for, comma-separated.")
    idea_count: int = Field(ge=0, description="Ideas accepted.")
    rejected_count: int = Field(ge=0, description="Rejected entries of the idea file.")
    reading_remarks: tuple[str, ...] = Field(
        default=(),
        description="Parts of the idea file that are not read or not judged, by file and column.",
    )
    evaluated_count: int = Field(
        ge=0, description="Ideas whose evaluation was completed, with or without scores."
    )
    failed_count: int = Field(ge=0, description="Ideas whose evaluation ended early.")
    scored_count: int = _standing("scored_count")
    partly_scored_count: int = _standing("partly_scored_count")
    unscored_count: int = _standing("unscored_count")
    in_order: bool = _standing("in_order")
    order_reasons: tuple[str, ...] = Field(
        default=(), description=RunStanding.model_fields["order_reasons"].description
    )
    allowed_unscored_share: float = Field(
        ge=0,
        le=1,
        description=(
            "Share of the entries that may be unscored, ended early or rejected in a run that is"
            " in order."
        ),
    )
    state: RunState = Field(description="How the run ended.")
    duration_seconds: float = Field(
        ge=0,
        description="Time of the command that finished it, excluding interrupted commands.",
    )
    assay_version: str = Field(description="Version of Assay.")
    again_run_id: RunId | None = Field(
        default=None, description="The earlier run whose ideas it re-evaluates; None: none."
    )
    score_weights: ScoreWeights = Field(
        default=ScoreWeights(soundness=1.0, contribution=1.0),
        description="Weights in `idea_scores.score`.",
    )

    @property
    def assessed(self) -> bool:
        """Return whether ideas are scored by their assessment."""
        return Module.ASSESSMENT in self.modules.split(",")

    @property
    def is_of_a_file(self) -> bool:
        """Return whether the run has several entries, instead of a single idea."""
        return self.idea_count + self.rejected_count > 1

    def compares_with(self, other: "Run") -> bool:
        """Return whether cost, time and scores of both runs are comparable."""
        return self.is_of_a_file == other.is_of_a_file and (
            (self.engine, self.profile, self.modules)
            == (other.engine, other.profile, other.modules)
        )

    @property
    def states_in_words(self) -> str:
        """Counts by state: `9 scored, 2 partly scored, 1 unscored, 3 rejected`."""
        counts = {
            IdeaState.SCORED: self.scored_count,
            IdeaState.PARTLY_SCORED: self.partly_scored_count,
            IdeaState.UNSCORED: self.unscored_count,
            IdeaState.REJECTED: self.rejected_count,
        }
        return ", ".join(f"{count:,} {state.words}" for state, count in counts.items())

    def status_in_words(self, alarm_count: int) -> str:
        """Return one sentence: not in order, in order with alarms, or in order."""
        if not (self.in_order and alarm_count):
            return self.order_in_words
        return f"In order, with {alarm_count:,} alarm{'' if alarm_count == 1 else 's'}."

    @property
    def order_in_words(self) -> str:
        """One sentence: in order, or not in order with the reasons."""
        return "In order." if self.in_order else f"Not in order: {'; '.join(self.order_reasons)}."

    def concluded(self, receipts: Sequence[Any]) -> Self:
        complete = sum(receipt.complete for receipt in receipts)
        is_budget_exhausted = any(
            each.incomplete_reason is Reason.BUDGET_EXHAUSTED for each in receipts
        )
        standing = standing_of_run(
            receipts,
            idea_count=self.idea_count,
            rejected_count=self.rejected_count,
            allowed_unscored_share=self.allowed_unscored_share,
        )
        return replace(
            self,
            evaluated_count=complete,
            failed_count=max(0, self.idea_count - complete),
            state=RunState.BUDGET_EXHAUSTED if is_budget_exhausted else RunState.PUBLISHED,
            **dict(standing),
        )

    def in_a_word(self) -> str:
        """Return `in_order`, `not_in_order` or `not_published`."""
        if self.state is RunState.NOT_PUBLISHED:
            return "not_published"
        return "in_order" if self.in_order else "not_in_order"

    def ended_early(self) -> Reason | None:
        return Reason.BUDGET_EXHAUSTED if self.state is RunState.BUDGET_EXHAUSTED else None

    def columns(self) -> dict[str, Any]:
        return {f"{module}_weight": weight for module, weight in self.score_weights}


class ValidationRow(Noun):
    """Result of one expectation for one run."""

    run_id: RunId = Field(description="The run the row belongs to.")
    expectation: str = Field(description="Name of the expectation or of the SQL check.")
    table_name: str = Field(description="Table checked; empty for a check over several.")
    column_name: str = Field(description="Column checked; empty for the whole table.")
    severity: Severity = Field(description="critical: a violation keeps a run out of the lake.")
    success: bool = Field(description="Whether it holds.")
    evaluated_count: int = Field(ge=0, description="Rows checked.")
    unexpected_count: int = Field(ge=0, description="Rows that violate it.")
    detail: str = Field(description="Examples of violations; empty when it holds.")
    ranking_id: str | None = Field(
        default=None,
        description="The ranking validated; None: an evaluation.",
    )
    great_expectations: Prose | None = Field(
        default=None,
        description=(
            "Results of Great Expectations, a JSON list with one for each batch of rows; None:"
            " validated by Arrow and SQL only."
        ),
    )
    created_at: datetime = Field(description="When it was checked.")

    @property
    def in_words(self) -> str:
        """`llm_calls.cost_usd: expect_column_values_to_be_between (1 row: 1000000000.0)`."""
        place = ".".join(filter(None, (self.table_name, self.column_name)))
        rows = f"{self.unexpected_count:,} row{'s' * (self.unexpected_count != 1)}"
        values = " ".join(self.detail.split())
        if len(values) > _VALUE_CHARACTERS:
            values = values[:_VALUE_CHARACTERS] + "…"
        rows = ": ".join(filter(None, (rows, values)))
        return f"{': '.join(filter(None, (place, self.expectation)))} ({rows})"
