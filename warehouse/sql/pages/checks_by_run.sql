-- Checks by run, newest first.
select
  v.run_id,
  any_value(r.started_at) as started_at,
  count(*) as checks,
  count(v.great_expectations) as answered,
  count(*) filter (where not v.success and v.severity = 'critical') as broken_critical,
  count(*) filter (where not v.success and v.severity <> 'critical') as broken_warnings,
  coalesce(sum(v.unexpected_count) filter (where not v.success), 0)::bigint as unexpected_rows
from validations as v
inner join runs as r on r.run_id = v.run_id
group by v.run_id
order by started_at desc, v.run_id desc
limit $limit
