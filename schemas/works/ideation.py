"""Nouns of ideation: versions of ideas, keyword relations and findings."""

from collections.abc import Iterable
from datetime import date
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import ColumnInfo, Noun, Prose
from schemas.calls import ApiCall, LlmCall
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.outcome import Judged, Provenance, UnitUnscoredReason, UnscoredDetail
from schemas.reasons import About, Reason, reasons_about


class Move(StrEnum):
    """Change from the previous version."""

    BEGIN = "begin"
    ADD_KEYWORD = "add_keyword"
    REPLACE_KEYWORD = "replace_keyword"
    REVISE = "revise"
    LEAD = "lead"


class FindingKind(StrEnum):
    """Kind of a finding that a revision may answer."""

    CONCERN = "concern"
    CONTRADICTION = "contradiction"
    CLOSEST_WORK = "closest_work"
    EXPERIMENT = "experiment"


class Finding(Noun):
    """Weakness that an evaluation found in a version."""

    key: str = Field(min_length=1, description="F1, F2, … most severe first.")
    kind: FindingKind
    text: str = Field(min_length=1)


class KeywordRelation(Noun):
    """Relation between a keyword of an idea and another concept, in papers."""

    version_id: IdeaId = Field(description="The version of the idea.")
    keyword: str = Field(description="Keyword of the idea.")
    neighbour: str = Field(description="The other concept.")
    shared_count: int = Field(
        ge=0, description="Papers up to the cutoff with both; 0: a missing link."
    )
    first_day: int | None = Field(description="Day of the first of them, YYYYMMDD; None: none.")
    score_0_to_1: float = Field(
        ge=0, le=1, description="Strength of the link, or probability of a missing one."
    )
    relation: Prose = Field(default="", description="Description of the relation; empty: none.")
    paper_ids: tuple[str, ...] = Field(
        description="Papers shown for it; of a missing link those that mention a bridge."
    )
    bridges: tuple[str, ...] = Field(
        default=(), description="Concepts linked to both; empty if papers link both directly."
    )
    chosen: bool = Field(description="Whether the version uses it.")


class FindingAnswer(Noun):
    """Answer of a version to a finding, with its check."""

    version_id: IdeaId = Field(description="The version that answers.")
    finding_key: str = Field(description="Key of the finding in the reply.")
    kind: FindingKind | None = Field(description="Kind of the finding; None: unknown key.")
    finding: Prose = Field(description="Text of the finding; empty: unknown key.")
    quote: Prose = Field(description="New words of the version as the answer.")
    answered: bool = Field(
        description="Whether the words are only in the new text, and are about the finding."
    )
    detail: str = Field(default="", description="Why not; empty if it is answered.")


class IdeaVersion(Judged):
    """One version of an idea."""

    JUDGEMENT = ("text",)

    version_id: IdeaId = Field(min_length=1, description="Identifier of the idea in evaluations.")
    seed_id: IdeaId = Field(description="The seed of the idea.")
    slot: int = Field(ge=1, description="Number among the seed's ideas, from 1.")
    round: int = Field(ge=1, description="Round, from 1.")
    parent_id: str | None = Field(description="The previous version; None: the first version.")
    move: Move = Field(description="Change from the previous version.")
    keywords: tuple[str, ...] = Field(description="Concepts of the idea.")
    added_keyword: str | None = Field(default=None, description="New keyword; None: none.")
    replaced_keyword: str | None = Field(default=None, description="Replaced keyword; None: none.")
    reason: Prose = Field(
        default="", description="Reason for the keyword, or for none; empty: none was sought."
    )
    title: str = Field(default="", description="Empty without a text.")
    text: Annotated[str, ColumnInfo(prose=True)] | None = Field(
        description="Background, problem, method, experiment and falsifier; None when unscored."
    )
    problem: Prose = Field(default="", description="Of the text.")
    method: Prose = Field(default="", description="Of the text.")
    experiment: Prose = Field(default="", description="Of the text.")
    falsifier: Prose = Field(default="", description="Observation that would refute the idea.")
    cutoff_date: date | None = Field(description="Latest publication date; None: no limit.")
    cluster: int | None = Field(
        default=None, ge=1, description="Cluster of candidate keywords, different for each slot."
    )
    dropped_reason: Annotated[Reason, ColumnInfo(allowed=reasons_about(About.ENTRY))] | None = (
        Field(default=None, description="Why it was dropped; None: it was not.")
    )
    dropped_detail: str = Field(default="", description="One line about the reason.")
    closest_id: str | None = Field(
        default=None, description="The most similar paper or version; None: not compared."
    )
    closest_similarity_0_to_1: float | None = Field(
        default=None, ge=0, le=1, description="Similarity to it; None: not compared."
    )
    unscored_reason: UnitUnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance | None = Field(default=None, description="None: no call.")

    @property
    def kept(self) -> bool:
        """Return whether it is to be evaluated."""
        return self.text is not None and self.dropped_reason is None and self.move is not Move.LEAD

    @property
    def idea(self) -> Idea:
        """The version as an idea; ideas of one seed are a group."""
        return Idea(
            idea_id=self.version_id,
            title=self.title,
            text=self.text or "",
            problem=self.problem or None,
            method=self.method or None,
            experiment=self.experiment or None,
            cutoff_date=self.cutoff_date,
            group=self.seed_id,
            metadata={"keywords": "; ".join(self.keywords), "round": str(self.round)},
        )


class IdeationRound(Noun):
    """Result of one round."""

    round_id: str = Field(min_length=1, description="round-1, round-2, …")
    versions: tuple[IdeaVersion, ...] = ()
    relations: tuple[KeywordRelation, ...] = ()
    answers: tuple[FindingAnswer, ...] = ()
    failures: tuple[Failure, ...] = ()
    llm_calls: tuple[LlmCall, ...] = ()
    api_calls: tuple[ApiCall, ...] = ()


def kept_versions(versions: Iterable[IdeaVersion]) -> tuple[IdeaVersion, ...]:
    """Return the versions to be evaluated, in order."""
    return tuple(version for version in versions if version.kept)
