-- How the sources of a run behaved, by source and endpoint.
-- unanswered: look-ups that no try answered. Every try but a look-up's first followed a failed one, so they are the failed less the repeated.
select
  source,
  endpoint,
  count(*) as calls,
  sum(upstream_requests)::bigint as upstream_requests,
  sum(request_share) as requests_worth,
  sum(packed)::bigint as look_ups,
  count(*) filter (where cache_hit) as cache_hits,
  count(*) filter (where failure_reason is not null) as failed,
  count(*) filter (where failure_reason = 'rate_limited') as rate_limited,
  greatest(count(*) filter (where failure_reason is not null) - count(*) filter (where attempt > 1), 0) as unanswered,
  sum(wait_seconds) as wait_seconds,
  avg(wait_seconds) filter (where not cache_hit) as mean_wait_seconds,
  quantile_cont(latency_seconds, 0.5) filter (where not cache_hit) as p50_seconds,
  quantile_cont(latency_seconds, 0.95) filter (where not cache_hit) as p95_seconds,
  quantile_cont(latency_seconds, 0.99) filter (where not cache_hit) as p99_seconds
from api_calls
where run_id = $run_id
group by source, endpoint
order by source, endpoint
