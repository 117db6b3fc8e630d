"""A lake as an earlier version left it: without a table, a column and a mart of today, another mart
as it was.
"""

from warehouse.lake import open_writer
from warehouse.layout import Layout

MADE_EARLIER = (
    "drop view judge_agreement",
    "drop table judge_votes",
    "alter table llm_calls drop column parameters_dropped",
    "create or replace view run_costs as select run_id, duration_seconds from runs",
)


def make_earlier(layout: Layout) -> None:
    """Take from the published lake what an earlier version did not know."""
    with open_writer(layout) as connection:
        for sql in MADE_EARLIER:
            connection.execute(sql)
