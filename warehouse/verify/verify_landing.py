"""What landed, held against its receipts.

All of it is read; what cannot be read is told and passed over.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from schemas.errors import ConfigurationError, PublicationError
from schemas.tables import TABLE
from warehouse.landed import read_landed
from warehouse.units.kind import Kind, ReceiptT
from warehouse.units.landing import receipt_of, unit_folders
from warehouse.units.shared import LET_GO, RECEIPT_FILE
from warehouse.verify.verify_content import LandedContent
from warehouse.warehouse import Warehouse


def read_units(
    warehouse: Warehouse,
    kind: Kind[Any, ReceiptT],
    names: tuple[str, ...],
    landed: LandedContent,
    problems: list[str],
) -> tuple[ReceiptT, ...]:
    """The receipts of what `names` stand for; the rows of its units' files are added to `landed`.

    Adds to `problems` a line for each receipt and each landed file that is not what it should be.
    """
    receipts: list[ReceiptT] = []
    for folder in unit_folders(warehouse, kind, *names):
        path = folder / RECEIPT_FILE
        try:
            receipt = receipt_of(warehouse, kind, folder)
        except ConfigurationError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{path} cannot be read ({error.strerror}): check its permissions")
        else:
            if receipt is not None:
                receipts.append(receipt)
                if (folder / LET_GO).exists():  # counted, and not held against what landed
                    for name in receipt.rows:
                        landed.add_unknown(name)
                    continue
                _read_files(folder, receipt.rows, landed, problems)
    return tuple(receipts)


def read_file(file: Path, table: str, landed: LandedContent, problems: list[str]) -> int | None:
    """How many rows `file` holds of `table`; they are added to `landed`.

    None, and a line in `problems`, when it cannot be read.
    """
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
                f"{place} holds {found} rows, its receipt says {expected}: remove its folder and"
                " run again"
            )
            landed.add_unknown(name)
