-- Every file that some snapshot reads, below the folder of the lake's files.
with files as (
    select table_id, path, file_size_bytes from __ducklake_metadata_lake.ducklake_data_file
    union
    select table_id, path, file_size_bytes from __ducklake_metadata_lake.ducklake_delete_file
)
select distinct s.path || t.path || f.path as name, f.file_size_bytes::bigint as bytes
from files as f
join __ducklake_metadata_lake.ducklake_table as t using (table_id)
join __ducklake_metadata_lake.ducklake_schema as s using (schema_id)
order by name
