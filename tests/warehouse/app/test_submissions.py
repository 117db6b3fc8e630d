"""What tokens may spend: by bounds while jobs are open, by bills once they are known."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.errors import BudgetExhaustedError, ConflictError, RateLimitedError
from schemas.identifiers import RunId
from schemas.people.job import JobRequest, JobState, JobStatus
from schemas.people.role import Token
from tests.support.api_server import make_token
from tests.support.evaluations import START, make_evaluation, make_llm_call, make_run
from tests.support.jobs import evaluate_job, known, plan_job, rank_job
from tests.support.rankings import AT
from warehouse.app import submissions
from warehouse.app.accounts import token_of
from warehouse.app.database import ServiceDatabase
from warehouse.app.jobs import Job, read_job, write_status
from warehouse.app.submissions import accept, add_submission, hand_over
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

MODEL = "litellm:openai/judge"
RUN = RunId("run-a")


def token(warehouse: Warehouse, database: ServiceDatabase, **changes: float) -> Token:
    found = token_of(database, make_token(warehouse, **changes))
    assert found is not None
    return found


def test_a_job_that_asks_a_model_says_its_bound_and_keeps_to_what_is_left(
    warehouse: Warehouse, database: ServiceDatabase
) -> None:
    holder = token(warehouse, database, maximum_cost_usd=5.0)
    with pytest.raises(BudgetExhaustedError, match="max_cost_usd is required"):
        accept(warehouse, database, holder, evaluate_job(engine=MODEL))
    accept(warehouse, database, holder, evaluate_job(engine=MODEL, max_cost_usd=3.0))
    with pytest.raises(BudgetExhaustedError, match=r"may still spend 2\.00 USD"):
        accept(warehouse, database, holder, evaluate_job(engine=MODEL, max_cost_usd=2.5))
    with pytest.raises(BudgetExhaustedError, match=r"may cost 4\.00 USD"):
        accept(warehouse, database, holder, evaluate_job(engine=MODEL, max_cost_usd=2.0, rank=True))
    accept(warehouse, database, holder, plan_job(engine=MODEL))
    accept(warehouse, database, holder, evaluate_job())


def test_a_job_whose_bill_is_not_known_counts_as_its_bound_and_one_never_begun_as_nothing(
    warehouse: Warehouse, database: ServiceDatabase
) -> None:
    holder = token(warehouse, database, maximum_cost_usd=4.0)
    for begun in (False, True):
        request = evaluate_job(engine=MODEL, max_cost_usd=4.0)
        job = known(warehouse, accept(warehouse, database, holder, request))
        if begun:
            job.log.write_text("at work\n")
        write_status(job, JobStatus(state=JobState.STOPPED))
    with pytest.raises(BudgetExhaustedError, match=r"may still spend 0\.00 USD"):
        accept(warehouse, database, holder, evaluate_job(engine=MODEL, max_cost_usd=0.5))


def test_a_job_that_gets_its_files_meanwhile_stays_open(
    warehouse: Warehouse, database: ServiceDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder = token(warehouse, database, maximum_open_jobs=1)
    with database.transaction() as work:
        add_submission(work, holder.token_id, evaluate_job(), charge_usd=0.0)

    def read_just_before(*place: Any) -> Job | None:
        found = read_job(*place)
        hand_over(warehouse, database)  # as another request does
        return found

    monkeypatch.setattr(submissions, "read_job", read_just_before)
    with pytest.raises(RateLimitedError, match="may have no more"):
        accept(warehouse, database, holder, evaluate_job())


def test_jobs_that_have_ended_make_room(warehouse: Warehouse, database: ServiceDatabase) -> None:
    holder = token(warehouse, database, maximum_open_jobs=1)
    job = known(warehouse, accept(warehouse, database, holder, evaluate_job()))
    with pytest.raises(RateLimitedError, match="may have no more"):
        accept(warehouse, database, holder, evaluate_job())
    write_status(job, JobStatus(state=JobState.DONE, exit_code=0))
    accept(warehouse, database, holder, evaluate_job())


def test_a_key_names_one_request(warehouse: Warehouse, database: ServiceDatabase) -> None:
    holder = token(warehouse, database)
    first = accept(warehouse, database, holder, evaluate_job(key="k"))
    assert accept(warehouse, database, holder, evaluate_job(key="k")) == first
    with pytest.raises(ConflictError, match="choose a new key"):
        accept(warehouse, database, holder, evaluate_job("Another idea.", key="k"))


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A run whose calls have prices: one of two o'clock, when it was evaluated, and one of three,
    when it was ranked.
    """
    warehouse = Warehouse(tmp_path_factory.mktemp("ranked") / "warehouse")
    evaluation = make_evaluation()
    calls = tuple(
        make_llm_call(evaluation.idea.idea_id, number, created_at=at, cost_usd=cost)
        for number, (at, cost) in enumerate(((START, 0.25), (AT, 0.5)))
    )
    land(warehouse, replace(evaluation, llm_calls=calls))
    assert publish(warehouse, RUNS, make_run()).published
    return warehouse


