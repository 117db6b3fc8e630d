"""The ledger: who did what to which artefact, when, from what and by which step (OmniScientist
§4.1.3); and participants, people and models alike, whom it knows by pseudonym (§4.1.1).
"""

from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Stored
from schemas.identifiers import RunId
from schemas.options.commands import LakeOptions
from schemas.options.values import option


class Artefact(StrEnum):
    """Kind of thing that a row of the ledger is about."""

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
    """Action on an artefact. The first six follow from what is published."""

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
    """One thing that somebody, or a model, did to an artefact or to a part of one."""

    artefact: Artefact = Field(description="What it was done to.")
    run_id: RunId | None = Field(
        description="The run, check, survey or benchmark it belongs to; None: to none."
    )
    ranking_id: str | None = Field(default=None, description="The ranking; None: of none.")
    unit_id: str = Field(
        default="",
        description="The idea, group, manuscript or question; empty: the work as a whole.",
    )
    part: str = Field(
        default="",
        description="The table that holds the part; empty: the artefact as a whole.",
    )
    action: LedgerAction = Field(description="What was done.")
    version_sha256: str | None = Field(
        default=None, description="Hash of what it was afterwards; None: it is no more."
    )
    inputs: tuple[str, ...] = Field(
        default=(), description="What it was made from, such as `idea:<hash>`, `literature:<name>`."
    )
    participant_id: str | None = Field(
        description=(
            "Pseudonym of the person, or the engine; None: nobody said who, as of an idea file."
        )
    )
    role: CreditRole | None = Field(
        description="CreditRole by CRediT, or `tool` for a model; None: nobody said who."
    )
    step: str | None = Field(default=None, description="Step that was asked; None: none was.")
    step_version: int | None = Field(default=None, ge=1, description="Its version; None: no step.")
    prompt_sha256: str | None = Field(
        default=None, description="Hash of its prompt template; None: no step."
    )
    model: str | None = Field(
        default=None, description="Models as their providers name them; None: none answered."
    )
    reason_sha256: str | None = Field(
        default=None,
        description="Salted hash of the reason given, which lies apart; None: none was given.",
    )
    happened_at: datetime = Field(description="When it was done.")


class LedgerRow(LedgerEntry):
    """An entry in its place in the chain."""

    sequence: int = Field(ge=1, description="Place in the chain, from 1.")
    recorded_at: datetime = Field(description="When it was appended.")
    previous_sha256: Annotated[str, Stored(may_be_empty=True)] = Field(
        description="Hash of the row before; empty: the first."
    )
    entry_sha256: str = Field(description="Hash over all other columns of the row.")


class LedgerOptions(LakeOptions):
    """Of `assay ledger verify`."""

    head: tuple[str, ...] = option(
        (), "HASH", "A hash that was written down, as in the report of a night; may be repeated."
    )


class ExportOptions(LakeOptions):
    """Of `assay export`."""

    ro_crate: bool = option(False, "", "Tables, reports and provenance as a zipped RO-Crate.")
    prov: bool = option(False, "", "Only the provenance, as PROV-JSON.")
    terms: str = option(
        "Not stated: ask who made this crate.",
        "TEXT",
        "Under which the crate may be used, or their address.",
    )
    output: Path | None = option(None, "FILE", "Write here instead of RUN.crate.zip.")


class LedgerHead(Noun):
    """The last row of the chain: whoever has it written down can tell whether rows were cut off."""

    sequence: int = Field(ge=0, description="Rows so far.")
    entry_sha256: str = Field(description="Hash of the last one; empty: there is none.")


LONGEST_NAME = 80


class ParticipantKind(StrEnum):
    PERSON = "person"
    MODEL = "model"


class Participant(Noun):
    """Person or program that asks and decides. Only `participant_id` enters the lake and the
    ledger.
    """

    participant_id: str = Field(min_length=1, description="Pseudonym; says nothing of the name.")
    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    kind: ParticipantKind
    role: CreditRole = Field(description="By CRediT; `tool` for a model.")
    key: str | None = Field(
        description="Account or token they are known by when they sign in; None: neither."
    )


class PeopleOptions(LakeOptions):
    """Of `assay people add`."""

    kind: ParticipantKind = option(ParticipantKind.PERSON, "|".join(ParticipantKind), "Which.")
    role: CreditRole = option(
        CreditRole.VALIDATION, "ROLE", "What a person contributes, by CRediT; models are tools."
    )
    key: str | None = option(None, "NAME", "Account or token they sign in with.")
