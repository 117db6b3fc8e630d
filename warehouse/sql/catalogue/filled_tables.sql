-- Tables that were ever filled, by their files and rows: the counts in the catalogue may be wrong.
with newest as (select max(snapshot_id) as id from __ducklake_metadata_lake.ducklake_snapshot),

filled as (
    select table_id from __ducklake_metadata_lake.ducklake_data_file
    {with_rows}
)

select t.table_name
from __ducklake_metadata_lake.ducklake_table as t
cross join newest as n
where
    t.table_id in (select table_id from filled)
    and t.begin_snapshot <= n.id and (t.end_snapshot is null or t.end_snapshot > n.id)
order by t.table_name
