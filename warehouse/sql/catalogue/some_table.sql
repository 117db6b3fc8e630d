-- A table of the lake that has files.
select table_name from ducklake_table_info('lake') where file_count > 0 limit 1
