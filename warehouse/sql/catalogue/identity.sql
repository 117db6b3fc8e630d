-- Which tables and snapshots there are: the same for two copies of one lake alone.
select table_uuid::varchar as identity from {database}.ducklake_table
union all
select snapshot_id::varchar from {database}.ducklake_snapshot
order by identity
