"""A lake as an earlier version left it: without a table, some columns and a mart of today, another
mart as it was.
"""

import pyarrow.parquet as pq

from warehouse.lake import open_writer
from warehouse.layout import Layout

LATER_COLUMNS = {
    "papers": ("date_precision", "state", "version_urls", "version_dates"),
    "runs": ("reading_remarks",),
    "method_evidence": ("removed_citation_count",),
    "comparisons": ("removed_citation_count",),
    "evidence": ("removed_citation_count",),
    "validations": ("great_expectations",),
    "manuscripts": ("missing_files", "missing_preamble_files"),
}
"""Columns that rows landed by an earlier version lack."""

MADE_EARLIER = (
    "drop view judge_agreement",
    "drop table judge_votes",
    "alter table llm_calls drop column parameters_dropped",
    "create or replace view run_costs as select run_id, duration_seconds from runs",
    *(
        f"alter table {table} drop column {column}"
        for table, columns in LATER_COLUMNS.items()
        for column in columns
    ),
)


def make_earlier(layout: Layout) -> None:
    """Take from the published lake what an earlier version did not know."""
    with open_writer(layout) as connection:
        for sql in MADE_EARLIER:
            connection.execute(sql)


def make_landing_earlier(layout: Layout) -> None:
    """Take from landed files the columns of today."""
    for file in layout.landing.glob("**/*.parquet"):
        columns = LATER_COLUMNS.get(file.stem, ())
        if columns and (rows := pq.read_table(file)).num_rows:
            pq.write_table(rows.drop_columns(list(columns)), file, write_page_checksum=True)
