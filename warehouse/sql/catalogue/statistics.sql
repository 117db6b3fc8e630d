-- Statistics of columns in the catalogue, by file and in total.
with columns as (
    select
        t.table_id, t.table_name, c.column_id, c.column_name,
        getvariable('data_path') || s.path || t.path as folder
    from __ducklake_metadata_lake.ducklake_table as t
    join __ducklake_metadata_lake.ducklake_schema as s using (schema_id)
    join __ducklake_metadata_lake.ducklake_column as c using (table_id)
    where t.end_snapshot is null and c.end_snapshot is null and c.parent_column is null
)

select
    c.table_name, c.column_name, c.folder || f.path as file, x.min_value, x.max_value,
    x.value_count > 0 as has_values, x.null_count > 0 as has_nulls
from __ducklake_metadata_lake.ducklake_file_column_stats as x
join __ducklake_metadata_lake.ducklake_data_file as f using (data_file_id)
join columns as c on c.table_id = x.table_id and c.column_id = x.column_id
where f.end_snapshot is null
union all
select
    c.table_name, c.column_name, null, x.min_value, x.max_value, null, x.contains_null::boolean
from __ducklake_metadata_lake.ducklake_table_column_stats as x
join columns as c on c.table_id = x.table_id and c.column_id = x.column_id
