-- How each literature and full-text source behaved, by run and endpoint.
select
  run_id,
  source,
  endpoint,
  count(*) as requests,
  count(*) filter (where failure_reason is null) as answered,
  count(*) filter (where failure_reason is not null) as failed,
  count(*) filter (where failure_reason = 'rate_limited') as rate_limited,
  count(*) filter (where failure_reason is not null) / count(*) as failed_share,
  count(*) filter (where cache_hit) as cache_hits,
  sum(packed)::bigint as look_ups,
  sum(upstream_requests)::bigint as upstream_requests,
  avg(wait_seconds) as mean_wait_seconds,
  quantile_cont(latency_seconds, 0.5) as p50_seconds,
  quantile_cont(latency_seconds, 0.95) as p95_seconds
from api_calls
group by run_id, source, endpoint
