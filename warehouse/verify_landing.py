"""What landed, held against its receipts. All of it is read; what cannot be read is told and passed over."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from schemas.benchmark import BenchmarkReceipt
from schemas.check_run import CheckReceipt
from schemas.errors import ConfigurationError, PublicationError
from schemas.evaluation import Receipt
from schemas.ranking import GroupReceipt
from schemas.tables import TABLE
from warehouse.landed import read_landed
from warehouse.unit_landing import read_noun

ReceiptT = TypeVar("ReceiptT", Receipt, GroupReceipt, CheckReceipt, BenchmarkReceipt)


def read_units(folder: Path, units: str, kind: type[ReceiptT], problems: list[str]) -> tuple[ReceiptT, ...]:
    """The receipts of the units in `folder` whose names fit the pattern `units`.

    Adds to `problems` a line for each receipt and each landed file that is not what it should be.
    """
    receipts: list[ReceiptT] = []
    for path in sorted(folder.glob(f"{units}/receipt.json")):
        try:
            receipt = read_noun(path, kind, "remove its folder and run again")
        except ConfigurationError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{path} cannot be read ({error.strerror}): check its permissions")
        else:
            if receipt is not None:
                receipts.append(receipt)
                problems.extend(_damaged(path.parent, receipt.rows))
    return tuple(receipts)


def read_count(file: Path, table: str, problems: list[str]) -> int | None:
    """How many rows `file` holds of `table`; None, and a line in `problems`, when it cannot be read."""
    try:
        return len(read_landed(TABLE[table], [file]))
    except PublicationError as error:
        problems.append(str(error))
        return None


def _damaged(folder: Path, promised: Mapping[str, int]) -> Iterator[str]:
    for name, expected in promised.items():
        if not expected or name not in TABLE:
            continue
        problems: list[str] = []
        found = read_count(folder / f"{name}.parquet", name, problems)
        yield from problems
        if found is not None and found != expected:
            place = folder / f"{name}.parquet"
            yield f"{place} holds {found} rows, its receipt says {expected}: remove its folder and run again"
