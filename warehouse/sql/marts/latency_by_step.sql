-- How long model calls took, by run, step and model; replies from Assay's cache are counted beside, not timed.
select
  run_id,
  step,
  model_requested,
  count(*) filter (where not cache_hit) as calls,
  count(*) filter (where cache_hit) as cache_hits,
  count(*) filter (where not cache_hit and status <> 'ok') as unsuccessful_calls,
  quantile_cont(latency_seconds, 0.5) filter (where not cache_hit) as p50_seconds,
  quantile_cont(latency_seconds, 0.95) filter (where not cache_hit) as p95_seconds,
  quantile_cont(latency_seconds, 0.99) filter (where not cache_hit) as p99_seconds,
  quantile_cont(queue_seconds, 0.95) filter (where not cache_hit) as p95_queue_seconds
from llm_calls
group by run_id, step, model_requested
