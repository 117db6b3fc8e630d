-- The columns of a table whose values are not within what the catalogue says of them, by file; rows
-- in the catalogue itself have no file of their own.
with held as materialized (
    select filename as file, {ranges} from lake."{table}" group by filename
),

told as materialized (
    select
        c.column_name,
        getvariable('data_path') || s.path || t.path || f.path as file,
        x.min_value, x.max_value,
        x.value_count > 0 as has_values, x.null_count > 0 as has_nulls
    from __ducklake_metadata_lake.ducklake_file_column_stats as x
    join __ducklake_metadata_lake.ducklake_data_file as f using (data_file_id)
    join __ducklake_metadata_lake.ducklake_table as t on t.table_id = x.table_id
    join __ducklake_metadata_lake.ducklake_schema as s using (schema_id)
    join __ducklake_metadata_lake.ducklake_column as c
        on c.table_id = x.table_id and c.column_id = x.column_id
    where
        t.table_name = '{table}'
        and t.end_snapshot is null and f.end_snapshot is null and c.end_snapshot is null
        and c.parent_column is null
    union all
    select c.column_name, null, x.min_value, x.max_value, null, x.contains_null::boolean
    from __ducklake_metadata_lake.ducklake_table_column_stats as x
    join __ducklake_metadata_lake.ducklake_table as t using (table_id)
    join __ducklake_metadata_lake.ducklake_column as c
        on c.table_id = x.table_id and c.column_id = x.column_id
    where
        t.table_name = '{table}' and t.end_snapshot is null and c.end_snapshot is null
        and c.parent_column is null
)

{columns}
order by column_name, file
