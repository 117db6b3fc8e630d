-- Published runs with what they cost and left unscored, newest first.
select
  r.run_id,
  r.label,
  r.state,
  r.engine,
  r.profile,
  r.modules,
  r.idea_count,
  r.evaluated_count,
  r.failed_count,
  r.rejected_count,
  coalesce(s.ideas_without_score, 0) as ideas_without_score,
  c.cost_usd,
  c.unknown_price_calls,
  c.prompt_tokens + c.completion_tokens as tokens,
  c.upstream_requests,
  r.started_at,
  r.finished_at,
  r.duration_seconds
from runs as r
inner join run_costs as c on c.run_id = r.run_id
left join (
  select run_id, count(*) filter (where score is null) as ideas_without_score from idea_scores group by run_id
) as s on s.run_id = r.run_id
order by r.started_at desc, r.run_id desc
