-- Dollars, tokens and latency of a run's model calls by time and by step or model ($split).
select
  time_bucket(to_seconds($bucket_seconds), created_at) as time,
  case $split when 'model' then model_requested when 'step' then step else 'all calls' end as name,
  count(*) as calls,
  count(*) filter (where status = 'timed_out') as timed_out_calls,
  sum(cost_usd) as cost_usd,
  sum(prompt_tokens)::bigint as prompt_tokens,
  sum(completion_tokens)::bigint as completion_tokens,
  sum(thinking_tokens)::bigint as thinking_tokens,
  sum(cached_tokens)::bigint as cached_tokens,
  quantile_cont(latency_seconds, 0.5) as p50_seconds,
  quantile_cont(latency_seconds, 0.95) as p95_seconds,
  quantile_cont(latency_seconds, 0.99) as p99_seconds
from llm_calls
where run_id = $run_id and not cache_hit
group by time, name
order by time, name
