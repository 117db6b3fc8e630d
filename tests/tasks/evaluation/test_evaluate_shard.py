"""A shard: every idea on its own, whatever happens to the others."""

import asyncio
import errno
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from flows.profiles import load_profile
from schemas.base import replace
from schemas.errors import AssayError, BudgetExhaustedError, ConfigurationError, PublicationError
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.identifiers import EvaluationKey, IdeaId, RunId
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.run_request import RunRequest
from schemas.judgement.soundness import SoundnessEvaluation, SoundnessReview
from schemas.reasons import Reason
from schemas.run import Module
from schemas.stopwatch import Stopwatch
from schemas.tables import TABLE
from schemas.works.experiment import Finding
from schemas.works.experimental_result import ExperimentalResult
from tasks.accounting.ledger import Ledger
from tasks.evaluation import evaluate_idea as evaluating
from tasks.evaluation import evaluate_shard as shard
from tasks.evaluation.evaluate_idea import failed_evaluation
from tasks.evaluation.evaluate_shard import MAXIMUM_ATTEMPTS, Attempts, IdeaToolsFactory
from tasks.evaluation.modules import MODULES, EvaluatingModule, IdeaTools
from tasks.evaluation.shard_job import PlannedIdea, ShardJob, evaluation_key, run_id_for
from tasks.experiments.results import result_of
from tasks.judging.opening import ExtractiveEngine
from tasks.judging.step import unasked_provenance
from tasks.literature import field_coverage
from tasks.shards import work as unit_work
from tasks.soundness.steps.soundness_review import SOUNDNESS_REVIEW
from tasks.steps import STEPS
from tests.support.evaluations import JUDGES, make_judge_votes, make_provenance
from tests.support.experiment_lake import make_experiment
from tests.support.requests import run_request
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.parquet import read_rows
from warehouse.units.landing import iterate_receipts
from warehouse.warehouse import Warehouse


def request(tmp_path: Path, **changes: Any) -> RunRequest:
    fields: dict[str, Any] = {
        "ideas_path": tmp_path / "ideas.jsonl",
        "warehouse": tmp_path,
        "profile": load_profile("economy"),
        "engine": "extractive",
        "literature": "live",
        "full_text": False,
    }
    return run_request(**{**fields, **changes})


def job(tmp_path: Path, count: int, **changes: Any) -> ShardJob:
    ideas = (
        Idea(idea_id=IdeaId(f"idea-{n}"), title=f"Idea {n}", text=f"We will do thing number {n}.")
        for n in range(count)
    )
    planned = tuple(
        PlannedIdea(idea=idea, evaluation_key=EvaluationKey(f"{n:032x}"))
        for n, idea in enumerate(ideas)
    )
    return ShardJob(
        run_id=RunId("run-1"),
        request=request(tmp_path, **changes),
        gateway_url="http://gone",
        literature="test",
        ideas=planned,
    )


