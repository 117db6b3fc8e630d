"""Connections to DuckDB: what they print."""

from warehouse.catalogue.connection import in_memory


def test_a_long_query_draws_no_progress_where_json_answers() -> None:
    with in_memory() as connection:
        for each in (connection, connection.cursor()):
            asked = each.execute("select current_setting('enable_progress_bar')")
            assert asked.fetchall() == [(False,)]
