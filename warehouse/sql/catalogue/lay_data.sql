-- Set the place of the lake's files.
update catalogue.ducklake_metadata set value = ? where key = 'data_path'
