"""Ideation: its declaration, and one round with a version per slot."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schemas.base import replace
from schemas.errors import ConfigurationError, IdeaFileError
from schemas.failure import Failure, look_up_failures
from schemas.identifiers import RunId, content_hash
from schemas.profile import Profile
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.works.ideation import IdeationRound, IdeaVersion, Move, kept_versions
from schemas.works.ideation_run import (
    IDEATIONS,
    IdeateJob,
    IdeateOptions,
    IdeationHead,
    IdeationParameters,
    IdeationRequest,
    PlannedRound,
    Slot,
)
from tasks.embeddings import Embedder
from tasks.embeddings.similarity import paper_text
from tasks.ideas.json_lines import write_sent
from tasks.ideas.read import read_ideas
from tasks.ideation.course import follow_ups, make_in_rounds, version_count
from tasks.ideation.network import open_network
from tasks.ideation.stacks import Stacks
from tasks.ideation.steps import IDEATE_KEYWORD, IDEATE_PROPOSAL, STEPS
from tasks.ideation.versions import VersionResult, VersionTools, failed_version, make_version
from tasks.judging.expected import CHARACTERS_PER_TOKEN, ExpectedCalls
from tasks.literature.client import LiteratureClient
from tasks.literature.snapshot.build import index_for_parquet
from tasks.shards.work import Cause, each_unit, or_failure
from tasks.work.declaration import Expected, Needs, Resolved, Result, Work
from tasks.work.tools import Tools
from warehouse.app.database import ServiceDatabase
from warehouse.app.people import participant
from warehouse.warehouse import Warehouse

PROPOSAL_TOKENS, RELATION_TOKENS, FINDING_TOKENS, PASSAGE_TOKENS = 1_000, 60, 120, 110


def _given(job: IdeateJob, folder: Path) -> tuple[Path]:
    return (write_sent(job.seeds, folder / "seeds.jsonl"),)


def _resolve(
    arguments: tuple[Path], options: IdeateOptions, profile: Profile, settings: Settings
) -> Resolved[PlannedRound, IdeationParameters]:
    """Resolve the first round; seeds come from any supported idea file.

    Raises:
        ConfigurationError: the literature is no snapshot, or the file does not exist.
        IdeaFileError: a seed is invalid, or there is none.
        UnknownNameError: a name in `ask` is no participant.
    """
    (path,) = arguments
    literature = options.literature
    if literature is None or literature.snapshot is None:
        text = "" if literature is None else literature.text
        raise ConfigurationError(
            f"--literature {text}: concepts are read from a snapshot; name one as snapshot:PATH"
        )
    if not path.exists():
        raise ConfigurationError(f"{path} does not exist; name a file of seeds, one on each line")
    batch = read_ideas(path.resolve(), default_cutoff=options.cutoff, fields=options.field)
    if batch.rejected:
        first = batch.rejected[0]
        raise IdeaFileError(f"{first.location} is no seed: {first.detail}")
    if not batch.ideas:
        raise IdeaFileError(f"{path} holds no seed: write one on each line")
    if options.ask:
        with ServiceDatabase(Warehouse(options.warehouse, settings).existing()) as database:
            for each in options.ask:
                participant(database, each)
    parameters = IdeationParameters(
        rounds=options.rounds,
        per_seed=options.per_seed,
        maximum_keywords=options.keywords,
        neighbours_per_keyword=options.neighbours,
        seeds=tuple(f"{seed.content_sha256} {seed.description_sha256}" for seed in batch.ideas),
        profile_sha256=content_hash(profile.model_dump_json()),
        modules=options.modules,
        survey=options.survey,
        experiment_run_ids=tuple(map(RunId, options.experiment)),
        label=options.label,
        by_people=bool(options.ask),
        asked_of=options.ask,
        batch=bool(options.batch),
        batch_failures=options.batch_failures,
    )
    slots = Stacks(batch.ideas, parameters, options.cutoff).slots(1)
    first_round = PlannedRound(round_id="round-1", slots=slots, snapshot=literature.snapshot)
    return Resolved((first_round,), parameters, remarks=batch.remarks)


def _expected(request: IdeationRequest, _: Settings) -> Expected:
    writes, versions = not request.engine.is_baseline, version_count(request)
    rounds = request.parameters.rounds if writes else 1
    return Expected(
        per_step=_expected_calls(request, versions) if writes else {},
        counts={
            "seeds": len(request.parameters.seeds),
            "rounds": rounds,
            "versions": versions,
            "literature_requests": versions if writes else 0,
        },
        note="versions that are dropped are not evaluated, and cost less",
    )


def _expected_calls(request: IdeationRequest, versions: int) -> dict[Any, ExpectedCalls]:
    parameters = request.parameters
    candidate_count, paper_count = parameters.candidates_shown, parameters.papers_per_relation
    (first,) = request.units
    seed = sum(len(slot.seed.text) for slot in first.slots) / len(first.slots)
    later = (parameters.rounds - 1) / parameters.rounds
    findings = later * parameters.findings_shown * FINDING_TOKENS
    seed_tokens = seed / CHARACTERS_PER_TOKEN
    keyword = candidate_count * (paper_count * PASSAGE_TOKENS + RELATION_TOKENS) + findings
    revision_tokens = findings + later * PROPOSAL_TOKENS
    proposal = candidate_count * RELATION_TOKENS + paper_count * PASSAGE_TOKENS + revision_tokens
    return {
        IDEATE_KEYWORD: ExpectedCalls(
            versions,
            versions * (keyword + seed_tokens),
            versions * candidate_count * RELATION_TOKENS,
        ),
        IDEATE_PROPOSAL: ExpectedCalls(
            versions, versions * (proposal + seed_tokens), versions * PROPOSAL_TOKENS
        ),
    }


def _head(request: IdeationRequest) -> Mapping[str, Any]:
    run_ids = (each.evaluated_run_id for each in request.units)
    return {
        "seed_count": len(request.parameters.seeds),
        "evaluated_run_ids": tuple(filter(None, run_ids)),
        "incomplete_reason": request.units[-1].ended_reason,
    }


def _result(_: IdeationHead, rounds: Sequence[IdeationRound]) -> Result:
    """Summarize the rounds; engines that write no ideas give leads."""
    versions = [version for each in rounds for version in each.versions]
    leads = any(version.move is Move.LEAD for version in versions)
    failures = tuple(
        f"{version.version_id} was not made: {version.unscored_detail}"
        for version in versions
        if version.text is None
    )
    in_order = leads or any(version.kept for version in versions)
    return Result("leads" if leads else "made", in_order=in_order, lost=failures)


async def follow_round(unit: PlannedRound, tools: Tools) -> IdeationRound:
    """Make a version for each slot of a round, with the network at its cutoff.

    Versions nearly the same as another of the round or as a paper are dropped with a reason; the
    first of two near duplicates stays.

    Raises:
        SnapshotError: the snapshot, or its network, cannot be read.
    """
    snapshot, home = unit.snapshot, tools.settings.home
    if not snapshot.is_dir():
        snapshot = index_for_parquet(snapshot, home)
    embedder, parameters, ledger = tools.embedder, tools.request.parameters, tools.ledger
    with ExitStack() as stack:
        by_cutoff = {
            cutoff: VersionTools(
                tools.engine,
                stack.enter_context(open_network(snapshot, home, cutoff)),
                embedder,
                parameters,
            )
            for cutoff in dict.fromkeys(slot.cutoff_date for slot in unit.slots)
        }

        async def one(slot: Slot) -> VersionResult:
            return await or_failure(
                make_version(slot, by_cutoff[slot.cutoff_date]),
                f"version {slot.version_id}",
                lambda cause: failed_version(slot, *cause),
            )

        results = await each_unit(unit.slots, SLOTS_IN_FLIGHT, one)
    versions = [each.version for each in results]
    failures: list[Failure] = []
    if kept_versions(versions):
        limit = parameters.duplicate_from_similarity
        versions = await _drop_repeated(versions, unit.slots, embedder, limit)
        versions, failures = await _drop_published(versions, embedder, tools.literature(), limit)
    return IdeationRound(
        round_id=unit.round_id,
        versions=tuple(versions),
        relations=tuple(relation for each in results for relation in each.relations),
        answers=tuple(answer for each in results for answer in each.answers),
        failures=(*failures, *ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
    )


def failed_round(unit: PlannedRound, tools: Tools, cause: Cause) -> IdeationRound:
    ledger = tools.ledger
    return IdeationRound(
        round_id=unit.round_id,
        versions=tuple(failed_version(slot, *cause).version for slot in unit.slots),
        failures=tuple(ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
    )


STAGE = "ideation"
SLOTS_IN_FLIGHT = 8
PAPERS_COMPARED = 10


async def _drop_repeated(
    versions: Sequence[IdeaVersion], slots: Sequence[Slot], embedder: Embedder, limit: float
) -> list[IdeaVersion]:
    """Drop versions near an earlier one of the round, or near another idea's last version."""
    parents = [slot.parent for slot in slots if slot.parent is not None]
    texts = [version.text or "" for version in (*parents, *versions)]
    vectors = await embedder.embed(texts)
    compared_versions: list[tuple[IdeaVersion, NDArray[np.float32]]] = [
        (version, vectors[place]) for place, version in enumerate(parents)
    ]
    checked_versions: list[IdeaVersion] = []
    for version, vector in zip(versions, vectors[len(parents) :], strict=True):
        other_ideas = [
            (float(vector @ other_vector), other)
            for other, other_vector in compared_versions
            if (other.seed_id, other.slot) != (version.seed_id, version.slot)
        ]
        likeness, nearest_version = max(other_ideas, key=lambda each: each[0], default=(0.0, None))
        if version.kept and nearest_version is not None and likeness >= limit:
            checked_versions.append(
                replace(
                    version,
                    dropped_reason=Reason.NEAR_DUPLICATE,
                    dropped_detail=f"nearly the same as {nearest_version.version_id}",
                    closest_id=nearest_version.version_id,
                    closest_similarity_0_to_1=min(likeness, 1.0),
                )
            )
            continue
        checked_versions.append(version)
        if version.kept:
            compared_versions.append((version, vector))
    return checked_versions


