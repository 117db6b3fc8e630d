"""What machines share in the database of their catalogue: budgets, rates, and its name."""

import asyncio
import multiprocessing
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest

from schemas.errors import BudgetExhaustedError, ConfigurationError, SharedStateError
from schemas.identifiers import EvaluationKey, IdeaId, RunId
from schemas.run import Budget
from tasks.accounting.budgets import SharedBudget
from tasks.evaluation.evaluate_shard import Attempts
from tasks.web.shared_limits import SharedRateLimit
from tests.support.assay_command import wait_until
from tests.support.postgres_server import PASSWORD, PostgresServer, needs_postgres
from warehouse.shared_database import SharedDatabase, shared_database
from warehouse.stores.budget_file import BudgetFile

pytestmark = needs_postgres
SPAWN = multiprocessing.get_context("spawn")
RUN, IDEA, KEY = RunId("run-1"), IdeaId("idea-1"), EvaluationKey("a" * 32)


@pytest.fixture
def database(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of an empty database, which the environment names as the catalogue's."""
    name = f"shared-{uuid4().hex[:8]}"
    monkeypatch.setenv("ASSAY_CATALOGUE_URL", postgres.new_database(name))
    return name


def _take_many(folder: Path, times: "multiprocessing.Queue[tuple[float, list[float]]]") -> None:
    async def take() -> list[float]:
        limit = SharedRateLimit(folder, "model", 1200)
        taken = []
        for _ in range(10):
            await limit.take()
            taken.append(time.time())
        return taken

    times.put((time.time(), asyncio.run(take())))


def test_machines_share_one_rate_and_never_more(database: str, tmp_path: Path) -> None:
    """However late one wakes, the n-th call of both comes n intervals after the first request."""
    times: multiprocessing.Queue[tuple[float, list[float]]] = SPAWN.Queue()
    folders = [tmp_path / name for name in ("first", "second")]
    machines = [SPAWN.Process(target=_take_many, args=(folder, times)) for folder in folders]
    for machine in machines:
        machine.start()
    told = [times.get(timeout=240) for _ in machines]
    for machine in machines:
        machine.join()
    first = min(begun for begun, _ in told)
    together = sorted(moment for _, taken in told for moment in taken)
    assert len(together) == 20
    assert all(moment >= first + 0.05 * number for number, moment in enumerate(together))
    assert not list(tmp_path.rglob("*.limit"))


async def test_a_pause_that_a_provider_asks_for_holds_on_every_machine(
    database: str, tmp_path: Path
) -> None:
    SharedRateLimit(tmp_path / "first", "model", None).penalise(0.3)
    assert await SharedRateLimit(tmp_path / "second", "model", None).take() > 0.1


async def test_two_machines_spend_one_budget(database: str, tmp_path: Path) -> None:
    first, second = (
        SharedBudget(tmp_path / name / "budgets.sqlite", RUN, Budget(maximum_tokens=100))
        for name in ("first", "second")
    )
    first.settle(await first.reserve(IDEA, tokens=50), tokens=60)
    second.settle(await second.reserve(IDEA, tokens=50), tokens=45)
    assert first.spent(IDEA).tokens == second.spent().tokens == 105
    with pytest.raises(BudgetExhaustedError, match="of 100 tokens is spent: raise --max-tokens"):
        await first.reserve(IDEA, tokens=1)
    assert not list(tmp_path.rglob("*.sqlite"))


def test_a_machine_whose_clock_is_ahead_gives_up_no_call_of_another(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds = Budget(maximum_cost_usd=1.0)
    here, ahead = (BudgetFile(tmp_path / "budgets.sqlite", RUN, bounds) for _ in range(2))
    assert here.admit("first", IDEA, 2.0, 1)
    clock = SimpleNamespace(time=lambda: time.time() + 3600.0)
    monkeypatch.setattr("warehouse.stores.budget_file.time", clock)
    assert not ahead.admit("second", IDEA, 0.5, 1), "the first is still in flight"


def test_two_machines_of_one_host_name_are_told_apart(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds = Budget(maximum_cost_usd=1.0)
    here, there = (BudgetFile(tmp_path / "budgets.sqlite", RUN, bounds) for _ in range(2))
    with monkeypatch.context() as machine:
        machine.setattr("warehouse.stores.budget_file.this_machine", lambda: "another kernel")
        machine.setattr("os.getpid", lambda: 2**30)  # no process has this number here
        assert there.admit("first", IDEA, 2.0, 1)
    assert not here.admit("second", IDEA, 0.5, 1), "the first is still in flight"


def test_deaths_with_an_idea_in_hand_are_counted_over_all_machines(
    database: str, tmp_path: Path
) -> None:
    first, second = (
        Attempts(tmp_path / name / "runs" / RUN / "attempts") for name in ("first", "second")
    )
    for machine in (first, second, first):
        machine.begin(KEY)
    assert second.count(KEY) == 3
    second.end(KEY)
    assert first.count(KEY) == 0
    assert not list(tmp_path.rglob("*"))


def test_a_server_that_restarts_loses_no_spending(
    database: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    budget = SharedBudget(tmp_path / "budgets.sqlite", RUN, Budget(maximum_requests=5))
    budget.count_request(IDEA)
    postgres.run("psql", "-d", database, "-qAtc", "checkpoint")
    postgres.restart()
    budget.count_request(IDEA)
    assert budget.spent().requests == 2


WAITING = "from pg_stat_activity where wait_event = 'advisory' and datname = current_database()"


def await_waiting(postgres: PostgresServer, database: str) -> None:
    question = f"select count(*) {WAITING}"
    wait_until(lambda: postgres.sql(database, question).strip() == "1", 60, "waiting for a turn")


def test_a_process_that_waits_for_its_turn_outlives_a_restart(
    database: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    budget = SharedBudget(tmp_path / "budgets.sqlite", RUN, Budget(maximum_requests=5))
    holder = SharedDatabase(postgres.url(database))
    with ThreadPoolExecutor(1) as waiter:
        with (
            pytest.raises(SharedStateError, match="budgets and rates cannot be kept"),
            holder.transaction("budgets") as statements,
        ):
            counting = waiter.submit(budget.count_request, IDEA)
            await_waiting(postgres, database)
            postgres.sql(database, f"select pg_terminate_backend(pid) {WAITING}")
            postgres.sql(database, "checkpoint")
            postgres.restart()
            statements.execute("select 1")
        counting.result()
    assert budget.spent().requests == 1


def test_what_follows_an_interrupt_is_kept(database: str, postgres: PostgresServer) -> None:
    holder, interrupted = (SharedDatabase(postgres.url(database)) for _ in range(2))

    def interrupt() -> None:
        await_waiting(postgres, database)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    with holder.record("turn"), ThreadPoolExecutor(1) as other:
        interrupting = other.submit(interrupt)
        with pytest.raises(KeyboardInterrupt), interrupted.record("turn"):
            pass
        interrupting.result()
    with interrupted.record("turn") as record:
        record.replace(b"kept")
    with holder.record("turn") as record:
        assert record.content == b"kept"


def test_a_reader_sees_what_was_spent_and_changes_nothing(
    database: str, postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SharedBudget(tmp_path / "budgets.sqlite", RUN, Budget(maximum_requests=5)).count_request(IDEA)
    role = f"reader_{uuid4().hex[:8]}"
    postgres.sql(database, f"create role {role} login password 'only reads'")
    postgres.sql(database, f"grant select on all tables in schema public to {role}")
    url = postgres.url(database, user=role, password="only reads")
    monkeypatch.setenv("ASSAY_CATALOGUE_URL", url)
    reading = SharedBudget(tmp_path / "budgets.sqlite", RUN, Budget(maximum_requests=5))
    assert reading.spent().requests == 1
    with pytest.raises(ConfigurationError, match="permission denied"):
        reading.count_request(IDEA)


def test_machines_know_a_database_from_another_by_its_name(
    database: str, postgres: PostgresServer
) -> None:
    here, there = shared_database(), SharedDatabase(postgres.url(database))
    another = SharedDatabase(postgres.new_database(f"{database}-2"))
    assert here is not None
    assert here.identity == there.identity != another.identity


def test_a_copy_of_a_database_is_another(database: str, postgres: PostgresServer) -> None:
    copied = SharedDatabase(postgres.url(database))
    before = copied.identity
    postgres.new_database(f"{database}-copy")
    postgres.shell(f"pg_dump {database} | psql -q -o /dev/null {database}-copy", postgres.folder)
    copy = SharedDatabase(postgres.url(f"{database}-copy"))
    assert copied.identity == before != copy.identity


def test_an_address_may_name_user_and_port_among_its_options(
    database: str, postgres: PostgresServer
) -> None:
    url = postgres.url(database).replace("//assay:", "//:").replace(f":{postgres.port}/", "/")
    among_options = SharedDatabase(f"{url}?user=assay&port={postgres.port}")
    assert among_options.identity == SharedDatabase(postgres.url(database)).identity


def test_a_server_out_of_reach_is_one_line_without_the_password(
    database: str, postgres: PostgresServer
) -> None:
    nobody = SharedDatabase(postgres.url(database).replace(str(postgres.port), "1"))
    with pytest.raises(SharedStateError) as refused:
        assert nobody.identity
    assert str(refused.value).startswith("budgets and rates cannot be kept with the catalogue at")
    assert "\n" not in str(refused.value) and PASSWORD not in str(refused.value)


ODD = {
    "short": "\\x00",
    "of numbers that are none": "\\x" + "000000000000f87f" * 5,
    "without an end": "\\x" + "000000000000f07f" * 5,
}


@pytest.mark.parametrize("content", ODD.values(), ids=ODD.keys())
def test_a_rate_whose_record_somebody_else_wrote_begins_anew(
    content: str, database: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    rate = SharedRateLimit(tmp_path, "model", 1)
    rate.slot(1.0)
    postgres.sql(database, f"update records set content = '{content}'")
    waits = [rate.slot(1.0)[1] for _ in range(2)]
    assert waits[0] == 0 < waits[1]


def test_other_records_that_somebody_else_wrote_begin_anew(
    database: str, postgres: PostgresServer, tmp_path: Path
) -> None:
    attempts, shared = Attempts(tmp_path / "runs" / RUN / "attempts"), shared_database()
    assert shared is not None
    attempts.begin(KEY)
    assert shared.identity
    postgres.sql(database, "update records set content = '\\xff'")
    assert attempts.count(KEY) == 0
    assert shared.identity.startswith("\N{REPLACEMENT CHARACTER}")


def test_a_call_that_cannot_be_journalled_is_not_repeated_in_the_error(
    database: str, tmp_path: Path
) -> None:
    budget = BudgetFile(tmp_path / "budgets.sqlite", RUN, Budget())
    with pytest.raises(ConfigurationError, match="a value does not fit its column") as refused:
        budget.send("call", IDEA, "unit", "what an idea says \ud800", 0.1, 5)
    assert "what an idea says" not in str(refused.value)


def test_a_machine_that_stands_still_in_a_transaction_loses_it(database: str) -> None:
    shared = shared_database()
    assert shared is not None
    with shared.transaction("settings") as statements:
        sql = "show idle_in_transaction_session_timeout"
        assert statements.execute(sql).fetchone()[0] == "30s"


def test_an_address_that_is_none_is_refused_without_being_repeated() -> None:
    with pytest.raises(ConfigurationError, match="ASSAY_CATALOGUE_URL must read") as refused:
        SharedDatabase("postgresql://assay:pa[ss@127.0.0.1/lake")
    assert "pa[ss" not in str(refused.value)
