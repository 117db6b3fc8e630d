-- The columns of the lake's tables with their types in the newest snapshot; a list has the type of
-- its elements. DuckDB's own list costs ten times as much, because it opens every table.
with newest as (select max(snapshot_id) as id from __ducklake_metadata_lake.ducklake_snapshot),
columns as (
    select c.* from __ducklake_metadata_lake.ducklake_column as c cross join newest as s
    where c.begin_snapshot <= s.id and (c.end_snapshot is null or c.end_snapshot > s.id)
)
select t.table_name, c.column_name, lower(coalesce(e.column_type || '[]', c.column_type)) as column_type
from columns as c
join __ducklake_metadata_lake.ducklake_table as t using (table_id)
left join columns as e on c.column_type = 'list' and e.table_id = c.table_id and e.parent_column = c.column_id
cross join newest as s
where c.parent_column is null and t.begin_snapshot <= s.id and (t.end_snapshot is null or t.end_snapshot > s.id)
