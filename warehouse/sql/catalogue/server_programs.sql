-- What PostgreSQL would run by itself while DuckDB reads or writes a catalogue: the tables of DuckLake
-- have columns and primary keys, and nothing else.
with held as (
    select c.oid, c.relname, c.relkind
    from pg_class as c
    join pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = current_schema() and starts_with(c.relname, 'ducklake_')
)
select 'view' as kind, relname::text as name from held where relkind in ('v', 'm')
union all
select 'foreign table', relname::text from held where relkind = 'f'
union all
select 'partitioned table', relname::text from held where relkind = 'p'
union all
select 'inheritance of', relname::text from held join pg_inherits on inhparent = held.oid
union all
select 'trigger', tgname::text from held join pg_trigger on tgrelid = held.oid where not tgisinternal
union all
select 'rule', rulename::text from held join pg_rewrite on ev_class = held.oid where relkind = 'r'
union all
select 'policy', polname::text from held join pg_policy on polrelid = held.oid
union all
select 'check', conname::text from held join pg_constraint on conrelid = held.oid where contype = 'c'
union all
select 'default of', relname::text from held join pg_attrdef on adrelid = held.oid
union all
select 'index over an expression of', relname::text
from held join pg_index on indrelid = held.oid
where indexprs is not null or indpred is not null
limit 1
