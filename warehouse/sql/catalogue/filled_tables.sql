-- Tables into which rows were ever put.
select t.table_name
from __ducklake_metadata_lake.ducklake_table as t
left join __ducklake_metadata_lake.ducklake_table_stats as s using (table_id)
where t.end_snapshot is null and coalesce(s.record_count, 1) > 0
order by t.table_name
