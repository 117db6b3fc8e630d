"""Participants: people and models alike, known to the ledger by pseudonym (OmniScientist §4.1.1)."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun
from schemas.ledger import CreditRole
from schemas.option_values import option
from schemas.options import LakeOptions

LONGEST_NAME = 80


class ParticipantKind(StrEnum):
    PERSON = "person"
    MODEL = "model"


class Participant(Noun):
    """Who asks and decides. Only `participant_id` enters the lake and the ledger."""

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
