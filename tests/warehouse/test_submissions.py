"""What tokens may spend: by bounds while jobs are open, by bills once they are known."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.errors import BudgetExhaustedError, ConflictError, RateLimitedError
from schemas.job import JobState, JobStatus
from schemas.token import Token
from tests.support.api_server import make_token
from tests.support.jobs import evaluate_job, known, plan_job
from warehouse.jobs import write_status
from warehouse.layout import Layout
from warehouse.services.database import ServiceDatabase
from warehouse.services.submissions import accept
from warehouse.services.tokens import token_of

MODEL = "litellm:openai/judge"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path)


@pytest.fixture
def database(layout: Layout) -> Iterator[ServiceDatabase]:
    with ServiceDatabase(layout) as found:
        yield found


def token(layout: Layout, database: ServiceDatabase, **changes: float) -> Token:
    found = token_of(database, make_token(layout, **changes))
    assert found is not None
    return found


def test_a_job_that_asks_a_model_says_its_bound_and_keeps_to_what_is_left(
    layout: Layout, database: ServiceDatabase
) -> None:
    holder = token(layout, database, maximum_cost_usd=5.0)
    with pytest.raises(BudgetExhaustedError, match="max_cost_usd has to be said"):
        accept(layout, database, holder, evaluate_job(engine=MODEL))
    accept(layout, database, holder, evaluate_job(engine=MODEL, max_cost_usd=3.0))
    with pytest.raises(BudgetExhaustedError, match=r"may still spend 2\.00 USD"):
        accept(layout, database, holder, evaluate_job(engine=MODEL, max_cost_usd=2.5))
    with pytest.raises(BudgetExhaustedError, match=r"may cost 4\.00 USD"):
        accept(layout, database, holder, evaluate_job(engine=MODEL, max_cost_usd=2.0, rank=True))
    accept(layout, database, holder, plan_job(engine=MODEL))
    accept(layout, database, holder, evaluate_job())


def test_a_job_whose_bill_is_not_known_counts_as_its_bound_and_one_never_begun_as_nothing(
    layout: Layout, database: ServiceDatabase
) -> None:
    holder = token(layout, database, maximum_cost_usd=4.0)
    for begun in (False, True):
        request = evaluate_job(engine=MODEL, max_cost_usd=4.0)
        job = known(layout, accept(layout, database, holder, request))
        if begun:
            job.log.write_text("at work\n")
        write_status(job, JobStatus(state=JobState.STOPPED))
    with pytest.raises(BudgetExhaustedError, match=r"may still spend 0\.00 USD"):
        accept(layout, database, holder, evaluate_job(engine=MODEL, max_cost_usd=0.5))


def test_jobs_that_have_ended_make_room(layout: Layout, database: ServiceDatabase) -> None:
    holder = token(layout, database, maximum_open_jobs=1)
    job = known(layout, accept(layout, database, holder, evaluate_job()))
    with pytest.raises(RateLimitedError, match="may have no more"):
        accept(layout, database, holder, evaluate_job())
    write_status(job, JobStatus(state=JobState.DONE, exit_code=0))
    accept(layout, database, holder, evaluate_job())


def test_a_key_names_one_request(layout: Layout, database: ServiceDatabase) -> None:
    holder = token(layout, database)
    first = accept(layout, database, holder, evaluate_job(key="k"))
    assert accept(layout, database, holder, evaluate_job(key="k")) == first
    with pytest.raises(ConflictError, match="choose a new key"):
        accept(layout, database, holder, evaluate_job("Another idea.", key="k"))
