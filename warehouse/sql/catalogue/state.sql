-- The server's version, and what this user may do: make tables, write those of the lake, read them.
-- The last two are null where there is no lake yet. DuckLake keeps it in this schema, see `lake.py`.
with lake as (
    select c.oid
    from pg_class as c
    join pg_namespace as n on n.oid = c.relnamespace
    where c.relname = 'ducklake_snapshot' and n.nspname = 'public'
)
select
    current_setting('server_version') as version,
    current_setting('server_version_num')::integer as version_number,
    pg_is_in_recovery() as is_replica,
    current_user as user_name,
    has_schema_privilege('public', 'create') as may_create,
    (select has_table_privilege(oid, 'insert') from lake) as may_write,
    (select has_table_privilege(oid, 'select') from lake) as may_read
