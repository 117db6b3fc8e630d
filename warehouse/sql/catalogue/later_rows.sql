-- A row if inlined rows begin or end after the newest snapshot.
select '{table}' as name
where exists (
    select 1 from {schema}.{table}
    where {column} > (select max(snapshot_id) from {schema}.ducklake_snapshot)
)
