"""What a run has still to do, of ideas that landed whole, ended early or not at all."""

from pathlib import Path

from flows.run.gateway import OpenGateway
from flows.run.requests import request_of
from flows.works.evaluate.plan import KeyedBatch, write_remaining_shards
from flows.works.evaluate.request import bundled_file
from schemas.identifiers import EvaluationKey, RunId
from schemas.options.commands import RunOptions
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.evaluation.shard_job import PlannedIdea
from tasks.evaluation.work import EVALUATE
from tests.support.evaluations import make_evaluation, make_idea
from warehouse.kinds.runs.landing import land
from warehouse.warehouse import Warehouse

WHOLE, EARLY, NEW = (EvaluationKey(str(number) * 32) for number in range(3))


def test_ideas_whose_evaluation_ended_early_are_evaluated_again(tmp_path: Path) -> None:
    run_id, warehouse = RunId("run-a"), Warehouse(tmp_path)
    for number, key, reason in ((0, WHOLE, None), (1, EARLY, Reason.BUDGET_EXHAUSTED)):
        evaluation = make_evaluation(number).model_copy(update={"evaluation_key": key})
        land(warehouse, evaluation, incomplete_reason=reason)
    planned = tuple(
        PlannedIdea(idea=make_idea(number), evaluation_key=key, experimental_results=())
        for number, key in enumerate((WHOLE, EARLY, NEW))
    )
    shards = write_remaining_shards(
        KeyedBatch(run_id, planned, ()),
        request_of(
            EVALUATE, (bundled_file("ideas.jsonl"),), RunOptions(warehouse=tmp_path), Settings()
        ),
        OpenGateway(lambda: "http://127.0.0.1:9", "snapshot:bundled"),
        warehouse,
    )
    assert sorted(idea for ideas in shards.values() for idea in ideas) == [EARLY, NEW]
