select t.table_name from __ducklake_metadata_lake.ducklake_table_stats as s inner join __ducklake_metadata_lake.ducklake_table as t on t.table_id = s.table_id
