-- Where the files of the lake lay when its catalogue was made.
select value from __ducklake_metadata_lake.ducklake_metadata where key = 'data_path'
