-- Number of rows of each table according to the catalogue, including deleted rows.
select t.table_name, coalesce(s.record_count, 0) as row_count
from __ducklake_metadata_lake.ducklake_table_stats as s
join __ducklake_metadata_lake.ducklake_table as t using (table_id)
where t.end_snapshot is null
order by t.table_name
