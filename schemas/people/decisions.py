"""Requests for decisions of people, and their answers (OSP: OmniScientist §4.1.1)."""

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
    """Stage after an evaluation: a ranking of single ideas, or a report on the run."""

    RANK = "rank"
    REPORT = "report"

    @property
    def of_runs(self) -> bool:
        """Return whether the stage is for whole runs."""
        return self is Stage.REPORT


class Verdict(StrEnum):
    """Answer of a participant; all but a comment end the request."""

    APPROVED = "approved"
    REJECTED = "rejected"
    CHOSEN = "chosen"
    SENT_BACK = "sent_back"
    COMMENTED = "commented"

    @property
    def ends(self) -> bool:
        return self is not Verdict.COMMENTED


class Request(Noun):
    """Request to review an artefact, or to decide between alternatives."""

    request_id: str = Field(min_length=1, description="Identifier of the request.")
    run_id: RunId = Field(description="The run it is about.")
    unit_id: str = Field(description="The idea within the run; empty: the run.")
    stage: Stage | None = Field(
        description="Stage that waits for the answer; None: a manual request."
    )
    criteria: Prose = Field(default="", description="Subject and criteria of the decision.")
    options: tuple[str, ...] = Field(
        default=(), description="Alternatives to choose from; none: to be approved or rejected."
    )
    parts: tuple[str, ...] = Field(
        description="Version of the artefact: its parts in the ledger, with hashes."
    )
    asked_by: str | None = Field(
        description="Pseudonym of the requester; None: the project's rule."
    )
    asked_of: tuple[str, ...] = Field(
        description="Pseudonyms of those who may answer; none: the project's rule did."
    )
    requested_at: datetime = Field(description="When it was requested.")

    @property
    def version_sha256(self) -> str:
        """Hash of the artefact's version."""
        return content_hash(*self.parts)

    @property
    def version_shown(self) -> str:
        """Prefix of that hash in inboxes."""
        return self.version_sha256[:_SHOWN_DIGITS]

    def is_about(self, version: str) -> bool:
        """Return whether `version` is the artefact's hash, or at least the prefix in inboxes."""
        return len(version) >= _SHOWN_DIGITS and self.version_sha256.startswith(version)


class Decision(Noun):
    """Answer to a request; the answer that ends it has the request's identifier."""

    decision_id: str = Field(min_length=1, description="The request's, or of a comment its own.")
    request_id: str = Field(description="The request.")
    run_id: RunId = Field(description="The run it is about.")
    unit_id: str = Field(description="The idea within the run; empty: the run.")
    stage: Stage | None = Field(description="Stage that waited for it; None: no stage.")
    verdict: Verdict = Field(description="The answer.")
    choice: int | None = Field(
        default=None, ge=1, description="The alternative chosen, from 1; None: no choice."
    )
    version_sha256: str = Field(description="Hash of the artefact's version when it was answered.")
    participant_id: str | None = Field(
        description="Pseudonym of the participant; None: a rule of the project decided."
    )
    role: CreditRole | None = Field(description="Role of the participant by CRediT; None: a rule.")
    rule: str = Field(default="", description="The rule that decided; empty: a participant did.")
    reason_sha256: str | None = Field(
        default=None, description="Salted hash of the separately stored reason; None: no reason."
    )
    decided_at: datetime = Field(description="When it was answered.")


class StageRule(Noun):
    """Rule that admits an idea, or a run, to a stage."""

    deciders: tuple[str, ...] = Field(
        default=(), description="Participants who may decide; none: all who may approve."
    )
    criteria: str = Field(default="", max_length=LONGEST_REASON)
    approve_from: float | None = Field(
        default=None, description="Least score of automatic approval."
    )
    reject_below: float | None = Field(default=None, description="Automatic rejection below it.")


class GivenAnswer(BaseModel):
    """Answer to a request, as sent by a command or a program."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    verdict: Verdict
    choice: int | None = Field(default=None, description="With `chosen`: which, from 1.")
    reason: str | None = Field(default=None, max_length=LONGEST_REASON, description="Why.")
    version_sha256: str | None = Field(
        default=None, description="Hash of the version reviewed; None: the requested one."
    )


class Project(Noun):
    """Project file: participants, their permissions, and stages that need a decision."""

    name: str = Field(min_length=1, max_length=80)
    participants: dict[str, tuple[Verdict, ...]] = Field(
        description="Allowed answers by pseudonym."
    )
    stages: dict[Stage, StageRule] = Field(default_factory=dict)

    def deciders(self, stage: Stage) -> tuple[str, ...]:
        """Return the participants who may admit an idea to a stage."""
        named_people = self.stages[stage].deciders or tuple(self.participants)
        needed_verdicts = {Verdict.APPROVED, Verdict.REJECTED}
        return tuple(
            each for each in named_people if needed_verdicts <= set(self.participants.get(each, ()))
        )


class InboxOptions(LakeOptions):
    """Options of `assay inbox`."""

    by: str | None = option(None, "ID", "Only requests to this participant.")


class DecideOptions(LakeOptions):
    """Options of `assay decide`."""

    by: str | None = option(
        None, "ID", "Participant who decides. Default: the only one who may answer."
    )
    reason: str | None = option(None, "TEXT", "Reason; it is stored outside the ledger.")
    version: str | None = option(
        None, "HASH", "Version reviewed, from `assay inbox`; another version is refused."
    )


class RequestOptions(LakeOptions):
    """Options of `assay request`."""

    of: tuple[str, ...] = option((), "ID", "Participant who may answer; may be repeated.")
    by: str | None = option(None, "ID", "Participant who asks.")
    idea: str = option(
        "",
        "ID",
        "The idea, or question, paper, task or manuscript, it is about. Default: all of the work.",
    )
    criteria: str = option("", "TEXT", "Subject and criteria of the decision.")
    choice: tuple[str, ...] = option((), "TEXT", "An alternative to choose; repeated.")
