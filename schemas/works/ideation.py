"""Nouns of ideation: versions of ideas, the relations they rest on, the findings they answer."""

from collections.abc import Iterable
from datetime import date
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Prose, Stored
from schemas.calls import ApiCall, LlmCall
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.outcome import Judged, Provenance, UnitUnscoredReason, UnscoredDetail
from schemas.reasons import About, Reason, reasons_about


class Move(StrEnum):
    """Move of a version against the one before it."""

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
    """One thing that an evaluation found wanting in a version."""

    key: str = Field(min_length=1, description="F1, F2, … the gravest first.")
    kind: FindingKind
    text: str = Field(min_length=1)


class KeywordRelation(Noun):
    """Relation of a keyword of an idea to another concept, in papers."""

    version_id: IdeaId = Field(description="The version it was looked at for.")
    keyword: str = Field(description="Of the idea.")
    neighbour: str = Field(description="The other concept.")
    shared_count: int = Field(
        ge=0, description="Papers up to the cutoff that name both; 0: the link is missing."
    )
    first_day: int | None = Field(description="Day of the first of them, YYYYMMDD; None: none.")
    score_0_to_1: float = Field(
        ge=0, le=1, description="Strength of the link, or how likely the missing one is."
    )
    relation: Prose = Field(default="", description="How they are related; empty: not told.")
    paper_ids: tuple[str, ...] = Field(
        description="Papers that were shown for it: of a missing link those that name a bridge."
    )
    bridges: tuple[str, ...] = Field(
        default=(), description="Concepts named with both; empty where papers name both."
    )
    chosen: bool = Field(description="Whether the version was made with it.")


class FindingAnswer(Noun):
    """Answer of a version to a finding, and whether it holds."""

    version_id: IdeaId = Field(description="The version that answers.")
    finding_key: str = Field(description="As it named the finding.")
    kind: FindingKind | None = Field(description="None: there is no finding of that key.")
    finding: Prose = Field(description="What was found wanting; empty: no finding of that key.")
    quote: Prose = Field(description="The new words that it says answer it.")
    answered: bool = Field(
        description="Whether the words stand in the new text alone and speak of the finding."
    )
    detail: str = Field(default="", description="Why not; empty where it is answered.")


class IdeaVersion(Judged):
    """One version of an idea on its stack, or why there is none."""

    JUDGEMENT = ("text",)

    version_id: IdeaId = Field(min_length=1, description="The idea's name in its evaluation.")
    seed_id: IdeaId = Field(description="The seed it grew from.")
    slot: int = Field(ge=1, description="Which of the seed's ideas, from 1.")
    round: int = Field(ge=1, description="From 1.")
    parent_id: str | None = Field(description="The version before it; None: it is the first.")
    move: Move = Field(description="What it does with the one before.")
    keywords: tuple[str, ...] = Field(description="Concepts it is made of.")
    added_keyword: str | None = Field(default=None, description="New among them; None: none.")
    replaced_keyword: str | None = Field(default=None, description="Given up for it; None: none.")
    reason: Prose = Field(
        default="", description="Why that keyword, or why none; empty: none was looked for."
    )
    title: str = Field(default="", description="Empty where there is no text.")
    text: Annotated[str, Stored(prose=True)] | None = Field(
        description="Background, problem, method, experiment and falsifier; None when unscored."
    )
    problem: Prose = Field(default="", description="Of the text.")
    method: Prose = Field(default="", description="Of the text.")
    experiment: Prose = Field(default="", description="Of the text.")
    falsifier: Prose = Field(default="", description="What would show it to be wrong.")
    cutoff_date: date | None = Field(description="Nothing later was looked at; None: no limit.")
    cluster: int | None = Field(
        default=None, ge=1, description="Of candidate keywords, which keeps slots apart."
    )
    dropped_reason: Annotated[Reason, Stored(allowed=reasons_about(About.ENTRY))] | None = Field(
        default=None, description="Why it went no further; None: it did."
    )
    dropped_detail: str = Field(default="", description="One line about that.")
    closest_id: str | None = Field(
        default=None, description="The paper or version nearest to it; None: none was looked at."
    )
    closest_similarity_0_to_1: float | None = Field(
        default=None, ge=0, le=1, description="How near that is; None: none was looked at."
    )
    unscored_reason: UnitUnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance | None = Field(default=None, description="None: nothing was asked.")

    @property
    def kept(self) -> bool:
        """Return whether it goes on to be evaluated."""
        return self.text is not None and self.dropped_reason is None and self.move is not Move.LEAD

    @property
    def idea(self) -> Idea:
        """As every command takes it; those of one seed are a group."""
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
    """All that one round gave."""

    round_id: str = Field(min_length=1, description="round-1, round-2, …")
    versions: tuple[IdeaVersion, ...] = ()
    relations: tuple[KeywordRelation, ...] = ()
    answers: tuple[FindingAnswer, ...] = ()
    failures: tuple[Failure, ...] = ()
    llm_calls: tuple[LlmCall, ...] = ()
    api_calls: tuple[ApiCall, ...] = ()


def kept_versions(versions: Iterable[IdeaVersion]) -> tuple[IdeaVersion, ...]:
    """Those that go on to be evaluated, in order."""
    return tuple(version for version in versions if version.kept)
