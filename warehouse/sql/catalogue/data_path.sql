-- The place of the lake's files when its catalogue was created.
select value from __ducklake_metadata_lake.ducklake_metadata where key = 'data_path'
