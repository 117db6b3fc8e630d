-- Tables and snapshots, which are equal only for copies of one lake.
select table_uuid::varchar as identity from {database}.ducklake_table
union all
select snapshot_id::varchar from {database}.ducklake_snapshot
order by identity
