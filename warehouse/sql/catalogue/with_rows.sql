union all
select {table_id} where exists (from __ducklake_metadata_lake."{table}")
