-- severity: critical
-- Relations and answers belong to a version of their run.
select r.run_id, r.round_id, r.version_id
from (
  select run_id, round_id, version_id from keyword_relations
  union all
  select run_id, round_id, version_id from finding_answers
) as r
where not exists (
  select 1 from idea_versions as v where v.run_id = r.run_id and v.version_id = r.version_id
)
