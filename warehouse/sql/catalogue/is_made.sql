-- A row where an SQLite file holds the tables of a lake.
select 1 from sqlite_master where name = 'ducklake_metadata'
