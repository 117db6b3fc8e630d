-- Rows of the largest table of the lake, as far as anything was published.
select coalesce(max(record_count), 0) from __ducklake_metadata_lake.ducklake_table_stats
