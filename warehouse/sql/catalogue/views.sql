-- The views of the lake, as its newest snapshot has them, with their SQL.
select view_name, sql from __ducklake_metadata_lake.ducklake_view where end_snapshot is null
