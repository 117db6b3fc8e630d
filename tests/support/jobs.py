"""Requests for the job runner, and the runner itself."""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch
from uuid import uuid4

import orjson

from flows.jobs import job_process
from flows.jobs.runner import run_jobs
from schemas.choices import EXTRACTIVE
from schemas.idea import SentIdea
from schemas.identifiers import RunId
from schemas.judgement.benchmark import SuiteName
from schemas.options.benchmark_options import BenchmarkOptions
from schemas.options.commands import EvaluateOptions, PlanOptions, RankOptions
from schemas.people.job import BenchmarkJob, EvaluateJob, JobRequest, JobStatus, PlanJob, RankJob
from schemas.settings import Settings
from schemas.works.check_run import CheckJob, CheckOptions, SentManuscript
from schemas.works.curation_run import CurateJob, CurateOptions, SentPaper
from schemas.works.draft_run import WriteJob, WriteOptions
from schemas.works.experiment_run import ExperimentJob, ExperimentOptions, SentTask
from schemas.works.ideation_run import IdeateJob, IdeateOptions
from tests.support.reviewed_papers import FIRST_REVIEW, SECOND_REVIEW, paper_text
from tests.support.small_task import BASELINE, EVALUATE, PROGRAM, TASK
from warehouse.app.jobs import Job, jobs, read_job, submit
from warehouse.warehouse import Warehouse

WAIT_SECONDS = 300.0
TEXT = (
    "We fine-tune a small language model on synthetic proofs and measure whether retrieval of"
    " lemmas improves theorem proving."
)


def evaluate_job(text: str = TEXT, *, key: str = "", **options: Any) -> EvaluateJob:
    return EvaluateJob(options=EvaluateOptions(**options), **_idea(text, key))


def plan_job(text: str = TEXT, *, key: str = "", **options: Any) -> PlanJob:
    return PlanJob(options=PlanOptions(**options), **_idea(text, key))


def curate_job(*papers: SentPaper, key: str = "", **options: Any) -> CurateJob:
    asked = _asked(papers[0].paper_id, key)
    return CurateJob(papers=papers, options=CurateOptions(**options), **asked)


def check_job(text: str, *, key: str = "", **options: Any) -> CheckJob:
    sent = (SentManuscript(manuscript_id="bats", text=text),)
    return CheckJob(manuscripts=sent, options=CheckOptions(**options), **_asked("bats", key))


def benchmark_job(suite: SuiteName, *, key: str = "", **options: Any) -> BenchmarkJob:
    told = _asked(suite, key)
    return BenchmarkJob(suite=suite, options=BenchmarkOptions(**options), **told)


def experiment_job(program: str = PROGRAM, *, key: str = "", **options: Any) -> ExperimentJob:
    told = {"task": TASK.format(candidates=3, seconds=30), "baselines": {"eight": BASELINE}}
    sent = SentTask(task_id="numbers", program=program, evaluate=EVALUATE, **told)
    asked = _asked("numbers", key)
    return ExperimentJob(tasks=(sent,), options=ExperimentOptions(**options), **asked)


def sent_paper(paper_id: str = "bats", **changes: Any) -> SentPaper:
    """A paper with two reviews, as a program sends it."""
    reviews = [{"text": text, "rating": 3} for text in (FIRST_REVIEW, SECOND_REVIEW)]
    told = {"paper_id": paper_id, "text": paper_text(), "reviews": reviews}
    return SentPaper.model_validate(told | changes)


def write_job(idea: str | SentIdea, *, key: str = "", **options: Any) -> WriteJob:
    return WriteJob(idea=idea, options=WriteOptions(**options), **_asked("a draft", key))


def ideate_job(*seeds: str | SentIdea, key: str = "", **options: Any) -> IdeateJob:
    return IdeateJob(seeds=seeds, options=IdeateOptions(**options), **_asked("ideas", key))


def rank_job(run_id: str, *, key: str = "", **options: Any) -> RankJob:
    told = {"profile": "economy", "engine": EXTRACTIVE} | options
    asked = _asked(f"ranking of {run_id}", key)
    return RankJob(run_id=RunId(run_id), options=RankOptions(**told), **asked)


def _idea(text: str, key: str) -> dict[str, Any]:
    ideas = orjson.dumps({"text": text}).decode() + "\n"
    return {"ideas": ideas} | _asked(" ".join(text.split())[:80], key)


def _asked(name: str, key: str) -> dict[str, Any]:
    return {
        "name": name,
        "asked_by": "a test",
        "created_at": datetime.now(UTC),
        "idempotency_key": key or uuid4().hex,
    }


def known(warehouse: Warehouse, job_id: str) -> Job:
    job = read_job(warehouse, job_id)
    assert job is not None
    return job


def done_here(warehouse: Warehouse, request: JobRequest) -> JobStatus:
    """How a job ends that is done in this process, without the seconds of a start."""
    job_id = submit(warehouse, request)
    with patch.dict(os.environ):  # which a job's process sets for itself
        job_process._do(warehouse, job_id)
    return known(warehouse, job_id).status


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def run_until(
    warehouse: Warehouse, reached: Callable[[], bool], settings: Settings | None = None
) -> None:
    """A runner in this process, until `reached`."""
    deadline = time.monotonic() + WAIT_SECONDS

    def over() -> bool:
        said = [(job.job_id, job.status) for job in jobs(warehouse)]
        assert time.monotonic() < deadline, said
        return reached()

    run_jobs(Warehouse(warehouse.root, settings or Settings()), over)


def run_to_the_end(warehouse: Warehouse, settings: Settings | None = None) -> None:
    """A runner in this process, until every job has ended."""
    run_until(warehouse, lambda: not any(job.at_work for job in jobs(warehouse)), settings)