def tools(ledger: Ledger) -> IdeaTools:
    nothing = cast(Any, None)
    return IdeaTools(nothing, nothing, nothing, nothing, ledger)


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace the evaluation by one that succeeds, hangs or breaks by name; the ids it was called
    for, in order.
    """
    seen: list[str] = []

    async def evaluate_idea(planned: PlannedIdea, job: ShardJob, tools: IdeaTools) -> Any:
        seen.append(planned.idea.idea_id)
        if planned.idea.idea_id == "idea-1":
            raise ValueError("a bug\nwith two lines")
        if planned.idea.idea_id == "idea-2":
            await asyncio.sleep(3600)
        whole = failed_evaluation(planned, job, tools.ledger, Stopwatch(), _no_failure())
        return whole.model_copy(update={"failures": ()})

    monkeypatch.setattr(shard, "evaluate_idea", evaluate_idea)
    return seen


def _no_failure() -> Failure:
    return Failure(stage="evaluate", subject="none", reason=Reason.INTERNAL_ERROR, detail="")


async def run(work: ShardJob, tmp_path: Path) -> dict[EvaluationKey, Any]:
    warehouse = Warehouse(tmp_path)
    await shard.evaluate_shard(work, warehouse, Attempts(tmp_path / "attempts"), tools)
    receipts = iterate_receipts(warehouse, RUNS, work.run_id)
    return {receipt.evaluation_key: receipt for receipt in receipts}


async def test_a_breaking_and_a_hanging_idea_do_not_hold_back_the_others(
    evaluated: list[str], tmp_path: Path
) -> None:
    work = job(tmp_path, 5, idea_timeout_seconds=0.3)
    receipts = await run(work, tmp_path)
    reasons = [receipts[planned.evaluation_key].incomplete_reason for planned in work.ideas]
    assert reasons == [None, "internal_error", "timed_out", None, None]


async def test_what_judges_voted_lands_with_the_idea(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    votes = make_judge_votes(make_provenance("judge_novelty"), 3, Reason.REFUSED)

    async def evaluate_idea(
        planned: PlannedIdea, job: ShardJob, tools: IdeaTools
    ) -> IdeaEvaluation:
        tools.ledger.judge_votes.extend(votes)
        return failed_evaluation(planned, job, tools.ledger, Stopwatch(), _no_failure())

    monkeypatch.setattr(shard, "evaluate_idea", evaluate_idea)
    work = job(tmp_path, 1)
    await run(work, tmp_path)
    landed = (
        RUNS.unit_folder(Warehouse(tmp_path), work.run_id, work.ideas[0].evaluation_key)
        / "judge_votes.parquet"
    )
    rows = read_rows(TABLE["judge_votes"], landed)
    assert [(row["judge"], row["score"], row["unscored_reason"]) for row in rows] == [
        (JUDGES[0], 3.0, None),
        (JUDGES[1], None, "refused"),
    ]


async def test_complete_ideas_are_skipped_and_incomplete_ones_tried_again(
    evaluated: list[str], tmp_path: Path
) -> None:
    work = job(tmp_path, 3, idea_timeout_seconds=0.2)
    await run(work, tmp_path)
    evaluated.clear()
    await run(work, tmp_path)
    assert sorted(evaluated) == ["idea-1", "idea-2"]


async def test_an_idea_that_keeps_killing_its_worker_is_set_aside_and_named(
    evaluated: list[str], tmp_path: Path
) -> None:
    work = job(tmp_path, 1)
    attempts = Attempts(tmp_path / "attempts")
    for _ in range(MAXIMUM_ATTEMPTS):
        attempts.begin(work.ideas[0].evaluation_key)
    receipts = await run(work, tmp_path)
    assert evaluated == []
    assert receipts[work.ideas[0].evaluation_key].incomplete_reason == "worker_lost"


async def test_suspects_run_last_and_the_least_suspected_first(
    evaluated: list[str], tmp_path: Path
) -> None:
    work = job(tmp_path, 5, idea_timeout_seconds=0.2)
    attempts = Attempts(tmp_path / "attempts")
    for index, deaths in ((0, 2), (3, 1)):
        for _ in range(deaths):
            attempts.begin(work.ideas[index].evaluation_key)
    await run(work, tmp_path)
    assert evaluated[-2:] == ["idea-3", "idea-0"]


async def test_attempts_are_taken_back_when_an_idea_ends(
    evaluated: list[str], tmp_path: Path
) -> None:
    work = job(tmp_path, 2)
    await run(work, tmp_path)
    assert [
        Attempts(tmp_path / "attempts").count(planned.evaluation_key) for planned in work.ideas
    ] == [0, 0]


def _lost(reason: Reason, stage: str = "literature") -> Failure:
    return Failure(stage=stage, subject="m1", reason=reason, detail="gone")


def _without_evidence(tmp_path: Path, *failures: Failure) -> IdeaEvaluation:
    """An evaluation whose one method has no evidence because `failures` happened."""
    whole = failed_evaluation(
        job(tmp_path, 1).ideas[0],
        job(tmp_path, 1),
        Ledger(IdeaId("idea-0")),
        Stopwatch(),
        failures[0],
    )
    provenance = unasked_provenance(SOUNDNESS_REVIEW, ExtractiveEngine(cast(Any, None), 1))
    review = SoundnessReview(
        method_id="m1",
        unscored_reason=Reason.SOURCE_UNAVAILABLE,
        unscored_detail="",
        evidence_count=0,
        provenance=provenance,
    )
    soundness = SoundnessEvaluation(
        methods=(),
        passages=(),
        sections=(),
        evidence=(),
        reviews=(review,),
        summary=None,
        failures=failures,
    )
    return whole.model_copy(update={"soundness": soundness, "failures": ()})


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (_lost(Reason.UNREACHABLE), "source_unavailable"),
        (_lost(Reason.FORBIDDEN), "source_unavailable"),
        (_lost(Reason.BUDGET_EXHAUSTED), "budget_exhausted"),
        (_lost(Reason.ENGINE_UNAVAILABLE, "soundness"), "engine_unavailable"),
        (_lost(Reason.NOT_FOUND), None),
        (_lost(Reason.BAD_REQUEST), None),
        (_lost(Reason.UNREACHABLE, "documents"), None),
        (_lost(Reason.NO_OPEN_ACCESS, "documents"), None),
        (_lost(Reason.NOT_CONFIGURED), "source_unavailable"),
        (_lost(Reason.NOT_CONFIGURED, "committee"), None),
        (_lost(Reason.SERVER_ERROR, "committee"), "source_unavailable"),
    ],
)
def test_what_another_run_may_mend_is_tried_again_and_nothing_else_for_ever(
    tmp_path: Path, failure: Failure, reason: str | None
) -> None:
    assert shard._incomplete_reason(_without_evidence(tmp_path, failure)) == reason


def _raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    async def evaluate_idea(planned: PlannedIdea, job: ShardJob, tools: IdeaTools) -> Any:
        if planned.idea.idea_id != "idea-0":
            await asyncio.sleep(3600)

        async def breaking() -> None:
            raise error

        async with asyncio.TaskGroup() as outer:
            outer.create_task(breaking())

    monkeypatch.setattr(shard, "evaluate_idea", evaluate_idea)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (BudgetExhaustedError("the budget is spent"), "budget_exhausted"),
        (ZeroDivisionError("a bug"), "internal_error"),
    ],
)
async def test_an_error_inside_a_group_is_named_by_what_it_is_about(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception, reason: str
) -> None:
    _raising(monkeypatch, error)
    (receipt,) = (await run(job(tmp_path, 1), tmp_path)).values()
    assert receipt.incomplete_reason == reason


async def test_wrong_settings_end_the_shard_with_their_own_words_and_blame_no_idea(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _raising(monkeypatch, ConfigurationError("cache is damaged: delete it"))
    work = job(tmp_path, 3)
    with pytest.raises(ConfigurationError, match="cache is damaged"):
        await run(work, tmp_path)
    assert [
        Attempts(tmp_path / "attempts").count(planned.evaluation_key) for planned in work.ideas
    ] == [0, 0, 0]


def _break(monkeypatch: pytest.MonkeyPatch, stage: str, error: BaseException) -> IdeaToolsFactory:
    """Let `idea-1` fail at a stage; the tools to work with."""
    about = "idea-1"

    async def evaluate(idea: Idea, profile: Any, tools: IdeaTools) -> Any:
        if idea.idea_id == about:
            raise error
        return SimpleNamespace(evaluation=None, papers=(), citations=(), suggestions=())

    def breaking_bench(ledger: Ledger) -> IdeaTools:
        if stage == "tools" and ledger.idea_id == about:
            raise error
        return tools(ledger)

    def assembled(
        planned: PlannedIdea, job: Any, ledger: Ledger, watch: Any, found: Any, *rest: Any
    ) -> IdeaEvaluation:
        if stage == "assemble" and planned.idea.idea_id == about and found:
            raise error
        return whole(planned, job, ledger, watch, found, *rest)

    def landing(warehouse: Warehouse, evaluation: IdeaEvaluation, **named: Any) -> Any:
        if evaluation.idea.idea_id == about and (
            stage == "land failure" or (stage == "land" and not evaluation.failures)
        ):
            raise error
        return land(warehouse, evaluation, **named)

    whole = evaluating._assemble
    broken = stage if stage in set(Module) else None
    for module in Module:
        fitting = evaluate if module == broken else _finding_nothing
        monkeypatch.setitem(MODULES, module, EvaluatingModule("tests", fitting))
    monkeypatch.setattr(evaluating, "_assemble", assembled)
    monkeypatch.setattr(shard, "land", landing)
    return breaking_bench


async def _finding_nothing(idea: Idea, profile: Any, tools: IdeaTools) -> Any:
    return SimpleNamespace(evaluation=None, papers=(), citations=(), suggestions=())


POISONS = [
    ZeroDivisionError("a bug"),
    RecursionError("too deep"),
    UnicodeEncodeError("utf-8", "\ud800", 0, 1, "no"),
    PublicationError("no row"),
    ValueError("half a \ud800"),
]


@pytest.mark.parametrize(
    ("stage", "error"),
    [
        *((stage, POISONS[0]) for stage in (*Module, "tools", "assemble")),
        *(("land", error) for error in POISONS),
    ],
    ids=str,
)
async def test_whatever_stage_of_an_idea_fails_it_is_that_ideas_failure(
    stage: str, error: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Half a character in a captured log would end the worker of the tests that reports it.
    monkeypatch.setattr(unit_work.logger, "disabled", True)
    work = job(tmp_path, 3, modules=tuple(Module))
    open_tools = _break(monkeypatch, stage, error)
    receipts = await shard.evaluate_shard(
        work, Warehouse(tmp_path), Attempts(tmp_path / "attempts"), open_tools
    )
    assert [receipt.incomplete_reason for receipt in receipts] == [
        None,
        error.reason if isinstance(error, AssayError) else "internal_error",
        None,
    ]
    folder = RUNS.unit_folder(Warehouse(tmp_path), work.run_id, work.ideas[1].evaluation_key)
    (failure,) = read_rows(TABLE["failures"], folder / "failures.parquet")
    assert str(error).encode("utf-8", "replace").decode() in failure["detail"]


async def test_an_idea_that_cannot_even_land_as_a_failure_takes_no_other_with_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    work = job(tmp_path, 3)
    open_tools = _break(monkeypatch, "land failure", PublicationError("no such row"))
    receipts = await shard.evaluate_shard(
        work, Warehouse(tmp_path), Attempts(tmp_path / "attempts"), open_tools
    )
    assert [receipt.idea_id for receipt in receipts] == ["idea-0", "idea-2"]
    assert (
        "the failure of idea 'idea-1' cannot be landed: PublicationError: no such row"
        in caplog.text
    )


async def test_a_disk_that_refuses_is_no_ideas_fault(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    open_tools = _break(
        monkeypatch, "land failure", OSError(errno.ENOSPC, "No space left on device")
    )
    with pytest.raises(OSError, match="No space left"):
        await shard.evaluate_shard(
            job(tmp_path, 2), Warehouse(tmp_path), Attempts(tmp_path / "attempts"), open_tools
        )


async def test_memory_that_ran_out_ends_the_worker_and_leaves_the_idea_a_suspect(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    work, attempts = job(tmp_path, 2), Attempts(tmp_path / "attempts")
    open_tools = _break(monkeypatch, Module.SOUNDNESS, MemoryError())
    with pytest.raises(ExceptionGroup) as raised:
        await shard.evaluate_shard(work, Warehouse(tmp_path), attempts, open_tools)
    assert raised.group_contains(MemoryError)
    assert [attempts.count(planned.evaluation_key) for planned in work.ideas] == [0, 1]


BASE = Idea(
    idea_id=IdeaId("a"),
    title="A",
    text="We will do something new.",
    cutoff_date=date(2024, 1, 1),
)


def key(
    tmp_path: Path,
    idea: Idea | None = None,
    literature: str = "snapshot:abc",
    used: tuple[str, ...] = (),
    results: tuple[ExperimentalResult, ...] = (),
    **changes: Any,
) -> EvaluationKey:
    return evaluation_key(
        idea or BASE, request(tmp_path, **changes), literature, STEPS, used, results
    )


def test_the_key_changes_with_all_that_could_change_the_result(tmp_path: Path) -> None:
    result = result_of(RunId("experiment-a"), make_experiment())
    assert result is not None
    variants = [
        key(tmp_path),
        key(tmp_path, BASE.model_copy(update={"text": "We will do something else."})),
        key(tmp_path, BASE.model_copy(update={"cutoff_date": date(2024, 1, 2)})),
        key(tmp_path, literature="snapshot:def"),
        key(tmp_path, engine="litellm:openai/a"),
        key(tmp_path, engine="litellm:openai/a", api_base="http://other"),
        key(tmp_path, profile=load_profile("faithful")),
        key(tmp_path, full_text=True),
        key(tmp_path, survey=True),
        key(tmp_path, label="again"),
        key(tmp_path, used=("embeddings other 128",)),
        key(tmp_path, results=(result,)),
        key(tmp_path, results=(replace(result, finding=Finding.UNDECIDED),)),
    ]
    assert len(set(variants)) == len(variants)


def test_another_rule_of_coverage_is_another_key_only_where_the_rule_is_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    literatures = ("snapshot:abc", "live:api.semanticscholar.org")
    before = [key(tmp_path, literature=name) for name in literatures]
    monkeypatch.setattr(field_coverage, "_LEAST_PROBABILITY", 0.123)
    after = [key(tmp_path, literature=name) for name in literatures]
    assert [one == other for one, other in zip(before, after, strict=True)] == [False, True]


def test_the_key_stays_when_nothing_that_matters_changes(tmp_path: Path) -> None:
    same = BASE.model_copy(
        update={"group": "other", "title": "Another title", "metadata": {"note": "x"}}
    )
    assert key(tmp_path, BASE) == key(tmp_path, same, workers=7, ideas_in_flight=3)


def test_the_run_is_named_after_its_content(tmp_path: Path) -> None:
    keys = [EvaluationKey("a"), EvaluationKey("b")]
    again = run_id_for(request(tmp_path), keys[::-1], ["m", "n"], [])
    assert run_id_for(request(tmp_path), keys, ["n", "m"], []) == again
    assert again.startswith("ideas-")
    assert run_id_for(request(tmp_path), keys, ["n", "m"], ["line 3:empty"]) != again


@pytest.mark.parametrize("edited", [{"group": "b"}, {"title": "B"}, {"metadata": {"by": "Ann"}}])
def test_an_edited_group_title_or_metadata_is_another_run_of_the_same_evaluations(
    edited: dict[str, Any], tmp_path: Path
) -> None:
    idea = Idea(idea_id=IdeaId("a"), title="A", text="We will do something new.", group="a")
    other = idea.model_copy(update=edited)
    before, after = (
        run_id_for(request(tmp_path), [key(tmp_path, each)], [each.description_sha256], [])
        for each in (idea, other)
    )
    assert key(tmp_path, idea) == key(tmp_path, other)
    assert before != after


def test_an_evaluation_ends_no_earlier_than_it_began_though_the_clock_was_set_back(
    tmp_path: Path,
) -> None:
    work, tomorrow = job(tmp_path, 1), datetime.now(UTC) + timedelta(days=1)
    evaluation = failed_evaluation(
        work.ideas[0], work, Ledger(IdeaId("idea-0")), Stopwatch(tomorrow), _no_failure()
    )
    assert evaluation.started_at == tomorrow
    assert tomorrow <= evaluation.finished_at < tomorrow + timedelta(hours=1)
