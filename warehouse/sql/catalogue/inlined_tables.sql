-- Tables of the catalogue with inlined rows, by names that are safe in a statement.
select table_id::bigint as table_id, table_name
from __ducklake_metadata_lake.ducklake_inlined_data_tables
where regexp_full_match(table_name, 'ducklake_inlined_data_[0-9]+_[0-9]+')
order by all
