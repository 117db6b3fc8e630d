"""Landing: one folder per evaluated idea, whole or absent. Needs pyarrow only, so workers carry no database.

A folder is built under a temporary name, `receipt.json` last, and renamed into place in one step.
"""

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import uuid4

import orjson
from pydantic import ValidationError

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.evaluation import IdeaEvaluation, Receipt
from schemas.idea import Idea, RejectedIdea
from schemas.identifiers import EvaluationKey, RunId
from schemas.reasons import Reason
from schemas.tables import IDEA_TABLES, TABLE
from warehouse.landed import read_rows
from warehouse.layout import Layout
from warehouse.parquet import write_bytes, write_rows
from warehouse.rows import Row, Rows, rejection_rows, rows_of

CALL_TABLES = ("llm_calls", "api_calls")
VOTE_TABLE = "judge_votes"
"""A vote that could not be had leaves the judgement to the other judges: only the judgement's own row says that it is unscored."""
BUILDING, _REPLACED = ".building-", ".replaced-"
LEFTOVERS = (BUILDING, _REPLACED)
"""How names begin that only a killed worker leaves behind."""


def land(
    layout: Layout,
    evaluation: IdeaEvaluation,
    *,
    incomplete_reason: Reason | None = None,
    reused_from: RunId | None = None,
) -> Receipt:
    """Write everything an evaluation produced; afterwards it exists, or nothing has changed.

    Landing an evaluation again replaces it, but keeps the calls already paid for: money spent is never forgotten.

    Args:
        incomplete_reason: budget_exhausted, worker_lost, …; None when the evaluation ran to its end.
        reused_from: the run that paid for the evaluation, when this one did not.

    Raises:
        PublicationError: a row does not fit its table.
    """
    rows = rows_of(evaluation, incomplete_reason=incomplete_reason, reused_from=reused_from)
    key, run_id = evaluation.evaluation_key, evaluation.run_id
    if read_receipt(layout, run_id, key) is not None:
        _keep_paid_calls(rows, layout.idea(run_id, key))
    return _land_rows(
        layout,
        rows,
        Receipt(
            evaluation_key=key,
            run_id=run_id,
            idea_id=evaluation.idea.idea_id,
            rows={},
            bytes=0,
            cost_usd=None,
            llm_calls=0,
            api_calls=0,
            failures=0,
            unscored=0,
            incomplete_reason=incomplete_reason,
            reused_from_run_id=reused_from,
            started_at=evaluation.started_at,
            finished_at=evaluation.finished_at,
        ),
    )


def reuse(
    layout: Layout, key: EvaluationKey, from_run: RunId, to_run: RunId, idea: Idea
) -> Receipt:
    """Land an evaluation that another run paid for under `to_run`, for `idea` (same content, maybe another name or group).

    The rows say the same; the calls stay with the run that paid them.

    Raises:
        ConfigurationError: `from_run` has not landed `key`.
    """
    source = layout.idea(from_run, key)
    receipt = read_receipt(layout, from_run, key)
    if receipt is None:
        raise ConfigurationError(f"run {from_run} has no evaluation {key} to reuse")
    paid_by = receipt.reused_from_run_id or from_run
    rows: Rows = {}
    for table in IDEA_TABLES:
        path = source / f"{table.name}.parquet"
        if table.name not in CALL_TABLES and path.exists():
            rows[table.name] = [
                row | {"run_id": to_run, "idea_id": idea.idea_id} for row in read_rows(table, path)
            ]
    fresh = {
        name: getattr(idea, name)
        for name in ("idea_id", "title", "problem", "method", "experiment", "group", "duplicate_of")
    }
    fresh |= {
        "duplicate_similarity_0_to_1": idea.duplicate_similarity_0_to_1,
        "metadata": orjson.dumps(idea.metadata, option=orjson.OPT_SORT_KEYS).decode(),
        "reused_from_run_id": paid_by,
    }
    rows["ideas"] = [row | fresh for row in rows["ideas"]]
    return _land_rows(
        layout,
        rows,
        replace(receipt, run_id=to_run, idea_id=idea.idea_id, reused_from_run_id=paid_by),
    )


