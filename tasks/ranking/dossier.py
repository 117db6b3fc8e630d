"""What is known about one idea when it is held against another."""

from enum import StrEnum
from functools import cached_property

from pydantic import Field

from schemas.base import Noun
from schemas.identifiers import IdeaId, content_hash
from schemas.paper import Paper


class Bearing(StrEnum):
    """What a paper means for the idea."""

    FOR = "for"
    AGAINST = "against"
    NEITHER = "neither"


class ModuleScore(Noun):
    """What one module made of the idea."""

    module: str = Field(min_length=1)
    score_0_to_10: float | None = Field(
        ge=0, le=10, description="None when unscored: never a zero."
    )
    unscored_share_0_to_1: float = Field(
        default=0.0, ge=0, le=1, description="Share of the module's judgements that have no score."
    )


class DossierEvidence(Noun):
    """One paper, and what it says about the idea."""

    paper: Paper
    text: str = Field(min_length=1)
    bearing: Bearing = Bearing.NEITHER


class Dossier(Noun):
    """One idea with what its evaluation found out. Texts are Markdown; rendered citations of evidence papers become keys when shown."""

    idea_id: IdeaId
    group: str | None = Field(
        default=None, description="None: not given; to be found by clustering."
    )
    title: str = ""
    text: str = Field(min_length=1, description="The whole idea, or a summary of it.")
    summary: str = Field(default="", description="What the committee came to; empty without one.")
    claims: tuple[str, ...] = Field(
        default=(), description="Atomic claims of the idea, in order of its parts."
    )
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    module_scores: tuple[ModuleScore, ...] = ()
    dimension_means: dict[str, float] = Field(
        default_factory=dict, description="Committee means, 0 to 10; unscored dimensions absent."
    )
    evidence: tuple[DossierEvidence, ...] = Field(default=(), description="Most telling first.")

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all that is shown of the idea: not of its group."""
        return content_hash(self.model_dump_json(exclude={"group"}), length=32)
