-- The columns of the lake's tables, as its newest snapshot has them. DuckDB's own list of them
-- costs ten times as much: it looks into every table.
select t.table_name, c.column_name
from __ducklake_metadata_lake.ducklake_column as c
join __ducklake_metadata_lake.ducklake_table as t using (table_id)
where c.end_snapshot is null and t.end_snapshot is null and c.parent_column is null
