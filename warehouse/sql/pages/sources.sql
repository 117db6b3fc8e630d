-- How the sources of a run behaved, by source and endpoint.
-- unanswered: look-ups that no try answered. Every try but a look-up's first followed a failed one, so they are the failed less the repeated.
with seconds as (
  select source, endpoint, date_trunc('second', created_at) as sent_at, sum(request_share) as sent
  from api_calls
  where run_id = $run_id
  group by source, endpoint, sent_at
),
busiest as (
  select source, endpoint, max(sent) as most_a_second from seconds group by source, endpoint
)
select
  c.source,
  c.endpoint,
  sum(c.request_share) as requests_worth,
  any_value(b.most_a_second) as most_a_second,
  sum(c.packed)::bigint as look_ups,
  count(*) filter (where c.cache_hit) / count(*) as cache_share,
  count(*) filter (where c.failure_reason is not null) as failed,
  count(*) filter (where c.failure_reason = 'rate_limited') as rate_limited,
  count(*) filter (where c.failure_reason = 'circuit_open') as left_alone,
  greatest(count(*) filter (where c.failure_reason is not null) - count(*) filter (where c.attempt > 1), 0) as unanswered,
  sum(c.wait_seconds) as wait_seconds,
  quantile_cont(c.latency_seconds, 0.5) filter (where not c.cache_hit) as p50_seconds,
  quantile_cont(c.latency_seconds, 0.95) filter (where not c.cache_hit) as p95_seconds
from api_calls as c
inner join busiest as b on b.source = c.source and b.endpoint = c.endpoint
where c.run_id = $run_id
group by c.source, c.endpoint
order by c.source, c.endpoint
