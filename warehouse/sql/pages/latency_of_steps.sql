-- Duration of a run's model calls by step and model, and the cost that cached replies saved at the
-- mean cost of a paid call; cached replies are counted, not timed.
select
  step,
  model_requested as model,
  count(*) filter (where not cache_hit) as calls,
  count(*) filter (where cache_hit) as cache_hits,
  count(*) filter (where not cache_hit and status = 'timed_out') as timed_out_calls,
  avg(cost_usd) filter (where not cache_hit and status = 'ok') * count(*) filter (where cache_hit) as saved_usd,
  quantile_cont(latency_seconds, 0.5) filter (where not cache_hit) as p50_seconds,
  quantile_cont(latency_seconds, 0.95) filter (where not cache_hit) as p95_seconds,
  quantile_cont(latency_seconds, 0.99) filter (where not cache_hit) as p99_seconds,
  quantile_cont(queue_seconds, 0.95) filter (where not cache_hit) as p95_queue_seconds
from llm_calls
where run_id = $run_id
group by step, model_requested
order by p95_seconds desc nulls last, step, model_requested
