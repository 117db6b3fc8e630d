"""A landed evaluation is whole or absent, and money spent is never forgotten."""

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from schemas.base import replace
from schemas.errors import PublicationError
from schemas.idea import RejectedIdea
from schemas.identifiers import EvaluationKey, RunId
from schemas.reasons import Reason
from schemas.tables import TABLE
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.evaluations import (
    evaluation_of,
    make_evaluation,
    make_idea,
    make_llm_call,
)
from warehouse.kinds.runs.landing import RUNS, find_receipt, land, land_rejections
from warehouse.layout import file_name
from warehouse.parquet import read_rows
from warehouse.units import landing
from warehouse.units.landing import iterate_receipts, read_receipt
from warehouse.warehouse import Warehouse

RUN_A, RUN_B = RunId("run-a"), RunId("run-b")


def landed_rows(
    warehouse: Warehouse, run_id: RunId, key: EvaluationKey
) -> dict[str, list[dict[str, object]]]:
    return {
        path.stem: read_rows(TABLE[path.stem], path)
        for path in RUNS.unit_folder(warehouse, run_id, key).glob("*.parquet")
    }


def test_receipt_counts_what_landed(warehouse: Warehouse) -> None:
    receipt = land(warehouse, make_evaluation(calls=6))
    assert (receipt.llm_calls, receipt.api_calls, receipt.failures, receipt.unscored) == (
        6,
        6,
        1,
        1 + 5,  # what a program officer asks and nobody could tell
    )
    assert receipt.cost_usd == pytest.approx(0.006)
    assert receipt.bytes > 0


def test_unknown_price_makes_the_cost_unknown_not_smaller(warehouse: Warehouse) -> None:
    evaluation = make_evaluation()
    calls = (
        make_llm_call(evaluation.idea.idea_id, 0),
        make_llm_call(evaluation.idea.idea_id, 1, cost_usd=None),
    )
    assert land(warehouse, replace(evaluation, llm_calls=calls)).cost_usd is None


def test_a_call_nobody_was_charged_for_needs_no_price(warehouse: Warehouse) -> None:
    evaluation = make_evaluation()
    refused = make_llm_call(
        evaluation.idea.idea_id,
        1,
        cost_usd=0.0,
        prompt_tokens=0,
        completion_tokens=0,
        cached_tokens=0,
    )
    assert land(warehouse, replace(evaluation, llm_calls=(refused,))).cost_usd == 0.0


def test_a_folder_without_receipt_does_not_exist_and_is_overwritten(warehouse: Warehouse) -> None:
    evaluation = make_evaluation()
    folder = RUNS.unit_folder(warehouse, RUN_A, evaluation.evaluation_key)
    folder.mkdir(parents=True)
    (folder / "papers.parquet").write_bytes(b"half a file")
    assert list(iterate_receipts(warehouse, RUNS, RUN_A)) == []
    assert find_receipt(warehouse, evaluation.evaluation_key) is None
    land(warehouse, evaluation)
    assert evaluation_of(landed_rows(warehouse, RUN_A, evaluation.evaluation_key)) == evaluation


def test_a_wrong_row_lands_nothing(warehouse: Warehouse) -> None:
    broken = replace(make_evaluation(), idea=make_idea(title="\ud800"))
    with pytest.raises(PublicationError, match=r"ideas\.title"):
        land(warehouse, broken)
    assert list(RUNS.folder(warehouse, RUN_A).iterdir()) == []


def test_landing_again_keeps_the_calls_already_paid_for(warehouse: Warehouse) -> None:
    first = make_evaluation(calls=2)
    land(warehouse, first, incomplete_reason=Reason.BUDGET_EXHAUSTED)
    again = replace(first, llm_calls=(make_llm_call(first.idea.idea_id, 9),), api_calls=())
    receipt = land(warehouse, again)
    assert receipt.incomplete_reason is None
    assert (receipt.llm_calls, receipt.api_calls) == (3, 2)
    assert receipt.cost_usd == pytest.approx(0.003)


def test_the_same_evaluation_landed_by_many_at_once_lands_once(warehouse: Warehouse) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: land(warehouse, make_evaluation()), range(8)))
    assert len(list(iterate_receipts(warehouse, RUNS, RUN_A))) == 1
    assert (
        evaluation_of(landed_rows(warehouse, RUN_A, make_evaluation().evaluation_key))
        == make_evaluation()
    )


def test_a_receipt_is_found_from_another_run(warehouse: Warehouse) -> None:
    receipt = land(warehouse, make_evaluation())
    assert find_receipt(warehouse, receipt.evaluation_key) == receipt
    assert find_receipt(warehouse, EvaluationKey("0" * 32)) is None


def test_an_evaluation_that_ended_early_is_not_found_for_reuse(warehouse: Warehouse) -> None:
    receipt = land(warehouse, make_evaluation(), incomplete_reason=Reason.BUDGET_EXHAUSTED)
    assert find_receipt(warehouse, receipt.evaluation_key) is None
    assert read_receipt(warehouse, RUNS, RUN_A, receipt.evaluation_key) == receipt


def test_a_vote_that_a_judge_did_not_give_is_no_unscored_judgement(warehouse: Warehouse) -> None:
    evaluation = make_full_evaluation()
    receipt = land(warehouse, evaluation)
    assert receipt.rows["judge_votes"] == len(evaluation.judge_votes)
    assert any(vote.score is None for vote in evaluation.judge_votes)
    assert receipt.unscored == land(warehouse, replace(evaluation, judge_votes=())).unscored


def test_rejections_replace_those_of_an_earlier_attempt(warehouse: Warehouse) -> None:
    rejected = [
        RejectedIdea(
            idea_id=None,
            location="ideas.jsonl line 3",
            reason=Reason.EMPTY,
            detail="write something",
        )
    ]
    land_rejections(warehouse, RUN_A, rejected * 2)
    land_rejections(warehouse, RUN_A, rejected)
    (row,) = read_rows(TABLE["failures"], RUNS.folder(warehouse, RUN_A) / "failures.parquet")
    assert (row["stage"], row["subject"], row["idea_id"]) == (
        "read_ideas",
        "ideas.jsonl line 3",
        None,
    )


def test_workers_land_without_the_database() -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.apply(_modules_after_importing_landing) == []


def _modules_after_importing_landing() -> list[str]:
    import sys

    import warehouse.kinds.registry  # noqa: F401

    return [
        name for name in ("duckdb", "great_expectations", "polars", "pandas") if name in sys.modules
    ]


def test_all_of_a_unit_is_forced_to_the_disk_and_the_receipt_last(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    forced: list[int] = []
    force = os.fsync

    def noted(file: int) -> None:
        force(file)
        forced.append(os.fstat(file).st_ino)

    monkeypatch.setattr(os, "fsync", noted)
    evaluation = make_evaluation()
    land(warehouse, evaluation)
    folder = RUNS.unit_folder(warehouse, RUN_A, evaluation.evaluation_key)
    tables = {path.stat().st_ino for path in folder.glob("*.parquet")}
    receipt = (folder / landing.RECEIPT_FILE).stat().st_ino
    assert tables <= set(forced[: forced.index(receipt)])


def test_no_two_names_of_units_share_a_folder() -> None:
    names = ["abc", "Abc", "a/b", "x" * 300]
    names += [file_name(name) for name in names]
    assert len({file_name(name) for name in {*names}}) == len({*names})
