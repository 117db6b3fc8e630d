"""A published lake for tests that only read."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TypeAlias

import pytest
from botocore.retries.standard import ExponentialBackoff

from schemas.idea import RejectedIdea
from schemas.identifiers import IdeaId, RunId
from schemas.reasons import Reason
from tests.support.evaluations import make_evaluation, make_idea, make_run
from tests.support.object_server import BUCKET, ObjectServer, object_server
from tests.support.postgres_server import PostgresServer
from warehouse import lake
from warehouse.catalogue.connection import Connection
from warehouse.kinds.runs.landing import RUNS, land, land_rejections
from warehouse.objects import object_storage
from warehouse.objects.object_files import reach
from warehouse.objects.object_storage import ObjectFolder, forget_client
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

Machines: TypeAlias = tuple[Warehouse, Warehouse]
IDEAS = 5  # a handful, which Great Expectations need not validate


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    """Run `run-a` with five ideas in three groups and one rejected entry. Not to be changed."""
    warehouse = Warehouse(tmp_path_factory.mktemp("published"))
    publish_ideas(warehouse, "run-a", range(IDEAS))
    yield warehouse


@pytest.fixture(scope="session")
def two_ideas(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Run `run-a` with two ideas. Not to be changed."""
    warehouse = Warehouse(tmp_path_factory.mktemp("two-ideas"))
    for number in range(2):
        land(warehouse, make_evaluation(number))
    assert publish(warehouse, RUNS, make_run(ideas=2)).published
    return warehouse


@pytest.fixture(scope="session")
def one_group(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """Run `run-a` with three ideas in one group. Not to be changed."""
    warehouse = Warehouse(tmp_path_factory.mktemp("one-group"))
    publish_group(warehouse, range(3))
    return warehouse


def publish_group(warehouse: Warehouse, numbers: range) -> None:
    for number in numbers:
        land(warehouse, make_evaluation(number, idea=make_idea(number, group="one")))
    assert publish(warehouse, RUNS, make_run(ideas=len(numbers))).published


def publish_ideas(warehouse: Warehouse, run_id: str, numbers: range) -> None:
    for number in numbers:
        land(warehouse, make_evaluation(number, run_id=run_id))
    rejected = RejectedIdea(
        idea_id=IdeaId("idea-00001"),
        location="ideas.jsonl line 9",
        reason=Reason.DUPLICATE_ID,
        detail="give it another id",
    )
    land_rejections(warehouse, RunId(run_id), [rejected])
    assert publish(
        warehouse, RUNS, make_run(run_id, ideas=len(numbers), rejected_count=1)
    ).published


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "warehouse")


@pytest.fixture
def server() -> Iterator[ObjectServer]:
    with storage() as running:
        yield running


@contextmanager
def storage() -> Iterator[ObjectServer]:
    """Object storage on loopback, which the environment names; nobody waits between attempts."""
    with pytest.MonkeyPatch.context() as patch, object_server() as running:
        patch.setattr(object_storage, "TIMEOUT_SECONDS", 2)
        patch.setattr(lake, "reach", reach_at_once)
        patch.setattr(ExponentialBackoff, "delay_amount", lambda *_: 0)
        for name, value in running.environment.items():
            patch.setenv(name, value)
        forget_client()
        yield running
        forget_client()


def reach_at_once(connection: Connection, folder: ObjectFolder) -> None:
    reach(connection, folder)
    connection.execute("set http_retry_wait_ms = 1")


@pytest.fixture(scope="session")
def names() -> Iterator[str]:
    """Of databases."""
    return (f"lake {number}" for number in count())


@pytest.fixture
def empty(postgres: PostgresServer, names: Iterator[str]) -> str:
    """A database without anything in it."""
    return postgres.new_database(next(names))


@pytest.fixture
def machines(tmp_path: Path, server: ObjectServer) -> Machines:
    """One warehouse as two machines see it, with nothing but a bucket in common."""
    del server
    return machine(tmp_path / "first"), machine(tmp_path / "second")


def machine(home: Path) -> Warehouse:
    """The warehouse in the bucket as the machine with this home sees it."""
    return Warehouse(home / "warehouses" / f"s3={BUCKET}=assay")
