"""Job submissions: written to the database, then copied to files for the job runner.

Submissions that a kill left uncopied are copied at the next start. The job_id is computed from the
request, so that none is duplicated.
"""

from datetime import UTC, datetime

from schemas.errors import BudgetExhaustedError, ConflictError, RateLimitedError, UnknownNameError
from schemas.identifiers import content_hash
from schemas.people.job import JobRequest, RankJob
from schemas.people.role import Action, Token
from warehouse.app.database import ServiceDatabase, Transaction
from warehouse.app.jobs import Job, job_id_of, job_ids, read_job, submit_as
from warehouse.units.published_work import published_kind
from warehouse.warehouse import Warehouse

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def accept(
    warehouse: Warehouse, database: ServiceDatabase, token: Token, request: JobRequest
) -> str:
    """Accept a request of a token, and return its job_id.

    An idempotency key that the token used before returns its job.

    Raises:
        ConflictError: the key belongs to another request.
        RateLimitedError: the token has reached its limit of open jobs.
        BudgetExhaustedError: the job has no cost bound, or may exceed the token's budget.
    """
    _settle(warehouse, database, token)
    job_id: str
    key, content = request.idempotency_key, _content_hash(request)
    with database.transaction() as work:
        columns, holder = ("job_id", "content_sha256"), token.token_id
        rows = work.rows("submissions", *columns, token_id=holder, idempotency_key=key)
        if rows:
            job_id, earlier_content = rows[0]
            if earlier_content != content:
                raise ConflictError(
                    f"this idempotency key belongs to job {job_id}, which asks something else:"
                    " choose a new key"
                )
        else:
            ((open_count, charged_usd),) = work.ask("standing", token_id=token.token_id)
            job_id = job_id_of(request)
            charge_usd = _charge(token, request, open_count, charged_usd)
            add_submission(work, token.token_id, request, charge_usd=charge_usd)
    hand_over(warehouse, database)
    return job_id


def add_submission(
    work: Transaction, token_id: str, request: JobRequest, *, charge_usd: float
) -> None:
    """Record a request of a token, or of a voter's pseudonym."""
    work.add(
        "submissions",
        job_id=job_id_of(request),
        token_id=token_id,
        idempotency_key=request.idempotency_key,
        content_sha256=_content_hash(request),
        request=request.model_dump_json(),
        charge_usd=charge_usd,
    )


def hand_over(warehouse: Warehouse, database: ServiceDatabase) -> None:
    """Write new submissions to files for the job runner."""
    for job_id, document in database.ask("waiting"):
        submit_as(warehouse, job_id, document.encode())
        with database.transaction() as work:
            work.change("submissions", {"request": None}, job_id=job_id)


def may_see(database: ServiceDatabase, token: Token, job_id: str) -> bool:
    """Return whether the token may watch and stop a job."""
    if token.scope.may(Action.OVERSEE):
        return True
    return (token.token_id,) in database.rows("submissions", "token_id", job_id=job_id)


def jobs_of(warehouse: Warehouse, database: ServiceDatabase, token: Token) -> tuple[Job, ...]:
    """Return the jobs that the token may see, newest first."""
    if token.scope.may(Action.OVERSEE):
        names = list(reversed(job_ids(warehouse)))
    else:
        names = [
            name
            for (name,) in database.rows(
                "submissions", "job_id", order="job_id desc", token_id=token.token_id
            )
        ]
    every_job = (read_job(warehouse, name) for name in names)
    return tuple(job for job in every_job if job is not None)


def _content_hash(request: JobRequest) -> str:
    return content_hash(request.model_copy(update={"created_at": _EPOCH}).model_dump_json())


def _charge(token: Token, request: JobRequest, open_count: int, charged_usd: float) -> float:
    """Return the amount charged until the job's cost is known: its bound."""
    if open_count >= token.maximum_open_jobs:
        raise RateLimitedError(
            f"{open_count} jobs of this token wait or are being done, and it may have no more: wait"
            " for one to end, or stop one"
        )
    options = request.options
    if request.asks_nothing or options.engine is None or options.engine.is_baseline:
        return 0.0
    remaining_usd = token.maximum_cost_usd - charged_usd
    if options.max_cost_usd is None:
        raise BudgetExhaustedError(
            f"max_cost_usd is required: this token may still spend {remaining_usd:.2f} USD"
        )
    # The bound applies to evaluation and ranking separately.
    bound_usd = options.max_cost_usd * (2 if getattr(options, "rank", False) else 1)
    if bound_usd > remaining_usd:
        raise BudgetExhaustedError(
            f"the job may cost {bound_usd:.2f} USD, and this token may still spend {remaining_usd:.2f} USD: ask"
            " for less, or for another token"
        )
    return bound_usd


def _settle(warehouse: Warehouse, database: ServiceDatabase, token: Token) -> None:
    """Charge the token's ended jobs with their actual cost, if it is known."""
    columns = ("job_id", "charge_usd")
    for job_id, bound_usd in database.rows(
        "submissions", *columns, token_id=token.token_id, open=1
    ):
        job = read_job(warehouse, job_id)
        if job is not None and job.at_work:
            continue
        if job is None and database.ask("waiting"):
            continue  # its files are not written yet
        cost_usd = None if job is None else _cost_usd(warehouse, job)
        settled_values = {"open": 0, "charge_usd": bound_usd if cost_usd is None else cost_usd}
        with database.transaction() as work:
            work.change("submissions", settled_values, job_id=job_id, open=1)


def _cost_usd(warehouse: Warehouse, job: Job) -> float | None:
    """Return the cost of a job that has ended; None if partly unknown."""
    if not job.log.exists():  # it never started
        return 0.0
    status = job.status
    if status.run_id is None or status.started_at is None or status.finished_at is None:
        return None
    # A run may have other rankings, which other tokens pay for.
    since = status.started_at if isinstance(job.request, RankJob) else _EPOCH
    try:
        with warehouse.queries() as queries:
            published_kind(queries.connection, status.run_id)
            costs = [
                queries.spent(each, since, status.finished_at)
                for each in (status.run_id, *status.other_run_ids)
            ]
        known_costs = [each for each in costs if each is not None]
        return sum(known_costs) if len(known_costs) == len(costs) else None
    except UnknownNameError:  # deleted meanwhile
        return None