async def _drop_published(
    versions: Sequence[IdeaVersion], embedder: Embedder, literature: LiteratureClient, limit: float
) -> tuple[list[IdeaVersion], list[Failure]]:
    """Add the nearest paper to each kept version; drop versions too near to it."""

    async def one(version: IdeaVersion) -> tuple[IdeaVersion, tuple[Failure, ...]]:
        if not version.kept:
            return version, ()
        query = f"{version.title} {' '.join(version.keywords)}"
        answer = await literature.search_papers(query, PAPERS_COMPARED, version.cutoff_date)
        failures = look_up_failures(answer.failures, STAGE, version.version_id)
        if not answer.items:
            return version, failures
        texts = [paper_text(paper.title, paper.abstract) for paper in answer.items]
        vectors = await embedder.embed([version.text or "", *texts])
        likeness = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0)
        place = int(likeness.argmax())
        nearest_paper, value = answer.items[place], float(likeness[place])
        changes = {"closest_id": str(nearest_paper.paper_id), "closest_similarity_0_to_1": value}
        if value >= limit:
            changes |= {
                "dropped_reason": Reason.NEAR_PUBLISHED,
                "dropped_detail": f"nearly the same as {nearest_paper.title}",
            }
        return replace(version, **changes), failures

    results = await asyncio.gather(*map(one, versions))
    return [version for version, _ in results], [
        each for _, failures in results for each in failures
    ]


IDEATE: Work[PlannedRound, IdeationParameters, IdeationRound] = Work(
    schema=IDEATIONS,
    job=IdeateJob,
    given=_given,
    request=IdeationRequest,
    resolve=_resolve,
    identity=(),
    needs=Needs(literature=True, concepts=True),
    steps=lambda _: STEPS,
    do=follow_round,
    failed=failed_round,
    expects=_expected,
    head=_head,
    result=_result,
    run=make_in_rounds,
    follows=follow_ups,
)
