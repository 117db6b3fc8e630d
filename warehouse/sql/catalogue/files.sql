-- Every file that a snapshot reads, relative to the folder of the lake's files, and whether the
-- newest snapshot reads it.
with files as (
    select table_id, path, file_size_bytes, begin_snapshot, end_snapshot
    from __ducklake_metadata_lake.ducklake_data_file
    union all
    select table_id, path, file_size_bytes, begin_snapshot, end_snapshot
    from __ducklake_metadata_lake.ducklake_delete_file
),

newest as (select max(snapshot_id) as id from __ducklake_metadata_lake.ducklake_snapshot)
select
    t.table_name,
    s.path || t.path || f.path as name,
    f.file_size_bytes::bigint as bytes,
    bool_or(
        f.begin_snapshot <= n.id and (f.end_snapshot is null or f.end_snapshot > n.id)
        and t.begin_snapshot <= n.id and (t.end_snapshot is null or t.end_snapshot > n.id)
    ) as is_read_now
from files as f
join __ducklake_metadata_lake.ducklake_table as t using (table_id)
join __ducklake_metadata_lake.ducklake_schema as s using (schema_id)
cross join newest as n
group by all
order by all