def land_rejections(layout: Layout, run_id: RunId, rejected: Sequence[RejectedIdea]) -> None:
    """Keep the entries of an idea file that could not enter, replacing those of an earlier attempt."""
    path = layout.rejections(run_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    building = path.with_name(f"{BUILDING}{uuid4().hex}.parquet")
    write_rows(TABLE["failures"], rejection_rows(run_id, rejected), building)
    building.replace(path)


def read_receipt(layout: Layout, run_id: RunId, key: EvaluationKey) -> Receipt | None:
    """The receipt of one evaluation in one run; None when it was not landed."""
    return _parse_receipt(layout.receipt(run_id, key))


def read_receipts(layout: Layout, run_id: RunId) -> dict[EvaluationKey, Receipt]:
    """Every receipt of a run, by evaluation key."""
    return {receipt.evaluation_key: receipt for receipt in iterate_receipts(layout, run_id)}


def iterate_receipts(layout: Layout, run_id: RunId) -> Iterator[Receipt]:
    """Receipts of a run in the order of their keys, one at a time."""
    folder = layout.run(run_id)
    if not folder.is_dir():
        return
    for name in sorted(
        entry.name for entry in os.scandir(folder) if entry.name.startswith("idea=")
    ):
        receipt = _parse_receipt(folder / name / "receipt.json")
        if receipt is not None:
            yield receipt


def find_receipt(layout: Layout, key: EvaluationKey) -> Receipt | None:
    """A complete evaluation of `key` in any run, preferring the run that paid for it; None when there is none.

    Evaluations that ended early are not found: they are to be made again.
    """
    try:
        runs = sorted(entry.name for entry in os.scandir(layout.receipt_index(key)))
    except FileNotFoundError:
        return None
    receipts = [
        receipt for run in runs if (receipt := read_receipt(layout, RunId(run), key)) is not None
    ]
    complete = [receipt for receipt in receipts if receipt.incomplete_reason is None]
    return min(complete, key=lambda receipt: receipt.reused_from_run_id is not None, default=None)


def _parse_receipt(path: Path) -> Receipt | None:
    try:
        return Receipt.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValidationError as error:
        raise ConfigurationError(
            f"{path} is not a receipt of this version of Assay: remove its folder to evaluate the idea again"
        ) from error


def _keep_paid_calls(rows: Rows, folder: Path) -> None:
    for name in CALL_TABLES:
        path = folder / f"{name}.parquet"
        if not path.exists():
            continue
        now = rows.get(name, [])
        known = {row["call_id"] for row in now}
        merged = [row for row in read_rows(TABLE[name], path) if row["call_id"] not in known] + now
        rows[name] = [row | {"position": position} for position, row in enumerate(merged)]


def _land_rows(layout: Layout, rows: Rows, receipt: Receipt) -> Receipt:
    target = layout.idea(receipt.run_id, receipt.evaluation_key)
    target.parent.mkdir(parents=True, exist_ok=True)
    building = target.parent / f"{BUILDING}{uuid4().hex}"
    building.mkdir()
    try:
        size = sum(
            write_rows(TABLE[name], found, building / f"{name}.parquet")
            for name, found in rows.items()
        )
        complete = _totals(receipt, rows, size)
        write_bytes(
            building / "receipt.json",
            orjson.dumps(complete.model_dump(mode="json"), option=orjson.OPT_INDENT_2),
        )
        _index(layout, receipt)
        move_into_place(building, target)
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return complete


def _totals(receipt: Receipt, rows: Rows, size: int) -> Receipt:
    calls = rows.get("llm_calls", [])
    return replace(
        receipt,
        rows={table.name: len(rows.get(table.name, ())) for table in IDEA_TABLES},
        bytes=size,
        cost_usd=_cost_usd(calls),
        llm_calls=len(calls),
        api_calls=len(rows.get("api_calls", ())),
        failures=len(rows.get("failures", ())),
        unscored=sum(
            row.get("unscored_reason") is not None
            for name, found in rows.items()
            if name != VOTE_TABLE
            for row in found
        ),
    )


def _cost_usd(calls: Sequence[Row]) -> float | None:
    paid = [
        call
        for call in calls
        if not call["cache_hit"] and call["prompt_tokens"] + call["completion_tokens"] > 0
    ]
    if any(call["cost_usd"] is None for call in paid):
        return None
    return float(sum(call["cost_usd"] or 0.0 for call in calls))


def _index(layout: Layout, receipt: Receipt) -> None:
    """Before the receipt exists, so that no receipt is ever without its entry; a lookup checks the receipt itself."""
    folder = layout.receipt_index(receipt.evaluation_key)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / receipt.run_id).touch()


def move_into_place(building: Path, target: Path) -> None:
    """Rename; a folder already there is moved aside first, since a rename does not replace a folder with content."""
    while True:
        try:
            building.rename(target)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        else:
            return
        aside = target.parent / f"{_REPLACED}{uuid4().hex}"
        try:
            target.rename(aside)
        except FileNotFoundError:
            continue
        shutil.rmtree(aside, ignore_errors=True)
