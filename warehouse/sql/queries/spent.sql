-- Cost of a run's calls in a period, and the number of calls without a price.
select
  coalesce(sum(cost_usd), 0.0) as cost_usd,
  count(*) filter (where cost_usd is null and not cache_hit) as unknown_price_calls
from llm_calls
where run_id = $run_id and created_at between $since and $until
