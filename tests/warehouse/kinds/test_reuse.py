"""An evaluation that another run paid for is taken over."""

import pytest

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.identifiers import EvaluationKey, IdeaId, RunId
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.evaluations import (
    evaluation_of,
    make_evaluation,
    make_idea,
)
from tests.warehouse.test_landing import landed_rows
from warehouse.kinds.runs.landing import find_receipt, land
from warehouse.kinds.runs.reuse import reuse
from warehouse.warehouse import Warehouse

RUN_A, RUN_B = RunId("run-a"), RunId("run-b")


def test_reuse_says_the_same_under_another_name_and_charges_nothing(warehouse: Warehouse) -> None:
    evaluation = make_full_evaluation()
    land(warehouse, evaluation)
    renamed = make_idea(
        idea_id=IdeaId("other"), group="elsewhere", metadata={"a": "b"}, title="New title"
    )
    receipt = reuse(warehouse, evaluation.evaluation_key, RUN_A, RUN_B, renamed)
    rows = landed_rows(warehouse, RUN_B, evaluation.evaluation_key)
    reused = evaluation_of(rows)
    assert reused == replace(
        evaluation,
        run_id=RUN_B,
        idea=renamed,
        llm_calls=(),
        api_calls=(),
        reused_from_run_id=RUN_A,
    )
    assert rows["ideas"][0]["reused_from_run_id"] == "run-a"
    assert (receipt.reused_from_run_id, receipt.cost_usd, receipt.llm_calls, receipt.api_calls) == (
        "run-a",
        0.0,
        0,
        0,
    )


def test_reuse_of_a_reuse_names_the_run_that_paid(warehouse: Warehouse) -> None:
    evaluation = make_evaluation()
    land(warehouse, evaluation)
    reuse(warehouse, evaluation.evaluation_key, RUN_A, RUN_B, evaluation.idea)
    receipt = reuse(warehouse, evaluation.evaluation_key, RUN_B, RunId("run-c"), evaluation.idea)
    assert receipt.reused_from_run_id == "run-a"
    found = find_receipt(warehouse, evaluation.evaluation_key)
    assert found is not None
    assert found.run_id == "run-a"


def test_reuse_of_what_never_landed_is_refused(warehouse: Warehouse) -> None:
    with pytest.raises(ConfigurationError, match="run-a has no evaluation"):
        reuse(warehouse, EvaluationKey("0" * 32), RUN_A, RUN_B, make_idea())
