-- Views of the lake in the newest snapshot, with their SQL.
with newest as (select max(snapshot_id) as id from __ducklake_metadata_lake.ducklake_snapshot)
select v.view_name, v.sql
from __ducklake_metadata_lake.ducklake_view as v
cross join newest as s
where v.begin_snapshot <= s.id and (v.end_snapshot is null or v.end_snapshot > s.id)
