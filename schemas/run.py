"""One run of the main job, and what every landed unit says of itself, whatever its kind."""

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
"""Units that the command itself works on, rather than start a server and workers for them, and
publishes without waiting for Great Expectations, whose import takes three seconds.
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
    Field(description="Why the work ended early; None when it ran to its end."),
]


class WorkHead(Noun):
    """Facts about a run of any kind."""

    run_id: RunId = Field(description="The run the row belongs to.")
    engine: str = Field(
        description="What judged or wrote: extractive, litellm:<model>, or what a release names."
    )
    started_at: datetime = Field(description="Start of the work.")
    finished_at: datetime = Field(description="End of it.")

    def concluded(self, receipts: Sequence[Any]) -> Self:  # noqa: ARG002 -- theirs
        """The head as the receipts of all units tell; publishing begins with it."""
        return self

    def columns(self) -> dict[str, Any]:
        """Return what its row holds beside its fields and properties."""
        return {}

    def ended_early(self) -> Reason | None:
        """Why the work ended early; None: it ran to its end."""
        reason: Reason | None = getattr(self, "incomplete_reason", None)
        return reason


class UnitReceipt(Noun):
    """Written last into a unit's landing folder: without it the folder does not exist."""

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
    """Fate of a question that its batch has not answered."""

    CALL = "call"
    UNSCORED = "unscored"


class RunState(StrEnum):
    PUBLISHED = "published"
    BUDGET_EXHAUSTED = "budget_exhausted"
    NOT_PUBLISHED = "not_published"


class Budget(Noun):
    """Bounds of what a run may spend; None: no bound."""

    maximum_cost_usd: float | None = Field(default=None, ge=0)
    maximum_tokens: int | None = Field(default=None, ge=0)
    maximum_requests: int | None = Field(default=None, ge=0, description="Literature requests.")
    maximum_cost_usd_per_idea: float | None = Field(default=None, ge=0)


class WorkRequest(Noun):
    """Place where work of any kind is done. Neither field changes what comes out."""

    workers: int | None = Field(
        default=None, ge=1, description="Processes of a local cluster; None: as few as will do."
    )
    scheduler_address: str | None = Field(default=None, description="Of a Dask cluster.")

    @property
    def worker_count(self) -> int:
        """Processes of a local cluster, where there is one."""
        return self.workers or 2

    def in_this_process(self, unit_count: int) -> bool:
        """Return whether the command itself works on so many units: few, and no workers were asked
        for.

        A server and a cluster take longer to start than a handful of units to work on.
        """
        needs_cluster = self.workers is not None or self.scheduler_address is not None
        return unit_count <= HANDFUL and not needs_cluster


class PlannedRun(Noun):
    """Plan of a run, written when it begins; who watches it needs no more than this and its
    receipts.
    """

    run_id: RunId
    idea_count: int = Field(ge=0)
    rejected_count: int = Field(ge=0)
    engine: str
    profile: str
    modules: tuple[Module, ...]
    budget: Budget
    ideas_path: str = Field(min_length=1)
    started_at: datetime = Field(
        description="When the command that works on it began; a run taken up again begins anew."
    )


def _standing(field: str) -> Any:
    """A field of `RunStanding`."""
    return Field(description=RunStanding.model_fields[field].description)


