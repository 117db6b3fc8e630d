-- A file of a table.
select data_file from ducklake_list_files('lake', ?) limit 1
