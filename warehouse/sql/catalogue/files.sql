-- Every file that some snapshot reads, below the folder of the lake's files, and whether the newest
-- snapshot is among them.
with files as (
    select table_id, path, file_size_bytes, end_snapshot
    from __ducklake_metadata_lake.ducklake_data_file
    union all
    select table_id, path, file_size_bytes, end_snapshot
    from __ducklake_metadata_lake.ducklake_delete_file
)
select
    t.table_name,
    s.path || t.path || f.path as name,
    f.file_size_bytes::bigint as bytes,
    bool_or(f.end_snapshot is null and t.end_snapshot is null) as is_read_now
from files as f
join __ducklake_metadata_lake.ducklake_table as t using (table_id)
join __ducklake_metadata_lake.ducklake_schema as s using (schema_id)
group by all
order by all
