"""The landed files of a ranking, read with what its receipts vouch for and nothing else."""

from collections.abc import Sequence

import pyarrow as pa

from schemas.ranking import GroupReceipt
from schemas.tables import TABLE
from warehouse.landed import read_landed
from warehouse.layout import Layout


def read_groups(
    layout: Layout, table: str, receipts: Sequence[GroupReceipt], *, prose: bool = True
) -> pa.Table:
    """Rows of one table in the landed groups of `receipts`.

    Raises:
        PublicationError: a file is missing, unreadable, or does not fit its table.
    """
    files = [
        layout.ranked_group(receipt.run_id, receipt.ranking_id, receipt.group) / f"{table}.parquet"
        for receipt in receipts
        if receipt.rows.get(table)
    ]
    return read_landed(TABLE[table], files, prose=prose)
