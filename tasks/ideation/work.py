"""Declaration of ideation in rounds."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas.errors import ConfigurationError, IdeaFileError
from schemas.identifiers import RunId, content_hash
from schemas.settings import Settings
from schemas.works.ideation import IdeationRound, Move
from schemas.works.ideation_run import (
    IDEATIONS,
    MOST_IDEAS,
    IdeateJob,
    IdeateOptions,
    IdeationHead,
    IdeationParameters,
    IdeationRequest,
    PlannedRound,
)
from tasks.ideas.json_lines import write_sent
from tasks.ideas.read import read_ideas
from tasks.ideation.course import follow_ups, make_in_rounds, version_count
from tasks.ideation.rounds import failed_round, follow_round
from tasks.ideation.stacks import Stacks
from tasks.ideation.steps import IDEATE_KEYWORD, IDEATE_PROPOSAL, STEPS
from tasks.judging.expected import CHARACTERS_PER_TOKEN, ExpectedCalls
from tasks.work.declaration import Common, Expected, Result, Work
from warehouse.app.database import ServiceDatabase
from warehouse.app.people import participant
from warehouse.warehouse import Warehouse

PROPOSAL_TOKENS, RELATION_TOKENS, FINDING_TOKENS, PASSAGE_TOKENS = 1_000, 60, 120, 110


def _given(job: IdeateJob, folder: Path) -> tuple[Path]:
    return (write_sent(job.seeds, folder / "seeds.jsonl"),)


def _resolve(
    arguments: tuple[Path], options: IdeateOptions, common: Common, settings: Settings
) -> IdeationRequest:
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
    idea_count = len(batch.ideas) * options.per_seed
    if idea_count > MOST_IDEAS:
        raise ConfigurationError(
            f"{len(batch.ideas):,} seeds with {options.per_seed} ideas each are {idea_count:,} ideas,"
            f" and {MOST_IDEAS:,} are the most: take fewer seeds, or a smaller --per-seed"
        )
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
        profile_sha256=content_hash(common["profile"].model_dump_json()),
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
    first_round = PlannedRound(
        round_id="round-1", seeds=batch.ideas, slots=slots, snapshot=literature.snapshot
    )
    return IdeationRequest(
        units=(first_round,), parameters=parameters, remarks=batch.remarks, **common
    )


def _expected(request: IdeationRequest, _: Settings) -> Expected:
    writes, versions = not request.engine.is_baseline, version_count(request)
    rounds = request.parameters.rounds if writes else 1
    return Expected(
        per_step=_expected_calls(request, versions) if writes else {},
        counts={
            "seeds": len(request.parameters.seeds),
            "ideas": len(request.units[0].slots),
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
    seed = sum(len(seed.text) for seed in first.seeds) / len(first.seeds)
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


IDEATE: Work[PlannedRound, IdeationParameters, IdeationRound] = Work(
    schema=IDEATIONS,
    job=IdeateJob,
    given=_given,
    resolve=_resolve,
    steps=lambda _: STEPS,
    do=follow_round,
    failed=failed_round,
    expects=_expected,
    head=_head,
    result=_result,
    run=make_in_rounds,
    follows=follow_ups,
)
