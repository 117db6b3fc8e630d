-- What PostgreSQL would run by itself while a catalogue is read or written, or what machines share
-- beside it: the tables of DuckLake and of budgets have columns of the server's own types and primary
-- keys, and nothing else. Those of DuckLake in every schema: which one a name without a schema means
-- is a matter of settings and of names of roles. Those of budgets where Assay looks for them.
with held as (
    select c.oid, c.relname, c.relkind, c.relowner
    from pg_catalog.pg_class as c
    join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where
        n.nspname <> 'information_schema' and not starts_with(n.nspname, 'pg_')
        and (
            starts_with(c.relname, 'ducklake_')
            or n.nspname = 'public'
            and c.relname in ('spent', 'reserved', 'charged', 'journal', 'records')
        )
),
me as (
    select r.oid, r.rolsuper from pg_catalog.pg_roles as r where r.rolname = current_user
),
lake as (
    select c.relowner, pg_catalog.has_table_privilege(c.oid, 'insert') as may_publish
    from pg_catalog.pg_class as c
    where c.oid = pg_catalog.to_regclass('public.ducklake_snapshot')
)
select 'view' as kind, relname::text as name from held where relkind in ('v', 'm')
union all
select 'foreign table', relname::text from held where relkind = 'f'
union all
select 'partitioned table', relname::text from held where relkind = 'p'
union all
select 'inheritance of', relname::text from held join pg_catalog.pg_inherits on inhparent = held.oid
union all
select 'trigger', tgname::text
from held join pg_catalog.pg_trigger on tgrelid = held.oid
where not tgisinternal
union all
-- Its owner may put any of these there later, and turn the table itself into another. Who cannot
-- publish reads the lake of whoever made it.
select 'table of another role', relname::text
from held cross join me
where
    relkind = 'r'
    and not relowner in (
        select oid from pg_catalog.pg_roles where rolsuper
        union all
        select datdba from pg_catalog.pg_database where datname = current_database()
        union all
        select relowner from lake where not may_publish
    )
    and (rolsuper or not pg_catalog.pg_has_role(relowner, 'usage'))
union all
select 'rule', rulename::text
from held join pg_catalog.pg_rewrite on ev_class = held.oid
where relkind = 'r'
union all
select 'policy', polname::text from held join pg_catalog.pg_policy on polrelid = held.oid
union all
select case contype when 'c' then 'check' else 'constraint' end, conname::text
from held join pg_catalog.pg_constraint on conrelid = held.oid
where contype in ('c', 'f', 'x')
union all
select 'default of', relname::text from held join pg_catalog.pg_attrdef on adrelid = held.oid
union all
select 'type of a column of', relname::text
from held
join pg_catalog.pg_attribute on attrelid = held.oid
join pg_catalog.pg_type as t on t.oid = atttypid
where attnum > 0 and t.typnamespace <> 'pg_catalog'::regnamespace
union all
select 'index over an expression of', relname::text
from held join pg_catalog.pg_index on indrelid = held.oid
where
    (indexprs is not null or indpred is not null)
    -- That of `budgets/schema.sql`.
    and pg_catalog.pg_get_indexdef(indexrelid)
    <> 'CREATE INDEX journal_in_flight ON public.journal USING btree (in_flight_of)'
    || ' WHERE (in_flight_of IS NOT NULL)'
union all
-- Which of them are over expressions, older servers do not say.
select 'statistics', stxname::text
from held join pg_catalog.pg_statistic_ext on stxrelid = held.oid
limit 1