class Run(WorkHead):
    """One published run."""

    label: str = Field(description="The user's label; part of the evaluation key.")
    profile: str = Field(description="Profile the run followed.")
    literature: str = Field(description="Where papers came from.")
    literature_name: str = Field(
        default="",
        description=(
            "The snapshot as its reader knows it, such as the name of its file; empty: no snapshot."
        ),
    )
    literature_lacks: str = Field(
        default="",
        description=(
            "What of its citations the snapshot does not know, in words; empty: nothing, or no"
            " snapshot."
        ),
    )
    modules: str = Field(description="Modules asked for, comma-separated.")
    idea_count: int = Field(ge=0, description="Ideas accepted.")
    rejected_count: int = Field(ge=0, description="Entries of the idea file that could not enter.")
    reading_remarks: tuple[str, ...] = Field(
        default=(),
        description="What of the idea file is not read or not judged, by file and column.",
    )
    evaluated_count: int = Field(
        ge=0, description="Ideas whose evaluation ran to its end, whatever it scored."
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
    assay_version: str = Field(description="Version that ran.")
    again_run_id: RunId | None = Field(
        default=None, description="The earlier run whose ideas it evaluates again; None: of none."
    )
    score_weights: ScoreWeights = Field(
        default=ScoreWeights(soundness=1.0, contribution=1.0),
        description="Weights in `idea_scores.score`.",
    )

    @property
    def assessed(self) -> bool:
        """Return whether ideas are scored by their assessment, so that weights act on its criteria."""
        return Module.ASSESSMENT in self.modules.split(",")

    @property
    def is_of_a_file(self) -> bool:
        """Return whether several entries were given, rather than one idea that somebody tried."""
        return self.idea_count + self.rejected_count > 1

    def compares_with(self, other: "Run") -> bool:
        """Return whether cost, time and scores of both may be held against each other."""
        return self.is_of_a_file == other.is_of_a_file and (
            (self.engine, self.profile, self.modules)
            == (other.engine, other.profile, other.modules)
        )

    @property
    def states_in_words(self) -> str:
        """`9 scored, 2 partly scored, 1 unscored, 3 rejected`: ideas, then entries rejected."""
        counts = {
            IdeaState.SCORED: self.scored_count,
            IdeaState.PARTLY_SCORED: self.partly_scored_count,
            IdeaState.UNSCORED: self.unscored_count,
            IdeaState.REJECTED: self.rejected_count,
        }
        return ", ".join(f"{count:,} {state.words}" for state, count in counts.items())

    def status_in_words(self, alarm_count: int) -> str:
        """Return one sentence, worst first: not in order, in order with alarms, in order."""
        if not (self.in_order and alarm_count):
            return self.order_in_words
        return f"In order, with {alarm_count:,} alarm{'' if alarm_count == 1 else 's'}."

    @property
    def order_in_words(self) -> str:
        """One sentence: whether the run is in order, and what is wrong first."""
        return "In order." if self.in_order else f"Not in order: {'; '.join(self.order_reasons)}."

    def concluded(self, receipts: Sequence[Any]) -> Self:
        complete = sum(receipt.complete for receipt in receipts)
        spent = any(each.incomplete_reason is Reason.BUDGET_EXHAUSTED for each in receipts)
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
            state=RunState.BUDGET_EXHAUSTED if spent else RunState.PUBLISHED,
            **dict(standing),
        )

    def in_a_word(self) -> str:
        """`in_order`, `not_in_order` or `not_published`."""
        if self.state is RunState.NOT_PUBLISHED:
            return "not_published"
        return "in_order" if self.in_order else "not_in_order"

    def ended_early(self) -> Reason | None:
        return Reason.BUDGET_EXHAUSTED if self.state is RunState.BUDGET_EXHAUSTED else None

    def columns(self) -> dict[str, Any]:
        return {f"{module}_weight": weight for module, weight in self.score_weights}


class ValidationRow(Noun):
    """One expectation held against one run."""

    run_id: RunId = Field(description="The run the row belongs to.")
    expectation: str = Field(description="Name of the expectation or of the SQL check.")
    table_name: str = Field(description="Table checked; empty for a check over several.")
    column_name: str = Field(description="Column checked; empty for the whole table.")
    severity: Severity = Field(description="critical keeps a run out of the lake.")
    success: bool = Field(description="Whether it held.")
    evaluated_count: int = Field(ge=0, description="Rows looked at.")
    unexpected_count: int = Field(ge=0, description="Rows that broke it.")
    detail: str = Field(description="Examples of what broke it; empty when it held.")
    ranking_id: str | None = Field(
        default=None,
        description="The ranking it was made for; None: an evaluation.",
    )
    great_expectations: Prose | None = Field(
        default=None,
        description=(
            "Results of Great Expectations, a JSON list with one for each batch of rows; None:"
            " Arrow and SQL alone have validated."
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
