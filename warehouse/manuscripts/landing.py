"""Landing of checks: one folder per manuscript, whole or absent; the check run exists once its head has landed.

landing/check=<run>/part=<hash>/{manuscripts,attempts,problems,votes,llm_calls,api_calls,failures}.parquet, receipt.json
landing/check=<run>/check.json
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from schemas.check_run import CheckHead, CheckReceipt
from schemas.identifiers import RunId
from schemas.manuscripts import ManuscriptCheck
from schemas.reasons import Reason, first_that_may_pass
from schemas.tables import TABLE
from warehouse.landed import read_rows
from warehouse.layout import Layout
from warehouse.manuscripts.rows import PART_TABLES, rows_of_checks
from warehouse.rows import Rows
from warehouse.unit_landing import land_unit, read_noun, write_head

_REMEDY = "remove its folder to check anew"


def land_checks(
    layout: Layout,
    run_id: RunId,
    part: str,
    checks: Sequence[ManuscriptCheck],
    started_at: datetime,
    finished_at: datetime,
) -> CheckReceipt:
    """Write all that checking some manuscripts gave, as one part of the run; afterwards it exists, or nothing has changed.

    Calls that an earlier, unfinished landing of the part paid for stay on the bill.

    Raises:
        PublicationError: a row does not fit its table.
    """
    target = layout.check_part(run_id, part)
    rows = rows_of_checks(run_id, checks)
    for name in ("llm_calls", "api_calls"):
        path = target / f"{name}.parquet"
        _keep_paid(rows, name, read_rows(TABLE[name], path) if path.exists() else [])

    def receipt_of(size: int) -> CheckReceipt:
        return CheckReceipt(
            run_id=run_id,
            part=part,
            rows={name: len(rows.get(name, ())) for name in PART_TABLES},
            bytes=size,
            incomplete_reason=first_that_may_pass(
                reason for check in checks for reason in _reasons(check)
            ),
            started_at=started_at,
            finished_at=finished_at,
        )

    return land_unit(layout.check(run_id), target, rows, receipt_of)


def _keep_paid(rows: Rows, name: str, before: list[dict[str, object]]) -> None:
    now = rows.get(name, [])
    known = {row["call_id"] for row in now}
    merged = [*(row for row in before if row["call_id"] not in known), *now]
    if merged:
        rows[name] = [row | {"position": position} for position, row in enumerate(merged)]


def _reasons(check: ManuscriptCheck) -> Iterator[Reason | None]:
    yield check.unread_reason
    yield from (attempt.unscored_reason for attempt in check.attempts)
    yield from (vote.unscored_reason for vote in check.votes)


def land_check_head(layout: Layout, head: CheckHead) -> None:
    """Say that the check run is whole. Its parts have landed before."""
    layout.check(head.run_id).mkdir(parents=True, exist_ok=True)
    write_head(layout.check_head(head.run_id), head)


def read_check_head(layout: Layout, run_id: RunId) -> CheckHead | None:
    """The head of a check run; None when it has not landed whole."""
    return read_noun(layout.check_head(run_id), CheckHead, _REMEDY)


def read_check_receipt(layout: Layout, run_id: RunId, part: str) -> CheckReceipt | None:
    """None where the part has not landed."""
    return read_noun(layout.check_part(run_id, part) / "receipt.json", CheckReceipt, _REMEDY)


def iterate_check_receipts(layout: Layout, run_id: RunId) -> Iterator[CheckReceipt]:
    """Receipts of a check run's parts, in the order of their folders."""
    for path in sorted(layout.check(run_id).glob("part=*/receipt.json")):
        receipt = read_noun(path, CheckReceipt, _REMEDY)
        if receipt is not None:
            yield receipt
