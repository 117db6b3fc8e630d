-- Tables of the catalogue with inlined rows or inlined deletions.
select c.relname::text as name
from pg_catalog.pg_class as c
join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
where n.nspname = 'public' and starts_with(c.relname, 'ducklake_inlined_') and c.relkind = 'r'
