"""What is asked of people and what they answer (OSP: OmniScientist §4.1.1)."""

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from schemas.base import Noun, Prose
from schemas.identifiers import RunId, content_hash
from schemas.options.commands import LakeOptions
from schemas.options.values import option
from schemas.people.ledger import CreditRole

LONGEST_REASON = 2_000
_SHOWN_DIGITS = 12


class Stage(StrEnum):
    """Stage after an evaluation: ideas enter a ranking one by one, a report tells of the run."""

    RANK = "rank"
    REPORT = "report"

    @property
    def of_runs(self) -> bool:
        """Return whether it is the run as a whole that enters."""
        return self is Stage.REPORT


class Verdict(StrEnum):
    """Answer of a participant. All but a comment end the request."""

    APPROVED = "approved"
    REJECTED = "rejected"
    CHOSEN = "chosen"
    SENT_BACK = "sent_back"
    COMMENTED = "commented"

    @property
    def ends(self) -> bool:
        return self is not Verdict.COMMENTED


class Request(Noun):
    """Asked of participants: to review an artefact, or to decide between alternatives."""

    request_id: str = Field(min_length=1, description="Names the request.")
    run_id: RunId = Field(description="The run it is about.")
    unit_id: str = Field(description="The idea within the run; empty: the run.")
    stage: Stage | None = Field(
        description="What waits for the answer; None: nothing, it was asked by hand."
    )
    criteria: Prose = Field(default="", description="What is to be judged, and by what.")
    options: tuple[str, ...] = Field(
        default=(), description="Alternatives to choose from; none: to be approved or rejected."
    )
    parts: tuple[str, ...] = Field(
        description="What the artefact was: each part as the ledger had it, with its hash."
    )
    asked_by: str | None = Field(description="Pseudonym of who asked; None: the project's rule.")
    asked_of: tuple[str, ...] = Field(
        description="Pseudonyms of those who may answer; none: the project's rule did."
    )
    requested_at: datetime = Field(description="When it was asked.")

    @property
    def version_sha256(self) -> str:
        """Hash of what the artefact was."""
        return content_hash(*self.parts)

    @property
    def version_shown(self) -> str:
        """The beginning of that hash, as inboxes print it."""
        return self.version_sha256[:_SHOWN_DIGITS]

    def is_about(self, version: str) -> bool:
        """Return whether `version` is the hash of what it is about, or as much of it as inboxes
        print.
        """
        return len(version) >= _SHOWN_DIGITS and self.version_sha256.startswith(version)


class Decision(Noun):
    """An answer to a request. A request has one that ends it, which bears its name."""

    decision_id: str = Field(min_length=1, description="The request's, or of a comment its own.")
    request_id: str = Field(description="What it answers.")
    run_id: RunId = Field(description="The run it is about.")
    unit_id: str = Field(description="The idea within the run; empty: the run.")
    stage: Stage | None = Field(description="What waited for it; None: nothing.")
    verdict: Verdict = Field(description="What was answered.")
    choice: int | None = Field(
        default=None, ge=1, description="The alternative chosen, from 1; None: none was."
    )
    version_sha256: str = Field(description="Hash of what the artefact was when it was answered.")
    participant_id: str | None = Field(
        description="Pseudonym of who answered; None: a rule of the project did."
    )
    role: CreditRole | None = Field(description="Their role by CRediT; None: a rule has none.")
    rule: str = Field(default="", description="The rule that decided; empty: somebody did.")
    reason_sha256: str | None = Field(
        default=None, description="Salted hash of the reason, which lies apart; None: none given."
    )
    decided_at: datetime = Field(description="When it was answered.")


class StageRule(Noun):
    """Rule that lets an idea, or a run, enter a stage."""

    deciders: tuple[str, ...] = Field(
        default=(), description="Who may decide; none: all participants who may approve."
    )
    criteria: str = Field(default="", max_length=LONGEST_REASON)
    approve_from: float | None = Field(default=None, description="Scores that need nobody.")
    reject_below: float | None = Field(default=None, description="Scores that are left out.")


class GivenAnswer(BaseModel):
    """Answer to a request, as a command or a program sends it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    verdict: Verdict
    choice: int | None = Field(default=None, description="With `chosen`: which, from 1.")
    reason: str | None = Field(default=None, max_length=LONGEST_REASON, description="Why.")
    version_sha256: str | None = Field(
        default=None, description="Hash of what was looked at; None: what was asked about."
    )


class Project(Noun):
    """A project file: who takes part, who may decide, and which stages need a person."""

    name: str = Field(min_length=1, max_length=80)
    participants: dict[str, tuple[Verdict, ...]] = Field(
        description="By pseudonym, what each may answer."
    )
    stages: dict[Stage, StageRule] = Field(default_factory=dict)

    def deciders(self, stage: Stage) -> tuple[str, ...]:
        """Return who may let an idea into a stage."""
        named = self.stages[stage].deciders or tuple(self.participants)
        needed = {Verdict.APPROVED, Verdict.REJECTED}
        return tuple(each for each in named if needed <= set(self.participants.get(each, ())))


class InboxOptions(LakeOptions):
    """Of `assay inbox`."""

    by: str | None = option(None, "ID", "Only what is asked of this participant.")


class DecideOptions(LakeOptions):
    """Of `assay decide`."""

    by: str | None = option(
        None, "ID", "Who decides. Default: the one participant of whom it is asked."
    )
    reason: str | None = option(None, "TEXT", "Why; it is kept apart from the ledger.")
    version: str | None = option(
        None, "HASH", "Of what was looked at, as `assay inbox` shows it; another is refused."
    )


class RequestOptions(LakeOptions):
    """Of `assay request`."""

    of: tuple[str, ...] = option((), "ID", "Participant who may answer; may be repeated.")
    by: str | None = option(None, "ID", "Participant who asks.")
    idea: str = option(
        "",
        "ID",
        "The idea, or question, paper, task or manuscript, it is about. Default: all of the work.",
    )
    criteria: str = option("", "TEXT", "What is to be judged, and by what.")
    choice: tuple[str, ...] = option((), "TEXT", "An alternative to choose; repeated.")
