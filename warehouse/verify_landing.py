"""What landed, held against its receipts. All of it is read; what cannot be read is told and passed over."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from schemas.benchmark import BenchmarkReceipt
from schemas.check_run import CheckReceipt
from schemas.errors import ConfigurationError, PublicationError
from schemas.evaluation import Receipt
from schemas.ranking import GroupReceipt
from schemas.tables import TABLE
from warehouse.landed import read_landed
from warehouse.unit_landing import read_noun
from warehouse.verify_content import LandedContent

ReceiptT = TypeVar("ReceiptT", Receipt, GroupReceipt, CheckReceipt, BenchmarkReceipt)


def read_units(
    folder: Path, units: str, kind: type[ReceiptT], landed: LandedContent, problems: list[str]
) -> tuple[ReceiptT, ...]:
    """The receipts of the units in `folder` whose names fit the pattern `units`; the rows of their files are added to `landed`.

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
                _read_files(path.parent, receipt.rows, landed, problems)
    return tuple(receipts)


def read_file(file: Path, table: str, landed: LandedContent, problems: list[str]) -> int | None:
    """How many rows `file` holds of `table`; they are added to `landed`. None, and a line in `problems`, when it cannot be read."""
    try:
        rows: pa.Table = read_landed(TABLE[table], [file])
    except PublicationError as error:
        problems.append(str(error))
        landed.add_unknown(table)
        return None
    landed.add(table, rows)
    return len(rows)


def _read_files(
    folder: Path, promised: Mapping[str, int], landed: LandedContent, problems: list[str]
) -> None:
    for name, expected in promised.items():
        if not expected or name not in TABLE:
            continue
        place = folder / f"{name}.parquet"
        found = read_file(place, name, landed, problems)
        if found is not None and found != expected:
            problems.append(
                f"{place} holds {found} rows, its receipt says {expected}: remove its folder and run again"
            )
            landed.add_unknown(name)
