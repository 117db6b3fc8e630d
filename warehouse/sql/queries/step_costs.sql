-- Cost of each step of a run by model: of the calls with a known price, and the number of paid
-- calls without one.
select
  step,
  model_requested,
  count(*) as llm_calls,
  count(*) filter (where cache_hit) as llm_cache_hits,
  sum(prompt_tokens)::bigint as prompt_tokens,
  sum(completion_tokens)::bigint as completion_tokens,
  sum(thinking_tokens)::bigint as thinking_tokens,
  count(*) filter (where thinking_tokens is null and completion_tokens > 0) as unknown_thinking_calls,
  sum(cost_usd) as cost_usd,
  count(*) filter (where cost_usd is null and not cache_hit) as unknown_price_calls
from llm_calls
where run_id = $run_id
group by step, model_requested
order by step, model_requested
