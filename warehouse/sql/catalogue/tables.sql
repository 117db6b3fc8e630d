-- The tables of the catalogue that is to be moved.
select table_name from duckdb_tables() where database_name = 'source' order by table_name
