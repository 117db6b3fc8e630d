-- Tables of the catalogue to be moved, by names that are safe in a statement.
select table_name from duckdb_tables()
where database_name = 'source' and regexp_full_match(table_name, 'ducklake_[a-z0-9_]+')
order by table_name
