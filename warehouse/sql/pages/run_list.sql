-- Some published runs, newest first, with their number of scored ideas and cost.
with shown as (
  select * from runs order by started_at desc, run_id desc limit $limit offset $offset
),
calls as (
  select
    run_id,
    sum(cost_usd) as cost_usd,
    count(*) as llm_calls,
    count(*) filter (where cost_usd is null and not cache_hit) as unknown_price_calls,
    sum(prompt_tokens + completion_tokens)::bigint as tokens
  from llm_calls
  where run_id in (select run_id from shown)
  group by run_id
)
select
  r.run_id,
  r.label,
  r.state,
  r.engine,
  r.profile,
  r.modules,
  r.idea_count,
  r.scored_count,
  r.partly_scored_count,
  r.unscored_count,
  r.rejected_count,
  r.in_order,
  case when coalesce(c.llm_calls, 0) = 0 then 0.0 else c.cost_usd end as cost_usd,
  coalesce(c.unknown_price_calls, 0) as unknown_price_calls,
  coalesce(c.tokens, 0) as tokens,
  r.started_at,
  r.duration_seconds
from shown as r
left join calls as c on c.run_id = r.run_id
order by r.started_at desc, r.run_id desc
