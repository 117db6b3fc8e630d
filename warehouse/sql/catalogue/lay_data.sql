-- From now on the files of the lake lie there.
update catalogue.ducklake_metadata set value = ? where key = 'data_path'
