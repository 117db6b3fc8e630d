-- What each run cost. cost_usd sums the calls with a known price; unknown_price_calls says how many are missing from it.
-- thinking_tokens sums the calls that tell how much of what they received was thinking; unknown_thinking_calls do not, and NULL: none does.
-- cost_usd_per_idea: cost_usd over all ideas of the run, the reused and those that a bound left out among them.
-- An idea reused from an earlier run costs nothing here: its calls stay with the run that paid them.
with language_model as (
  select
    run_id,
    count(*) as llm_calls,
    count(*) filter (where cache_hit) as llm_cache_hits,
    count(cost_usd) as known_price_calls,
    count(*) filter (where cost_usd is null and not cache_hit) as unknown_price_calls,
    sum(cost_usd) as cost_usd,
    sum(prompt_tokens)::bigint as prompt_tokens,
    sum(completion_tokens)::bigint as completion_tokens,
    sum(cached_tokens)::bigint as cached_tokens,
    sum(thinking_tokens)::bigint as thinking_tokens,
    count(*) filter (where thinking_tokens is null and completion_tokens > 0) as unknown_thinking_calls
  from llm_calls
  group by run_id
),
requests as (
  select
    run_id,
    count(*) as api_calls,
    count(*) filter (where cache_hit) as api_cache_hits,
    count(*) filter (where failure_reason is not null) as failed_api_calls,
    sum(upstream_requests)::bigint as upstream_requests
  from api_calls
  group by run_id
),
evaluated as (
  select run_id, count(*) as ideas, count(reused_from_run_id) as reused_ideas from ideas group by run_id
)
select
  r.run_id,
  case when coalesce(l.llm_calls, 0) = 0 then 0.0 else l.cost_usd end as cost_usd,
  coalesce(l.known_price_calls, 0) as known_price_calls,
  coalesce(l.unknown_price_calls, 0) as unknown_price_calls,
  coalesce(l.llm_calls, 0) as llm_calls,
  coalesce(l.llm_cache_hits, 0) as llm_cache_hits,
  coalesce(l.prompt_tokens, 0) as prompt_tokens,
  coalesce(l.completion_tokens, 0) as completion_tokens,
  coalesce(l.cached_tokens, 0) as cached_tokens,
  case when coalesce(l.completion_tokens, 0) = 0 then 0 else l.thinking_tokens end as thinking_tokens,
  coalesce(l.unknown_thinking_calls, 0) as unknown_thinking_calls,
  coalesce(q.api_calls, 0) as api_calls,
  coalesce(q.api_cache_hits, 0) as api_cache_hits,
  coalesce(q.failed_api_calls, 0) as failed_api_calls,
  coalesce(q.upstream_requests, 0) as upstream_requests,
  r.duration_seconds,
  coalesce(e.ideas, 0) as ideas,
  coalesce(e.reused_ideas, 0) as reused_ideas,
  case when coalesce(l.llm_calls, 0) = 0 then 0.0 else l.cost_usd end / nullif(e.ideas, 0) as cost_usd_per_idea
from runs as r
left join language_model as l on l.run_id = r.run_id
left join requests as q on q.run_id = r.run_id
left join evaluated as e on e.run_id = r.run_id
