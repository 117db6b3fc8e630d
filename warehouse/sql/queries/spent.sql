-- What the calls of a run in a stretch of time cost, and how many of them have no price.
select
  coalesce(sum(cost_usd), 0.0) as cost_usd,
  count(*) filter (where cost_usd is null and not cache_hit) as unknown_price_calls
from llm_calls
where run_id = $run_id and created_at between $since and $until
