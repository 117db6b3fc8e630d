-- severity: critical
-- A version's parent is of the previous round, of the same seed and slot, and was not dropped.
select v.run_id, v.round_id, v.version_id
from idea_versions as v
left join idea_versions as p on p.run_id = v.run_id and p.version_id = v.parent_id
where
  v.parent_id is not null
  and (
    p.version_id is null or p.seed_id <> v.seed_id or p.slot <> v.slot or p.round >= v.round
    or p.unscored_reason is not null or p.dropped_reason is not null
  )
