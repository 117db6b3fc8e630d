"""Kind of work `ideate`: jobs, options, requests and heads of ideations."""

from datetime import date
from pathlib import Path
from typing import Literal

from pydantic import Field

from schemas.base import Noun
from schemas.idea import Idea, SentIdea
from schemas.identifiers import IdeaId, RunId
from schemas.options.commands import DeclaredOptions, RunOptions
from schemas.options.values import option
from schemas.people.ledger import Artefact
from schemas.people.work_job import OF_THE_MACHINE, WorkJob
from schemas.reasons import Reason
from schemas.run import BatchFailures, EndedEarly, Module, WorkHead
from schemas.work import Request
from schemas.work_schema import WorkSchema, tables_of_unit
from schemas.works.ideation import (
    Finding,
    FindingAnswer,
    IdeationRound,
    IdeaVersion,
    KeywordRelation,
    Move,
)

MOST_SEEDS = 1_000
MOST_IDEAS = 4 * MOST_SEEDS
"""Most ideas of all seeds; each round evaluates a version of each."""


class IdeationParameters(Noun):
    """Parameters of an ideation."""

    rounds: int = Field(default=3, ge=1, le=20)
    per_seed: int = Field(default=4, ge=1, le=50, description="Ideas of each seed.")
    neighbours_per_keyword: int = Field(default=8, ge=1, le=100)
    missing_links_per_keyword: int = Field(default=4, ge=0, le=100)
    maximum_keywords: int = Field(
        default=4, ge=2, le=12, description="With as many keywords, a new one replaces another."
    )
    candidates_shown: int = Field(default=6, ge=1, le=30, description="Of keywords.")
    papers_per_relation: int = Field(default=2, ge=1, le=10)
    findings_shown: int = Field(default=6, ge=1, le=30)
    duplicate_from_similarity: float = Field(default=0.92, gt=0, le=1)
    seeds: tuple[str, ...] = Field(default=(), description="Content hashes of the seeds.")
    profile_sha256: str = Field(default="", description="Hash of the evaluations' profile.")
    modules: tuple[Module, ...] = Field(default=(), description="Of the evaluation.")
    survey: bool = Field(default=False, description="Whether the evaluation surveys each idea.")
    experiment_run_ids: tuple[RunId, ...] = Field(
        default=(), description="Experiments that count for the evaluation."
    )
    label: str = Field(default="", description="Of the evaluation.")
    by_people: bool = Field(default=False, description="Whether people decide on the next moves.")
    # The following fields are not part of the run's identity, and workers do not need them.
    asked_of: tuple[str, ...] = Field(
        default=(),
        exclude=True,
        description="Participants who decide on the next moves; none: a rule decides.",
    )
    batch: bool = Field(default=False, exclude=True, description="As of an evaluation.")
    batch_failures: BatchFailures = Field(
        default=BatchFailures.CALL, exclude=True, description="As of an evaluation."
    )


class Slot(Noun):
    """One idea of a seed: its versions, and findings about the last one.

    `taken` are keywords of the seed's other ideas.
    """

    seed_id: IdeaId
    slot: int = Field(ge=1)
    round: int = Field(ge=1)
    move: Move
    cutoff_date: date | None
    stack: tuple[IdeaVersion, ...] = ()
    findings: tuple[Finding, ...] = ()
    taken: tuple[str, ...] = ()

    @property
    def version_id(self) -> IdeaId:
        return IdeaId(f"{self.seed_id[:180]}-{self.slot}-r{self.round}")

    @property
    def parent(self) -> IdeaVersion | None:
        return self.stack[-1] if self.stack else None


class PlannedRound(Noun):
    """Round of an ideation, with its state."""

    round_id: str = Field(min_length=1)
    seeds: tuple[Idea, ...]
    slots: tuple[Slot, ...]
    snapshot: Path = Field(description="Source of the concepts.")
    evaluated_run_id: RunId | None = Field(
        default=None, description="The run that evaluated its versions; None: not yet."
    )
    ended_reason: Reason | None = Field(
        default=None, description="Why the next round cannot start; None: it can."
    )


IdeationRequest = Request[PlannedRound, IdeationParameters]


class IdeationHead(WorkHead):
    """One ideation by one engine with one snapshot."""

    literature: str = Field(description="Snapshot of the concepts.")
    profile: str = Field(description="Profile of the evaluations.")
    seed_count: int = Field(ge=0, description="Seeds.")
    per_seed: int = Field(ge=1, description="Ideas of each seed.")
    rounds: int = Field(ge=1, description="Rounds asked for.")
    round_count: int = Field(ge=0, description="Rounds done.")
    evaluated_run_ids: tuple[str, ...] = Field(
        description="The run that evaluated the versions of each round, in order."
    )
    incomplete_reason: EndedEarly = None


class IdeateOptions(RunOptions, DeclaredOptions):
    """Options of `assay ideate`."""

    rounds: int = option(
        3, "N", "Versions of each idea: made, evaluated, revised by the findings.", ge=1, le=20
    )
    per_seed: int = option(4, "N", "Ideas of each seed.", ge=1, le=50)
    keywords: int = option(
        4, "N", "Most concepts of an idea; then a new one replaces another.", ge=2, le=12
    )
    neighbours: int = option(8, "N", "Neighbors considered for each concept.", ge=1, le=100)
    ask: tuple[str, ...] = option(
        (),
        "ID",
        "Participant who decides on the next moves after each round; repeatable. Default: a rule"
        " decides.",
    )
    plans: int = option(
        0,
        "N",
        "Write an experiment plan for each of the best N ideas: resources of similar works, and the"
        " number of runs needed.",
        ge=0,
        le=100,
    )


class IdeateJob(WorkJob):
    """Make ideas of seeds, evaluate them, and revise them by what was found wanting, in rounds."""

    tool = "make_ideas"
    not_offered = OF_THE_MACHINE | {"field", "plans"}
    command: Literal["ideate"] = "ideate"
    seeds: tuple[str | SentIdea, ...] = Field(
        min_length=1,
        max_length=MOST_SEEDS,
        description="Topics, questions or ideas to improve: texts, or objects with the fields of an"
        " idea file.",
    )
    options: IdeateOptions


_of_round = tables_of_unit(IdeationRound, "round_id")
IDEATIONS = WorkSchema(
    noun=IdeationRound,
    head=IdeationHead,
    tables=(
        _of_round("idea_versions", IdeaVersion, "version_id"),
        _of_round("keyword_relations", KeywordRelation, "position"),
        _of_round("finding_answers", FindingAnswer, "position"),
    ),
    artefact=Artefact.PROPOSAL,
)
