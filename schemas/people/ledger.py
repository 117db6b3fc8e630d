"""Ledger of actions on artefacts (OmniScientist §4.1.3), and its participants (§4.1.1)."""

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import Field

from schemas.base import ColumnInfo, Noun
from schemas.identifiers import RunId
from schemas.options.commands import LakeOptions
from schemas.options.values import option


class Artefact(StrEnum):
    """Kind of artefact in the ledger."""

    IDEA = "idea"
    QUESTION = "question"
    MANUSCRIPT = "manuscript"
    PAPER = "paper"
    TASK = "task"
    REVIEW = "review"
    FINDING = "finding"
    RANKING = "ranking"
    SURVEY = "survey"
    DATA_SET = "data_set"
    EXPERIMENT = "experiment"
    PROPOSAL = "proposal"
    DRAFT = "draft"
    BENCHMARK = "benchmark"
    DECISION = "decision"
    PUBLICATION = "publication"
    PERSON = "person"


class LedgerAction(StrEnum):
    """Action on an artefact; the first six are recorded by publication and deletion."""

    GIVEN = "given"
    MADE = "made"
    MADE_ANEW = "made_anew"
    WITHDRAWN = "withdrawn"
    PUBLISHED = "published"
    DELETED = "deleted"
    REQUESTED = "requested"
    APPROVED = "approved"
    REJECTED = "rejected"
    CHOSEN = "chosen"
    SENT_BACK = "sent_back"
    COMMENTED = "commented"
    VOTED = "voted"
    EDITED = "edited"
    FORGOTTEN = "forgotten"


class CreditRole(StrEnum):
    """The contributor roles of CRediT (ANSI/NISO Z39.104-2022), and `tool` for models."""

    CONCEPTUALIZATION = "conceptualization"
    DATA_CURATION = "data-curation"
    FORMAL_ANALYSIS = "formal-analysis"
    FUNDING_ACQUISITION = "funding-acquisition"
    INVESTIGATION = "investigation"
    METHODOLOGY = "methodology"
    PROJECT_ADMINISTRATION = "project-administration"
    RESOURCES = "resources"
    SOFTWARE = "software"
    SUPERVISION = "supervision"
    VALIDATION = "validation"
    VISUALIZATION = "visualization"
    WRITING_DRAFT = "writing-original-draft"
    WRITING_REVIEW = "writing-review-editing"
    TOOL = "tool"


class LedgerEntry(Noun):
    """One action of a person or a model on an artefact or a part of it."""

    artefact: Artefact = Field(description="Kind of the artefact.")
    run_id: RunId | None = Field(
        description="The run, check, survey or benchmark it belongs to; None: none."
    )
    ranking_id: str | None = Field(default=None, description="The ranking; None: none.")
    unit_id: str = Field(
        default="",
        description="The idea, group, manuscript or question; empty: the whole work.",
    )
    part: str = Field(
        default="",
        description="Table of the part; empty: the whole artefact.",
    )
    action: LedgerAction = Field(description="The action.")
    version_sha256: str | None = Field(
        default=None, description="Hash of the version after the action; None: deleted."
    )
    inputs: tuple[str, ...] = Field(
        default=(), description="Inputs, such as `idea:<hash>`, `literature:<name>`."
    )
    participant_id: str | None = Field(
        description="Pseudonym of the person, or the engine; None: unknown, as of an idea file."
    )
    role: CreditRole | None = Field(
        description="Role by CRediT, or `tool` for a model; None: unknown."
    )
    step: str | None = Field(default=None, description="Step of the engine; None: no step.")
    step_version: int | None = Field(default=None, ge=1, description="Its version; None: no step.")
    prompt_sha256: str | None = Field(
        default=None, description="Hash of its prompt template; None: no step."
    )
    model: str | None = Field(
        default=None, description="Models as their providers name them; None: no model."
    )
    reason_sha256: str | None = Field(
        default=None,
        description="Salted hash of the separately stored reason; None: no reason.",
    )
    happened_at: datetime = Field(description="When it was done.")


class LedgerRow(LedgerEntry):
    """Entry of the ledger with its position in the hash chain."""

    sequence: int = Field(ge=1, description="Position in the chain, from 1.")
    recorded_at: datetime = Field(description="When it was appended.")
    previous_sha256: Annotated[str, ColumnInfo(may_be_empty=True)] = Field(
        description="Hash of the row before; empty: the first."
    )
    entry_sha256: str = Field(description="Hash over all other columns of the row.")


class LedgerOptions(LakeOptions):
    """Options of `assay ledger verify`."""

    head: tuple[str, ...] = option(
        (), "HASH", "A hash that was written down, as in the report of a night; may be repeated."
    )


class ExportOptions(LakeOptions):
    """Options of `assay export`."""

    ro_crate: bool = option(False, "", "Tables, reports and provenance as a zipped RO-Crate.")
    prov: bool = option(False, "", "Only the provenance, as PROV-JSON.")
    terms: str = option(
        "Not stated: ask who made this crate.",
        "TEXT",
        "Under which the crate may be used, or their address.",
    )
    output: Path | None = option(None, "FILE", "Write here instead of RUN.crate.zip.")


class LedgerHead(Noun):
    """Last row of the chain, by which removed rows can be detected."""

    sequence: int = Field(ge=0, description="Rows so far.")
    entry_sha256: str = Field(description="Hash of the last one; empty: there is none.")


LONGEST_NAME = 80


class ParticipantKind(StrEnum):
    PERSON = "person"
    MODEL = "model"


class Participant(Noun):
    """Person or model that requests and decides.

    Lake and ledger store only the `participant_id`.
    """

    participant_id: str = Field(min_length=1, description="Pseudonym, unrelated to the name.")
    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    kind: ParticipantKind
    role: CreditRole = Field(description="By CRediT; `tool` for a model.")
    key: str | None = Field(description="Account or token of the participant; None: neither.")


class PeopleOptions(LakeOptions):
    """Options of `assay people add`."""

    kind: ParticipantKind = option(
        ParticipantKind.PERSON, "|".join(ParticipantKind), "Kind of participant."
    )
    role: CreditRole = option(
        CreditRole.VALIDATION, "ROLE", "Role of a person by CRediT; models are tools."
    )
    key: str | None = option(None, "NAME", "Account or token they sign in with.")
