-- What Assay never writes into a catalogue: paths out of the lake's folder, SQL to be run, and rows
-- from tables that DuckLake does not make for them.
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
)
select 'the path' as kind, path as name from paths
where not path_is_relative::boolean or path like '/%' or contains(path, '..') or contains(path, ':')
union all
select 'the macro', macro_name from __ducklake_metadata_lake.ducklake_macro
union all
select 'the order', expression from __ducklake_metadata_lake.ducklake_sort_expression
union all
select 'the table of rows', table_name from __ducklake_metadata_lake.ducklake_inlined_data_tables
where not starts_with(table_name, 'ducklake_inlined_data_')
limit 1
