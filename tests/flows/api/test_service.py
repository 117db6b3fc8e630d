"""What a service takes of programs for the job runner."""

from pathlib import Path

import pytest

from flows.api.service import open_service
from schemas.errors import UnknownNameError
from schemas.identifiers import RunId
from schemas.options.commands import RankOptions
from schemas.people.job import RankJob
from tests.support.api_server import NO_GATEWAY, make_token
from tests.support.evaluations import make_evaluation, make_run
from warehouse.app.accounts import token_of
from warehouse.app.database import ServiceDatabase
from warehouse.app.jobs import job_ids
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse


def test_a_run_that_is_not_published_is_not_ranked(tmp_path: Path) -> None:
    warehouse, run = Warehouse(tmp_path / "warehouse"), RunId("run-a")
    land(warehouse, make_evaluation(0, run_id=run))
    assert publish(warehouse, RUNS, make_run(run, engine="extractive")).published
    text, more = make_token(warehouse), {"name": "", "idempotency_key": None}
    with ServiceDatabase(warehouse) as database:
        token = token_of(database, text)
        assert token is not None
        service = open_service(warehouse, database, NO_GATEWAY)
        for options in (RankOptions(), RankOptions(engine="extractive", profile="economy")):
            for name in ("run-b", str(warehouse.root), "../run-a"):
                with pytest.raises(UnknownNameError):
                    service.work(token, RankJob, {"run_id": name}, options, **more)
            assert job_ids(warehouse) == []
        service.work(token, RankJob, {"run_id": run}, RankOptions(), **more)
        assert len(job_ids(warehouse)) == 1
