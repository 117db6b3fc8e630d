-- Cost of some ideas in a run: of the calls with a known price, and the number of paid calls
-- without one.
select
  idea_id,
  sum(cost_usd) as cost_usd,
  count(*) filter (where cost_usd is null and not cache_hit) as unknown_price_calls
from llm_calls
where run_id = $run_id and list_contains($idea_ids, idea_id)
group by idea_id
