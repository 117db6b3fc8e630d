-- What the model calls of a run cost and how long they took, by step and model; replies from Assay's cache are counted, not timed.
select
  step,
  model_requested as model,
  count(*) filter (where not cache_hit) as calls,
  count(*) filter (where cache_hit) as cache_hits,
  count(*) filter (where not cache_hit and status <> 'ok') as unsuccessful_calls,
  count(*) filter (where not cache_hit and status = 'timed_out') as timed_out_calls,
  coalesce(sum(prompt_tokens) filter (where not cache_hit), 0)::bigint as prompt_tokens,
  coalesce(sum(completion_tokens) filter (where not cache_hit), 0)::bigint as completion_tokens,
  sum(thinking_tokens)::bigint as thinking_tokens,
  count(*) filter (where thinking_tokens is null and completion_tokens > 0) as unknown_thinking_calls,
  coalesce(sum(cached_tokens) filter (where not cache_hit), 0)::bigint as cached_tokens,
  sum(cost_usd) filter (where not cache_hit) as cost_usd,
  count(*) filter (where cost_usd is null and not cache_hit) as unknown_price_calls,
  avg(cost_usd) filter (where not cache_hit and status = 'ok') * count(*) filter (where cache_hit) as saved_usd,
  quantile_cont(latency_seconds, 0.5) filter (where not cache_hit) as p50_seconds,
  quantile_cont(latency_seconds, 0.95) filter (where not cache_hit) as p95_seconds,
  quantile_cont(latency_seconds, 0.99) filter (where not cache_hit) as p99_seconds,
  quantile_cont(queue_seconds, 0.95) filter (where not cache_hit) as p95_queue_seconds
from llm_calls
where run_id = $run_id
group by step, model_requested
order by cost_usd desc nulls last, step, model_requested
