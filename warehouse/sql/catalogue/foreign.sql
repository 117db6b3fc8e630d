-- What Assay never writes into a catalogue: paths out of the lake's folder, SQL to be run, rows from
-- tables that DuckLake does not make for them, schemas beside the lake's own, names that are missing
-- or that mean the number of a row, partitions and orders, by which files are left out of answers,
-- and rows that begin or end after the newest snapshot: DuckLake takes the latter for live, or for not
-- there yet.
with paths as (
    select path, path_is_relative from __ducklake_metadata_lake.ducklake_data_file
    union all
    select path, path_is_relative from __ducklake_metadata_lake.ducklake_delete_file
    union all
    select path, path_is_relative from __ducklake_metadata_lake.ducklake_files_scheduled_for_deletion
    union all
    select path, path_is_relative from __ducklake_metadata_lake.ducklake_table
    union all
    select path, path_is_relative from __ducklake_metadata_lake.ducklake_schema
),

last_snapshots as (
    select 'ducklake_schema' as place, max(greatest(begin_snapshot, end_snapshot)) as snapshot_id
    from __ducklake_metadata_lake.ducklake_schema
    union all
    select 'ducklake_table', max(greatest(begin_snapshot, end_snapshot))
    from __ducklake_metadata_lake.ducklake_table
    union all
    select 'ducklake_view', max(greatest(begin_snapshot, end_snapshot))
    from __ducklake_metadata_lake.ducklake_view
    union all
    select 'ducklake_column', max(greatest(begin_snapshot, end_snapshot))
    from __ducklake_metadata_lake.ducklake_column
    union all
    select 'ducklake_data_file', max(greatest(begin_snapshot, end_snapshot))
    from __ducklake_metadata_lake.ducklake_data_file
    union all
    select 'ducklake_delete_file', max(greatest(begin_snapshot, end_snapshot))
    from __ducklake_metadata_lake.ducklake_delete_file
    union all
    select 'ducklake_tag', max(greatest(begin_snapshot, end_snapshot))
    from __ducklake_metadata_lake.ducklake_tag
    union all
    select 'ducklake_column_tag', max(greatest(begin_snapshot, end_snapshot))
    from __ducklake_metadata_lake.ducklake_column_tag
    union all
    select 'ducklake_schema_versions', max(begin_snapshot)
    from __ducklake_metadata_lake.ducklake_schema_versions
)
select 'the path' as kind, path as name from paths
where coalesce(
    not path_is_relative::boolean or path like '/%' or contains(path, '..') or contains(path, ':'), true
)
union all
select 'the row of a later snapshot in', place from last_snapshots
where snapshot_id > (select max(snapshot_id) from __ducklake_metadata_lake.ducklake_snapshot)
union all
select 'the schema', schema_name from __ducklake_metadata_lake.ducklake_schema
where schema_name is distinct from 'main' or schema_id is distinct from 0
union all
select 'the table', table_name from __ducklake_metadata_lake.ducklake_table where table_name is null
union all
select 'the column', column_name from __ducklake_metadata_lake.ducklake_column
where column_name is null or lower(column_name) in ('rowid', 'oid', '_rowid_')
union all
-- Views of earlier snapshots too: a question may ask for a table as it was then.
select 'the view', view_name from __ducklake_metadata_lake.ducklake_view
where not coalesce(list_contains($marts, view_name), false)
union all
select 'the macro', macro_name from __ducklake_metadata_lake.ducklake_macro
union all
select 'the default', column_name from __ducklake_metadata_lake.ducklake_column
where lower(default_value_type) = 'expression'
union all
select 'the order', expression from __ducklake_metadata_lake.ducklake_sort_expression
union all
select 'the order', sort_id::varchar from __ducklake_metadata_lake.ducklake_sort_info
union all
select 'the partition', partition_id::varchar from __ducklake_metadata_lake.ducklake_partition_info
union all
select 'the partition', partition_id::varchar from __ducklake_metadata_lake.ducklake_partition_column
union all
select 'the partition', partition_value from __ducklake_metadata_lake.ducklake_file_partition_value
union all
select 'the partition', partition_id::varchar from __ducklake_metadata_lake.ducklake_data_file
where partition_id is not null
union all
select 'the table of rows', table_name from __ducklake_metadata_lake.ducklake_inlined_data_tables
where not coalesce(regexp_full_match(table_name, 'ducklake_inlined_data_[0-9]+_[0-9]+'), false)
limit 1