def spent_by(
    warehouse: Warehouse,
    request: JobRequest,
    since: datetime,
    until: datetime,
    *others: str,
) -> float:
    """What a token of ten dollars has less once its job has ended; `others`: runs on the way."""
    bound = JobStatus(
        state=JobState.DONE,
        run_id=RUN,
        other_run_ids=others,
        started_at=since,
        finished_at=until,
    )
    with ServiceDatabase(warehouse) as database:
        holder = token(warehouse, database, maximum_cost_usd=10.0)
        job = known(warehouse, accept(warehouse, database, holder, request))
        job.log.write_text("at work\n")
        write_status(job, bound)
        accept(warehouse, database, holder, plan_job())  # settles what has ended
        with database.transaction() as work:
            ((_, charged_usd),) = work.ask("standing", token_id=holder.token_id)
    return float(charged_usd)


def test_a_job_that_ranks_is_settled_by_its_own_calls(ranked: Warehouse) -> None:
    minute = timedelta(minutes=1)
    evaluated = evaluate_job(engine=MODEL, max_cost_usd=2.0, rank=True)
    assert spent_by(ranked, evaluated, START, AT + minute) == 0.75
    assert spent_by(ranked, evaluated_alone(), START, AT - minute) == 0.25

    ranking = rank_job(RUN, engine=EngineChoice.parse(MODEL), max_cost_usd=2.0)
    assert spent_by(ranked, ranking, AT - minute, AT + minute) == 0.5
    again = rank_job(RUN, engine=EngineChoice.parse(MODEL), max_cost_usd=2.0)
    assert spent_by(ranked, again, AT + minute, AT + 2 * minute) == 0.0


def test_a_job_is_charged_for_every_run_that_it_made(ranked: Warehouse) -> None:
    evaluation = make_evaluation(1, run_id="run-b")
    calls = (make_llm_call(evaluation.idea.idea_id, 9, created_at=AT, cost_usd=1.5),)
    land(ranked, replace(evaluation, llm_calls=calls))
    assert publish(ranked, RUNS, make_run("run-b")).published
    minute = timedelta(minutes=1)
    assert spent_by(ranked, evaluated_alone(), START, AT + minute, "run-b") == 0.75 + 1.5


def evaluated_alone() -> JobRequest:
    return evaluate_job("Another idea.", engine=MODEL, max_cost_usd=2.0)


def test_a_ranking_is_bounded_once(warehouse: Warehouse, database: ServiceDatabase) -> None:
    holder = token(warehouse, database, maximum_cost_usd=2.0)
    ranking = {"engine": EngineChoice.parse(MODEL)}
    with pytest.raises(BudgetExhaustedError, match="max_cost_usd is required"):
        accept(warehouse, database, holder, rank_job("run-a", **ranking))
    accept(warehouse, database, holder, rank_job("run-a", **ranking, max_cost_usd=2.0))
    accept(warehouse, database, holder, rank_job("run-a"))  # the baseline pays nothing


def test_a_request_that_no_longer_can_be_understood_holds_up_no_other(
    warehouse: Warehouse, database: ServiceDatabase
) -> None:
    holder = token(warehouse, database)
    with database.transaction() as work:
        work.add(
            "submissions",
            job_id="20260301T020000000000-0123456789abcdef",
            token_id=holder.token_id,
            idempotency_key="of another version",
            content_sha256="",
            request='{"command": "forgotten"}',
            charge_usd=0.0,
        )
    accepted = accept(warehouse, database, holder, evaluate_job())
    assert known(warehouse, accepted).request is not None
    assert known(warehouse, "20260301T020000000000-0123456789abcdef").request is None
