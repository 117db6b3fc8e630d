-- Number of rows of the largest table.
select coalesce(max(record_count), 0) from __ducklake_metadata_lake.ducklake_table_stats
