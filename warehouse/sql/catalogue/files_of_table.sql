-- The files of a table that the newest snapshot reads, as they lie, with their bytes.
with files as (from ducklake_list_files('lake', ?))
select data_file, data_file_size_bytes from files
union all
select delete_file, delete_file_size_bytes from files where delete_file is not null
