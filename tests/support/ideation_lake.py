"""A small ideation, as it is landed; and what evaluates its versions."""

from types import SimpleNamespace
from typing import Any

from schemas.base import replace
from schemas.identifiers import EvaluationKey, IdeaId, RunId, content_hash
from schemas.judgement.run_request import RunRequest
from schemas.reasons import Reason
from schemas.works.ideation import (
    FindingAnswer,
    FindingKind,
    IdeationRound,
    IdeaVersion,
    KeywordRelation,
    Move,
)
from schemas.works.ideation_run import IDEATIONS, IdeationHead
from tasks.ideas.read import read_ideas
from tests.support.evaluations import START, make_evaluation, make_provenance, make_run
from tests.support.lakes import publish_units
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.kind import kind_of
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

IDEATION = RunId("ideation-a")


def make_version(number: int = 1, slot: int = 1) -> IdeaVersion:
    return IdeaVersion(
        version_id=IdeaId(f"bats-{slot}-r{number}"),
        seed_id=IdeaId("bats"),
        slot=slot,
        round=number,
        parent_id=f"bats-{slot}-r{number - 1}" if number > 1 else None,
        move=Move.ADD_KEYWORD if number > 1 else Move.BEGIN,
        keywords=("echo calls", "moth ears"),
        added_keyword="moth ears",
        reason="Moths hear what bats call.",
        title=f"Calls that moths do not hear, {number}",
        text=f"# Calls that moths do not hear, {number}\n\nWe play calls to moths.",
        problem="Which calls do moths not hear?",
        method="We play calls to moths.",
        experiment="Twenty moths.",
        falsifier="All flee.",
        cutoff_date=None,
        cluster=1 if number == 1 else None,
        closest_id="first",
        closest_similarity_0_to_1=0.4,
        provenance=make_provenance("ideate_proposal"),
    )


def make_round(number: int = 1) -> IdeationRound:
    version = make_version(number)
    twin = replace(
        make_version(number, 2),
        dropped_reason=Reason.NEAR_DUPLICATE,
        dropped_detail="nearly the same as bats-1-r1",
    )
    relation = KeywordRelation(
        version_id=version.version_id,
        keyword="echo calls",
        neighbour="moth ears",
        shared_count=0,
        first_day=None,
        score_0_to_1=0.1,
        relation="Both are named with hunting.",
        paper_ids=("first",),
        bridges=("hunting bats",),
        chosen=True,
    )
    answer = FindingAnswer(
        version_id=version.version_id,
        finding_key="F1",
        kind=FindingKind.CONCERN,
        finding="Too few moths.",
        quote="Twenty moths.",
        answered=True,
    )
    return IdeationRound(
        round_id=f"round-{number}",
        versions=(version, twin) if number == 1 else (version,),
        relations=(relation,),
        answers=(answer,) if number > 1 else (),
    )


def make_ideation_head(rounds: int = 2) -> IdeationHead:
    return IdeationHead(
        run_id=IDEATION,
        engine="litellm:small",
        literature="snapshot:abc",
        profile="economy",
        seed_count=1,
        per_seed=2,
        rounds=rounds,
        round_count=rounds,
        evaluated_run_ids=(),
        started_at=START,
        finished_at=START,
    )


def publish_ideation_lake(warehouse: Warehouse, *rounds: IdeationRound) -> None:
    """The rounds; by default two of one idea, and a twin of it that was dropped."""
    landed = rounds or (make_round(1), make_round(2))
    publish_units(warehouse, kind_of(IDEATIONS), make_ideation_head(len(landed)), *landed)


def evaluate_versions(request: RunRequest) -> Any:
    """Made-up evaluations of the versions, published."""
    ideas = read_ideas(request.ideas.path, default_cutoff=None).ideas
    names = content_hash(*(idea.idea_id for idea in ideas), length=8)
    run_id, warehouse = RunId(f"run-{names}"), Warehouse(request.warehouse)
    for number, idea in enumerate(ideas):
        found = make_evaluation(number, run_id=run_id, idea=idea)
        key = EvaluationKey(content_hash(idea.idea_id, length=32))
        land(warehouse, replace(found, evaluation_key=key))
    run = make_run(run_id, ideas=len(ideas), in_order=True)
    assert publish(warehouse, RUNS, run).published
    return SimpleNamespace(published=True, head=run)
