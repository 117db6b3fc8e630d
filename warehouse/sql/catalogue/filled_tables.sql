-- Tables into which rows were ever put.
with newest as (select max(snapshot_id) as id from __ducklake_metadata_lake.ducklake_snapshot)
select t.table_name
from __ducklake_metadata_lake.ducklake_table as t
cross join newest as n
left join __ducklake_metadata_lake.ducklake_table_stats as s using (table_id)
where
    coalesce(s.record_count, 1) > 0
    and t.begin_snapshot <= n.id and (t.end_snapshot is null or t.end_snapshot > n.id)
order by t.table_name
