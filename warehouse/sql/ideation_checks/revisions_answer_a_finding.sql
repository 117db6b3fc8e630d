-- severity: critical
-- A revision that continues answers a finding about the previous version.
select v.run_id, v.round_id, v.version_id
from idea_versions as v
where
  v.parent_id is not null and v.unscored_reason is null and v.dropped_reason is null
  and not exists (
    select 1 from finding_answers as a
    where a.run_id = v.run_id and a.version_id = v.version_id and a.answered
  )
