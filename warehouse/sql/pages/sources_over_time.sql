-- Requests of a run to each source by time. A try and the next may fall into different times, so unanswered is exact only in sum.
select
  time_bucket(to_seconds($bucket_seconds), created_at) as time,
  source,
  count(*) as calls,
  sum(request_share) as requests,
  count(*) filter (where cache_hit) as cache_hits,
  count(*) filter (where failure_reason = 'rate_limited') as rate_limited,
  count(*) filter (where failure_reason = 'timeout') as timed_out,
  count(*) filter (where failure_reason is not null) - count(*) filter (where attempt > 1) as unanswered,
  sum(wait_seconds) as wait_seconds,
  quantile_cont(latency_seconds, 0.5) filter (where not cache_hit) as p50_seconds,
  quantile_cont(latency_seconds, 0.95) filter (where not cache_hit) as p95_seconds,
  quantile_cont(latency_seconds, 0.99) filter (where not cache_hit) as p99_seconds
from api_calls
where run_id = $run_id
group by time, source
order by time, source
