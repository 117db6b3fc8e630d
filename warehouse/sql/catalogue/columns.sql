-- The columns of the lake's tables, as its newest snapshot has them. DuckDB's own list of them
-- costs ten times as much: it looks into every table.
with newest as (select max(snapshot_id) as id from __ducklake_metadata_lake.ducklake_snapshot)
select t.table_name, c.column_name
from __ducklake_metadata_lake.ducklake_column as c
join __ducklake_metadata_lake.ducklake_table as t using (table_id)
cross join newest as s
where
    c.parent_column is null
    and c.begin_snapshot <= s.id and (c.end_snapshot is null or c.end_snapshot > s.id)
    and t.begin_snapshot <= s.id and (t.end_snapshot is null or t.end_snapshot > s.id)
